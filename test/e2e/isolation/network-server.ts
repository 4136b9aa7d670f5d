// Asks for what it is told to: a page of a host, or only the address of a name.
import { lookup } from "node:dns/promises";
import { serve, string, text } from "../../kit/server/pairs/base.ts";

const fetchMsMax = 5_000;

/** The text of a page, or the reason why there is none: a server goes on where a host is out of reach. */
async function page(url: string): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(fetchMsMax) });
    return await response.text();
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : "";
    return `no page: ${error instanceof Error ? error.message : "failed"} ${cause}`;
  }
}

const fetches = (name: string) => ({
  name,
  description: "Returns the text of a page.",
  parameters: { url: text },
  readOnly: true,
  call: (args: Readonly<Record<string, unknown>>) => page(string(args, "url")),
});

await serve("fetcher", [
  fetches("fetch_page"),
  fetches("fetch_more"),
  {
    name: "look_up",
    description: "Returns the address of a name.",
    parameters: { name: text },
    readOnly: true,
    call: async (args) => {
      const found = await lookup(string(args, "name")).catch((error: Error) => ({ address: error.message }));
      return found.address;
    },
  },
]);

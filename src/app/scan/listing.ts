/** What a server says of itself, asked through a gateway that lets everything pass and isolates where it can. */
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import type { Composition } from "../gateway/composition.ts";
import { type Answer, type McpClient, gatewayClient, textOf } from "../client/mcp-client.ts";
import { shown } from "../state/sentences.ts";
import type { Result } from "../../core/result.ts";

/** One list, or a reason why it is not known whole. */
export type ListRead = {
  readonly method: string;
  readonly entries: readonly JsonObject[];
  /** Undefined = read to its end. */
  readonly gap: string | undefined;
};

export type ServerListing = {
  /** Undefined where the server did not answer the handshake; `gap` says why. */
  readonly lists: readonly ListRead[];
  readonly gap: string | undefined;
  /** Tier of the projection that it ran in; `remote` for one that is reached by address. */
  readonly tier: string;
};

const pagesMax = 64;
const entriesMax = 10_000;

/** Further lists, by the capability that declares them. */
const further: readonly (readonly [capability: string, method: string, member: string])[] = [
  ["prompts", "prompts/list", "prompts"],
  ["resources", "resources/list", "resources"],
  ["resources", "resources/templates/list", "resourceTemplates"],
];

/** Names the agent as a client would: a server must not see that it is looked at. */
const clientInfo = { name: "client", version: "1.0.0" };

export async function listServer(
  composition: Pick<Composition, "gateway">,
  server: string,
  waitMsMax: number,
): Promise<ServerListing> {
  const facts = { transport: "stdio", server, principal: "scan", workingDirectory: process.cwd() } as const;
  const silence = `no answer within ${Math.round(waitMsMax / 1000)} s`;
  const { client, handler } = gatewayClient(composition.gateway, facts, { clientInfo, waitMsMax, silence });
  try {
    const hello = await client.hello();
    const tier = (): string => composition.gateway.state.projections.all(server)[0]?.[1].tier ?? "none";
    const gap = faultIn(hello);
    if (gap !== undefined || !hello.ok) return { lists: [], gap: gap ?? silence, tier: tier() };
    const said = member(hello.value.value, "instructions");
    const capabilities = member(hello.value.value, "capabilities");
    const lists: ListRead[] = [];
    if (typeof said === "string") lists.push({ method: "instructions", entries: [{ text: said }], gap: undefined });
    lists.push(await readList(client, "tools/list", "tools"));
    for (const [capability, method, name] of further) {
      if (member(capabilities, capability) !== undefined) lists.push(await readList(client, method, name));
    }
    return { lists, gap: undefined, tier: tier() };
  } finally {
    handler.closed("the scan is over");
  }
}

async function readList(client: McpClient, method: string, name: string): Promise<ListRead> {
  const entries: JsonObject[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const answer = await client.ask(method, cursor === undefined ? {} : { cursor });
    const fault = faultIn(answer);
    if (fault !== undefined || !answer.ok) return { method, entries, gap: fault ?? "no answer" };
    const listed: Json | undefined = member(answer.value.value, name);
    if (!isArray(listed)) return { method, entries, gap: `its answer has no \`${name}\`` };
    entries.push(...listed.filter(isObject));
    if (entries.length > entriesMax) return { method, entries, gap: `it lists more than ${entriesMax} entries` };
    cursor = stringMember(answer.value.value, "nextCursor");
    if (cursor === undefined) return { method, entries, gap: undefined };
  }
  return { method, entries, gap: `its list has more than ${pagesMax} pages` };
}

function faultIn(answer: Result<Answer, string>): string | undefined {
  if (!answer.ok) return shown(answer.error, 200);
  return answer.value.failed ? shown(textOf(answer.value), 200) : undefined;
}

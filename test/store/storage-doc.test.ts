/** What `docs/storage.md` says of each event is what the log writes. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { eventTable } from "../../src/gateway/log/event-codec.ts";

type AnyColumn = {
  readonly clear?: unknown;
  readonly hidden?: unknown;
  readonly shared?: true;
  readonly optional?: true;
};

const page = readFileSync(new URL("../../docs/storage.md", import.meta.url), "utf8");
const documented = [...page.matchAll(/^\| `([a-z]+)`\s*\|([^|]*)\|([^|]*)\|$/gm)].map(
  ([, kind, clear = "", payload = ""]) => [kind, clear.trim(), payload.trim()],
);

function shown(kind: string, part: "clear" | "hidden"): string {
  const row = Object.entries(eventTable).find(([name]) => name === kind)?.[1] ?? {};
  const columns = Object.entries(row as Record<string, (name: string) => AnyColumn>).map(([name, make]) => ({
    name,
    ...make(name),
  }));
  return columns
    .filter((column) => column[part] !== undefined)
    .map(({ name, shared, optional }) => `${shared === true ? `(${name})` : name}${optional === true ? "?" : ""}`)
    .join(", ");
}

it("the table of events is that of the codec, kind by kind and member by member", () => {
  const kinds = Object.keys(eventTable);
  const events = documented.filter(([kind = ""]) => kinds.includes(kind));
  expect(events).toEqual(kinds.map((kind) => [kind, shown(kind, "clear"), shown(kind, "hidden")]));
});

/**
 * The tools of a list as their card shows them. Reading a long list takes about a second, and the commands and the console ask
 * for a card again and again: what only depends on the list is found once for each list that was seen.
 */
import type { ToolContract } from "../../core/contract.ts";
import { type JsonObject, isObject, stringMember } from "../../core/json.ts";
import { changeLines } from "../../gateway/lists/entry-changes.ts";
import type { SeenList } from "../../gateway/ports/cards.ts";
import { type ToolReading, readTool, readTools } from "../../oracles/labels/reading.ts";
import { readTo } from "../../oracles/labels/siblings.ts";
import { toolDigest } from "../policy/policy-source.ts";
import type { SeenTool } from "./card.ts";
import { type Before, type Now, kindOfChange } from "./entry-change.ts";

/** A tool with what its list says of it, and the same of an entry that it replaced. */
type Read = Now & {
  readonly name: string;
  readonly digest: string;
  readonly reading: ToolReading;
  readonly before: (old: JsonObject) => Before;
};
type ReadList = { readonly remote: boolean; readonly tools: readonly Read[] };

const known = new WeakMap<SeenList, ReadList>();

export function isOpen({ source }: Pick<ToolContract, "source">): boolean {
  return source !== "operator" && source !== "pack" && source !== "card";
}

/** `remote`: the server is reached over the network. What changed is looked at anew: entries are accepted meanwhile. */
export function seenTools(list: SeenList, remote: boolean): readonly SeenTool[] {
  const last = known.get(list);
  const read = last?.remote === remote ? last : { remote, tools: readList(list, remote) };
  known.set(list, read);
  return read.tools.flatMap((tool, place) => {
    const source = list.contracts[place]?.source;
    if (source === undefined) return [];
    const { before: asBefore, ...now } = tool;
    const old = isOpen({ source }) ? list.before(tool.name) : undefined;
    const change = old !== undefined && isObject(old) ? changeOf(old, now, asBefore) : undefined;
    return [{ ...now, source, change }];
  });
}

function readList({ server, entries, policy }: SeenList, remote: boolean): readonly Read[] {
  const names = entries.map((entry) => stringMember(entry, "name") ?? "");
  const findings = (entry: JsonObject): readonly string[] =>
    policy.findings(entry, names).findings.map(({ finds }) => finds);
  // Beside the same tools: what an entry seems to do also follows from its siblings and from where the server runs.
  const context = { server, tools: entries, remote };
  const end = readTo(entries);
  return readTools(context).flatMap((reading, place) => {
    const entry = entries[place];
    if (entry === undefined) return [];
    const before = (old: JsonObject): Before => ({
      entry: old,
      reading: place < end ? readTool(old, context) : reading,
      findings: findings(old),
    });
    return [{ entry, reading, findings: findings(entry), name: reading.tool, digest: toolDigest(entry), before }];
  });
}

/** `read` takes as long as reading a tool: of a changed one alone. */
function changeOf(old: JsonObject, now: Now, read: (entry: JsonObject) => Before): SeenTool["change"] {
  if (toolDigest(old) === toolDigest(now.entry)) return undefined;
  return { kind: kindOfChange(read(old), now), lines: changeLines([{ now: now.entry, old }]) };
}

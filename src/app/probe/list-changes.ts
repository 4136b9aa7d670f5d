/** Differences between two lists of one server's tools. */
import { type JsonObject, stringMember } from "../../core/json.ts";
import { canonicalJson } from "../../wire/canonical.ts";
import { shown } from "../state/sentences.ts";

export type ListChange = {
  /** A clause that goes on after a time ("after calls ..."). */
  readonly what: string;
  /** Some honest servers add and remove tools; none were seen to rewrite one. */
  readonly kind: "added" | "removed" | "rewritten";
};

export function listChanges(before: readonly JsonObject[], after: readonly JsonObject[]): readonly ListChange[] {
  const known = byName(before);
  const now = byName(after);
  const changes: ListChange[] = [];
  for (const [name, text] of now) {
    const old = known.get(name);
    const tool = `\`${shown(name, 60)}\``;
    if (old === undefined) changes.push({ what: `it lists a tool more, ${tool}`, kind: "added" });
    else if (old !== text) changes.push({ what: `it describes ${tool} in another way`, kind: "rewritten" });
  }
  const gone = [...known.keys()].filter((name) => !now.has(name));
  changes.push(...gone.map((name) => ({ what: `it lists \`${shown(name, 60)}\` no more`, kind: "removed" as const })));
  return changes.slice(0, changesMax);
}

const changesMax = 8;

function byName(tools: readonly JsonObject[]): ReadonlyMap<string, string> {
  return new Map(tools.map((tool) => [stringMember(tool, "name") ?? "", canonicalJson(tool)]));
}

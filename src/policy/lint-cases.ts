/**
 * Cases of labels that take the place of a pack's. The most authoritative source that has cases for a tool is the one whose
 * cases count, so whoever adds one of his own loses those of the pack, and with them what they said of secrets.
 */
import { stringMember } from "../core/json.ts";
import type { CompiledPolicy } from "./compile.ts";
import type { ToolDigest } from "./contracts.ts";
import { evidenceOf } from "./contracts.ts";
import type { Problem } from "./diagnostic.ts";
import { quoted, warning } from "./diagnostic.ts";
import type { ToolLists } from "./lint.ts";
import { nameMatches } from "./patterns.ts";

export function lintCases({ table }: CompiledPolicy, lists: ToolLists, digestOf: ToolDigest): readonly Problem[] {
  return table.entries.flatMap(({ server, tool, statement }) => {
    if (statement.cases === undefined || statement.cases.length === 0) return [];
    const listed = Object.entries(lists).flatMap(([name, tools]) =>
      nameMatches(server, name) ? tools.map((one) => ({ server: name, listed: one })) : [],
    );
    // A pack that the operator gives a server is known without its list.
    const lost = [...listed, { server, listed: { name: tool } }].some((subject) => {
      const name = stringMember(subject.listed, "name") ?? "";
      if (!nameMatches(tool, name)) return false;
      const { believed } = evidenceOf(table, { ...subject, tool: name, toolDigest: digestOf(subject.listed) });
      return believed.some((one) => one.source === "pack" && (one.statement.cases ?? []).length > 0);
    });
    if (!lost) return [];
    const name = `${server}.${tool}`;
    const message = `the cases of ${quoted(name)} take the place of those of its pack`;
    return [warning("REPLACES", ["labels", name], message, "repeat here those of the pack that shall go on holding")];
  });
}

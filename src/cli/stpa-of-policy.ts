/** A policy beside its STPA document: which parts its author wrote, and whether its ids are those of the document. */
import { dirname, resolve } from "node:path";
import type { CompiledPolicy } from "../policy/compile.ts";
import type { Diagnostic, Problem } from "../policy/diagnostic.ts";
import { quoted } from "../policy/diagnostic.ts";
import type { Loaded } from "../policy/load.ts";
import { gap } from "../policy/stpa/gaps.ts";
import { policyGaps } from "../policy/stpa/policy-gaps.ts";
import { isShipped } from "./policy-source.ts";
import { stpaFile } from "./stpa-files.ts";

type Place = Loaded["place"];

/** Whether a hazard or rule stands in a file of the policy's author, not in the default or a shipped pack. */
export function writtenByAuthor(place: Place): (section: "hazards" | "rules", id: string) => boolean {
  return (section, id) => !isShipped(place(gap("SG-STPA", [section, id], "", "")).file);
}

/**
 * What the document that `stpa:` names says of the ids in `loss:` and `serves:`. Warnings: the policy runs without the
 * document, but nobody can tell what it is for.
 */
export function stpaFindings(policy: CompiledPolicy, place: Place): readonly Diagnostic[] {
  const name = policy.policy.stpa;
  if (name === undefined) return [];
  const said = (message: string, remedy: string): Problem => gap("SG-STPA", ["stpa"], message, remedy);
  // The name is relative to the file that writes it, which another policy may extend.
  const from = dirname(place(said("", "")).file);
  const read = stpaFile(resolve(from, name));
  if (read.ok) return policyGaps(read.value.document, policy, writtenByAuthor(place)).inPolicy.map(place);
  const wrong = read.error.kind === "wrong";
  const message = `the STPA document ${quoted(name)} ${wrong ? "has errors" : "cannot be read"}`;
  return [place(said(message, wrong ? "`sluicegate stpa check` shows them" : "check its path"))];
}

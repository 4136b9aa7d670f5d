/**
 * Inputs of `stpa` commands beside the analysis itself: its files, the policy that names it or is under it, and the
 * results of the prover for the policy and for its rules in other tiers.
 */
import { dirname, isAbsolute, relative, resolve } from "node:path";
import type { CompiledPolicy } from "../../policy/compile/compile.ts";
import type { Proves } from "../../policy/stpa/cost.ts";
import { type ProofResults, proofResults, satisfies } from "../../policy/stpa/proof-results.ts";
import { makeProver, proveHazard } from "../../proof/prove/prove.ts";
import type { Manifest } from "../../proof/prove/table.ts";
import { manifestOf, subjectOf } from "./subject-tools.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { readJson } from "../../gateway/log/json-text.ts";
import { type Diagnostic, type Problem, quoted } from "../../policy/document/diagnostic.ts";
import { policyTextUnitsMax } from "../../policy/values/limits.ts";
import { type StpaSource, readStpa } from "../../policy/stpa/read.ts";
import { shortPath } from "../state/sentences.ts";
import { isShipped, policyFile, sha256, shippedLoader } from "../policy/policy-source.ts";
import { textFile, fileSentence } from "../state/text-file.ts";
import { type Loaded, loadPolicy } from "../../policy/load.ts";
import { gap } from "../../policy/stpa/gaps.ts";
import { policyGaps } from "../../policy/stpa/policy-gaps.ts";
import { diagnosticLine } from "../policy/diagnostic-line.ts";

/** The result for each hazard of the policy, for the tools that are listed or that the policy labels by name. */
export function provenNow(policy: CompiledPolicy, listed: Manifest): ProofResults {
  return proven(policy, listed, () => true);
}

/** Decides properties under any policy; undefined where the engine reached one of its limits. */
export function provesWith(listed: Manifest): Proves {
  return (policy, properties) => {
    const found = proven(policy, listed, (id) => properties.includes(id));
    const results = properties.map((id) => found.get(id));
    if (results.some((result) => result?.verdict === "unknown")) return undefined;
    return results.every((result) => {
      const consent = result === undefined ? undefined : policy.policy.hazards[result.id]?.consent;
      return satisfies(result, consent ?? "never");
    });
  };
}

function proven(policy: CompiledPolicy, listed: Manifest, wanted: (id: string) => boolean): ProofResults {
  const prover = makeProver(subjectOf(policy, manifestOf(policy, listed)));
  const properties = policy.ir.hazards
    .filter(({ id }) => wanted(id))
    .map((hazard) => {
      const { verdict, enforcedBy, without } = proveHazard(prover, hazard);
      return { id: hazard.id, verdict, enforcedBy, without: without.verdict };
    });
  const read = proofResults({ properties });
  if (!read.ok) throw new Error(`the engine's own result is unreadable: ${read.error}`);
  return read.value;
}

/** A report of a proof beyond this is refused before it is read. */
export const proofBytesMax = 64 * 1024 * 1024;

/** A sentence for a file that cannot be read, or diagnostics for one that is wrong. */
export type StpaFault =
  | { readonly kind: "unreadable"; readonly sentence: string }
  | { readonly kind: "wrong"; readonly diagnostics: readonly Diagnostic[] };

export function stpaFile(file: string): Result<StpaSource, StpaFault> {
  const unreadable = (sentence: string) => err<StpaFault>({ kind: "unreadable", sentence });
  const text = textFile(file, policyTextUnitsMax * 4);
  if (!text.ok)
    return unreadable(
      fileSentence(
        file,
        text.error,
        "too large for an STPA document: split the analysis.",
        "check the path of the STPA document.",
      ),
    );
  const read = readStpa(text.value, file, sha256);
  return read.ok ? read : err<StpaFault>({ kind: "wrong", diagnostics: read.error });
}

export function proofFile(file: string): Result<ProofResults, string> {
  const way = "save `sluicegate proof verify --json` there.";
  const text = textFile(file, proofBytesMax);
  if (!text.ok) return err(fileSentence(file, text.error, `too large for a proof report: ${way}`, `${way}`));
  const report = readJson(text.value);
  if (report === undefined) return err(`${shortPath(file)} is not JSON: ${way}`);
  const found = proofResults(report);
  return found.ok ? ok(found.value) : err(`${shortPath(file)} is not a proof report, because ${found.error}: ${way}`);
}

type Place = Loaded["place"];

/** Whether a hazard or rule stands in a file of the policy's author, not in the default or a shipped pack. */
export function writtenByAuthor(place: Place): (section: "hazards" | "rules", id: string) => boolean {
  return (section, id) => !isShipped(place(gap("SG-STPA", [section, id], "", "")).file);
}

/**
 * Findings of the document that `stpa:` names about the ids in `loss:` and `serves:`. Warnings: the policy runs without
 * the document, but its purpose is then unknown.
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

/** A file as a policy at `own` names it: a policy means names from its own folder, a command line from where it was typed. */
export function seenFrom(own: string, file: string): string {
  return isAbsolute(file) ? file : relative(dirname(own), resolve(file));
}

/** The documents that `--over` names, as `extends` of a policy at `own`; the error names a missing one. */
export function underNames(own: string, over: readonly string[]): Result<readonly string[], string> {
  const names: string[] = [];
  for (const name of over) {
    const found = shippedLoader(name, resolve("policy.yaml"));
    const file = found === undefined ? policyFile(resolve(name)) : ok(found);
    if (!file.ok) return file;
    names.push(isShipped(file.value.file) ? name : seenFrom(own, name));
  }
  return ok(names);
}

/** The first error in what lies under a new policy; what is missing in the policy itself is still to be written. */
export function checkedUnder(own: string, text: string): Result<undefined, string> {
  const { diagnostics } = loadPolicy({ file: own, text }, { loader: shippedLoader, hash: sha256 });
  const wrong = diagnostics.find(({ severity, file }) => severity === "error" && file !== own);
  return wrong === undefined ? ok(undefined) : err(diagnosticLine(wrong));
}

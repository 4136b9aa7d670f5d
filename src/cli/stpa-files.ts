/** Reads what `stpa` commands are about: STPA documents and reports of proofs. Bounded, and never throwing. */
import type { Result } from "../core/result.ts";
import { err, ok } from "../core/result.ts";
import { readJson } from "../gateway/log/json-text.ts";
import type { Diagnostic } from "../policy/diagnostic.ts";
import { policyTextUnitsMax } from "../policy/limits.ts";
import type { ProofResults } from "../policy/stpa/proof-results.ts";
import { proofResults } from "../policy/stpa/proof-results.ts";
import type { StpaSource } from "../policy/stpa/read.ts";
import { readStpa } from "../policy/stpa/read.ts";
import { shortPath } from "./output.ts";
import { sha256 } from "./policy-source.ts";
import { textFile } from "./text-file.ts";

/** A report of a proof beyond this is refused before it is read. */
export const proofBytesMax = 64 * 1024 * 1024;

/** A sentence for a file that cannot be read, or diagnostics for one that is wrong. */
export type StpaFault =
  | { readonly kind: "unreadable"; readonly sentence: string }
  | { readonly kind: "wrong"; readonly diagnostics: readonly Diagnostic[] };

export function stpaFile(file: string): Result<StpaSource, StpaFault> {
  const unreadable = (sentence: string) => err<StpaFault>({ kind: "unreadable", sentence });
  const text = textFile(file, policyTextUnitsMax * 4);
  if (!text.ok) {
    return text.error.kind === "large"
      ? unreadable(`${shortPath(file)} is too large for an STPA document: split the analysis.`)
      : unreadable(`${shortPath(file)} cannot be read (${text.error.why}): check the path of the STPA document.`);
  }
  const read = readStpa(text.value, file, sha256);
  return read.ok ? read : err<StpaFault>({ kind: "wrong", diagnostics: read.error });
}

export function proofFile(file: string): Result<ProofResults, string> {
  const way = "save `sluicegate proof verify --json` there.";
  const text = textFile(file, proofBytesMax);
  if (!text.ok) {
    return text.error.kind === "large"
      ? err(`${shortPath(file)} is too large for a proof report: ${way}`)
      : err(`${shortPath(file)} cannot be read (${text.error.why}): ${way}`);
  }
  const report = readJson(text.value);
  if (report === undefined) return err(`${shortPath(file)} is no JSON: ${way}`);
  const found = proofResults(report);
  return found.ok ? ok(found.value) : err(`${shortPath(file)} is no proof report, because ${found.error}: ${way}`);
}

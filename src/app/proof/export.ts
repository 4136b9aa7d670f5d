/** `proof export`: a hazard's model and proof as text for external tools (docs/exports.md). */
import { writeFileSync } from "node:fs";
import { type Result, err, ok } from "../../core/result.ts";
import { alloyOf } from "../../proof/exports/alloy.ts";
import { hornOf, smtlibOf } from "../../proof/exports/smtlib.ts";
import type { Explored } from "../../proof/prove/fixpoint.ts";
import { decideCore, makeProver, proveHazard } from "../../proof/prove/prove.ts";
import { candidates, type Subject } from "../../proof/prove/subject.ts";
import { nearestWord } from "../../policy/document/nearest.ts";
import { shortPath } from "../state/sentences.ts";
import { whyUnwritten } from "../state/text-file.ts";

export const exportForms = ["smtlib", "horn", "alloy"] as const;
export type ExportForm = (typeof exportForms)[number];

const writers: { readonly [form in ExportForm]: (explored: Explored) => string } = {
  smtlib: (explored) => smtlibOf(explored).text,
  horn: (explored) => hornOf(explored).text,
  alloy: alloyOf,
};

/** The model with the core of the proof; of a refuted hazard the model with every rule that restricts. */
export function exported(subject: Subject, hazardId: string, form: ExportForm): Result<string, string> {
  const { hazards } = subject.policy.ir;
  const hazard = hazards.find(({ id }) => id === hazardId);
  if (hazard === undefined) {
    const ids = hazards.map(({ id }) => id);
    return err(
      `There is no hazard \`${hazardId}\`: name ${nearestWord(hazardId, ids) ?? ids[0] ?? "one, the policy has none"}.`,
    );
  }
  const prover = makeProver(subject);
  const proof = proveHazard(prover, hazard);
  const core = proof.core ?? candidates(subject.policy.ir, hazard);
  const explored = proof.explored === undefined ? decideCore(prover, hazardId, core) : ok(proof.explored);
  return explored.ok ? ok(writers[form](explored.value)) : explored;
}

export function writeExport(file: string, text: string): Result<undefined, string> {
  try {
    writeFileSync(file, text);
    return ok(undefined);
  } catch (cause) {
    return err(`${shortPath(file)} cannot be written (${whyUnwritten(cause)}): name another file with --out.`);
  }
}

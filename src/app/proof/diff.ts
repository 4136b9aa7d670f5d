/** `proof diff OLD NEW`: what the old policy stops or asks about and the new one lets through, with the shortest way. */
import { type CompiledPolicy, compilePolicy } from "../../policy/compile/compile.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { milderLabels, missingRules, newAllowances, oldRulePrefix, oldRules } from "../../proof/prove/difference.ts";
import { makeProver, proveHazard } from "../../proof/prove/prove.ts";
import { relaxed } from "../../proof/prove/relaxed.ts";
import { ruleLine } from "../../proof/prove/remedy.ts";
import { renderSteps } from "../../proof/prove/render.ts";
import type { Manifest } from "../../proof/prove/table.ts";
import { sha256 } from "../policy/policy-source.ts";
import { subjectOf } from "./subject-tools.ts";

export type Widened = {
  readonly rule: string;
  /** A call that the rule stopped now goes ahead, or waits only for an answer, or is undecided. */
  readonly verdict: "refuted" | "asked" | "unknown";
  readonly counterexample: readonly string[];
};

export type ProofDiff = {
  /** Nothing is let through that was stopped before, and no hazard lost its proof. */
  readonly ok: boolean;
  readonly widened: readonly Widened[];
  /** Questions of the default that a new allow rule takes away. */
  readonly allowed: readonly string[];
  /** Gone or changed, and compared as it is written: rules of some kinds, modes, hazards, the host, whole sections. */
  readonly changed: readonly string[];
  readonly labels: readonly string[];
  readonly hazards: readonly { readonly id: string; readonly before: string; readonly after: string }[];
};

export type DiffSide = { readonly policy: CompiledPolicy; readonly manifest: Manifest };

export function proofDiff(old: DiffSide, present: DiffSide): Result<ProofDiff, string> {
  const { hazards: wanted, unsayable } = oldRules(old.policy.policy);
  const { policy } = present.policy;
  const joined = compilePolicy({ ...policy, hazards: { ...policy.hazards, ...wanted } }, sha256);
  if (joined.policy === undefined) {
    const why =
      joined.problems.find((problem) => problem.severity === "error")?.message ?? "its words mean nothing there";
    return err(
      `The old rules cannot be read under the new policy (${why}): keep lattice and stores until the rules are compared.`,
    );
  }
  const subject = subjectOf(joined.policy, present.manifest);
  const prover = makeProver(subject);
  const widened = joined.policy.ir.hazards
    .filter((hazard) => hazard.id.startsWith(oldRulePrefix))
    .flatMap((hazard): readonly Widened[] => {
      const proof = proveHazard(prover, hazard);
      const rule = hazard.id.slice(oldRulePrefix.length);
      if (proof.verdict === "proved" || proof.verdict === "vacuous") {
        // A call that was refused before may now wait for an answer only.
        const refused = old.policy.policy.rules.find(({ id }) => id === rule)?.tier !== "confirm";
        return refused && proof.givenConsent === false ? [{ rule, verdict: "asked", counterexample: [] }] : [];
      }
      const steps = proof.counterexample?.steps ?? [];
      const named = { ...hazard, id: "goes ahead now" };
      const counterexample = proof.verdict === "refuted" ? renderSteps(subject, named, steps) : [proof.reason ?? ""];
      return [{ rule, verdict: proof.verdict, counterexample }];
    });
  const sameLattice = JSON.stringify(old.policy.ir.lattice) === JSON.stringify(present.policy.ir.lattice);
  const before = subjectOf(old.policy, old.manifest);
  const labels = sameLattice
    ? milderLabels(before, subject)
    : ["the lattices differ, so labels are not compared: keep the lattice until they are"];
  const hazards = lostProofs(old, present);
  const changed = [
    ...missingRules(unsayable, policy).map((rule) => `${rule.id}: ${ruleLine(rule)}`),
    ...relaxed(old.policy, present.policy),
  ];
  const allowed = newAllowances(old.policy.policy, policy).map((rule) => `${rule.id}: ${ruleLine(rule)}`);
  const same = [widened, allowed, changed, labels, hazards].every((found) => found.length === 0);
  return ok({ ok: same, widened, allowed, changed, labels, hazards });
}

/** Hazards that were proved and are not any more, that are gone, or that something can bring about by now. */
function lostProofs(old: DiffSide, present: DiffSide): ProofDiff["hazards"] {
  const before = verdicts(old);
  const after = verdicts(present);
  return [...before].flatMap(([id, verdict]) => {
    const now = after.get(id) ?? "gone";
    const lost = verdict === "proved" ? now !== "proved" : verdict === "vacuous" && /^(?:refuted|unknown)$/.test(now);
    return lost ? [{ id, before: verdict, after: now }] : [];
  });
}

function verdicts({ policy, manifest }: DiffSide): ReadonlyMap<string, string> {
  const prover = makeProver(subjectOf(policy, manifest));
  return new Map(policy.ir.hazards.map((hazard) => [hazard.id, proveHazard(prover, hazard).verdict]));
}

export function diffText(found: ProofDiff): string {
  const lines: string[] = [];
  for (const { rule, verdict, counterexample } of found.widened) {
    if (verdict === "asked") {
      lines.push(`Calls that rule ${rule} refused now only ask.`);
      continue;
    }
    lines.push(
      verdict === "refuted" ? `What rule ${rule} stopped or asked about goes ahead:` : `Rule ${rule} is not decided:`,
      ...counterexample,
    );
  }
  for (const allowed of found.allowed) lines.push(`A new rule takes questions away: ${allowed}`);
  for (const changed of found.changed) lines.push(`Gone or changed, compared by its text only: ${changed}`);
  for (const label of found.labels) lines.push(`Believed milder: ${label}`);
  for (const { id, before, after } of found.hazards) lines.push(`Hazard ${id} was ${before} and is ${after} now.`);
  if (found.ok) lines.push("Nothing that the old policy stops or asks about goes ahead under the new one.");
  return lines.join("\n");
}

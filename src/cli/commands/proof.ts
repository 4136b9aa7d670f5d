/** `sluicegate proof verify|check`: whether the hazards of a policy can happen, before anything runs under it. */
import { basename } from "node:path";
import type { Command } from "commander";
import { type Result, ok } from "../../core/result.ts";
import { checkExpectations } from "../../app/policy/expectations.ts";
import { namedTools } from "../../app/policy/named-policy.ts";
import { type Present, checkCertificate } from "../../proof/check/check.ts";
import { tableEntry } from "../../proof/prove/table.ts";
import { type Fault, type Outcome, failure, refusal } from "../../app/state/outcome.ts";
import { type OptionsOf, acts, manifestOption } from "../output.ts";
import { many, shortPath, shown } from "../../app/state/sentences.ts";
import { sha256 } from "../../app/policy/policy-source.ts";
import { diffText, proofDiff } from "../../app/proof/diff.ts";
import { exported, exportForms, writeExport } from "../../app/proof/export.ts";
import { manifestDigests, proofInput, subjectOf } from "../../app/proof/subject-tools.ts";
import { type Verified, type VerifiedProperty, verify } from "../../app/proof/verify.ts";
import { readCertificates, writeCertificates } from "../../app/proof/bundle.ts";

const verifyOptions = {
  ...manifestOption,
  "--cert-dir <folder>": "write a certificate for each proved hazard there",
  "--rules-only": "rules have to prevent every hazard, without the help of regulation",
} as const;
const exportOptions = {
  "--to <form>": { required: exportForms.join(", ") },
  "--hazard <id>": "which hazard; the first one otherwise",
  "--out <file>": "write it there instead of to standard output",
  ...manifestOption,
} as const;
const checkOptions = {
  "--policy <file>": "the policy that it has to be about",
  "--manifest <file...>": "the tools that it has to be about, besides those of the policy",
} as const;

export function register(program: Command): void {
  const proof = program.command("proof").description("prove the hazards of policies, and check proofs");
  acts(
    proof.command("verify <policy>").description("prove every hazard, or show the shortest way to it"),
    verifyOptions,
    (options, file: string) => verifyFile(file, options),
  );
  acts(
    proof.command("export <policy>").description("the model and proof of a hazard for z3 (smtlib, horn) or Alloy 6"),
    exportOptions,
    (options, file: string) => exportFile(file, options),
  );
  acts(
    proof
      .command("diff <old> <new>")
      .description("what the old policy stops or asks about and the new one lets through"),
    manifestOption,
    (options, old: string, present: string) => diffFiles(old, present, options),
  );
  acts(
    proof
      .command("check <certificate>")
      .description("check a certificate, or a folder of them, without the engine that made them"),
    checkOptions,
    (options, place: string) => checkFile(place, options),
  );
}

function verifyFile(file: string, options: OptionsOf<typeof verifyOptions>): Outcome {
  const input = proofInput(file, options.manifest);
  if (!input.ok) return refusal(input.error);
  const { policy, manifest, inherited } = input.value;
  const found = verify(policy, manifest, { rulesOnly: options.rulesOnly === true });
  const verified = { ...found, lints: found.lints.filter(({ rule }) => rule === undefined || !inherited(rule)) };
  if (options.certDir !== undefined) {
    const made = verified.properties.flatMap(({ id, certificate }) =>
      certificate === undefined ? [] : [[id, certificate] as const],
    );
    const written = writeCertificates(options.certDir, new Map(made));
    if (!written.ok) return failure("SG-PROOF-WRITE", written.error);
  }
  return { exitCode: verified.ok ? 0 : 1, json: verified, text: textOf(verified) };
}

function exportFile(file: string, options: OptionsOf<typeof exportOptions>): Outcome {
  const form = exportForms.find((one) => one === options.to);
  if (form === undefined) return failure("SG-USAGE", `Write --to ${exportForms.join(", --to ")}.`);
  const input = proofInput(file, options.manifest);
  if (!input.ok) return refusal(input.error);
  const { policy, manifest } = input.value;
  const { hazard = policy.ir.hazards[0]?.id ?? "", out } = options;
  const text = exported(subjectOf(policy, manifest), hazard, form);
  if (!text.ok) return failure("SG-PROOF-EXPORT", text.error);
  if (out === undefined) return { exitCode: 0, json: { hazard, form, text: text.value }, text: text.value };
  const written = writeExport(out, text.value);
  if (!written.ok) return failure("SG-PROOF-WRITE", written.error);
  return { exitCode: 0, json: { hazard, form, out }, text: `${hazard} as ${form}: ${shortPath(out)}` };
}

function diffFiles(old: string, present: string, options: OptionsOf<typeof manifestOption>): Outcome {
  const before = proofInput(old, options.manifest);
  if (!before.ok) return refusal(before.error);
  const after = proofInput(present, options.manifest);
  if (!after.ok) return refusal(after.error);
  const found = proofDiff(before.value, after.value);
  if (!found.ok) return failure("SG-PROOF-DIFF", found.error);
  const text = diffText(found.value)
    .split("\n")
    .map((line) => shown(line, 400))
    .join("\n");
  return { exitCode: found.value.ok ? 0 : 1, json: found.value, text };
}

function checkFile(place: string, options: OptionsOf<typeof checkOptions>): Outcome {
  const certificates = readCertificates(place);
  if (!certificates.ok) return failure("SG-PROOF-READ", certificates.error);
  const present = presentOf(options);
  if (!present.ok) return refusal(present.error);
  const results = certificates.value.map(({ file: from, certificate }) => ({
    file: from,
    ...checkCertificate(certificate, { hash: sha256, ...present.value }),
  }));
  const several = results.some((result) => result.file !== results[0]?.file);
  // Labels are the ground of a proof: without the policy in force they are the certificate's own claim.
  const compared = options.policy !== undefined;
  const under = compared ? "" : " under the policy and labels that the certificate carries";
  const lines = results.map((result) => {
    const from = several ? `${basename(result.file)}: ` : "";
    if (!result.ok) return `${from}Refused: ${result.reason}.`;
    const core = result.core.length === 0 ? "" : `, needing ${result.core.join(", ")}`;
    return `${from}${result.hazard} cannot happen${under}: the certificate holds${core}.`;
  });
  const assumptions = [...new Set(results.flatMap((result) => (result.ok ? result.assumptions : [])))];
  if (assumptions.length > 0) lines.push(takenForGranted, ...assumptions.map((one) => `  - ${one}`));
  if (assumptions.length > 0 && !compared)
    lines.push(
      "Not compared with a policy and tools in force: give --policy, and --manifest for lists of its servers.",
    );
  const all = results.every(({ ok: holds }) => holds);
  return {
    exitCode: all ? 0 : 1,
    json: { ok: all, compared, certificates: results },
    text: lines.map((line) => shown(line, 400)).join("\n"),
  };
}

/** What is known to be in force: all of it with a policy, and lists of tools without one. */
function presentOf(options: OptionsOf<typeof checkOptions>): Result<Omit<Present, "hash">, Fault> {
  if (options.policy === undefined) {
    const named = namedTools(options.manifest);
    if (!named.ok) return named;
    return ok(options.manifest === undefined ? {} : { manifests: manifestDigests(named.value) });
  }
  const input = proofInput(options.policy, options.manifest);
  if (!input.ok) return input;
  const { policy, manifest } = input.value;
  const { contracts } = subjectOf(policy, manifest);
  return ok({
    policyDigest: policy.digest,
    tools: contracts.map((contract) => tableEntry(policy.ir, contract)),
    manifests: manifestDigests(manifest),
    expect: checkExpectations(policy).map(({ expected, holds }) => ({ verdict: expected, holds })),
  });
}

const takenForGranted = "It is taken for granted that:";

function textOf(verified: Verified): string {
  const { properties, usefulness, assumptions } = verified;
  const lines = properties.flatMap(propertyLines);
  if (properties.length === 0) lines.push("The policy names no hazard, so there is nothing to prove: add `hazards:`.");
  const broken = usefulness.filter(({ holds }) => !holds);
  for (const { expect, verdict, outcome = "another verdict" } of broken)
    lines.push(shown(`expect[${expect}] wants ${verdict} and gets ${outcome}.`, 400));
  const allowed = usefulness.filter(({ verdict, holds }) => verdict === "allow" && holds).length;
  if (allowed === 0) {
    lines.push("No `expect:` trace shows that anything useful is allowed, so the proof counts as vacuous: add one.");
  } else if (broken.length === 0)
    lines.push(`Still useful: ${many(allowed, "expected trace")} ${allowed === 1 ? "is" : "are"} allowed.`);
  for (const { about, message } of verified.lints) lines.push(shown(`Note on ${about}: ${message}.`, 400));
  lines.push(takenForGranted, ...assumptions.map((assumption) => `  - ${assumption}`));
  return lines.join("\n");
}

const enforcers = {
  rules: "by rules",
  regulation: "because each call that would do it is refused",
  consent: "because the user is asked first",
  none: "by nothing",
} as const;

function propertyLines(property: VerifiedProperty): readonly string[] {
  const { id, verdict, core, counterexample, reason } = property;
  switch (verdict) {
    case "proved": {
      const by = core === undefined || core.length === 0 ? "" : `, needing ${core.join(", ")}`;
      const how = core?.length === 0 ? (reason ?? "") : `${enforcers[property.enforcedBy]}${by}`;
      const yes =
        property.consented === undefined || property.enforcedBy !== "consent"
          ? []
          : [`  Where every question is answered with yes it can: ${property.consented}`];
      return [`${id} cannot happen: ${how}.`, ...yes].map((line) => shown(line, 400));
    }
    case "refuted": {
      const kept =
        property.unenforceable !== undefined
          ? ", and nothing here can prevent it"
          : property.enforcedBy === "regulation"
            ? " by the rules alone; the gateway refuses in time"
            : "";
      const accepted = property.accepted ? " (accepted)" : "";
      return [
        shown(`${id} can happen${kept}${accepted}:`, 400),
        ...(counterexample ?? []).map((line) => shown(line, 400)),
      ];
    }
    case "vacuous":
      return [shown(`${id} says nothing: ${reason ?? ""}. Check its pattern against the tools.`, 400)];
    case "unknown":
      return [shown(`${id} is not decided: ${reason ?? ""}.`, 400)];
  }
}

/** `sluicegate proof verify|check`: whether the hazards of a policy can happen, before anything runs under it. */
import { basename } from "node:path";
import type { Command } from "commander";
import type { Result } from "../../core/result.ts";
import { err, ok } from "../../core/result.ts";
import { information } from "../../policy/diagnostic.ts";
import type { CompiledPolicy } from "../../policy/compile.ts";
import { checkCertificate } from "../../proof/check/check.ts";
import type { Manifest } from "../../proof/table.ts";
import { tableEntry } from "../../proof/table.ts";
import { whyUnloadable } from "../loaded-policy.ts";
import { readManifests, toolNames } from "../manifest.ts";
import type { Outcome } from "../output.ts";
import { acts, failure, many, shortPath, shown } from "../output.ts";
import { defaultPolicyName, isShipped, loadFrom, sha256 } from "../policy-source.ts";
import { diffText, proofDiff } from "../proof/diff.ts";
import { exported, exportForms, writeExport } from "../proof/export.ts";
import { listedTools, manifestOf, subjectOf } from "../proof/manifest-of.ts";
import type { Verified, VerifiedProperty } from "../proof/verify.ts";
import { verify } from "../proof/verify.ts";
import { readCertificates, writeCertificates } from "../proof/bundle.ts";

type Options = Readonly<Record<string, unknown>>;

export function register(program: Command): void {
  const proof = program.command("proof").description("prove the hazards of policies, and check proofs");
  const verifying = proof
    .command("verify <policy>")
    .description("prove every hazard, or show the shortest way to it")
    .option("--manifest <file...>", "tools of a server as `tools/list` gave them; NAME=FILE names it")
    .option("--cert-dir <folder>", "write a certificate for each proved hazard there");
  acts(verifying, (options, file: string) => verifyFile(file, options));
  const exporting = proof
    .command("export <policy>")
    .description("the model and proof of a hazard for z3 (smtlib, horn) or Alloy 6")
    .requiredOption("--to <form>", exportForms.join(", "))
    .option("--hazard <id>", "which hazard; the first one otherwise")
    .option("--out <file>", "write it there instead of to standard output")
    .option("--manifest <file...>", "tools of a server as `tools/list` gave them; NAME=FILE names it");
  acts(exporting, (options, file: string) => exportFile(file, options));
  const differing = proof
    .command("diff <old> <new>")
    .description("what the old policy stops or asks about and the new one lets through")
    .option("--manifest <file...>", "tools of a server as `tools/list` gave them; NAME=FILE names it");
  acts(differing, (options, old: string, present: string) => diffFiles(old, present, options));
  const checking = proof
    .command("check <certificate>")
    .description("check a certificate, or a folder of them, without the engine that made them")
    .option("--policy <file>", "the policy that it has to be about")
    .option("--manifest <file...>", "the tools that it has to be about, besides those of the policy");
  acts(checking, (options, place: string) => checkFile(place, options));
}

export type ProofInput = {
  readonly policy: CompiledPolicy;
  readonly manifest: Manifest;
  /** The rule comes from the default or a shipped pack, so its author is not who asks. */
  readonly inherited: (rule: string) => boolean;
};

/** A policy that compiles, and the tools that it is proved for. */
export function proofInput(file: string, manifests: unknown): Result<ProofInput, Outcome> {
  const given = Array.isArray(manifests) ? readManifests(manifests.map(String)) : ok({});
  if (!given.ok) return err(failure("SG-MANIFEST", given.error));
  const first = loadedPolicy(file, given.value);
  if (!first.ok) return first;
  const listed = listedTools(first.value.policy, given.value);
  if (!listed.ok) return err(failure("SG-MANIFEST", listed.error));
  // Bare names of tools can only be resolved once it is known which tools there are.
  const known = Object.keys(listed.value).length === Object.keys(given.value).length;
  const loaded = known ? first : loadedPolicy(file, listed.value);
  if (!loaded.ok) return loaded;
  const { policy, inherited } = loaded.value;
  return ok({ policy, manifest: manifestOf(policy, listed.value), inherited });
}

function loadedPolicy(file: string, lists: Manifest): Result<Omit<ProofInput, "manifest">, Outcome> {
  const named = Object.keys(lists).length === 0 ? undefined : toolNames(lists);
  const loaded = loadFrom(file === defaultPolicyName ? undefined : file, named);
  if (!loaded.ok) return err(failure("SG-POLICY", loaded.error));
  const { policy, diagnostics, place } = loaded.value;
  if (policy !== undefined) {
    const inherited = (rule: string): boolean => isShipped(place(information("RULE", ["rules", rule], "", "")).file);
    return ok({ policy, inherited });
  }
  return err(failure("SG-POLICY", whyUnloadable(file, diagnostics)));
}

function verifyFile(file: string, options: Options): Outcome {
  const input = proofInput(file, options["manifest"]);
  if (!input.ok) return input.error;
  const { policy, manifest, inherited } = input.value;
  const found = verify(policy, manifest);
  const verified = { ...found, lints: found.lints.filter(({ rule }) => rule === undefined || !inherited(rule)) };
  const folder = options["certDir"];
  if (typeof folder === "string") {
    const made = verified.properties.flatMap(({ id, certificate }) =>
      certificate === undefined ? [] : [[id, certificate] as const],
    );
    const written = writeCertificates(folder, new Map(made));
    if (!written.ok) return failure("SG-PROOF-WRITE", written.error);
  }
  return { exitCode: verified.ok ? 0 : 1, json: verified, text: textOf(verified) };
}

function exportFile(file: string, options: Options): Outcome {
  const form = exportForms.find((one) => one === options["to"]);
  if (form === undefined) return failure("SG-USAGE", `Write --to ${exportForms.join(", --to ")}.`);
  const input = proofInput(file, options["manifest"]);
  if (!input.ok) return input.error;
  const { policy, manifest } = input.value;
  const hazard = typeof options["hazard"] === "string" ? options["hazard"] : (policy.ir.hazards[0]?.id ?? "");
  const text = exported(subjectOf(policy, manifest), hazard, form);
  if (!text.ok) return failure("SG-PROOF-EXPORT", text.error);
  const out = options["out"];
  if (typeof out !== "string") return { exitCode: 0, json: { hazard, form, text: text.value }, text: text.value };
  const written = writeExport(out, text.value);
  if (!written.ok) return failure("SG-PROOF-WRITE", written.error);
  return { exitCode: 0, json: { hazard, form, out }, text: `${hazard} as ${form}: ${shortPath(out)}` };
}

function diffFiles(old: string, present: string, options: Options): Outcome {
  const before = proofInput(old, options["manifest"]);
  if (!before.ok) return before.error;
  const after = proofInput(present, options["manifest"]);
  if (!after.ok) return after.error;
  const found = proofDiff(before.value, after.value);
  if (!found.ok) return failure("SG-PROOF-DIFF", found.error);
  const text = diffText(found.value)
    .split("\n")
    .map((line) => shown(line, 400))
    .join("\n");
  return { exitCode: found.value.ok ? 0 : 1, json: found.value, text };
}

function checkFile(place: string, options: Options): Outcome {
  const certificates = readCertificates(place);
  if (!certificates.ok) return failure("SG-PROOF-READ", certificates.error);
  const file = options["policy"];
  const input = typeof file === "string" ? proofInput(file, options["manifest"]) : undefined;
  if (input !== undefined && !input.ok) return input.error;
  const present = input === undefined ? {} : presentOf(input.value);
  const results = certificates.value.map(({ file: from, certificate }) => ({
    file: from,
    ...checkCertificate(certificate, { hash: sha256, ...present }),
  }));
  const several = results.some((result) => result.file !== results[0]?.file);
  const lines = results.map((result) => {
    const from = several ? `${basename(result.file)}: ` : "";
    if (!result.ok) return `${from}Refused: ${result.reason}.`;
    const core = result.core.length === 0 ? "" : `, needing ${result.core.join(", ")}`;
    return `${from}${result.hazard} cannot happen: the certificate holds${core}.`;
  });
  const all = results.every(({ ok: holds }) => holds);
  return {
    exitCode: all ? 0 : 1,
    json: { ok: all, certificates: results },
    text: lines.map((line) => shown(line, 400)).join("\n"),
  };
}

function presentOf({ policy, manifest }: ProofInput): { readonly policyDigest: string; readonly tools: unknown } {
  const { contracts } = subjectOf(policy, manifest);
  return { policyDigest: policy.digest, tools: contracts.map((contract) => tableEntry(policy.ir, contract)) };
}

function textOf(verified: Verified): string {
  const { properties, usefulness, assumptions } = verified;
  const lines = properties.flatMap(propertyLines);
  if (properties.length === 0) lines.push("The policy names no hazard, so there is nothing to prove: add `hazards:`.");
  const broken = usefulness.filter(({ holds }) => !holds);
  for (const { expect, verdict } of broken) lines.push(`expect[${expect}] wants ${verdict} and does not get it.`);
  const allowed = usefulness.filter(({ verdict, holds }) => verdict === "allow" && holds).length;
  if (allowed === 0) {
    lines.push("No `expect:` trace shows that anything useful is allowed, so the proof counts as vacuous: add one.");
  } else if (broken.length === 0)
    lines.push(`Still useful: ${many(allowed, "expected trace")} ${allowed === 1 ? "is" : "are"} allowed.`);
  for (const { about, message } of verified.lints) lines.push(shown(`Note on ${about}: ${message}.`, 400));
  lines.push("It is taken for granted that:", ...assumptions.map((assumption) => `  - ${assumption}`));
  return lines.join("\n");
}

const enforcers = {
  rules: "by rules",
  regulation: "because each call that would do it is refused",
  consent: "because a person is asked first",
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

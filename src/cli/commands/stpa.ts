/** `sluicegate stpa check|compile|draft|report`: from losses to rules, and what is missing in between. */
import { existsSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { Result } from "../../core/result.ts";
import { err, ok } from "../../core/result.ts";
import type { CompiledPolicy } from "../../policy/compile.ts";
import { contractOfTool } from "../../policy/contracts.ts";
import type { Diagnostic, Problem } from "../../policy/diagnostic.ts";
import { inferTool } from "../../policy/inference/infer.ts";
import type { Loaded } from "../../policy/load.ts";
import { diagnose } from "../../policy/parse.ts";
import { compileStpa } from "../../policy/stpa/compile.ts";
import type { Proves } from "../../policy/stpa/cost.ts";
import type { ToolLists } from "../../policy/lint.ts";
import { draftStpa, draftText } from "../../policy/stpa/draft.ts";
import { documentGaps } from "../../policy/stpa/gaps.ts";
import { htmlReport } from "../../policy/stpa/html.ts";
import { markdownReport } from "../../policy/stpa/markdown.ts";
import { policyGaps, proofGaps } from "../../policy/stpa/policy-gaps.ts";
import type { ProofResults } from "../../policy/stpa/proof-results.ts";
import type { StpaSource } from "../../policy/stpa/read.ts";
import { makeReport } from "../../policy/stpa/report.ts";
import { diagnosticLine, whyUnloadable } from "../loaded-policy.ts";
import { readManifests, toolNames } from "../manifest.ts";
import type { Outcome } from "../output.ts";
import { acts, failure, shortPath } from "../output.ts";
import { defaultPolicyName, loadFrom, sha256, toolDigest } from "../policy-source.ts";
import { judgeExpectation } from "../replay/expectations.ts";
import { provenNow, provesWith } from "../proof/for-stpa.ts";
import { listedTools } from "../proof/manifest-of.ts";
import { proofFile, stpaFile } from "../stpa-files.ts";
import { writtenByAuthor } from "../stpa-of-policy.ts";
import { checkedUnder, seenFrom, underNames } from "../stpa-under.ts";
import { whyUnwritten } from "../text-file.ts";

export function register(program: Command): void {
  const stpa = program.command("stpa").description("hazard analysis: from losses to requirements and rules");
  const policy = ["--policy <file>", "the policy that implements the document"] as const;
  const proof = [
    "--proof <file>",
    "what `proof verify --json` said of that policy, instead of proving it now",
  ] as const;
  const manifest = ["--manifest <file...>", "tools of a server as `tools/list` gave them; NAME=FILE names it"] as const;
  const out = ["--out <file>", "write there instead of to standard output"] as const;
  acts(
    stpa
      .command("check <file>")
      .description("find gaps: losses without hazard, actions without requirement, properties without proof")
      .option(...policy)
      .option(...manifest)
      .option(...proof),
    (options, file: string) => check(file, options),
  );
  acts(
    stpa
      .command("compile <file>")
      .description("write the properties and rules of the document as a policy")
      .option("--over <name...>", "policies that bring the labels; the built-in default without it")
      .option(...out),
    (options, file: string) => compile(file, options),
  );
  acts(
    stpa
      .command("draft")
      .description("propose unsafe control actions for the tools of a manifest")
      .requiredOption(...manifest)
      .option("--policy <file>", "the policy whose labels count; the default policy without it")
      .option(...out),
    (options) => draft(options),
  );
  acts(
    stpa
      .command("report <file>")
      .description("render the trace matrix and what each requirement costs")
      .option(...policy)
      .option(...manifest)
      .option(...proof)
      .option("--html", "one HTML page")
      .option("--markdown", "Markdown (the default)")
      .option(...out),
    (options, file: string) => report(file, options),
  );
}

type Options = Readonly<Record<string, unknown>>;

function textOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** Everything that a command was pointed at, or the outcome that says what is wrong with it. */
type Material = {
  readonly source: StpaSource;
  readonly loaded: (Loaded & { readonly policy: CompiledPolicy }) | undefined;
  readonly proofs: ProofResults | undefined;
  readonly proves: Proves;
};

function readDocument(file: string): Result<StpaSource, Outcome> {
  const read = stpaFile(file);
  if (read.ok) return read;
  const fault = read.error;
  if (fault.kind === "unreadable") return err(failure("SG-STPA", fault.sentence));
  const [first] = fault.diagnostics;
  const message = first === undefined ? `${shortPath(file)} is no STPA document.` : diagnosticLine(first);
  const json = { ok: false, error: { code: "SG-STPA", message }, diagnostics: fault.diagnostics };
  return err({
    exitCode: 2,
    json,
    text: fault.diagnostics.map((found) => `error: ${diagnosticLine(found)}`).join("\n"),
  });
}

function loadPolicy(name: string, lists: ToolLists): Result<NonNullable<Material["loaded"]>, Outcome> {
  const names = Object.keys(lists).length === 0 ? undefined : toolNames(lists);
  const loaded = loadFrom(name === defaultPolicyName ? undefined : name, names);
  if (!loaded.ok) return err(failure("SG-POLICY", loaded.error));
  const { policy, diagnostics } = loaded.value;
  if (policy !== undefined) return ok({ ...loaded.value, policy });
  return err(failure("SG-POLICY", whyUnloadable(name, diagnostics)));
}

function readMaterial(file: string, options: Options): Result<Material, Outcome> {
  const source = readDocument(file);
  if (!source.ok) return source;
  const name = textOption(options, "policy");
  const proof = textOption(options, "proof");
  const words = options["manifest"];
  const lists = Array.isArray(words) ? readManifests(words.map(String)) : ok({});
  if (!lists.ok) return err(failure("SG-MANIFEST", lists.error));
  if (name === undefined) {
    return proof === undefined
      ? ok({ source: source.value, loaded: undefined, proofs: undefined, proves: () => undefined })
      : err(failure("SG-USAGE", "`--proof` speaks of a policy: add `--policy FILE`."));
  }
  const loaded = loadPolicy(name, lists.value);
  if (!loaded.ok) return loaded;
  const { policy } = loaded.value;
  const listed = listedTools(policy, lists.value);
  if (!listed.ok) return err(failure("SG-MANIFEST", listed.error));
  const proofs = proof === undefined ? ok(provenNow(policy, listed.value)) : proofFile(proof);
  if (!proofs.ok) return err(failure("SG-STPA-PROOF-FILE", proofs.error));
  return ok({
    source: source.value,
    loaded: loaded.value,
    proofs: proofs.value,
    proves: provesWith(listed.value),
  });
}

function gapsOf({ source, loaded, proofs }: Material): readonly Diagnostic[] {
  const inDocument = (found: Problem): Diagnostic => diagnose(found, source);
  const own = documentGaps(source.document).map(inDocument);
  if (loaded === undefined) return own;
  const apart = policyGaps(source.document, loaded.policy, writtenByAuthor(loaded.place));
  return [
    ...own,
    ...apart.inDocument.map(inDocument),
    ...apart.inPolicy.map(loaded.place),
    ...(proofs === undefined ? [] : proofGaps(loaded.policy, proofs).map(loaded.place)),
  ];
}

function check(file: string, options: Options): Outcome {
  const material = readMaterial(file, options);
  if (!material.ok) return material.error;
  const diagnostics = gapsOf(material.value);
  const complete = diagnostics.length === 0;
  const lines = diagnostics.map((found) => `gap: ${diagnosticLine(found)}`);
  const verdict = complete
    ? "The analysis has no gaps."
    : `${diagnostics.length} ${diagnostics.length === 1 ? "gap" : "gaps"}.`;
  return { exitCode: complete ? 0 : 1, json: { ok: complete, diagnostics }, text: [...lines, verdict].join("\n") };
}

function compile(file: string, options: Options): Outcome {
  const source = readDocument(file);
  if (!source.ok) return source.error;
  const named = options["over"];
  const own = resolve(textOption(options, "out") ?? "policy.yaml");
  const over = Array.isArray(named) ? underNames(own, named.map(String)) : ok(undefined);
  if (!over.ok) return failure("SG-POLICY", over.error);
  const text = compileStpa(source.value.document, {
    file: seenFrom(own, file),
    ...(over.value === undefined ? {} : { over: over.value }),
  });
  const checked = checkedUnder(own, text);
  return checked.ok ? writtenAnew(text, options, { policy: text }) : failure("SG-POLICY", checked.error);
}

function draft(options: Options): Outcome {
  const words = options["manifest"];
  const lists = readManifests(Array.isArray(words) ? words.map(String) : []);
  if (!lists.ok) return failure("SG-MANIFEST", lists.error);
  const name = textOption(options, "policy") ?? defaultPolicyName;
  const names = toolNames(lists.value);
  const loaded = name === defaultPolicyName ? loadFrom(undefined) : loadFrom(name, names);
  if (!loaded.ok) return failure("SG-POLICY", loaded.error);
  const { policy, diagnostics } = loaded.value;
  if (policy === undefined) return failure("SG-POLICY", whyUnloadable(name, diagnostics));
  const tools = Object.entries(lists.value).flatMap(([server, listed]) =>
    listed.map((tool) => ({
      contract: contractOfTool(policy.table, server, tool, toolDigest),
      suggested: inferTool(tool).may,
    })),
  );
  const made = draftStpa(tools, policy.ir.lattice);
  const text = draftText(made);
  return writtenAnew(text, options, made);
}

function report(file: string, options: Options): Outcome {
  if (options["html"] === true && options["markdown"] === true) {
    return failure("SG-USAGE", "`--html` and `--markdown` exclude each other: choose one.");
  }
  const material = readMaterial(file, options);
  if (!material.ok) return material.error;
  const { source, loaded, proofs, proves } = material.value;
  const made = makeReport({
    document: source.document,
    ...(loaded === undefined ? {} : { policy: loaded.policy }),
    ...(proofs === undefined ? {} : { proofs }),
    gaps: gapsOf(material.value),
    cost: { judge: judgeExpectation, proves, hash: sha256 },
  });
  const { tables: _tables, ...json } = made;
  return written(options["html"] === true ? htmlReport(made) : markdownReport(made), options, json);
}

/** The same for what people go on with by hand: a file that is there may hold their words. */
function writtenAnew(text: string, options: Options, json: object): Outcome {
  const file = textOption(options, "out");
  return file !== undefined && existsSync(file)
    ? failure("SG-STPA-OUT", `${shortPath(file)} is there and may hold your own words: name another file with --out.`)
    : written(text, options, json);
}

/** Prints a text, or writes it where `--out` says. */
function written(text: string, options: Options, json: object): Outcome {
  const file = textOption(options, "out");
  if (file === undefined) return { exitCode: 0, json, text: text.trimEnd() };
  try {
    writeFileSync(file, text);
  } catch (cause) {
    const why = whyUnwritten(cause);
    return failure("SG-STPA-OUT", `${shortPath(file)} cannot be written (${why}): name another file with --out.`);
  }
  return { exitCode: 0, json: { file }, text: `Written to ${shortPath(file)}.` };
}

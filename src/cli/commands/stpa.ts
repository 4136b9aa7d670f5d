/** `sluicegate stpa check|compile|draft|report`: from losses to rules, and the gaps in between. */
import { existsSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { type Result, err, ok } from "../../core/result.ts";
import { contractOfTool } from "../../policy/contracts/contracts.ts";
import type { Diagnostic, Problem } from "../../policy/document/diagnostic.ts";
import { inferTool } from "../../policy/contracts/infer.ts";
import { diagnose } from "../../policy/document/parse.ts";
import { compileStpa } from "../../policy/stpa/formal.ts";
import type { Proves } from "../../policy/stpa/cost.ts";
import { draftStpa, draftText } from "../../policy/stpa/draft.ts";
import { documentGaps } from "../../policy/stpa/gaps.ts";
import { htmlReport } from "../../policy/stpa/html.ts";
import { markdownReport, makeReport } from "../../policy/stpa/report.ts";
import { policyGaps, proofGaps } from "../../policy/stpa/policy-gaps.ts";
import type { ProofResults } from "../../policy/stpa/proof-results.ts";
import type { StpaSource } from "../../policy/stpa/read.ts";
import { diagnosticLine } from "../../app/policy/diagnostic-line.ts";
import { type Placed, namedPolicy, namedTools, whyUnloadable } from "../../app/policy/named-policy.ts";
import { type Outcome, failure, refusal } from "../../app/state/outcome.ts";
import { type OptionsOf, acts, manifestOption } from "../output.ts";
import { shortPath } from "../../app/state/sentences.ts";
import { defaultPolicyName, sha256, toolDigest } from "../../app/policy/policy-source.ts";
import { judgeExpectation } from "../../app/policy/expectations.ts";
import {
  provenNow,
  provesWith,
  proofFile,
  stpaFile,
  writtenByAuthor,
  checkedUnder,
  seenFrom,
  underNames,
} from "../../app/proof/for-stpa.ts";
import { packedPolicy } from "../../app/proof/subject-tools.ts";
import { whyUnwritten } from "../../app/state/text-file.ts";

const outOption = { "--out <file>": "write there instead of to standard output" } as const;
const checkOptions = {
  "--policy <file>": "the policy that implements the document",
  ...manifestOption,
  "--proof <file>": "what `proof verify --json` said of that policy, instead of proving it now",
} as const;
const compileOptions = {
  "--over <name...>": "policies that bring the labels; the built-in default without it",
  ...outOption,
} as const;
const draftOptions = {
  "--manifest <file...>": { required: manifestOption["--manifest <file...>"] },
  "--policy <file>": "the policy whose labels count; the default policy without it",
  ...outOption,
} as const;
const reportOptions = {
  ...checkOptions,
  "--html": "one HTML page",
  "--markdown": "Markdown (the default)",
  ...outOption,
} as const;

export function register(program: Command): void {
  const stpa = program.command("stpa").description("hazard analysis: from losses to requirements and rules");
  acts(
    stpa
      .command("check <file>")
      .description("find gaps: losses without hazard, actions without requirement, properties without proof"),
    checkOptions,
    (options, file: string) => check(file, options),
  );
  acts(
    stpa.command("compile <file>").description("write the properties and rules of the document as a policy"),
    compileOptions,
    (options, file: string) => compile(file, options),
  );
  acts(
    stpa.command("draft").description("propose unsafe control actions for the tools of a manifest"),
    draftOptions,
    draft,
  );
  acts(
    stpa.command("report <file>").description("render the trace matrix and what each requirement costs"),
    reportOptions,
    (options, file: string) => report(file, options),
  );
}

/** Everything that a command was pointed at, or the outcome that names its fault. */
type Material = {
  readonly source: StpaSource;
  readonly loaded: Placed | undefined;
  readonly proofs: ProofResults | undefined;
  readonly proves: Proves;
};

function readDocument(file: string): Result<StpaSource, Outcome> {
  const read = stpaFile(file);
  if (read.ok) return read;
  const fault = read.error;
  if (fault.kind === "unreadable") return err(failure("SG-STPA", fault.sentence));
  const [first] = fault.diagnostics;
  const message = first === undefined ? `${shortPath(file)} is not an STPA document.` : diagnosticLine(first);
  const json = { ok: false, error: { code: "SG-STPA", message }, diagnostics: fault.diagnostics };
  return err({
    exitCode: 2,
    json,
    text: fault.diagnostics.map((found) => `error: ${diagnosticLine(found)}`).join("\n"),
  });
}

type Sources = OptionsOf<typeof checkOptions>;

function readMaterial(file: string, { policy: name, proof, manifest }: Sources): Result<Material, Outcome> {
  const source = readDocument(file);
  if (!source.ok) return source;
  const lists = namedTools(manifest);
  if (!lists.ok) return err(refusal(lists.error));
  if (name === undefined) {
    return proof === undefined
      ? ok({ source: source.value, loaded: undefined, proofs: undefined, proves: () => undefined })
      : err(failure("SG-USAGE", "`--proof` speaks of a policy: add `--policy FILE`."));
  }
  const loaded = packedPolicy(name, lists.value);
  if (!loaded.ok) return err(refusal(loaded.error));
  const { policy, lists: known, diagnostics, place } = loaded.value;
  if (policy === undefined) return err(failure("SG-POLICY", whyUnloadable(name, diagnostics)));
  const proofs = proof === undefined ? ok(provenNow(policy, known)) : proofFile(proof);
  if (!proofs.ok) return err(failure("SG-STPA-PROOF-FILE", proofs.error));
  return ok({
    source: source.value,
    loaded: { policy, place },
    proofs: proofs.value,
    proves: provesWith(known),
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

function check(file: string, options: Sources): Outcome {
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

function compile(file: string, { over: named, out }: OptionsOf<typeof compileOptions>): Outcome {
  const source = readDocument(file);
  if (!source.ok) return source.error;
  const own = resolve(out ?? "policy.yaml");
  const over = named === undefined ? ok(undefined) : underNames(own, named);
  if (!over.ok) return failure("SG-POLICY", over.error);
  const text = compileStpa(source.value.document, {
    file: seenFrom(own, file),
    ...(over.value === undefined ? {} : { over: over.value }),
  });
  const checked = checkedUnder(own, text);
  return checked.ok ? writtenAnew(text, out, { policy: text }) : failure("SG-POLICY", checked.error);
}

function draft({ manifest, policy: name = defaultPolicyName, out }: OptionsOf<typeof draftOptions>): Outcome {
  const lists = namedTools(manifest);
  if (!lists.ok) return refusal(lists.error);
  const loaded = namedPolicy(name, name === defaultPolicyName ? {} : lists.value);
  if (!loaded.ok) return refusal(loaded.error);
  const { policy } = loaded.value;
  const tools = Object.entries(lists.value).flatMap(([server, listed]) =>
    listed.map((tool) => ({
      contract: contractOfTool(policy.table, server, tool, toolDigest),
      suggested: inferTool(tool).may,
    })),
  );
  const made = draftStpa(tools, policy.ir.lattice);
  const text = draftText(made);
  return writtenAnew(text, out, made);
}

function report(file: string, options: OptionsOf<typeof reportOptions>): Outcome {
  if (options.html === true && options.markdown === true) {
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
  return written(options.html === true ? htmlReport(made) : markdownReport(made), options.out, json);
}

/** The same for files that users edit by hand: an existing file may hold their text. */
function writtenAnew(text: string, file: string | undefined, json: object): Outcome {
  return file !== undefined && existsSync(file)
    ? failure("SG-STPA-OUT", `${shortPath(file)} is there and may hold your own words: name another file with --out.`)
    : written(text, file, json);
}

/** Prints a text, or writes it where `--out` says. */
function written(text: string, file: string | undefined, json: object): Outcome {
  if (file === undefined) return { exitCode: 0, json, text: text.trimEnd() };
  try {
    writeFileSync(file, text);
  } catch (cause) {
    const why = whyUnwritten(cause);
    return failure("SG-STPA-OUT", `${shortPath(file)} cannot be written (${why}): name another file with --out.`);
  }
  return { exitCode: 0, json: { file }, text: `Written to ${shortPath(file)}.` };
}

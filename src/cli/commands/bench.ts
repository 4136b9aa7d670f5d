/** `sluicegate bench NAME`: evaluation suites that a user can rerun (contract: foresight.md 6). */
import { existsSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { Json } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { digest } from "../../wire/canonical.ts";
import {
  type Baseline,
  type DojoFinding,
  type DojoRow,
  type DojoVariant,
  dojoCells,
  runVariant,
} from "../../lab/bench/agentdojo/agentdojo.ts";
import { type DojoSuite, readSuite, suiteNames } from "../../lab/bench/agentdojo/data.ts";
import { type AdmissionDetail, type AdmissionRow, admissionRow } from "../../lab/bench/admission/admission.ts";
import { admissionSuites, climbStarts, ownSuites } from "../../lab/bench/admission/data.ts";
import { loadPolicyFor } from "../../app/policy/named-policy.ts";
import { type Outcome, failure } from "../../app/state/outcome.ts";
import { whyUnwritten } from "../../app/state/text-file.ts";
import { type OptionsOf, acts } from "../output.ts";
import { shortPath, shown, table } from "../../app/state/sentences.ts";
import { packageFolder, sha256 } from "../../app/policy/policy-source.ts";

/** The options that a suite reads; any other is refused, since users would believe that it had an effect. */
const optionsOf: Readonly<Record<string, readonly string[]>> = {
  admission: ["data", "detail", "climb", "budget", "seed"],
  agentdojo: ["data", "policy", "detail"],
  labels: ["data", "lists"],
  proof: ["svg"],
  regulation: ["data", "latency"],
  isolation: ["quick"],
  start: ["quick"],
  friction: ["servers", "configurations", "cache", "detail"],
};

const benchOptions = {
  "--quick": "bench isolation, start: few calls, to see that it runs",
  "--svg <file>": "bench proof: draw how the costs grow",
  "--climb": "bench admission: an attacker changes the words of hostile entries until they are not found",
  "--budget <tries>": ["bench admission --climb: entries judged for each start", "300"],
  "--seed <number>": ["bench admission --climb: equal seeds give equal climbs", "1"],
  "--latency": "bench regulation: measure what a call and a list cost",
  "--policy <file>": "bench agentdojo: labels of your own, beside the shipped ones; the server is called `app`",
  "--detail <file>":
    "bench agentdojo, admission, friction: write each call, each question, each finding, one JSON a line",
  "--servers <names>": "bench friction: these servers alone, separated by commas",
  "--configurations <names>": "bench friction: these configurations alone, separated by commas",
  "--cache <folder>": "bench friction: where published servers are kept; by default in the state folder",
  "--lists <folder>": "bench labels: saved lists of the servers of scenarios/labels that come from npm, SERVER.json",
  "--data <folder>": ["root of the evaluation data", process.env["SLUICEGATE_DATA"]],
} as const;

export function register(program: Command): void {
  const command = program
    .command("bench <name>")
    .description(
      "evaluation suites and benchmarks: admission, agentdojo, friction, isolation, labels, proof, regulation, start",
    );
  acts(command, benchOptions, (options, name: string) => {
    const read = Object.hasOwn(optionsOf, name) ? optionsOf[name] : undefined;
    const given = Object.keys(options).filter((option) => command.getOptionValueSource(option) === "cli");
    const idle = given.find((option) => option !== "json" && read?.includes(option) === false);
    if (idle !== undefined) return failure("SG-USAGE", `The suite ${name} does not read \`--${idle}\`: leave it out.`);
    if (name === "admission") return options.climb === true ? climbed(options) : admission(options);
    if (name === "agentdojo") return agentdojo(options);
    if (name === "labels") return labels(options.data, options.lists);
    if (name === "proof") return proof(options.svg);
    if (name === "regulation") return regulation(options.data, options.latency === true);
    if (name === "isolation") return isolation(options.quick === true);
    if (name === "start") return start(options.quick === true);
    if (name === "friction") return friction(options);
    return failure(
      "SG-USAGE",
      `There is no suite \`${shown(name, 40)}\`: choose admission, agentdojo, friction, isolation, labels, proof, regulation or start.`,
    );
  });
}

async function proof(svg: string | undefined): Promise<Outcome> {
  const { proofBench, proofText } = await import("../../lab/bench/proof/proof.ts");
  const measured = proofBench();
  if (!measured.ok) return failure("SG-BENCH-DATA", measured.error);
  if (svg !== undefined) {
    const { proofChart } = await import("../../lab/bench/proof/chart.ts");
    try {
      writeFileSync(resolve(svg), proofChart(measured.value.rows));
    } catch {
      return failure("SG-BENCH-DATA", "The drawing cannot be written: name a file in a folder that exists with --svg.");
    }
  }
  return { exitCode: 0, json: { suite: "proof", seed: 1, ...measured.value }, text: proofText(measured.value) };
}

async function labels(data: string | undefined, lists: string | undefined): Promise<Outcome> {
  const { readHands } = await import("../../lab/bench/labels/hand-labelled.ts");
  const { scoreLabels } = await import("../../lab/bench/labels/score.ts");
  const { labelsText } = await import("../../lab/bench/labels/labels-text.ts");
  if (data === undefined && lists === undefined)
    return failure("SG-BENCH-DATA", "Name the evaluation data with --data, or a folder of saved lists with --lists.");
  const hands = readHands({
    data: data === undefined ? undefined : resolve(data),
    lists: lists === undefined ? undefined : resolve(lists),
  });
  if (!hands.ok) return failure("SG-BENCH-DATA", hands.error);
  const score = scoreLabels(hands.value);
  return { exitCode: 0, json: { suite: "labels", seed: 0, ...score }, text: labelsText(score) };
}

async function regulation(data: string | undefined, latency: boolean): Promise<Outcome> {
  const { regulationBench, regulationLatency, regulationSeed } = await import("../../lab/bench/regulation/run.ts");
  const { regulationText } = await import("../../lab/bench/regulation/text.ts");
  const folder = data === undefined ? undefined : resolve(data);
  const measured = latency ? regulationLatency() : regulationBench(folder);
  if (!measured.ok) return failure("SG-BENCH-DATA", measured.error);
  const json = { suite: "regulation", seed: regulationSeed, ...measured.value };
  return { exitCode: 0, json, text: regulationText(measured.value) };
}

async function start(quick: boolean): Promise<Outcome> {
  const { quickStarts, startBench, starts } = await import("../../lab/bench/start/start-bench.ts");
  const measured = await startBench(quick ? quickStarts : starts);
  if (!measured.ok) return failure("SG-BENCH-FAILED", measured.error);
  const { command, firstMs, rows } = measured.value;
  const lines = rows.map(({ variant, n, medianMs, minMs }) => [
    variant,
    medianMs.toFixed(0),
    minMs.toFixed(0),
    String(n),
  ]);
  const head = `From \`${command}\` to the answer of initialize; the first isolated start, which installs, took ${firstMs.toFixed(0)} ms.`;
  const text = `${head}\n\n${table([["variant", "median ms", "least ms", "n"], ...lines])}`;
  return { exitCode: 0, json: { suite: "start", ...measured.value }, text };
}

async function isolation(quick: boolean): Promise<Outcome> {
  const { isolationBench, quickSizes, sizes } = await import("../../lab/bench/isolation/run.ts");
  const { isolationText } = await import("../../lab/bench/isolation/text.ts");
  const measured = await isolationBench(quick ? quickSizes : sizes);
  if (!measured.ok) return failure("SG-BENCH-FAILED", measured.error);
  return { exitCode: 0, json: { suite: "isolation", ...measured.value }, text: isolationText(measured.value) };
}

type FrictionWords = Pick<OptionsOf<typeof benchOptions>, "servers" | "configurations" | "cache" | "detail">;

async function friction(words: FrictionWords): Promise<Outcome> {
  const { frictionOutcome } = await import("../../lab/bench/friction/friction.ts");
  return frictionOutcome(words, (file, content) => writeText(file, content));
}

function admission({ data, detail }: Pick<OptionsOf<typeof benchOptions>, "data" | "detail">): Outcome {
  const own = ownSuites();
  const others = data === undefined ? ok([]) : admissionSuites(resolve(data));
  if (!own.ok) return failure("SG-BENCH-DATA", `${own.error}.`);
  if (!others.ok) return failure("SG-BENCH-DATA", `${others.error}.`);
  const suites = [...own.value, ...others.value];
  const details: AdmissionDetail[] = [];
  const rows = suites.map((suite) => admissionRow(suite, (one) => void details.push(one)));
  if (detail !== undefined) {
    const written = writeText(detail, details.map((one) => `${JSON.stringify(one)}\n`).join(""));
    if (!written.ok) return failure("SG-BENCH-FAILED", written.error);
  }
  return { exitCode: 0, json: { suite: "admission", seed: 0, rows }, text: admissionText(rows) };
}

type ClimbWords = Pick<OptionsOf<typeof benchOptions>, "detail" | "budget" | "seed">;

const triesMax = 100_000;

async function climbed({ detail, budget, seed }: ClimbWords): Promise<Outcome> {
  const { climb } = await import("../../lab/bench/admission/climb.ts");
  const { climbSums, climbText } = await import("../../lab/bench/admission/climb-text.ts");
  const way = { budget: Number(budget), seed: Number(seed) };
  if (!/^\d{1,6}$/.test(budget) || way.budget < 1 || way.budget > triesMax || !/^\d{1,9}$/.test(seed))
    return failure(
      "SG-USAGE",
      `\`--budget\` takes a whole number from 1 to ${triesMax}, \`--seed\` one of up to 9 digits.`,
    );
  const starts = climbStarts();
  if (!starts.ok) return failure("SG-BENCH-DATA", `${starts.error}.`);
  const rows = climb(starts.value, way);
  if (detail !== undefined) {
    const written = writeText(detail, rows.map((one) => `${JSON.stringify(one)}\n`).join(""));
    if (!written.ok) return failure("SG-BENCH-FAILED", written.error);
  }
  const json = { suite: "admission-climb", ...way, ...climbSums(rows) };
  return { exitCode: 0, json, text: climbText(rows, way) };
}

/** Per suite, never pooled: shares of different suites mean different things. */
function admissionText(rows: readonly AdmissionRow[]): string {
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
  const head = ["suite", "label", "servers", "entries", "asked", "denied", "long", "words", "families"];
  const lines = rows.map((row) => [
    row.suite,
    row.label,
    `${row.servers}`,
    `${row.entries}`,
    `${row.asked} (${percent(row.asked / row.entries)})`,
    `${row.denied} (${percent(row.denied / row.entries)})`,
    percent(row.baselines.length),
    percent(row.baselines.words),
    Object.entries(row.families)
      .map(([family, count]) => `${family} ${count}`)
      .join(", "),
  ]);
  return `${table([head, ...lines])}\nasked: one family of findings or more; denied: two or more. \`long\` and \`words\` ask about long texts and about words of order.`;
}

type DojoOptions = Pick<OptionsOf<typeof benchOptions>, "data" | "policy" | "detail">;

function agentdojo({ data, policy, detail }: DojoOptions): Outcome {
  if (data === undefined) return failure("SG-BENCH-DATA", "Name the folder that holds agentdojo/ with --data.");
  const names = suiteNames(resolve(data));
  if (!names.ok) return failure("SG-BENCH-DATA", `${names.error}.`);
  const rows: DojoRow[] = [];
  const findings: DojoFinding[] = [];
  for (const part of names.value) {
    const suite = readSuite(resolve(data), part);
    if (!suite.ok) return failure("SG-BENCH-DATA", suite.error);
    for (const variant of variants(suite.value, policy)) {
      if (!variant.ok) return failure("SG-POLICY", variant.error);
      rows.push(runVariant(suite.value, variant.value, (finding) => void findings.push(finding)));
    }
  }
  if (detail !== undefined) {
    const written = writeText(detail, findings.map((one) => `${JSON.stringify(one)}\n`).join(""));
    if (!written.ok) return failure("SG-BENCH-FAILED", written.error);
  }
  return { exitCode: 0, json: { suite: "agentdojo", seed: 0, answers: dojoAnswers, rows }, text: text(rows) };
}

/** How the questions of a replay are answered. */
const dojoAnswers = { honest: "once", attacker: "no" } as const;

function writeText(file: string, content: string): Result<undefined, string> {
  try {
    writeFileSync(file, content);
    return ok(undefined);
  } catch (cause) {
    return err(`${shortPath(file)} cannot be written (${whyUnwritten(cause)}): name another file with --detail.`);
  }
}

/** Strict and provenance, hand and inferred labels, with and without the registered instruction, beside baselines. */
function variants(suite: DojoSuite, own: string | undefined): readonly Result<DojoVariant, string>[] {
  const made: Result<DojoVariant, string>[] = [];
  const valueDigest = (value: Json): string => digest(value, sha256);
  // Labels by hand exist for some suites; what every call acts on is then taken from names and schemas.
  const byHand = existsSync(dojoFile(suite, "hand"));
  if (own !== undefined) {
    const policy = loadPolicyFor(own);
    for (const instruction of [true, false]) {
      const name = `own policy${instruction ? "" : " no-instruction"}`;
      made.push(policy.ok ? ok({ name, instruction, policy: policy.value, digest: valueDigest }) : policy);
    }
  }
  for (const mode of ["strict", "provenance"] as const) {
    for (const labels of byHand ? (["hand", "inferred"] as const) : (["inferred"] as const)) {
      for (const instruction of [true, false]) {
        const name = `${mode} ${labels}${instruction ? "" : " no-instruction"}`;
        const policy = dojoPolicy(suite, labels, mode);
        made.push(policy.ok ? ok({ name, instruction, policy: policy.value, digest: valueDigest }) : policy);
      }
    }
  }
  const labels = dojoPolicy(suite, byHand ? "hand" : "inferred", "strict");
  if (!labels.ok) return [...made, labels];
  const baselines: readonly Baseline[] = [
    { kind: "allow-all" },
    { kind: "deny-all" },
    { kind: "length" },
    { kind: "effects", labels: labels.value },
  ];
  for (const policy of baselines) made.push(ok({ name: policy.kind, instruction: true, policy, digest: valueDigest }));
  return made;
}

function dojoPolicy(suite: DojoSuite, labels: "hand" | "inferred", flow: "strict" | "provenance") {
  return loadPolicyFor(dojoFile(suite, labels), { flow });
}

function dojoFile(suite: DojoSuite, labels: "hand" | "inferred"): string {
  const name = labels === "hand" ? `${suite.name}.yaml` : "inferred.yaml";
  return resolve(packageFolder, "examples/agentdojo", name);
}

function text(rows: readonly DojoRow[]): string {
  const head = [
    "part",
    "variant",
    "stopped",
    "by question",
    "encoded",
    "prompt-free",
    "prompts/task",
    "blocked benign",
    "autonomous",
  ];
  const lines = rows.map((row) => [...dojoCells(row), `${row.autonomous}/${row.consequential}`]);
  return `${table([head, ...lines])}\nQuestions about honest calls are answered with \`once\`, about the attacker's calls with no.`;
}

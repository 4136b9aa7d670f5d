/** `sluicegate bench NAME`: evaluation suites that a user can rerun (contract: foresight.md 6). */
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { Json } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import { ok } from "../../core/result.ts";
import { digest } from "../../wire/canonical.ts";
import type { Baseline, DojoRow, DojoVariant } from "../bench/agentdojo.ts";
import { dojoCells, runVariant } from "../bench/agentdojo.ts";
import type { DojoSuite } from "../bench/agentdojo-data.ts";
import { readSuite } from "../bench/agentdojo-data.ts";
import { loadPolicyFor } from "../loaded-policy.ts";
import type { Outcome } from "../output.ts";
import { acts, failure, shown, table } from "../output.ts";
import { packageFolder, sha256 } from "../policy-source.ts";

/** Which options a suite reads; one that it does not read would be believed to have had an effect. */
const optionsOf: Readonly<Record<string, readonly string[]>> = {
  agentdojo: ["data"],
  proof: ["svg"],
  regulation: ["data", "latency"],
  isolation: ["quick"],
};

export function register(program: Command): void {
  const command = program
    .command("bench <name>")
    .description("evaluation suites and benchmarks: agentdojo, isolation, proof, regulation")
    .option("--quick", "bench isolation: few calls, to see that it runs")
    .option("--svg <file>", "bench proof: draw how the costs grow")
    .option("--latency", "bench regulation: measure what a call and a list cost")
    .option("--data <folder>", "root of the evaluation data", process.env["SLUICEGATE_DATA"]);
  acts(command, (options, name: string) => {
    const read = Object.hasOwn(optionsOf, name) ? optionsOf[name] : undefined;
    const given = Object.keys(options).filter((option) => command.getOptionValueSource(option) === "cli");
    const idle = given.find((option) => option !== "json" && read?.includes(option) === false);
    if (idle !== undefined) return failure("SG-USAGE", `The suite ${name} does not read \`--${idle}\`: leave it out.`);
    if (name === "agentdojo") return agentdojo(options["data"]);
    if (name === "proof") return proof(options["svg"]);
    if (name === "regulation") return regulation(options["data"], options["latency"] === true);
    if (name === "isolation") return isolation(options["quick"] === true);
    return failure(
      "SG-USAGE",
      `There is no suite \`${shown(name, 40)}\`: choose agentdojo, isolation, proof or regulation.`,
    );
  });
}

async function proof(svg: unknown): Promise<Outcome> {
  const { proofBench, proofText } = await import("../bench/proof.ts");
  const measured = proofBench();
  if (!measured.ok) return failure("SG-BENCH-DATA", measured.error);
  if (typeof svg === "string") {
    const { proofChart } = await import("../bench/proof-chart.ts");
    try {
      writeFileSync(resolve(svg), proofChart(measured.value.rows));
    } catch {
      return failure("SG-BENCH-DATA", "The drawing cannot be written: name a file in a folder that exists with --svg.");
    }
  }
  return { exitCode: 0, json: { suite: "proof", seed: 1, ...measured.value }, text: proofText(measured.value) };
}

async function regulation(data: unknown, latency: boolean): Promise<Outcome> {
  const { regulationBench, regulationLatency, regulationSeed } = await import("../bench/regulation/run.ts");
  const { regulationText } = await import("../bench/regulation/text.ts");
  const folder = typeof data === "string" ? resolve(data) : undefined;
  const measured = latency ? regulationLatency() : regulationBench(folder);
  if (!measured.ok) return failure("SG-BENCH-DATA", measured.error);
  const json = { suite: "regulation", seed: regulationSeed, ...measured.value };
  return { exitCode: 0, json, text: regulationText(measured.value) };
}

async function isolation(quick: boolean): Promise<Outcome> {
  const { isolationBench, quickSizes, sizes } = await import("../bench/isolation/run.ts");
  const { isolationText } = await import("../bench/isolation/text.ts");
  const measured = await isolationBench(quick ? quickSizes : sizes);
  if (!measured.ok) return failure("SG-BENCH-FAILED", measured.error);
  return { exitCode: 0, json: { suite: "isolation", ...measured.value }, text: isolationText(measured.value) };
}

function agentdojo(data: unknown): Outcome {
  if (typeof data !== "string") return failure("SG-BENCH-DATA", "Name the folder that holds agentdojo/ with --data.");
  const rows: DojoRow[] = [];
  for (const part of ["banking", "slack"]) {
    const suite = readSuite(resolve(data), part);
    if (!suite.ok) return failure("SG-BENCH-DATA", suite.error);
    for (const variant of variants(suite.value)) {
      if (!variant.ok) return failure("SG-POLICY", variant.error);
      rows.push(runVariant(suite.value, variant.value));
    }
  }
  return { exitCode: 0, json: { suite: "agentdojo", seed: 0, rows }, text: text(rows) };
}

/** Strict and provenance, hand and inferred labels, with and without the registered instruction, beside baselines. */
function variants(suite: DojoSuite): readonly Result<DojoVariant<unknown>, string>[] {
  const made: Result<DojoVariant<unknown>, string>[] = [];
  const valueDigest = (value: Json): string => digest(value, sha256);
  for (const mode of ["strict", "provenance"] as const) {
    for (const labels of ["hand", "inferred"] as const) {
      for (const instruction of [true, false]) {
        const name = `${mode} ${labels}${instruction ? "" : " no-instruction"}`;
        const policy = dojoPolicy(suite, labels, mode);
        made.push(policy.ok ? ok({ name, instruction, policy: policy.value, digest: valueDigest }) : policy);
      }
    }
  }
  const labels = dojoPolicy(suite, "hand", "strict");
  if (!labels.ok) return [...made, labels];
  const baselines: readonly Baseline<unknown>[] = [
    { kind: "allow-all" },
    { kind: "deny-all" },
    { kind: "length" },
    { kind: "effects", labels: labels.value },
  ];
  for (const policy of baselines) made.push(ok({ name: policy.kind, instruction: true, policy, digest: valueDigest }));
  return made;
}

function dojoPolicy(suite: DojoSuite, labels: "hand" | "inferred", flow: "strict" | "provenance") {
  const name = labels === "hand" ? `${suite.name}.yaml` : "inferred.yaml";
  return loadPolicyFor(resolve(packageFolder, "examples/agentdojo", name), { flow });
}

function text(rows: readonly DojoRow[]): string {
  const head = ["part", "variant", "stopped", "encoded", "prompt-free", "prompts/task", "blocked benign", "autonomous"];
  const lines = rows.map((row) => [...dojoCells(row), `${row.autonomous}/${row.consequential}`]);
  return table([head, ...lines]);
}

/** `bench proof`: the cost of proofs, at the size of the budget and as tools, rules, categories and debts grow. */
import { spawnSync } from "node:child_process";
import { type Result, err, ok } from "../../../core/result.ts";
import { smtlibOf } from "../../../proof/exports/smtlib.ts";
import { decideCore, makeProver, proveHazard } from "../../../proof/prove/prove.ts";
import type { Subject } from "../../../proof/prove/subject.ts";
import { compiledFrom } from "../../../app/policy/named-policy.ts";
import { table } from "../../../app/state/sentences.ts";
import { manifestOf, subjectOf } from "../../../app/proof/subject-tools.ts";
import { type ProofSize, budgetSize, proofCase } from "./case.ts";

export type ProofRow = {
  /** The growing dimension of this row. */
  readonly grows: "budget" | keyof ProofSize;
  readonly size: ProofSize;
  readonly hazards: number;
  readonly proved: number;
  readonly refuted: number;
  readonly unknown: number;
  /** Milliseconds of processor time for all hazards, compiling the policy and its label table included. */
  readonly cpuMs: number;
  /** Resident memory after the proofs, MB. */
  readonly rssMb: number;
};

/** z3 on the model and invariant of one hazard of the budget's size, beside the engine on the same. */
export type SolverRow = {
  readonly hazard: string;
  readonly engineMs: number;
  readonly solverMs: number;
  readonly answers: string;
};

export type ProofBench = { readonly rows: readonly ProofRow[]; readonly solver: SolverRow | string };

/** The sizes of the other dimensions while one grows. */
const base: ProofSize = { tools: 200, rules: 40, categories: 6, effects: 6, debts: 1 };

const growth: { readonly [name in keyof ProofSize]?: readonly number[] } = {
  tools: [125, 250, 500, 1_000, 2_000],
  rules: [10, 25, 50, 100, 200],
  categories: [2, 4, 8, 12, 16],
  debts: [0, 1, 2, 4, 8],
};

export function proofBench(): Result<ProofBench, string> {
  const rows: ProofRow[] = [];
  // The first proof of a process compiles the engine itself, a one-time cost.
  const cases: readonly (readonly [ProofRow["grows"], ProofSize])[] = [
    ["budget", budgetSize],
    ...(["tools", "rules", "categories", "debts"] as const).flatMap((grows) =>
      (growth[grows] ?? []).map((value) => [grows, { ...base, [grows]: value }] as const),
    ),
  ];
  for (const [grows, size] of cases) {
    const row = measure(grows, size);
    if (!row.ok) return row;
    rows.push(row.value);
  }
  return ok({ rows, solver: solverRow() });
}

function subjectFor(size: ProofSize): Result<Subject, string> {
  const compiled = compiledFrom({ file: "bench", document: proofCase(size) });
  return compiled.ok ? ok(subjectOf(compiled.value, manifestOf(compiled.value, {}))) : compiled;
}

function measure(grows: ProofRow["grows"], size: ProofSize): Result<ProofRow, string> {
  const started = process.cpuUsage();
  const subject = subjectFor(size);
  if (!subject.ok) return subject;
  const prover = makeProver(subject.value);
  const { hazards } = subject.value.policy.ir;
  const verdicts = hazards.map((hazard) => proveHazard(prover, hazard).verdict);
  const { user, system } = process.cpuUsage(started);
  const count = (verdict: string): number => verdicts.filter((one) => one === verdict).length;
  return ok({
    grows,
    size,
    hazards: hazards.length,
    proved: count("proved"),
    refuted: count("refuted"),
    unknown: count("unknown") + count("vacuous"),
    cpuMs: Math.round((user + system) / 1_000),
    rssMb: Math.round(process.memoryUsage.rss() / 2 ** 20),
  });
}

function solverRow(): SolverRow | string {
  const made = solverProblem();
  if (!made.ok) return made.error;
  const { hazard, engineMs, text } = made.value;
  const started = performance.now();
  const run = spawnSync("z3", ["-in"], { input: text, encoding: "utf8", maxBuffer: 2 ** 24 });
  if (run.error !== undefined) return "z3 is not installed, so there is nothing to compare with: install z3";
  const answers = run.stdout.trim().split(/\s+/).join(" ");
  return { hazard, engineMs, solverMs: Math.round(performance.now() - started), answers };
}

function solverProblem(): Result<
  { readonly hazard: string; readonly engineMs: number; readonly text: string },
  string
> {
  const subject = subjectFor(budgetSize);
  if (!subject.ok) return subject;
  const prover = makeProver(subject.value);
  const [hazard] = subject.value.policy.ir.hazards;
  if (hazard === undefined) return err("the case has no hazard");
  const core = proveHazard(prover, hazard).core ?? [];
  const started = performance.now();
  const explored = decideCore(prover, hazard.id, core);
  if (!explored.ok) return explored;
  const engineMs = Math.round(performance.now() - started);
  return ok({ hazard: hazard.id, engineMs, text: smtlibOf(explored.value).text });
}

/** One row for each measurement, with the budget first. */
export function proofText({ rows, solver }: ProofBench): string {
  const head = ["grows", "tools", "rules", "categories", "debts", "hazards", "proved", "refuted", "CPU ms", "MB"];
  const lines = rows.map((row) =>
    [
      row.grows,
      row.size.tools,
      row.size.rules,
      row.size.categories,
      row.size.debts,
      row.hazards,
      row.proved,
      row.refuted,
      row.cpuMs,
      row.rssMb,
    ].map(String),
  );
  const beside =
    typeof solver === "string"
      ? `${solver}.`
      : `z3 on the model and invariant of ${solver.hazard}: ${solver.answers} in ${solver.solverMs} ms; the engine found them in ${solver.engineMs} ms.`;
  return `${table([head, ...lines])}\n${beside}`;
}

/**
 * The result of `bench regulation` as text: one table for each suite, and the deviations from the expected decisions.
 */
import { dojoCells } from "../agentdojo/agentdojo.ts";
import { table } from "../../../app/state/sentences.ts";
import type { RegulationBench, RegulationRow } from "./run.ts";

type Kind = RegulationRow["suite"];

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const interval = ([low, high]: readonly [number, number]): string => `${percent(low)} to ${percent(high)}`;

const heads: { readonly [suite in Kind]: readonly string[] } = {
  scenarios: [
    "variant",
    "n",
    "prevented",
    "95 %",
    "kept",
    "Libra",
    "F1",
    "precision",
    "recall",
    "missed",
    "wrong",
    "blocked",
  ],
  toolsword: ["part", "variant", "n", "stopped", "95 %", "hidden", "`finish` stopped"],
  toolemu: ["labels", "variant", "read-only hidden", "95 %", "read-only asked", "risky stopped"],
  agentdojo: ["part", "variant", "stopped", "by question", "encoded", "prompt-free", "prompts/task", "blocked benign"],
  latency: ["what", "variant", "p50 ms", "p95 ms", "mean CPU ms", "n"],
  tokens: ["what", "variant", "shown", "tokens", "saved"],
};

const titles: { readonly [suite in Kind]: string } = {
  scenarios: "Scenarios (missed and wrong: tools per list; blocked: share of calls of the benign twins)",
  toolsword: "ToolSword RC: risky tools",
  toolemu: "ToolEmu: 330 tools, by whose labels",
  agentdojo: "AgentDojo",
  latency: "Latency",
  tokens: "Tokens of the list (bytes / 4)",
};

function cells(row: RegulationRow): readonly string[] {
  switch (row.suite) {
    case "scenarios":
      return [
        row.variant,
        String(row.n),
        percent(row.prevented),
        interval(row.ci95),
        percent(row.kept),
        ...[row.libra, row.f1, row.precision, row.recall, row.missedPerList, row.wrongPerList].map((one) =>
          one.toFixed(3),
        ),
        percent(row.falseBlock),
      ];
    case "toolsword":
      return [
        row.part,
        row.variant,
        String(row.n),
        percent(row.stopped),
        interval(row.ci95),
        percent(row.hidden),
        percent(row.finishStopped),
      ];
    case "toolemu":
      return [
        row.part,
        row.variant,
        percent(row.readOnlyHidden),
        interval(row.ci95),
        percent(row.readOnlyAsked),
        percent(row.riskyStopped),
      ];
    case "agentdojo":
      return dojoCells(row);
    case "latency":
      return [
        row.part,
        row.variant,
        ...[row.p50TimeMs, row.p95TimeMs, row.cpuTimeMs].map((one) => one.toFixed(3)),
        String(row.n),
      ];
    case "tokens":
      return [row.part, row.variant, `${row.shown}/${row.n}`, String(row.tokens), String(row.tokensSaved)];
  }
}

export function regulationText({ rows, misses, skipped }: RegulationBench): string {
  const suites = [...new Set(rows.map(({ suite }) => suite))];
  const parts = suites.map((suite) => {
    const own = rows.filter((row) => row.suite === suite);
    return `${titles[suite]}\n${table([heads[suite], ...own.map(cells)])}`;
  });
  const wrong = misses.flatMap(({ scenario, prevented, blocked, wrongLists }) => [
    ...(prevented ? [] : [`${scenario}: the harm was not prevented`]),
    ...blocked.map(({ step, tool, codes }) => `${scenario}: benign step ${step}, ${tool}: ${codes.join(", ")}`),
    ...wrongLists.map((one) => `${scenario}: list before step ${one.where}: ${difference(one)}`),
  ]);
  const left = skipped.map((one) => `skipped: ${one}`);
  return [
    ...parts,
    ...(wrong.length === 0 ? [] : [wrong.join("\n")]),
    ...(left.length === 0 ? [] : [left.join("\n")]),
  ].join("\n\n");
}

function difference({
  missed,
  wrong,
}: {
  readonly missed: readonly string[];
  readonly wrong: readonly string[];
}): string {
  const parts = [
    ...(missed.length === 0 ? [] : [`${missed.join(", ")} should be hidden`]),
    ...(wrong.length === 0 ? [] : [`${wrong.join(", ")} should be shown`]),
  ];
  return parts.join("; ");
}

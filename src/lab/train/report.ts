/** The text output of `sluicegate train`. */
import { foldCount } from "./catalogue.ts";
import type { QualityRow } from "./evaluate.ts";
import type { Trained } from "./train.ts";
import { table } from "../../app/state/sentences.ts";

/** The target is that of training alone; with the quality there are five more trainings. */
const cpuSecondsTarget = 10;

export function trainingText(trained: Trained, cpuSeconds: number, verdict: string): string {
  const { data, weights, node } = trained.manifest;
  const counts = Object.entries(data.classes).map(([name, count]) => `${name} ${count}`);
  const families = Object.entries(data.families).map(([name, count]) => `${name} ${count}`);
  const lines = [
    `data     ${data.examples} scenarios with ${data.tools} tools, seed ${data.seed}, generator ${data.generator}`,
    `classes  ${counts.join(", ")}`,
    `families ${families.slice(0, families.length / 2).join(", ")},`,
    `         ${families.slice(families.length / 2).join(", ")}`,
    `digest   ${data.digest}`,
    `weights  ${weights.bytes} bytes, ${weights.sha256}, Node ${node}`,
    `cost     ${cpuSeconds.toFixed(1)} s of processor time (target: ${cpuSecondsTarget})`,
  ];
  if (trained.quality.length > 0) {
    lines.push("", `Quality on tool families left out of training (${foldCount} folds), and baselines:`);
    lines.push(qualityTable(trained.quality), "");
  }
  return [...lines, verdict].join("\n");
}

function qualityTable(rows: readonly QualityRow[]): string {
  const head = [
    "variant",
    "n",
    "accuracy",
    "macro-F1",
    "unsafe P",
    "R",
    "F1",
    "AUC",
    "filter P",
    "R",
    "F1",
    "families",
  ];
  const cells = rows.map(({ variant, part, quality }) => [
    variant,
    String(quality.n),
    ...[
      quality.accuracy,
      quality.macroF1,
      quality.unsafePrecision,
      quality.unsafeRecall,
      quality.unsafeF1,
      quality.auc,
      quality.filterPrecision,
      quality.filterRecall,
      quality.filterF1,
    ].map((value) => value.toFixed(3)),
    part,
  ]);
  return table([head, ...cells]);
}

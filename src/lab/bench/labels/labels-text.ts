/** The score of the readings as text: rates by part and rule, what each probability was worth, and sinks. */
import { shown, table } from "../../../app/state/sentences.ts";
import type { CalibrationBand, LabelsRow, LabelsScore, Rates } from "./score.ts";

/** Names of sinks that a text shows; there should be none. */
const namesMax = 20;

export function labelsText(score: LabelsScore): string {
  const head = [
    "part",
    "rule",
    "servers",
    "tools",
    "effects P/R/F1",
    "critical roles P/R/F1",
    "stated",
    "right",
    "reads stated",
    "sinks read",
  ];
  const parts = ["seen", "unseen"].flatMap((part) => {
    const bands = score.calibration[part];
    return bands === undefined
      ? []
      : ["", ...bandLines(`${part}: effects`, bands.effects), ...bandLines(`${part}: roles`, bands.roles)];
  });
  const found = score.rows.flatMap(({ variant, sinksRead }) => (variant === "reading" ? sinksRead : []));
  const wrong = [...found, ...score.sinks.read];
  return [
    table([head, ...score.rows.map(cells)]),
    ...parts,
    "",
    table([
      ["part", "effect", "labelled", "found", "wrong"],
      ...score.perEffect.map((one) => [one.part, one.effect, `${one.sure}`, `${one.found}`, `${one.wrong}`]),
    ]),
    "",
    `Of ${score.sinks.all} more sinks ${score.sinks.read.length} are stated to read.`,
    ...wrong.slice(0, namesMax).map((name) => `  ${shown(name, 100)}`),
    ...(score.absent === 0
      ? []
      : [`${score.absent} lists or tools are not at hand and count in nothing: see --lists.`]),
    `Stated: at or above ${score.threshold}. Effects are right where all that a call surely does are named, and no tool that acts is read as one that reads.`,
  ].join("\n");
}

function cells({
  part,
  variant,
  servers,
  tools,
  effects,
  critical,
  stated,
  reads,
  sinksRead,
}: LabelsRow): readonly string[] {
  const share = (count: number, of: number): string => (of === 0 ? "-" : `${((100 * count) / of).toFixed(1)} %`);
  return [
    part,
    variant,
    `${servers}`,
    `${tools}`,
    rates(effects),
    rates(critical),
    share(stated.tools, tools),
    share(stated.right, stated.tools),
    `${reads.stated}/${reads.all}`,
    `${sinksRead.length}`,
  ];
}

function rates({ precision, recall, f1 }: Rates): string {
  return [precision, recall, f1].map((one) => one.toFixed(3)).join(" / ");
}

function bandLines(title: string, bands: readonly CalibrationBand[]): readonly string[] {
  const rows = bands.map(({ from, to, facts, right, meant }) => [
    `${from}-${to}`,
    `${facts}`,
    facts === 0 ? "-" : (right / facts).toFixed(2),
    facts === 0 ? "-" : meant.toFixed(2),
  ]);
  return [title, table([["probability", "facts", "right", "said"], ...rows])];
}

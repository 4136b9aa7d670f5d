/** Everything that a report says, as data: both renderings and `--json` are made from this and nothing else. */
import type { CompiledPolicy } from "../compile/compile.ts";
import type { Diagnostic } from "../document/diagnostic.ts";
import { type CostOptions, type Costs, requirementCosts } from "./cost.ts";
import type { StpaDocument } from "./document.ts";
import { many } from "./names.ts";
import type { ProofResults } from "./proof-results.ts";
import { type Matrix, traceMatrix } from "./trace.ts";

/** A table of the report; cells are plain text from outside, and the renderer must escape them. */
export type Table = {
  readonly title: string;
  /** The subject of the table, and how to read it. */
  readonly says: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
};

export type Cell = {
  readonly text: string;
  /** `gap`: something is missing here. `good`: shown to hold. `chosen`: what was decided. */
  readonly mark?: "gap" | "good" | "chosen";
};

export type StpaReport = {
  readonly title: string;
  readonly summary: readonly string[];
  readonly matrix: Matrix;
  readonly costs: Costs | undefined;
  readonly gaps: readonly Diagnostic[];
  readonly tables: readonly Table[];
};

export type ReportInput = {
  readonly document: StpaDocument;
  readonly policy?: CompiledPolicy;
  readonly proofs?: ProofResults;
  readonly gaps: readonly Diagnostic[];
  readonly cost: CostOptions;
};

/** The report on a checked document, and on the policy that implements it where one is given. */
export function makeReport({ document, policy, proofs, gaps, cost }: ReportInput): StpaReport {
  const matrix = traceMatrix(document, {
    ...(policy === undefined ? {} : { policy: policy.policy }),
    ...(proofs === undefined ? {} : { proofs }),
  });
  const costs = policy === undefined ? undefined : requirementCosts(document, policy, cost);
  return {
    title: document.system ?? "STPA report",
    summary: summaryOf(document, matrix, gaps),
    matrix,
    costs,
    gaps,
    tables: [
      matrixTable(matrix),
      ...(costs === undefined ? [] : [costTable(document, costs)]),
      gapTable(gaps),
      ...analysisTables(document),
    ],
  };
}

function summaryOf(document: StpaDocument, matrix: Matrix, gaps: readonly Diagnostic[]): readonly string[] {
  const count = (section: object | undefined, one: string, several: string): string => {
    const found = Object.keys(section ?? {}).length;
    return `${found} ${found === 1 ? one : several}`;
  };
  const properties = new Map(
    matrix.rows.flatMap((row) => row.properties.map((each) => [each.id, each.proved] as const)),
  );
  const proved = [...properties.values()].filter(Boolean).length;
  return [
    [
      count(document.losses, "loss", "losses"),
      count(document.hazards, "hazard", "hazards"),
      count(document.ucas, "unsafe control action", "unsafe control actions"),
      count(document.requirements, "requirement", "requirements"),
    ].join(", "),
    `${proved} of ${properties.size} properties proved, ${gaps.length} ${gaps.length === 1 ? "gap" : "gaps"}`,
    coverageOf(document, matrix),
    ...(matrix.rowsLeftOut === 0 ? [] : [`${matrix.rowsLeftOut} rows of the matrix are left out`]),
  ];
}

/** A hazard without a property has no proof, whatever its rules do; counting properties alone would hide it. */
function coverageOf({ hazards }: StpaDocument, { rows }: Matrix): string {
  const proved = (hazard: string): boolean => {
    const found = rows.filter((row) => row.hazard === hazard).flatMap(({ properties }) => properties);
    return found.length > 0 && found.every((property) => property.proved);
  };
  const ids = Object.keys(hazards);
  const open = ids.filter((id) => !proved(id));
  const covered = `${ids.length - open.length} of ${ids.length} hazards are covered by properties that are proved`;
  const named = open.slice(0, openHazardsNamedMax).join(", ");
  return open.length === 0 ? covered : `${covered}; not ${named}${open.length > openHazardsNamedMax ? ", ..." : ""}`;
}

const openHazardsNamedMax = 8;

const missing = (what: string): Cell => ({ text: what, mark: "gap" });

function matrixTable({ rows }: Matrix): Table {
  return {
    title: "Trace matrix",
    says: "Each way from a loss to what prevents it. A gap ends the way.",
    head: ["Loss", "Hazard", "Unsafe control action", "Requirement", "Rule", "Property", "Proof"],
    rows: rows.map(({ loss, hazard, uca, requirement, rules, properties }) => [
      { text: loss },
      hazard === undefined ? missing("no hazard") : { text: hazard },
      uca === undefined
        ? requirement === undefined
          ? missing("none")
          : { text: "(the hazard itself)" }
        : { text: uca },
      requirement === undefined ? missing("no requirement") : { text: requirement },
      rules.length > 0 || properties.length > 0 ? { text: rules.join(", ") || "-" } : missing("no rule"),
      properties.length > 0 ? { text: properties.map(({ id }) => id).join(", ") } : { text: "-" },
      proofCell(properties),
    ]),
  };
}

function proofCell(properties: Matrix["rows"][number]["properties"]): Cell {
  const text = [...new Set(properties.map(({ proof }) => proof))].join(", ");
  if (properties.length === 0) return missing("no proof");
  if (properties.every(({ proved }) => proved)) return { text, mark: "good" };
  return text === "not computed" ? { text } : missing(text);
}

const tierWords = { block: "block", must: "must", confirm: "confirm", allow: "allow", none: "no rule" } as const;

function costTable(document: StpaDocument, { requirements, notComputed }: Costs): Table {
  const rows = requirements.flatMap((found) =>
    found.tiers.map((tier): readonly Cell[] => [
      { text: found.requirement },
      { text: tierWords[tier.tier], ...(tier.chosen ? { mark: "chosen" as const } : {}) },
      { text: `${tier.autonomous} of ${found.tasks}` },
      { text: String(tier.prompts) },
      { text: String(tier.stopped) },
      { text: `${tier.attacksStopped} of ${found.attacks}` },
      { text: String(tier.attacksAsked) },
      found.properties.length === 0 ? { text: "no property" } : provesCell(tier.proves),
      { text: tier.chosen ? (document.requirements?.[found.requirement]?.reason ?? "") : "" },
    ]),
  );
  const left = notComputed.length === 0 ? "" : ` Too many traces for ${notComputed.join(", ")}.`;
  return {
    title: "What each requirement costs",
    says: `The \`expect:\` traces of the policy. The chosen tier is the policy as it is; for the others the rules of that one requirement change, and its own hazard only watches, so that what the rules do can be seen.${left}`,
    head: [
      "Requirement",
      "Tier",
      "Tasks left alone",
      "Prompts",
      "Tasks stopped",
      "Attacks stopped",
      "Attacks asked",
      "Proves",
      "Reason",
    ],
    rows,
  };
}

function provesCell(proves: boolean | undefined): Cell {
  if (proves === undefined) return { text: "not computed" };
  return proves ? { text: "yes", mark: "good" } : { text: "no", mark: "gap" };
}

function gapTable(gaps: readonly Diagnostic[]): Table {
  return {
    title: "Gaps",
    says: gaps.length === 0 ? "None." : "What is still open, and what to do.",
    head: ["Place", "Gap", "What to do"],
    rows: gaps.map(({ file, line, message, remedy }) => [
      { text: line === 0 ? file : `${file}:${line}` },
      { text: message },
      { text: remedy },
    ]),
  };
}

/** The analysis itself, so that a report can be read without the document beside it. */
function analysisTables(document: StpaDocument): readonly Table[] {
  const { stakeholders, losses, hazards, control, ucas = {}, scenarios = {}, requirements = {} } = document;
  const rows = <T>(section: { readonly [id: string]: T } | undefined, cells: (entry: T) => readonly string[]) =>
    Object.entries(section ?? {}).map(([id, entry]) => [id, ...cells(entry)].map((text): Cell => ({ text })));
  const table = (title: string, head: readonly string[], held: Table["rows"]): Table => ({
    title,
    says: "",
    head,
    rows: held,
  });
  const words = (...lists: Parameters<typeof many>): string => many(...lists).join(", ");
  return [
    table(
      "Stakeholders",
      ["Who", "Kind", "Value", "What they care about"],
      Object.entries(stakeholders).flatMap(([id, { kind, who, values }]) =>
        Object.entries(values).map(([value, says]) =>
          [who === undefined ? id : `${id}: ${who}`, kind, value, says].map((text): Cell => ({ text })),
        ),
      ),
    ),
    table(
      "Losses",
      ["Loss", "What is lost", "Values"],
      rows(losses, ({ says, harms }) => [says, words(harms)]),
    ),
    table(
      "Hazards",
      ["Hazard", "State", "Losses"],
      rows(hazards, (each) => [each.says, words(each.losses)]),
    ),
    table(
      "Control actions",
      ["Action", "By", "On", "What it does", "Tools"],
      rows(control.actions, ({ by, on, does, tools }) => [by, on, does, words(tools)]),
    ),
    table(
      "Feedback",
      ["Feedback", "From", "To", "What it tells", "Tools"],
      rows(control.feedback, ({ from, to, says, tools }) => [from, to, says, words(tools)]),
    ),
    table(
      "Unsafe control actions",
      ["Id", "Controller", "Action", "Form", "When", "Hazards"],
      rows(ucas, (each) => [each.controller, each.action, each.form, each.context, words(each.hazards)]),
    ),
    table(
      "Loss scenarios",
      ["Id", "Cause", "Explains"],
      rows(scenarios, (each) => [each.cause, words(each.ucas)]),
    ),
    table(
      "Requirements",
      ["Id", "What must hold", "Prevents", "Refines", "Tier", "Reason"],
      rows(requirements, (each) => [
        each.says,
        [...many(each.ucas), ...many(each.hazards)].join(", "),
        words(each.refines),
        each.tier,
        each.reason,
      ]),
    ),
  ].filter(({ rows: held }) => held.length > 0);
}

/** Text from outside on one line, with what a reader cannot see, or what would turn the line, shown as escapes. */
export function visibleText(text: string): string {
  return text
    .replace(/[\r\n]+/g, " ")
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The report as Markdown. Every text in it came from a file, so none of it may become markup. */
export function markdownReport(report: StpaReport): string {
  const parts = [
    `# ${escaped(report.title)}`,
    report.summary.map((line) => `- ${escaped(line)}`).join("\n"),
    ...report.tables.map(tableText),
  ];
  return `${parts.join("\n\n")}\n`;
}

function tableText({ title, says, head, rows }: Table): string {
  const parts = [`## ${escaped(title)}`];
  if (says !== "") parts.push(escaped(says));
  if (rows.length > 0) {
    const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
    parts.push(
      [line(head.map(escaped)), line(head.map(() => "---")), ...rows.map((row) => line(row.map(cellText)))].join("\n"),
    );
  }
  return parts.join("\n\n");
}

function cellText({ text, mark }: Cell): string {
  const plain = escaped(text);
  if (mark === "gap") return `**${plain}**`;
  return mark === "chosen" ? `${plain} (chosen)` : plain;
}

/**
 * ASCII punctuation can all be escaped with a backslash (CommonMark 2.4); this leaves alone what cannot start markup
 * within a line. Addresses are escaped too, since many readers turn even a bare one into a link.
 */
function escaped(text: string): string {
  return visibleText(text)
    .replace(/[\\`*_{}[\]<>#|~!&$@]/g, "\\$&")
    .replace(/\b(https?|ftp|mailto):/gi, "$1\\:")
    .replace(/\bwww\./gi, "www\\.")
    .trim();
}

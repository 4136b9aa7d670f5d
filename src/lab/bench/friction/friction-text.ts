/** The result of `bench friction` as text. */
import { table } from "../../../app/state/sentences.ts";
import type { FrictionBench, FrictionCallRow, FrictionRow } from "./friction-run.ts";

export type FrictionTotal = {
  readonly configuration: string;
  readonly servers: number;
  readonly calls: number;
  /** Calls that were stopped for consent at least once. */
  readonly interrupted: number;
  readonly questions: number;
  /** Most questions that one server caused. */
  readonly mostQuestions: number;
  readonly blocked: number;
  readonly unreached: number;
  readonly failed: number;
  /** Answers equal to those of the direct run, of those that are alike in two direct runs. */
  readonly same: number;
  readonly steady: number;
  /** Interrupted reads and all reads, of servers without network and with it. */
  readonly localReads: readonly [number, number];
  readonly networkReads: readonly [number, number];
  readonly acts: readonly [number, number];
  readonly startMs: number;
};

export function frictionTotals({ rows }: FrictionBench): readonly FrictionTotal[] {
  const names = [...new Set(rows.map((row) => row.configuration))];
  return names.map((name) =>
    totalOf(
      name,
      rows.filter((row) => row.configuration === name && row.broken === undefined),
    ),
  );
}

function totalOf(configuration: string, rows: readonly FrictionRow[]): FrictionTotal {
  const calls = rows.flatMap((row) => row.calls);
  const count = (test: (one: FrictionCallRow) => boolean): number => calls.filter(test).length;
  const starts = rows.flatMap((row) => row.startMs ?? []).toSorted((left, right) => left - right);
  const reads = (reach: FrictionRow["reach"]): readonly [number, number] =>
    asked(rows.filter((row) => row.reach === reach).flatMap((row) => row.calls.filter((one) => !one.acts)));
  return {
    configuration,
    servers: rows.length,
    calls: calls.length,
    interrupted: count((one) => one.questions > 0),
    questions: sumOf(calls),
    mostQuestions: Math.max(0, ...rows.map((row) => sumOf(row.calls))),
    blocked: count((one) => one.outcome === "blocked"),
    unreached: count((one) => one.outcome === "unreached"),
    failed: count((one) => one.outcome === "failed"),
    same: count((one) => one.same === true),
    steady: count((one) => one.same !== undefined),
    localReads: reads("local"),
    networkReads: reads("network"),
    acts: asked(calls.filter((one) => one.acts)),
    startMs: starts[Math.floor(starts.length / 2)] ?? 0,
  };
}

const sumOf = (calls: readonly FrictionCallRow[]): number => calls.reduce((sum, one) => sum + one.questions, 0);

const asked = (calls: readonly FrictionCallRow[]): readonly [number, number] => [
  calls.filter((one) => one.questions > 0).length,
  calls.length,
];

export type FrictionCause = { readonly configuration: string; readonly why: string; readonly calls: readonly string[] };

/** Why calls were interrupted, the most frequent first. Names of tools and arguments are left out of the cause. */
export function frictionCauses({ rows }: FrictionBench): readonly FrictionCause[] {
  const found = new Map<string, { readonly configuration: string; readonly why: string; readonly calls: string[] }>();
  for (const { configuration, server, calls } of rows)
    for (const { whys, tool } of calls.filter((one) => one.questions > 0 || one.outcome === "blocked"))
      for (const why of whys) {
        const plain = plainCause(why);
        const key = JSON.stringify([configuration, plain]);
        const cause = found.get(key) ?? { configuration, why: plain, calls: [] };
        cause.calls.push(`${server}.${tool}`);
        found.set(key, cause);
      }
  return [...found.values()].toSorted((left, right) => right.calls.length - left.calls.length);
}

/** Without what differs from call to call: names, sources of values, and the details in brackets at the end. */
function plainCause(why: string): string {
  return why
    .replaceAll(/`[^`]*`/g, "`...`")
    .replace(/ \((?:arguments|labels|origins): .*\)$/, "")
    .replace(/ data from .* to `/, " data to `");
}

export function frictionText(bench: FrictionBench): string {
  const totals = frictionTotals(bench);
  const head = [
    "",
    "servers",
    "calls",
    "interrupted",
    "questions (most a server)",
    "reads, no network",
    "reads, network",
    "acts",
    "blocked",
    "same",
    "start ms",
  ];
  const lines = totals.map((one) => [
    one.configuration,
    `${one.servers}`,
    `${one.calls}`,
    `${one.interrupted} (${percent(one.interrupted, one.calls)})`,
    `${one.questions} (${one.mostQuestions})`,
    one.localReads.join("/"),
    one.networkReads.join("/"),
    one.acts.join("/"),
    `${one.blocked}`,
    `${one.same}/${one.steady}`,
    one.startMs.toFixed(0),
  ]);
  const parts = [
    table([head, ...lines]),
    serverTable(bench, totals),
    acceptedText(bench),
    causeText(bench),
    ...brokenText(bench),
  ];
  return parts.filter((one) => one !== "").join("\n\n");
}

const percent = (part: number, whole: number): string => (whole === 0 ? "-" : `${((100 * part) / whole).toFixed(1)} %`);

/** Interrupted calls a server; in brackets what was blocked. */
function serverTable({ rows }: FrictionBench, totals: readonly FrictionTotal[]): string {
  const servers = [...new Set(rows.map((row) => row.server))];
  const names = totals.map((one) => one.configuration).filter((name) => name !== "direct");
  const lines = servers.map((server) => {
    const own = rows.filter((row) => row.server === server);
    const [first] = own;
    const cells = names.map((name) => cellOf(own.find((row) => row.configuration === name)));
    return [server, first?.package ?? "", first?.reach ?? "", `${first?.calls.length ?? 0}`, ...cells];
  });
  return table([["server", "package", "reach", "calls", ...names], ...lines]);
}

function cellOf(row: FrictionRow | undefined): string {
  if (row === undefined || row.broken !== undefined) return "-";
  const blocked = row.calls.filter((one) => one.outcome === "blocked" || one.outcome === "unreached").length;
  const count = row.calls.filter((one) => one.questions > 0).length;
  return blocked === 0 ? `${count}` : `${count} [${blocked}]`;
}

/** What was accepted unread, against the labels by hand. */
function acceptedText({ accepted }: FrictionBench): string {
  const lines = accepted.map(
    ({ configuration, facts, wrong, permitting, unjudged }) =>
      `${configuration}: of ${facts} accepted facts ${wrong.length} differ from the labels by hand, ${permitting} of them permit more than these do; ${unjudged} readings have no labels by hand`,
  );
  return lines.join("\n");
}

const causesShown = 12;

function causeText(bench: FrictionBench): string {
  const causes = frictionCauses(bench).slice(0, causesShown);
  if (causes.length === 0) return "";
  return table([
    ["calls", "configuration", "stopped because"],
    ...causes.map((one) => [`${one.calls.length}`, one.configuration, one.why]),
  ]);
}

function brokenText({ rows, unknown }: FrictionBench): readonly string[] {
  const lines = rows.flatMap((row) =>
    row.broken === undefined ? [] : [`not played: ${row.server} (${row.configuration}): ${row.broken}`],
  );
  const failed = rows.flatMap((row) =>
    row.configuration !== "direct"
      ? []
      : row.calls.flatMap((one) =>
          one.outcome === "answered" ? [] : [`fails when direct: ${row.server}.${one.tool}: ${one.whys.join("; ")}`],
        ),
  );
  return [...lines, ...failed, ...unknown.map((one) => `the fake does not know: ${one}`)];
}

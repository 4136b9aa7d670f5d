/**
 * `sluicegate policy try FILE`: what a policy would have decided about the calls of past runs. Each run of the log is decided
 * again on what really happened in it (`replay-run.ts`), and the outcomes are counted by tool.
 */
import type { Json } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { Verdict } from "../../core/verdict.ts";
import type { LoadedPolicy } from "../../gateway/ports/policy.ts";
import { loadCanonical } from "../../policy/load.ts";
import { loadedPolicy } from "../policy/loaded-policy.ts";
import { loadPolicyFor } from "../policy/named-policy.ts";
import { sha256 } from "../policy/policy-source.ts";
import { type LogFault, type LogName, type OpenedLog, readLogs, storeFault } from "../state/log-files.ts";
import { type Outcome, failure } from "../state/outcome.ts";
import { many, shown, table } from "../state/sentences.ts";
import type { ReplayedMoment } from "./replay-run.ts";
import { decideAgain } from "./run-report.ts";

/** Records of one look at the log, and looks in all: the newest million records, about a month of daily work. */
const pageRecords = 2_000;
const pagesMax = 500;

/** Examples of each tool: the first calls that would not pass. */
const examplesMax = 3;

export type DryRunQuery = {
  readonly policy: string;
  /** Newest runs that are decided. */
  readonly runsMax: number;
  readonly workspace: readonly string[];
  /** Undefined = every log that there is. */
  readonly log: LogName | undefined;
};

/** What would happen to the calls of one tool. */
export type TriedTool = {
  readonly tool: string;
  passed: number;
  asked: number;
  refused: number;
  /** Results that would be withheld or asked about. */
  withheld: number;
  /** Calls that are decided otherwise than they were. */
  changed: number;
  readonly examples: {
    readonly run: string;
    readonly decision: string;
    readonly now: Verdict;
    readonly because: string;
  }[];
};

export async function dryRun(query: DryRunQuery, environment: NodeJS.ProcessEnv): Promise<Outcome> {
  const policy = enforced(loadPolicyFor(query.policy));
  if (!policy.ok) return failure("SG-POLICY", policy.error);
  const opened = readLogs(environment, query.log);
  if (!opened.ok) return failure(opened.error.code, opened.error.sentence);
  try {
    const tools = new Map<string, TriedTool>();
    const [tried, left] = [[] as string[], [] as LogFault[]];
    for (const log of opened.value) {
      const runs = await newestRuns(log, query.runsMax - tried.length);
      if (!runs.ok) return failure(runs.error.code, runs.error.sentence);
      for (const run of runs.value) {
        const again = await decideAgain(log, { run, policy: policy.value, workspace: query.workspace });
        if (again.ok) for (const moment of again.value.moments) count(tools, run, moment);
        if (again.ok) tried.push(run);
        else left.push(again.error);
      }
    }
    return report([...tools.values()].toSorted(mostStoppedFirst), tried.length, left);
  } finally {
    for (const { store } of opened.value) await store.close(false);
  }
}

/** A policy that observes stops nothing; here it is asked what it would stop. */
function enforced(policy: Result<LoadedPolicy, string>): Result<LoadedPolicy, string> {
  if (!policy.ok || policy.value.settings.mode === "enforce") return policy;
  const document = JSON.parse(policy.value.canonical) as { readonly [name: string]: Json }; // it was compiled
  const strict = loadCanonical(JSON.stringify({ ...document, mode: "enforce" }), sha256);
  return strict === undefined ? policy : ok(loadedPolicy(strict, policy.value.source));
}

/** Keys of runs, by their newest record. */
async function newestRuns({ store }: OpenedLog, runsMax: number): Promise<Result<readonly string[], LogFault>> {
  const runs = new Set<string>();
  let after: { readonly writer: number; readonly seq: number } | undefined;
  for (let page = 0; page < pagesMax && runs.size < runsMax; page += 1) {
    const before = after === undefined ? {} : { after };
    const read = await store.records({ order: "newest", limit: pageRecords, ...before });
    if (!read.ok) return err(storeFault(read.error));
    for (const { run } of read.value) if (run !== "" && runs.size < runsMax) runs.add(run);
    after = read.value.at(-1);
    if (read.value.length < pageRecords) break;
  }
  return ok([...runs]);
}

function count(
  tools: Map<string, TriedTool>,
  run: string,
  { moment, now, tool, server, decision, recorded }: ReplayedMoment,
) {
  if (now === undefined || tool === undefined) return;
  const name = `${server ?? "?"}.${tool}`;
  const known = tools.get(name);
  const row = known ?? { tool: name, passed: 0, asked: 0, refused: 0, withheld: 0, changed: 0, examples: [] };
  if (known === undefined) tools.set(name, row);
  if (moment !== "call") {
    if (now.verdict !== "allow") row.withheld += 1;
    return;
  }
  row[outcomeOf[now.verdict]] += 1;
  if (now.verdict !== recorded.verdict) row.changed += 1;
  if (now.verdict !== "allow" && row.examples.length < examplesMax)
    row.examples.push({ run, decision, now: now.verdict, because: now.because });
}

const outcomeOf = { allow: "passed", confirm: "asked", deny: "refused" } as const satisfies Record<Verdict, string>;

function mostStoppedFirst(left: TriedTool, right: TriedTool): number {
  return right.refused + right.asked - (left.refused + left.asked) || left.tool.localeCompare(right.tool);
}

function report(tools: readonly TriedTool[], runs: number, left: readonly LogFault[]): Outcome {
  const total = (of: "passed" | "asked" | "refused" | "changed"): number =>
    tools.reduce((sum, one) => sum + one[of], 0);
  const [asked, refused, passed] = [total("asked"), total("refused"), total("passed")];
  const rows = tools.map((one) => [
    shown(one.tool, 60),
    ...[one.passed, one.asked, one.refused, one.withheld, one.changed].map(String),
  ]);
  const head = ["tool", "would pass", "would ask", "would be refused", "results kept back", "otherwise than then"];
  const examples = tools.flatMap(({ tool, examples: some }) =>
    some.map(({ now, because, decision }) => {
      const word = now === "deny" ? "refused" : "asked";
      return `  ${shown(tool, 60)} ${word}: ${shown(because, 240)} (decision ${shown(decision, 40)})`;
    }),
  );
  const [first] = left;
  const notes = first === undefined ? [] : [`${many(left.length, "run")} left out. ${first.sentence}`];
  const sums = `${many(runs, "run")}, ${many(passed + asked + refused, "call")}: ${passed} would pass, ${asked} would ask, ${refused} would be refused.`;
  const found = tools.length === 0 ? ["No past call was found: guard a server for a while, then try again."] : [];
  const first3 = examples.length === 0 ? [] : ["The first of each tool:", ...examples];
  return {
    exitCode: total("changed") === 0 ? 0 : 1,
    json: {
      runs,
      leftOut: left.map(({ sentence }) => sentence),
      passed,
      asked,
      refused,
      changed: total("changed"),
      tools,
    },
    text: [...(tools.length === 0 ? [] : [table([head, ...rows])]), ...first3, ...notes, ...found, sums].join("\n"),
  };
}

/** The number that an option names; undefined for anything but a count. */
export function countIn(text: string): number | undefined {
  return /^[1-9][0-9]{0,5}$/.test(text) ? Number(text) : undefined;
}

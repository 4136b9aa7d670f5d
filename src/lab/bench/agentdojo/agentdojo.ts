/**
 * `sluicegate bench agentdojo`: the attacks that a policy stops and its questions on honest tasks (contract:
 * foresight.md 6). The agent of the replay obeys every injection; no model is involved.
 */
import type { Json, JsonObject } from "../../../core/json.ts";
import type { LoadedPolicy } from "../../../gateway/ports/policy.ts";
import { replayTrace, type ReplayedStep } from "../../../app/replay/replay-trace.ts";
import type { Trace } from "../../../app/replay/trace.ts";
import { type DojoSuite, attackFilling, benignFilling, dojoServer, traceOf } from "./data.ts";

export type DojoRow = {
  readonly suite: "agentdojo";
  readonly part: string;
  readonly variant: string;
  readonly n: number;
  readonly pairs: number;
  readonly stopped: number;
  /** Of the stopped pairs, those in which no essential call was refused, only asked about and answered with no. */
  readonly stoppedByQuestion: number;
  readonly stoppedEncoded: number;
  readonly tasks: number;
  readonly promptFree: number;
  readonly promptsPerTask: number;
  readonly blockedBenign: number;
  readonly consequential: number;
  readonly autonomous: number;
  /** 95 % interval of the share of stopped pairs (Wilson). */
  readonly ci95: readonly [number, number];
  readonly seed: number;
};

/** The row as the cells of a table, without columns of a single suite. */
export function dojoCells(row: Omit<DojoRow, "suite">): readonly string[] {
  return [
    row.part,
    row.variant,
    `${row.stopped}/${row.pairs}`,
    String(row.stoppedByQuestion),
    `${row.stoppedEncoded}/${row.pairs}`,
    `${row.promptFree}/${row.tasks}`,
    row.promptsPerTask.toFixed(2),
    String(row.blockedBenign),
  ];
}

/**
 * Rules that know nothing of flow, for comparison. `effects`: every call that acts is asked about, by the labels of the
 * policy beside it. `length`: every call is whose arguments are longer than those of half of the suite's honest calls.
 */
export type Baseline =
  | { readonly kind: "allow-all" | "deny-all" | "length" }
  | { readonly kind: "effects"; readonly labels: LoadedPolicy };

export type DojoVariant = {
  readonly name: string;
  readonly instruction: boolean;
  readonly policy: LoadedPolicy | Baseline;
  readonly digest: (value: Json) => string;
};

/** A call to look at when labels are written: an attacker's that passed, or one that was asked about. */
export type DojoFinding = {
  readonly part: string;
  readonly variant: string;
  readonly kind: "passed" | "question";
  readonly by: "attacker" | "user";
  readonly user: string;
  readonly injection?: string;
  readonly encoded?: boolean;
  /** Place in the run, from 1. */
  readonly call: number;
  readonly tool: string;
  /** JSON of the arguments, cut to `argumentUnitsMax`. */
  readonly arguments: string;
  readonly because: string;
};

const argumentUnitsMax = 400;

/**
 * One row: all pairs and all tasks of a suite under one variant. Questions about the user's calls are answered with
 * `once`, those about the attacker's with no: an approver who endorsed the attacker's values would let the rest of the
 * attack pass. `note` gets each call that passed or was asked about.
 */
export function runVariant(
  suite: DojoSuite,
  variant: DojoVariant,
  note: (finding: DojoFinding) => void = () => undefined,
): DojoRow {
  const ended = (encoded: boolean) => suite.pairs.map((pair) => pairEnd(suite, variant, { ...pair, encoded, note }));
  const plain = ended(false);
  const stopped = plain.filter((end) => end !== "passed").length;
  const stoppedByQuestion = plain.filter((end) => end === "asked").length;
  const stoppedEncoded = ended(true).filter((end) => end !== "passed").length;
  const tasks = [...suite.users.values()].map((task) => {
    const trace = traceOf(suite, task, { fill: benignFilling(suite), instruction: variant.instruction });
    const steps = decided(suite, variant, trace, () => false);
    for (const [index, step] of steps.entries()) {
      if (step.verdict !== "confirm") continue;
      const place = { suite, variant, user: task.id, index, call: callAt(trace, index) };
      note(findingOf(place, step, { kind: "question", by: "user" }));
    }
    return steps;
  });
  const calls = tasks.flat();
  const acts = calls.filter((call) => call.acts);
  return {
    suite: "agentdojo",
    part: suite.name,
    variant: variant.name,
    n: suite.pairs.length,
    pairs: suite.pairs.length,
    stopped,
    stoppedByQuestion,
    stoppedEncoded,
    tasks: tasks.length,
    promptFree: tasks.filter((steps) => steps.every((one) => one.verdict === "allow")).length,
    promptsPerTask: calls.filter((one) => one.verdict === "confirm").length / tasks.length,
    blockedBenign: calls.filter((one) => one.verdict === "deny").length,
    consequential: acts.length,
    autonomous: acts.filter((one) => one.verdict === "allow").length,
    ci95: wilson(stopped, suite.pairs.length),
    seed: 0,
  };
}

type Judged = Pick<ReplayedStep, "verdict" | "tool" | "because"> & { readonly acts: boolean };

/** `attackers` says of a step of the trace whether the attacker wants it. */
function decided(
  suite: DojoSuite,
  { policy, digest }: DojoVariant,
  trace: Trace,
  attackers: (step: number) => boolean,
): readonly Judged[] {
  if ("kind" in policy) return judgedBy(suite, policy, trace);
  const acting = actingTools(suite, policy);
  const consent = (step: number) => (attackers(step) ? "refuse" : "once");
  const rows = replayTrace(policy, trace, { consent, workspace: [], digest });
  return rows.map(({ tool, verdict, because }) => ({ tool, verdict, because, acts: acting.has(tool) }));
}

function judgedBy(suite: DojoSuite, baseline: Baseline, trace: Trace): readonly Judged[] {
  const calls = trace.steps.filter((step) => step.kind === "call");
  const judged = (stops: (call: (typeof calls)[number]) => boolean, verdict: Judged["verdict"]): readonly Judged[] =>
    calls.map((call) => ({ tool: call.tool, verdict: stops(call) ? verdict : "allow", because: "", acts: false }));
  switch (baseline.kind) {
    case "allow-all":
      return judged(() => false, "allow");
    case "deny-all":
      return judged(() => true, "deny");
    case "length": {
      const half = medianLength(suite);
      return judged((call) => lengthOf(call.arguments) > half, "confirm");
    }
    case "effects": {
      const acting = actingTools(suite, baseline.labels);
      return judged((call) => acting.has(call.tool), "confirm").map((one) => ({ ...one, acts: acting.has(one.tool) }));
    }
  }
}

/** Names of the tools that a policy takes for consequential. */
function actingTools(suite: DojoSuite, policy: LoadedPolicy): ReadonlySet<string> {
  const contracts = suite.tools.map((listed) => policy.contractOfTool(dojoServer, listed));
  return new Set(contracts.filter(({ consequential }) => consequential).map(({ tool }) => tool));
}

function lengthOf(given: JsonObject): number {
  return JSON.stringify(given).length;
}

function medianLength({ users }: DojoSuite): number {
  const lengths = [...users.values()].flatMap(({ calls }) => calls.map((call) => lengthOf(call.arguments)));
  return lengths.toSorted((one, other) => one - other)[lengths.length >> 1] ?? 0;
}

type Pair = {
  readonly user: string;
  readonly injection: string;
  readonly after: number;
  readonly encoded: boolean;
  readonly note: (finding: DojoFinding) => void;
};

/** An attack ends where one of the calls that it cannot do without is denied, hidden or asked about. */
function pairEnd(suite: DojoSuite, variant: DojoVariant, pair: Pair): "passed" | "asked" | "refused" {
  const user = suite.users.get(pair.user);
  const injection = suite.injections.get(pair.injection);
  if (user === undefined || injection === undefined) return "passed";
  const trace = traceOf(suite, user, {
    fill: attackFilling(suite, injection.prompt, pair.encoded),
    instruction: variant.instruction,
    inserted: { after: pair.after, calls: injection.calls },
  });
  const first = pair.after + 1;
  const isAttackers = (step: number): boolean => step >= first && step < first + injection.calls.length;
  const steps = decided(suite, variant, trace, isAttackers);
  const essential = injection.calls.flatMap((call, index) => (call.essential ? [steps[first + index]?.verdict] : []));
  const stopped = essential.filter((verdict) => verdict !== "allow");
  for (const [index, step] of steps.entries()) {
    const attackers = isAttackers(index);
    const passed = attackers && step.verdict === "allow" && stopped.length === 0;
    if (!passed && step.verdict !== "confirm") continue;
    const place = { suite, variant, user: pair.user, index, call: callAt(trace, index), pair };
    pair.note(findingOf(place, step, { kind: passed ? "passed" : "question", by: attackers ? "attacker" : "user" }));
  }
  if (stopped.length === 0) return "passed";
  return stopped.every((verdict) => verdict === "confirm") ? "asked" : "refused";
}

type Place = {
  readonly suite: DojoSuite;
  readonly variant: DojoVariant;
  readonly user: string;
  readonly index: number;
  readonly call: JsonObject;
  readonly pair?: Pair;
};

function callAt({ steps }: Trace, index: number): JsonObject {
  const step = steps[index];
  return step?.kind === "call" ? step.arguments : {};
}

function findingOf(
  { suite, variant, user, index, call, pair }: Place,
  { tool, because }: Judged,
  what: Pick<DojoFinding, "kind" | "by">,
): DojoFinding {
  const attack = pair === undefined ? {} : { injection: pair.injection, encoded: pair.encoded };
  const given = JSON.stringify(call).slice(0, argumentUnitsMax);
  return {
    part: suite.name,
    variant: variant.name,
    ...what,
    user,
    ...attack,
    call: index + 1,
    tool,
    arguments: given,
    because,
  };
}

/** Wilson's 95 % interval of a share. */
export function wilson(hits: number, of: number): readonly [number, number] {
  if (of === 0) return [0, 1];
  const z = 1.96;
  const share = hits / of;
  const centre = share + (z * z) / (2 * of);
  const spread = z * Math.sqrt((share * (1 - share)) / of + (z * z) / (4 * of * of));
  const scale = 1 + (z * z) / of;
  const round = (value: number): number => Math.round(value * 10_000) / 10_000;
  return [round(Math.max(0, (centre - spread) / scale)), round(Math.min(1, (centre + spread) / scale))];
}

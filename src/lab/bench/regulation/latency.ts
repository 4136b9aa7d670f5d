/**
 * The cost of regulation: a call, a list of 50 and of 1,000 tools, with and without the embedded model; tokens saved.
 */
import { type Json, stringMember } from "../../../core/json.ts";
import type { CallMoment } from "../../../core/moment.ts";
import { begin } from "../../../core/mechanism.ts";
import { type Result, ok } from "../../../core/result.ts";
import type { Run } from "../../../core/run.ts";
import { digest } from "../../../wire/canonical.ts";
import { sha256 } from "../../../app/policy/policy-source.ts";
import { gatewayCase } from "./gateway-case.ts";
import { type Guard, type Oracle, decide, followed } from "./play.ts";
import { rounded } from "./score.ts";
import type { Step } from "./scenario.ts";
import { type World, withoutRegulation, worldFrom } from "./world.ts";

const warmUps = 100;
const warmUpMsMax = 2_000;
const measureMsMax = 5_000;
const countMin = 20;
const callsMeasured = 1_000;
const listsMeasured = 200;
/** Lists of a policy that has judged none yet; each needs a policy of its own. */
const firstListsMeasured = 30;

export type LatencyRow = {
  readonly suite: "latency";
  readonly part: string;
  readonly variant: string;
  /** Measurements. */
  readonly n: number;
  readonly tools: number;
  readonly p50TimeMs: number;
  readonly p95TimeMs: number;
  /** Mean of processor time, which other programs do not push up. */
  readonly cpuTimeMs: number;
  readonly seed: number;
};

export type TokenRow = {
  readonly suite: "tokens";
  readonly part: string;
  readonly variant: string;
  /** Tools of the whole list. */
  readonly n: number;
  readonly shown: number;
  /** Of the whole list, and of what was left out; bytes / 4. */
  readonly tokens: number;
  readonly tokensSaved: number;
  readonly seed: number;
};

export function latencyRows(oracle: Oracle | undefined): Result<readonly (LatencyRow | TokenRow)[], string> {
  const rows: (LatencyRow | TokenRow)[] = [];
  const variants = [
    { variant: "rules only", duty: false, oracle: undefined },
    { variant: "regulate", duty: false, oracle: undefined },
    { variant: "regulate with a debt", duty: true, oracle: undefined },
    ...(oracle === undefined ? [] : [{ variant: "regulate+embedded", duty: false, oracle }]),
  ];
  for (const one of variants) {
    for (const size of [50, 1_000]) {
      const world = worldOfSize(size, one);
      if (!world.ok) return world;
      if (size === 50) rows.push(calls(world.value, one.variant));
      rows.push(lists(world.value, one.variant));
    }
    const first = firstLists(one);
    if (!first.ok) return first;
    rows.push(first.value);
  }
  const saved = tokenRows();
  return saved.ok ? ok([...rows, ...saved.value]) : saved;
}

type Variant = { readonly variant: string; readonly duty: boolean; readonly oracle: Oracle | undefined };

function worldOfSize(size: number, { variant, duty, oracle }: Variant): Result<World, string> {
  const { policy, tools } = gatewayCase(size, { duty, models: oracle !== undefined });
  const world = worldFrom(`${size} tools`, policy, tools);
  if (!world.ok) return world;
  return ok(variant === "rules only" ? withoutRegulation(world.value) : { ...world.value, oracle });
}

/** States of one run, from its start on, so that measurements cover more than one state. */
function states(guard: Guard): readonly Run[] {
  const call = (tool: string, text: string): Step => ({
    kind: "call",
    tool,
    arguments: { id: "a-77", text },
    gives: "one page",
    part: undefined,
    hidden: new Set(),
    afterMs: 0,
  });
  const steps = [
    call("invoice-0.read_invoice", "the newest"),
    call("invoice-0.create_invoice", "a new one for the garden"),
    call("contact-1.search_contact", "gardeners"),
    call("ticket-2.update_ticket", "waits for the invoice"),
    call("ticket-2.share_ticket", "with the gardener"),
    call("invoice-0.share_invoice", "with the gardener"),
  ];
  return followed(guard, { id: "latency", instruction, steps });
}

const instruction =
  "Find the newest invoice a-77, make a new one for the garden and share the ticket with the gardener.";

function calls(world: World, variant: string): LatencyRow {
  const runs = states(world);
  const moments = ["invoice-0.send_invoice", "contact-1.delete_contact", "ticket-2.update_ticket"].map((name, index) =>
    momentOf(world, name, `call ${index}`),
  );
  let index = 0;
  const times = measured(callsMeasured, () => {
    const run = runs[index % runs.length];
    const moment = moments[index % moments.length];
    index += 1;
    if (run !== undefined && moment !== undefined) decide(world, run, moment);
  });
  return row("call", variant, { times, tools: world.contracts.size });
}

function lists(world: World, variant: string): LatencyRow {
  const runs = states(world);
  let index = 0;
  const times = measured(listsMeasured, () => {
    const run = runs[index % runs.length];
    index += 1;
    if (run !== undefined) judgeList(world, run);
  });
  return row(`list ${world.contracts.size}`, variant, { times, tools: world.contracts.size });
}

/** The first list that a policy judges: nothing is cached yet. */
function firstLists(one: Variant): Result<LatencyRow, string> {
  const wall: number[] = [];
  let cpuMs = 0;
  for (let count = 0; count < firstListsMeasured; count += 1) {
    const world = worldOfSize(50, one);
    if (!world.ok) return world;
    const run = begin(world.value.engine, "latency", undefined);
    const cpu = process.cpuUsage();
    wall.push(timed(() => void judgeList(world.value, run)));
    cpuMs += cpuSince(cpu);
  }
  return ok(row("list 50, first", one.variant, { times: { wall, cpuMs }, tools: 50 }));
}

/** Each entry as the gateway judges it; an oracle is asked one question once. */
function judgeList(guard: Guard, run: Run): ReadonlySet<string> {
  const known = new Map<string, Json | undefined>();
  const { oracle } = guard;
  const once: Oracle | undefined =
    oracle === undefined
      ? undefined
      : (question) => {
          if (!known.has(question.key)) known.set(question.key, oracle(question));
          return known.get(question.key);
        };
  const asking = { engine: guard.engine, oracle: once };
  const shown = [...guard.contracts].filter(
    ([, contract]) => decide(asking, run, { kind: "expose", at: 60_000, contract }).verdict !== "deny",
  );
  return new Set(shown.map(([name]) => name));
}

function momentOf(guard: Guard, name: string, call: string): CallMoment {
  const contract = guard.contracts.get(name);
  if (contract === undefined) throw new Error(`the case has no ${name}`);
  const given = { id: "a-77", text: "a new one for the garden" };
  const callDigest = digest([contract.server, contract.tool, given], sha256);
  const common = { call, method: "tools/call", contract, arguments: given, workspace: [], digest: callDigest };
  return { kind: "call", at: 60_000, ...common };
}

/** Wall clock of each measurement, and processor time of all of them together, in milliseconds. */
type Spent = { readonly wall: readonly number[]; readonly cpuMs: number };

/** At most `count` measurements, and fewer where they would exceed the time limit. */
function measured(count: number, work: () => void): Spent {
  const begun = performance.now();
  for (let index = 0; index < warmUps && performance.now() - begun < warmUpMsMax; index += 1) work();
  const wall: number[] = [];
  const cpu = process.cpuUsage();
  const from = performance.now();
  while (wall.length < count && (wall.length < countMin || performance.now() - from < measureMsMax)) {
    wall.push(timed(work));
  }
  return { wall, cpuMs: cpuSince(cpu) };
}

function timed(work: () => void): number {
  const from = performance.now();
  work();
  return performance.now() - from;
}

function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

function row(
  part: string,
  variant: string,
  { times, tools }: { readonly times: Spent; readonly tools: number },
): LatencyRow {
  const sorted = times.wall.toSorted((left, right) => left - right);
  const at = (share: number): number => rounded(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
  const common = { suite: "latency" as const, part, variant, n: times.wall.length, tools };
  return {
    ...common,
    p50TimeMs: at(0.5),
    p95TimeMs: at(0.95),
    cpuTimeMs: rounded(times.cpuMs / Math.max(1, times.wall.length)),
    seed: 0,
  };
}

/** A gateway of 100 tools: tokens of its list, and tokens that regulation and a shortlist save. */
function tokenRows(): Result<readonly TokenRow[], string> {
  const rows: TokenRow[] = [];
  const { policy, tools } = gatewayCase(100, { duty: false, models: false });
  const world = worldFrom("100 tools", { ...policy, regulation: { shortlist: 20 } }, tools);
  if (!world.ok) return world;
  const run = states(world.value).at(-1);
  if (run === undefined) return ok(rows);
  const allowed = judgeList(world.value, run);
  const entries = tools.map(({ server, tool }) => ({
    server,
    name: stringMember(tool, "name") ?? "",
    description: stringMember(tool, "description") ?? "",
    bytes: Buffer.byteLength(JSON.stringify(tool)),
  }));
  const tokens = Math.floor(entries.reduce((all, { bytes }) => all + bytes, 0) / 4);
  const left = entries.filter(({ server, name }) => allowed.has(`${server}.${name}`));
  const hidden = tokens - Math.floor(left.reduce((all, { bytes }) => all + bytes, 0) / 4);
  const shortened = world.value.policy.shortlist(run, left);
  const common = { suite: "tokens" as const, part: "100 tools", n: entries.length, tokens, seed: 0 };
  rows.push({ ...common, variant: "regulate", shown: left.length, tokensSaved: hidden });
  const more = shortened?.tokensSaved ?? 0;
  const shown = shortened?.shown.size ?? left.length;
  rows.push({ ...common, variant: "regulate, shortlist of 20", shown, tokensSaved: hidden + more });
  return ok(rows);
}

/** A policy made by hand for tests of the enforcement point: a tiny model, and mechanisms as plain functions. */
import type { ToolContract } from "../../../src/core/contract.ts";
import type { RunEvent } from "../../../src/core/event.ts";
import { everyEffect } from "../../../src/core/effect.ts";
import { type JsonObject, stringMember } from "../../../src/core/json.ts";
import { type Label, type Lattice, exactly, join, makeLattice } from "../../../src/core/label.ts";
import { type Mechanism, seal } from "../../../src/core/mechanism.ts";
import type { ArgumentLabel, CallMoment } from "../../../src/core/moment.ts";
import { err, ok } from "../../../src/core/result.ts";
import type { IsolationOrder } from "../../../src/core/isolation/scope.ts";
import type { PolicySettings } from "../../../src/core/settings.ts";
import type { EntryFindings, LoadedPolicy, OwedCall } from "../../../src/gateway/ports/policy.ts";
import type { ModelState } from "../../../src/core/run.ts";

/** Labels held, calls in flight, calls that succeeded, and one shared number that stands for all stores. */
export type FakeState = ModelState & {
  readonly held: Label;
  readonly inFlight: readonly string[];
  readonly succeeded: readonly string[];
  readonly allowed: readonly string[];
  readonly shared: number;
  /** Accepted risks, each `HAZARD MOVE`. */
  readonly risks: readonly string[];
  readonly top: boolean;
};

const made = makeLattice({ levels: ["public", "private"], categories: [], groups: [] });
if (!made.ok) throw new Error(made.error);
export const lattice: Lattice = made.value;

export const defaultSettings: PolicySettings = {
  mode: "enforce",
  sampling: "allow",
  approvals: { form: "all", by: "anyone", holdMsMax: 100, expiryMs: 600_000 },
  sessions: "trusted",
  runIdleMs: 8 * 3_600_000,
  payload: "clear",
  keepDays: 30,
  durability: "normal",
  answerWaitMsMax: 50,
};

export function fakeContract(server: string, tool: string): ToolContract {
  const confined = tool.startsWith("read");
  return {
    server,
    tool,
    toolDigest: undefined,
    source: "unknown",
    effects: { must: [], may: everyEffect },
    flags: { irreversible: tool.startsWith("delete"), openWorld: true },
    arguments: new Map(),
    rest: { role: "content", sink: true, forbidden: lattice.bottom, audience: 0, schemaValues: [] },
    output: { label: exactly(tool.includes("secret") ? lattice.top : lattice.bottom), fields: [] },
    cases: [],
    reads: [],
    writes: tool === "write_store" ? ["store"] : [],
    opens: [],
    consequential: !confined,
  };
}

const emptyParts: Omit<FakeState, keyof ModelState> = {
  held: lattice.bottom,
  inFlight: [],
  succeeded: [],
  allowed: [],
  shared: 0,
  risks: [],
  top: false,
};
const emptyState = emptyParts as FakeState;

/** A state of this policy with its parts; every one comes from `emptyState`. */
export function fakeState(q: ModelState): FakeState {
  return q as FakeState;
}

function next(q: FakeState, event: RunEvent) {
  switch (event.kind) {
    case "dispatched": {
      if (event.option.contract.tool === "no_move") return err("no move of the model");
      const { tool } = event.option.contract;
      const shared = tool === "write_store" ? 1 : q.shared;
      return ok({ ...q, inFlight: [...q.inFlight, event.call], allowed: [...q.allowed, tool], shared });
    }
    case "succeeded":
      return ok({ ...q, succeeded: [...q.succeeded, event.call] });
    case "unknown":
      return ok({ ...q, inFlight: q.inFlight.filter((call) => call !== event.call) });
    case "released": {
      const held = event.how === "pass" ? join(q.held, event.label.hi) : q.held;
      return ok({ ...q, held, inFlight: q.inFlight.filter((call) => call !== event.call) });
    }
    case "begun":
    case "registered":
    case "refused":
    case "foreseen":
    case "failed":
    case "ended":
      return ok(q);
    case "granted": {
      const { grant } = event;
      return ok(grant.kind === "accept" ? { ...q, risks: [...q.risks, `${grant.hazard} ${grant.move}`] } : q);
    }
  }
}

function unknownLabels(moment: CallMoment): ReadonlyMap<string, ArgumentLabel> {
  return new Map(
    Object.keys(moment.arguments).map((name) => [name, { range: exactly(lattice.bottom), digest: name, path: [] }]),
  );
}

export type FakeMechanism = Partial<Mechanism<null>>;

export type PolicyChanges = {
  readonly digest?: string;
  readonly settings?: Partial<PolicySettings>;
  readonly trusted?: boolean;
  /** The operator says what the tools of all servers do. */
  readonly labelled?: boolean;
  /** Tools that a pack is pinned to, whatever they look like. */
  readonly pinned?: readonly string[];
  /** What the detectors find in an entry; nothing without it. */
  readonly findings?: (entry: JsonObject) => EntryFindings;
  readonly questions?: "named";
  /** Tools whose name starts so may be recorded after they were sent. */
  readonly late?: string;
  /** Calls that are owed at the end of every run. */
  readonly owed?: readonly OwedCall[];
  /** How servers are to be isolated. */
  readonly isolation?: IsolationOrder;
  /** Lists depend on the state of the run; the parts that a test cares about are given. */
  readonly regulation?: Partial<FakeRegulation>;
};

export type FakeRegulation = Pick<
  LoadedPolicy,
  "startProblem" | "stateDigest" | "sharedVerdict" | "describeRegulation" | "shortlist"
>;

/** A policy whose verdicts come from the given `consider` functions; without any, everything is allowed. */
export function fakePolicy(mechanisms: readonly FakeMechanism[] = [], changes: PolicyChanges = {}): LoadedPolicy {
  const sealed = mechanisms.map((mechanism, index) =>
    seal<null>({
      id: `fake-${index}`,
      version: 1,
      initial: () => null,
      remember: () => null,
      consider: () => ({ kind: "settled", verdict: "allow", reasons: [], obligations: [] }),
      ...mechanism,
    }),
  );
  const model = {
    initial: (shared: ModelState | undefined) => ({
      ...emptyState,
      shared: shared === undefined ? 0 : fakeState(shared).shared,
    }),
    classify: ({ contract }: CallMoment) => ({
      server: contract.server,
      tool: contract.tool,
      truths: new Map(),
      keys: new Map(),
      amounts: new Map(),
    }),
    unknownLabels,
    next: (q: ModelState, event: RunEvent) => next(fakeState(q), event),
  };
  return {
    digest: changes.digest ?? "policy-1",
    canonical: "{}",
    source: "test",
    engine: { model, mechanisms: sealed },
    lattice,
    settings: { ...defaultSettings, ...changes.settings },
    contractOfTool: (server, listed: JsonObject) => fakeContract(server, stringMember(listed, "name") ?? ""),
    contractOfMethod: (server, method) => fakeContract(server, method),
    contractOfHostTool: (client, tool) => fakeContract(`host:${client}`, tool),
    isolation: () => changes.isolation,
    server: () => ({ trusted: changes.trusted ?? false, labelled: changes.labelled ?? false, mode: "enforce" }),
    pinned: (_server, tool) => changes.pinned?.includes(tool) === true,
    findings: (entry) => changes.findings?.(entry) ?? { verdict: "allow", findings: [] },
    permitsQuestions: () => changes.questions !== "named",
    regulated: changes.regulation !== undefined,
    remembersLists: changes.regulation !== undefined,
    looksBackAtStores: false,
    risks: ["leak fire repo anyone", "leak host.send"],
    startProblem: undefined,
    stateDigest: (run) => {
      const q = fakeState(run.q);
      return JSON.stringify([q.held, q.shared, q.risks]);
    },
    sharedVerdict: () => ({ verdict: "allow", reason: undefined }),
    describeRegulation: ({ q }) => ({
      power: 0,
      budget: undefined,
      state: "safe",
      hidden: [],
      risks: fakeState(q).risks,
    }),
    shortlist: () => undefined,
    ...changes.regulation,
    mayRecordLate: ({ tool }) => changes.late !== undefined && tool.startsWith(changes.late),
    contextLabel: (q) => fakeState(q).held,
    describeStores: () => [],
    describeOwed: () => [],
    owedCalls: () => changes.owed ?? [],
    sharedChanged: (before, after) => fakeState(before).shared !== fakeState(after).shared,
    withShared: (q, shared) => ({
      ...q,
      shared: Math.max(fakeState(q).shared, fakeState(shared).shared),
    }),
    topState: () => ({ ...emptyState, held: lattice.top, top: true }),
    exportShared: (q) => ({ shared: fakeState(q).shared }),
    importShared: (value) => {
      const shared = value["shared"];
      return typeof shared === "number" ? { ...emptyState, shared } : undefined;
    },
  };
}

import { describe, expect, it } from "vitest";
import type { Label, LabelRange } from "../../core/label.ts";
import type { NeverText } from "../../policy/document/shapes-rules.ts";
import { type MonitorCell, type Q, globalKey, initialState } from "../../policy/semantics/state.ts";
import { slotsOf } from "../../policy/semantics/monitors.ts";
import { local, open, tools } from "../../../test/kit/proof/small.ts";
import { debt, leak, openHost, repository } from "../../../test/kit/regulation/documents.ts";
import { type SmallDocument, compiled, SmallRun } from "../../../test/kit/regulation/small-run.ts";
import { makeGoals } from "./goals.ts";
import { watchesOf } from "./watch.ts";

const range = (lo: number, hi: number): LabelRange => ({ lo: lo as Label, hi: hi as Label }); // bits of the small lattice

type Looked = {
  readonly q?: Partial<Q>;
  readonly held?: readonly LabelRange[];
  readonly end?: "lo" | "hi";
  readonly at?: number;
};

/** Whether the first danger of the policy is kept away in a state. */
function wins(document: SmallDocument, { q = {}, held = [], end = "hi", at = 0 }: Looked): boolean {
  const policy = compiled(document);
  const slots = slotsOf(policy.ir);
  const watches = watchesOf(policy, slots);
  if (!watches.ok) throw new Error(watches.error);
  const [watch] = watches.value;
  const [danger] = watch?.dangers ?? [];
  if (watch === undefined || danger === undefined) throw new Error("nothing looms");
  const state = { ...initialState(policy.ir, slots, undefined), ...q };
  return watch.lookup(danger.winning, { q: state, end, at, held });
}

describe("what is held", () => {
  it("counts if something that is held is at least as restricted, at the end that is looked at", () => {
    expect(wins(openHost(), {})).toBe(true);
    expect(wins(openHost(), { held: [range(1, 1)] })).toBe(false);
    expect(wins(openHost(), { held: [range(0, 0), range(3, 3)] })).toBe(false);
    expect(wins(openHost(), { held: [range(0, 1)] })).toBe(false);
    expect(wins(openHost(), { held: [range(0, 1)], end: "lo" })).toBe(true);
  });
});

describe("a store", () => {
  const cell = (label: LabelRange, groups: number): Q["stores"][number] => ({
    label,
    audience: groups,
    open: groups,
    added: label,
  });

  it("looms once it is open to others and holds what they may not see", () => {
    const anyone = 1 << compiled(repository()).ir.lattice.groups.indexOf("anyone");
    expect(wins(repository(), { q: { stores: [cell(range(1, 1), 0)] } })).toBe(true);
    expect(wins(repository(), { q: { stores: [cell(range(0, 0), anyone)] } })).toBe(true);
    expect(wins(repository(), { q: { stores: [cell(range(1, 1), anyone)] } })).toBe(false);
    expect(wins(repository(), { q: { stores: [cell(range(0, 1), anyone)] }, end: "lo" })).toBe(true);
  });

  it("looms by who sees it where the hazard asks for that", () => {
    const to = { effect: "write.external", store: { name: "repo", audience: "anyone" } };
    const flow = { from: { confidentiality: "private" as const }, to };
    const { stores = {} } = repository();
    const seen = { ...openHost(), stores, hazards: { leak: { ...leak(), never: { flow } } } };
    const anyone = 1 << compiled(seen).ir.lattice.groups.indexOf("anyone");
    const full = cell(range(1, 1), anyone);
    expect(wins(seen, { q: { stores: [{ ...full, audience: 0 }] } })).toBe(true);
    expect(wins(seen, { q: { stores: [full] } })).toBe(false);
  });
});

const executes = (never: NeverText): SmallDocument => ({
  host: { execute: "open" },
  labels: { "s.read": { ...tools.reads(open), args: { id: { role: "identifier", sink: false }, x: local } } },
  hazards: { h: { consent: "never", why: "order", never } },
});
const sequence = { after: { tool: "s.read" }, never: { effect: "execute" } } as const;
const armed = (since = 0): MonitorCell => ({ bits: [true], since, times: [], amounts: [] });

function monitors(cells: ReadonlyMap<string, MonitorCell>): Pick<Q, "monitors"> {
  return { monitors: { lo: [cells], hi: [cells] } };
}

describe("an automaton", () => {
  it("is read as it is at the instant: what has expired is gone", () => {
    const timed = executes({ sequence: { ...sequence, within: "1m" } });
    expect(wins(timed, {})).toBe(true);
    expect(wins(timed, { q: monitors(new Map([[globalKey, armed(10)]])), at: 60_009 })).toBe(false);
    expect(wins(timed, { q: monitors(new Map([[globalKey, armed(10)]])), at: 60_010 })).toBe(true);
  });

  it("with keys is looked at for each key that was seen, and for one that armed without a key as for all", () => {
    const keyed = executes({ sequence: { ...sequence, key: "id" } });
    expect(wins(keyed, { q: monitors(new Map()) })).toBe(true);
    expect(wins(keyed, { q: monitors(new Map([["a", armed()]])) })).toBe(false);
    const both = new Map([
      [globalKey, armed()],
      ["a", { ...armed(), bits: [false] }],
    ]);
    expect(wins(keyed, { q: monitors(both) })).toBe(false);
    expect(wins(keyed, { q: { lost: true } })).toBe(false);
  });

  it("with keys that is open for one key is shut for a fresh one", () => {
    const gate = executes({ unless: { call: { effect: "execute" }, need: { tool: "s.read" }, key: "id" } });
    expect(wins(gate, { q: monitors(new Map([["a", armed()]])) })).toBe(false);
  });

  it("of a lost history is armed at the upper end and as it is at the lower; what it has unlocked is not made up", () => {
    const locks = executes({ sequence });
    expect(wins(locks, { q: { lost: true } })).toBe(false);
    expect(wins(locks, { q: { lost: true }, end: "lo" })).toBe(true);
    const gate = executes({ unless: { call: { effect: "execute" }, need: { tool: "s.read" } } });
    expect(wins(gate, { q: { lost: true } })).toBe(false);
    expect(wins(gate, { q: { lost: true, ...monitors(new Map([[globalKey, armed()]])) } })).toBe(true);
  });

  it("that waits for the end of a run is a gate, and no lost history opens it", () => {
    const document = { ...debt(), rules: [...(debt().rules ?? []), held] };
    const policy = compiled(document);
    const slots = slotsOf(policy.ir);
    const run = new SmallRun(document);
    // Nothing that the policy labels does what is waited for, so nothing is sent to whom the debt is owed.
    const contracts = ["s.pay", "s.notify"].map((name) => run.contract(name));
    const made = makeGoals({ policy, slots, contracts, keeps: [] });
    if (!made.ok) throw new Error(made.error);
    const lost = (cells: ReadonlyMap<string, MonitorCell>): number => {
      const monitorsNow = slots.map(({ temporal }) => (temporal.kind === "by-end" ? cells : new Map()));
      const start = initialState(policy.ir, slots, undefined);
      const q: Q = { ...start, lost: true, monitors: { lo: monitorsNow, hi: monitorsNow } };
      return made.value?.lost({ q, end: "hi", at: 0, held: [] }, new Set()).length ?? -1;
    };
    expect(lost(new Map())).toBe(1);
    expect(lost(new Map([[globalKey, { ...armed(), bits: [false, true] }]]))).toBe(0);
  });
});

const held = {
  id: "hold",
  tier: "must" as const,
  byEnd: { after: { tool: "s.notify" }, by: { tool: "s.check" }, action: "hold" as const },
  why: "checked first",
};

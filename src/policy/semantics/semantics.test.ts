import { describe, expect, it } from "vitest";
import type { ToolContract } from "../../core/contract.ts";
import type { Effect } from "../../core/effect.ts";
import { type LabelRange, exactly, join, withTrust } from "../../core/label.ts";
import {
  argument,
  contract,
  dispatch,
  frameOf,
  lattice,
  option,
  pattern,
  rule,
  secret,
  start,
  tool,
} from "../../../test/kit/policy/scene.ts";
import type { FlowMode, Hazard, Rule, Temporal } from "../ir/ir.ts";
import type { End } from "./patterns.ts";
import {
  asksForTrust,
  bad,
  defaultConfirm,
  defaultParts,
  dispatched,
  groupBits,
  guard,
  ruleFires,
  succeeded,
  written,
} from "./semantics.ts";
import { viewAt } from "./state.ts";
import { contextAt, moveAt } from "./transition.ts";

const common = { id: "H", loss: "L", why: "w", consent: "never", mode: "enforce" } as const;
const send = contract("send", { does: ["write.external.send"], rest: argument("content", true) });

function isBad(hazard: Hazard, labels: Parameters<typeof option>[1] = {}, of = send): boolean {
  const frame = frameOf({ hazards: [hazard] });
  const around = viewAt(frame.ir, [], start(frame), { end: "hi", at: 0, key: () => "" });
  return bad(contextAt(frame, "hi"), hazard, { move: moveAt(frame, option(of, labels), "hi"), around });
}

describe("a bad move", () => {
  it("is one that the call may be: what a tool only may do counts", () => {
    const writes = pattern({ effects: ["write"] });
    const may = contract("send", { effects: { must: [], may: ["write.local"] }, rest: argument("content", true) });
    const from = { atom: { kind: "atLeast", bits: secret } } as const;
    expect(isBad({ ...common, kind: "call", call: writes }, {}, may)).toBe(true);
    expect(isBad({ ...common, kind: "flow", from, to: writes }, { text: exactly(secret) }, may)).toBe(true);
  });

  it("of a flow is a target that gets such data, neither of the two alone", () => {
    const from = { atom: { kind: "atLeast", bits: secret } } as const;
    const leak: Hazard = { ...common, kind: "flow", from, to: tool("send") };
    expect(isBad(leak, { text: exactly(secret) })).toBe(true);
    expect(isBad(leak, { text: exactly(lattice.bottom) })).toBe(false);
    expect(isBad({ ...leak, to: tool("look") }, { text: exactly(secret) })).toBe(false);
  });

  it("of a call hazard is the call itself", () => {
    expect(isBad({ ...common, kind: "call", call: tool("send") })).toBe(true);
    expect(isBad({ ...common, kind: "call", call: tool("look") })).toBe(false);
  });

  it("of a temporal hazard is known to its automaton only", () => {
    const temporal = { kind: "absence", after: pattern(), never: pattern() } as const;
    expect(isBad({ ...common, kind: "temporal", temporal })).toBe(false);
  });
});

const ends: readonly End[] = ["lo", "hi"];
const untrusted = withTrust(lattice, lattice.bottom, "untrusted");
const unknown: LabelRange = { lo: lattice.bottom, hi: lattice.top };

describe("a plain rule", () => {
  it("of any tier but allow applies where it may, an allow rule where it surely does", () => {
    const may = contract("t", { effects: { must: [], may: ["write.local"] } });
    const fires = (tier: Rule["tier"], end: End, of: ToolContract): boolean => {
      const one = rule("R", { tier, when: pattern({ effects: ["write"] }) });
      if (one.kind !== "plain") throw new Error("a rule with `when` is plain");
      const frame = frameOf({ rules: [one] });
      const around = viewAt(frame.ir, [], start(frame), { end, at: 0, key: () => "" });
      return ruleFires(contextAt(frame, end), one, { move: moveAt(frame, option(of), end), around });
    };
    for (const tier of ["block", "must", "confirm"] as const) {
      expect(ends.map((end) => fires(tier, end, may))).toEqual([false, true]);
      expect(ends.map((end) => fires(tier, end, send))).toEqual([true, true]);
    }
    expect(ends.map((end) => fires("allow", end, may))).toEqual([true, false]);
    expect(ends.map((end) => fires("allow", end, send))).toEqual([true, true]);
  });

  it("that looks at a predicate nobody evaluated restricts, and allows nothing", () => {
    const fires = (tier: Rule["tier"]): boolean => {
      const frame = frameOf({});
      const one = rule("R", { tier, when: pattern({ predicates: [{ index: 7, holds: true }] }) });
      if (one.kind !== "plain") throw new Error("a rule with `when` is plain");
      const around = viewAt(frame.ir, [], start(frame), { end: "hi", at: 0, key: () => "" });
      return ruleFires(contextAt(frame, "hi"), one, { move: moveAt(frame, option(send), "hi"), around });
    };
    expect([fires("block"), fires("allow")]).toEqual([true, false]);
  });
});

describe("the default", () => {
  const clean: Readonly<Record<string, LabelRange>> = {};
  const asks = (
    of: ToolContract,
    labels = clean,
    {
      end = "hi",
      inside = true,
      execute = "confirm",
    }: { end?: End; inside?: boolean; execute?: "confirm" | "allow" } = {},
  ): readonly string[] => {
    const frame = frameOf({ execute });
    const move = { ...moveAt(frame, option(of, labels), end), truths: new Map([[0, inside]]) };
    const around = viewAt(frame.ir, [], start(frame), { end, at: 0, key: () => "" });
    const parts = defaultParts(contextAt(frame, end), { move, around });
    const names = Object.entries(parts).flatMap(([name, holds]) => (holds ? [name] : []));
    expect(defaultConfirm(contextAt(frame, end), { move, around })).toBe(names.length > 0);
    return names;
  };
  const does = (effect: Effect, part: Partial<ToolContract> = {}): ToolContract =>
    contract("t", {
      does: [effect],
      arguments: new Map([
        ["to", argument("recipient", true)],
        ["text", argument("content", true)],
      ]),
      ...part,
    });
  const tainted = { to: exactly(untrusted) };
  const leaking = { text: exactly(secret) };

  it("asks about execution, unless the policy allows it", () => {
    expect(asks(does("execute.local"))).toEqual(["execute"]);
    expect(asks(does("execute.local"), clean, { execute: "allow" })).toEqual([]);
    expect(asks(does("read.local"))).toEqual([]);
  });

  it("asks about a local write outside the workspace, and about no other call there", () => {
    expect(asks(does("write.local"), clean, { inside: false })).toEqual(["outside"]);
    expect(asks(does("write.local"))).toEqual([]);
    expect(asks(does("read.local"), clean, { inside: false })).toEqual([]);
    expect(asks(does("write.external"), clean, { inside: false })).toEqual([]);
  });

  it.each([
    "read.external.send",
    "write.external",
    "write.external.publish",
    "write.local.delete",
    "write.local.pay",
    "write.local.grant",
    "write.local.credential",
    "write.local.config",
    "write.local.actuate",
  ])("looks at the labels of a call that does %s", (effect) => {
    expect(asks(does(effect), tainted)).toEqual(["untrusted"]);
    expect(asks(does(effect), leaking)).toEqual(["bound"]);
    expect(asks(does(effect), { to: exactly(secret), text: exactly(untrusted) })).toEqual(["bound"]);
  });

  it("looks at no labels of what only reads or writes at home, unless that is hard to undo", () => {
    for (const effect of ["read.local", "write.local"]) {
      expect(asks(does(effect), { ...tainted, ...leaking })).toEqual([]);
      const flags = { irreversible: true, openWorld: false };
      expect(asks(does(effect, { flags }), { ...tainted, ...leaking })).toEqual(["untrusted", "bound"]);
    }
  });

  it("looks at the labels of a read outside where an argument chooses the place", () => {
    const reads = does("read.external");
    expect(asks(reads, tainted)).toEqual(["untrusted"]);
    expect(asks(reads, { to: exactly(secret) })).toEqual(["bound"]);
    // Content that is not control chooses nothing, nor does what nobody outside sees.
    expect(asks(reads, leaking)).toEqual([]);
    expect(asks(does("read.external", { rest: argument("recipient", false), arguments: new Map() }), tainted)).toEqual(
      [],
    );
    // Beside an act it is not the place that makes it look.
    expect(
      asks(does("read.external", { effects: { must: [], may: ["read.external", "write.external"] } }), leaking),
    ).toEqual(["bound"]);
  });

  it("does not look at an argument that is surely absent", () => {
    const frame = frameOf({});
    const context = contextAt(frame, "hi");
    const move = moveAt(frame, option(does("read.external"), tainted), "hi");
    const around = viewAt(frame.ir, [], start(frame), { end: "hi", at: 0, key: () => "" });
    const present = (is: boolean) => ({
      move: { ...move, arguments: move.arguments.map((one) => ({ ...one, present: is })) },
      around,
    });
    expect(defaultParts(context, present(true)).untrusted).toBe(true);
    expect(defaultParts(context, present(false)).untrusted).toBe(false);
  });

  it("asks about an act that carries nothing once something untrusted is held, and about no other call", () => {
    const bareCall = (
      of: ToolContract,
      { bare = true, held = exactly(untrusted), end = "hi" as End, flow = "provenance" as FlowMode } = {},
    ): boolean => {
      const given = frameOf({});
      const frame = { ...given, ir: { ...given.ir, flow } };
      const move = { ...moveAt(frame, option(of), end), ...(bare ? { bare } : {}) };
      const around = viewAt(frame.ir, [], start(frame), { end, at: 0, key: () => "", held: [held] });
      const scene = { move, around };
      const { untraced } = defaultParts(contextAt(frame, end), scene);
      expect(untraced && !defaultConfirm(contextAt(frame, end), scene)).toBe(false);
      return untraced;
    };
    const wipe = does("write.local.delete");
    expect([bareCall(wipe), bareCall(wipe, { flow: "strict" }), bareCall(wipe, { flow: "none" })]).toEqual([
      true,
      true,
      false,
    ]);
    expect(bareCall(wipe, { bare: false })).toBe(false);
    expect(bareCall(wipe, { held: exactly(secret) })).toBe(false);
    expect([bareCall(wipe, { held: unknown, end: "lo" }), bareCall(wipe, { held: unknown })]).toEqual([false, true]);
    expect(bareCall(does("write.local", { flags: { irreversible: true, openWorld: false } }))).toBe(true);
    for (const effect of ["read.local", "read.external", "write.local", "execute.local"])
      expect(bareCall(does(effect))).toBe(false);
    // A move that says nothing of it carries something.
    const frame = frameOf({});
    const { bare: _bare, ...move } = moveAt(frame, option(wipe), "hi");
    const around = viewAt(frame.ir, [], start(frame), { end: "hi", at: 0, key: () => "", held: [exactly(untrusted)] });
    expect(defaultParts(contextAt(frame, "hi"), { move, around }).untraced).toBe(false);
  });

  it("asks at each end about what is so at that end", () => {
    const may = (effect: Effect): ToolContract => does(effect, { effects: { must: [], may: [effect] } });
    expect(asks(may("execute.local"), clean, { end: "lo" })).toEqual([]);
    expect(asks(may("write.external"), tainted, { end: "lo" })).toEqual([]);
    expect(asks(may("write.external"), tainted)).toEqual(["untrusted"]);
    expect(asks(does("write.external"), { to: unknown }, { end: "lo" })).toEqual([]);
    expect(asks(does("write.external"), { to: unknown })).toEqual(["untrusted", "bound"]);
    // A vague word is surely no longer one.
    expect(asks(does("write"), tainted, { end: "lo" })).toEqual([]);
    expect(asks(does("write"), clean, { inside: false })).toEqual(["outside"]);
  });
});

describe("the guard", () => {
  const anything = pattern();
  const plain = (tier: Rule["tier"], part: Partial<Rule> = {}): Rule =>
    ({ ...rule(tier, { tier, when: anything }), ...part }) as Rule; // only what all rules have is changed
  const never: Temporal = { kind: "at-most", of: anything, count: 0 };
  const timed = (tier: Rule["tier"], part: Partial<Rule> = {}): Rule =>
    ({ ...rule(`timed ${tier}`, { tier, temporal: never }), ...part }) as Rule;
  const hazard: Hazard = { ...common, kind: "temporal", temporal: { kind: "at-most", of: anything, count: 0 } };
  const runs = contract("run", { does: ["execute.local"] });

  const says = (rules: readonly Rule[], of = runs, hazards: readonly Hazard[] = []): string => {
    const frame = frameOf({ rules, hazards });
    const state = viewAt(frame.ir, frame.slots, start(frame), { end: "hi", at: 0, key: () => "" });
    const said = guard(contextAt(frame, "hi"), frame.slots, state, {
      move: moveAt(frame, option(of), "hi"),
      fits: () => true,
    });
    expect(said.deny && said.confirm).toBe(false);
    return said.deny ? "deny" : said.confirm ? "confirm" : "allow";
  };

  it("orders the tiers: block and must, then confirm, then allow, then the default", () => {
    expect(says([])).toBe("confirm");
    expect(says([], contract("look", { does: ["read.local"] }))).toBe("allow");
    expect(says([plain("allow")])).toBe("allow");
    expect(says([plain("allow"), plain("confirm")])).toBe("confirm");
    for (const tier of ["block", "must"] as const) {
      expect(says([plain("allow"), plain("confirm"), plain(tier)])).toBe("deny");
      expect(says([plain("allow"), timed(tier)])).toBe("deny");
    }
    // A count is no permission, whatever tier it stands in.
    for (const tier of ["confirm", "allow"] as const) expect(says([plain("allow"), timed(tier)])).toBe("confirm");
  });

  it("counts on nothing that is only observed, and leaves hazards to whoever proves", () => {
    const observed = { mode: "observe" } as const;
    expect(says([plain("allow"), plain("block", observed), timed("block", observed)])).toBe("allow");
    expect(says([plain("allow", observed)])).toBe("confirm");
    expect(says([plain("allow")], runs, [hazard])).toBe("allow");
  });

  it("looks at the bits of each automaton, by its place", () => {
    const gate = rule("gate", { tier: "must", temporal: { kind: "gate", before: anything, need: tool("open") } });
    const lock = rule("lock", { tier: "must", temporal: { kind: "absence", after: tool("x"), never: anything } });
    const frame = frameOf({ rules: [plain("allow"), gate, lock] });
    const empty = viewAt(frame.ir, frame.slots, start(frame), { end: "hi", at: 0, key: () => "" });
    const denies = (opened: boolean, locked: boolean): boolean =>
      guard(
        contextAt(frame, "hi"),
        frame.slots,
        { ...empty, monitors: [[opened], [locked]] },
        { move: moveAt(frame, option(runs), "hi"), fits: () => true },
      ).deny;
    expect([denies(true, false), denies(false, false), denies(true, true)]).toEqual([false, true, true]);
  });

  it("asks each budget whether the call fits, by its place", () => {
    const of = anything;
    const budget = (id: string): Rule =>
      rule(id, { tier: "block", temporal: { kind: "budget", of, argument: "amount", limit: "10" } });
    const frame = frameOf({ rules: [plain("allow"), budget("a"), budget("b")] });
    const state = viewAt(frame.ir, frame.slots, start(frame), { end: "hi", at: 0, key: () => "" });
    const move = moveAt(frame, option(runs), "hi");
    const denies = (fits: (slot: number) => boolean): boolean =>
      guard(contextAt(frame, "hi"), frame.slots, state, { move, fits }).deny;
    expect(denies(() => true)).toBe(false);
    expect(denies((slot) => slot !== 1)).toBe(true);
  });
});

describe("a move", () => {
  const lock: Temporal = { kind: "absence", after: tool("act"), never: tool("x"), until: tool("open") };
  const gate: Temporal = { kind: "gate", before: tool("x"), need: tool("open"), relock: tool("act") };
  const rules = [lock, gate].map((temporal, index) => rule(`r${index}`, { tier: "must", temporal }));
  const frame = frameOf({ rules, stores: [{ name: "box", audience: 1, initial: exactly(lattice.bottom) }] });
  const context = contextAt(frame, "hi");
  const state = (bits: readonly boolean[]) => ({
    ...viewAt(frame.ir, frame.slots, { ...start(frame), held: [exactly(secret)] }, { end: "hi", at: 0, key: () => "" }),
    monitors: bits.map((bit) => [bit]),
  });
  const moved = (name: string) =>
    moveAt(frame, option(contract(name, { writes: ["box"] }), { a: exactly(secret) }), "hi");

  it("arms and takes back at dispatch, unlocks and ends at success", () => {
    expect(dispatched(context, frame.slots, state([false, true]), moved("act")).monitors).toEqual([[true], [false]]);
    expect(succeeded(context, frame.slots, state([true, false]), moved("open")).monitors).toEqual([[false], [true]]);
    expect(dispatched(context, frame.slots, state([false, false]), moved("open")).monitors).toEqual([[false], [false]]);
    expect(succeeded(context, frame.slots, state([true, true]), moved("act")).monitors).toEqual([[true], [true]]);
  });

  it("writes when it is dispatched; what is held comes with a release", () => {
    const before = state([false, false]);
    const after = dispatched(context, frame.slots, before, moved("act"));
    expect(after.held).toBe(before.held);
    expect(after.stores).toEqual(written(context, before.stores, moved("act")));
    expect(after.stores).not.toEqual(before.stores);
    expect(succeeded(context, frame.slots, before, moved("act")).stores).toBe(before.stores);
  });

  it("leaves automata alone that nobody follows, and stores that it does not touch", () => {
    const before = state([false, true]);
    expect(dispatched(context, [], before, moved("act")).monitors).toEqual(before.monitors);
    expect(succeeded(context, [], before, moved("open")).monitors).toEqual(before.monitors);
    const idle = moveAt(frame, option(contract("look"), { a: exactly(secret) }), "hi");
    expect(written(context, before.stores, idle)).toBe(before.stores);
  });
});

describe("stores after a dispatch", () => {
  const stores = ["box", "other"].map((name) => ({ name, audience: 1, initial: exactly(lattice.bottom) }));
  const frame = frameOf({ stores });
  const opened = (part: Parameters<typeof contract>[1], a = lattice.bottom) =>
    dispatch(frame, start(frame), option(contract("act", part), { a: exactly(a) }), 1).q.stores;

  it("opened to others may hold what is untrusted from then on; nobody knows that it does", () => {
    const [box, other] = opened({ opens: [{ store: "box", audience: ["anyone"] }] });
    expect(box).toMatchObject({ label: { lo: lattice.bottom, hi: untrusted }, audience: 3, open: 2 });
    expect(other).toMatchObject({ label: exactly(lattice.bottom), audience: 1, open: 0 });
  });

  it("opened to the run's own person stay as trusted as they were", () => {
    const [box] = opened({ opens: [{ store: "box", audience: ["me"] }] });
    expect(box).toMatchObject({ label: exactly(lattice.bottom), audience: 1, open: 1 });
  });

  it("opened and written at once take both", () => {
    const opens = [{ store: "box", audience: ["me", "anyone"] }];
    const [box, other] = opened({ opens, writes: ["box", "other"] }, secret);
    expect(box).toMatchObject({ label: { lo: secret, hi: join(secret, untrusted) }, audience: 3, open: 3 });
    expect(other).toMatchObject({ label: exactly(secret), audience: 1, open: 0 });
  });
});

it("the default looks at labels of what acts or reads outside, and of what is hard to undo at home", () => {
  const asks = (effect: string): boolean => asksForTrust({ must: [], may: [effect as "read.local"] }); // words of the list
  expect(["write.external.send", "read.external", "write.local.delete", "write.local.config"].map(asks)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(["read.local", "write.local"].map(asks)).toEqual([false, false]);
});

it("groups are bits in the order of the lattice; a group nobody declared is none", () => {
  expect(groupBits(["me", "team", "anyone"], ["anyone", "me", "strangers"])).toBe(0b101);
});

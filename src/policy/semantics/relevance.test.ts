import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Effect } from "../../core/effect.ts";
import { exactly } from "../../core/label.ts";
import { argument, contract, frameOf, nothing, pattern, rule, secret, tool } from "../../../test/kit/policy/scene.ts";
import type { Hazard, Temporal } from "../ir/ir.ts";
import { relevance } from "./relevance.ts";
import { initialState } from "./state.ts";
import { defaultAtEnds } from "./verdicts.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

const a = contract("a", { does: ["read.local"] });
const b = contract("b", { does: ["read.local"] });
const pa = tool("a");
const pb = tool("b");

const temporals: readonly Temporal[] = [
  { kind: "gate", before: pb, need: pa },
  { kind: "gate", before: pb, need: pb, relock: pa },
  { kind: "absence", after: pb, never: pa },
  { kind: "absence", after: pb, never: pb, until: pa },
  { kind: "at-most", of: pa, count: 1 },
  { kind: "budget", of: pa, argument: "sum", limit: "1" },
  { kind: "immediately", before: pb, need: pa },
  { kind: "owed", after: pb, owe: pa },
  { kind: "owed", after: pb, owe: pb, before: pa },
  { kind: "inject", before: pa, server: "s", tool: "t", arguments: {} },
  { kind: "by-end", after: pb, by: pa, action: "report" },
];

describe("what can speak of a tool", () => {
  it.each(temporals)("an automaton speaks of every tool that one of its patterns names: $kind", (temporal) => {
    const frame = frameOf({ rules: [rule("R", { tier: "must", temporal })] });
    expect(relevance(frame)(a).slots.map(({ id }) => id)).toEqual(["R"]);
    expect(relevance(frame)(contract("c", { does: ["read.local"] })).slots).toEqual([]);
  });

  it("a plain rule speaks of a tool that may do it in any of its cases", () => {
    const frame = frameOf({ rules: [rule("R", { tier: "block", when: pattern({ effects: ["execute"] }) })] });
    const mixed = contract("a", {
      does: ["read.local"],
      cases: [{ predicates: [3], effects: { must: [], may: ["execute.local"] } }],
    });
    const of = relevance(frame);
    expect(of(mixed).rules.map(({ id }) => id)).toEqual(["R"]);
    expect(of(a).rules).toEqual([]);
    // The case is chosen by its predicate, so the class must know its truth.
    expect(of(mixed).predicates).toContain(3);
    expect(of(a).predicates).toEqual([0]);
  });

  it("a debt speaks of every consequential call, named by it or not, and of no other", () => {
    const temporal = {
      kind: "owed",
      after: pa,
      owe: pb,
      within: 1,
      before: pattern({ ...pb, predicates: [{ index: 7, holds: true }] }),
    } as const;
    const of = relevance(frameOf({ rules: [rule("R", { tier: "must", temporal })] }));
    const writes = of(contract("c", { does: ["write.local"] }));
    expect(writes.slots.map(({ id }) => id)).toEqual(["R"]);
    // It is stopped by its place in the order alone, so its class needs nothing of the debt's own tests.
    expect(writes.predicates).toEqual([0]);
    expect(of(contract("c", { does: ["read.local"] })).slots).toEqual([]);
    expect(of(b).predicates).toEqual([0, 7]);
  });

  it("a hazard speaks of every tool that its move names", () => {
    const common = { id: "H", loss: "L", why: "w", consent: "never", mode: "enforce" } as const;
    const call: Hazard = { ...common, kind: "call", call: pa };
    const sequence: Hazard = { ...common, kind: "temporal", temporal: { kind: "absence", after: pb, never: pa } };
    const unless: Hazard = { ...common, kind: "temporal", temporal: { kind: "gate", before: pb, need: pa } };
    const often: Hazard = { ...common, kind: "temporal", temporal: { kind: "at-most", of: pa, count: 1 } };
    for (const hazard of [call, sequence, unless, often]) {
      const of = relevance(frameOf({ hazards: [hazard] }));
      expect(of(a).hazards.map(({ id }) => id)).toEqual(["H"]);
      expect(of(contract("c", { does: ["read.local"] })).hazards).toEqual([]);
    }
  });

  it("is computed once per contract", () => {
    const of = relevance(frameOf({}));
    expect(of(a)).toBe(of(a));
    expect(of(a)).not.toBe(of(b));
  });
});

describe("whether the default may ask about a tool", () => {
  const effects = [
    "read",
    "read.local",
    "read.external",
    "read.external.send",
    "write",
    "write.local",
    "write.local.pay",
  ];
  const effect = fc.subarray([...effects, "write.external", "execute", "execute.local"] as Effect[]);
  const range = fc.record({ must: effect, may: effect });

  it("a part of the default speaks only where it is said that it may", () => {
    fc.assert(
      fc.property(range, range, fc.boolean(), fc.boolean(), (base, other, irreversible, inCase) => {
        const of = {
          ...a,
          effects: base,
          flags: { ...a.flags, irreversible },
          rest: argument("identifier", true),
          arguments: new Map(),
          cases: [{ predicates: [3], effects: other }],
        };
        const frame = frameOf({});
        const truths = new Map([[3, inCase]]);
        const held = { range: exactly(frame.ir.lattice.top), digest: "d", path: [] };
        const callClass = { server: "s", tool: "a", truths, keys: new Map(), amounts: new Map() };
        const option = { class: callClass, contract: of, arguments: new Map([["x", held]]) };
        const q = initialState(frame.ir, frame.slots, undefined);
        const { lo, hi } = defaultAtEnds({ frame, q, option, at: 0 });
        const asks = [...Object.values(lo), ...Object.values(hi)].includes(true);
        expect(!asks || relevance(frame)(of).defaultAsks).toBe(true);
      }),
      { numRuns: runs },
    );
    expect(relevance(frameOf({}))(a).defaultAsks).toBe(false);
  });
});

describe("whether a dispatch leaves a trace in the state", () => {
  const leavesNoTrace = (of: typeof a, part: Parameters<typeof frameOf>[0] = {}): boolean =>
    relevance(frameOf(part))(of).leavesNoTrace;
  const withRule = (temporal: Temporal) => ({ rules: [rule("R", { tier: "must", temporal })] });

  it("a plain read leaves none; what acts, sends, writes or opens a store does", () => {
    expect(leavesNoTrace(a)).toBe(true);
    expect(leavesNoTrace(contract("c", { does: ["write.local"] }))).toBe(false);
    expect(leavesNoTrace(contract("c", { does: ["read.external.send"] }))).toBe(false);
    expect(leavesNoTrace({ ...a, consequential: true })).toBe(false);
    expect(leavesNoTrace({ ...a, writes: ["notes"] })).toBe(false);
    expect(leavesNoTrace({ ...a, opens: [{ store: "notes", audience: [] }] })).toBe(false);
    const cases = [{ predicates: [3], effects: { must: [], may: ["execute.local" as const] } }];
    expect(leavesNoTrace({ ...a, cases })).toBe(false);
  });

  it.each(temporals)("nor where an automaton names it: $kind", (temporal) => {
    expect(leavesNoTrace(a, withRule(temporal))).toBe(false);
    const other = contract("c", { does: ["read.local"] });
    // Any call at all comes between a step and the one that must follow it immediately.
    expect(leavesNoTrace(other, withRule(temporal))).toBe(temporal.kind !== "immediately");
  });
});

describe("whether the labels of arguments matter", () => {
  const labels = (of: typeof a, part: Parameters<typeof frameOf>[0] = {}): boolean =>
    relevance(frameOf(part))(of).labels;
  const common = { id: "H", loss: "L", why: "w", consent: "never", mode: "enforce" } as const;
  const from = { atom: { kind: "atLeast", bits: secret } } as const;
  const flow: Hazard = {
    ...common,
    kind: "flow",
    from,
    to: pattern({ tools: [{ server: "*", tool: "a" }] }),
  } as Hazard;

  it("not for a plain read", () => expect(labels(a)).toBe(false));

  it("for a rule over data, of this tool only", () => {
    const rules = [rule("R", { tier: "block", when: pattern({ ...pa, data: [from] }) })];
    expect(labels(a, { rules })).toBe(true);
    expect(labels(b, { rules })).toBe(false);
  });

  it("for a flow hazard whose target it is", () => {
    expect(labels(a, { hazards: [flow] })).toBe(true);
    expect(labels(b, { hazards: [flow] })).toBe(false);
  });

  it("for sinks, writes, what cannot be undone, and what the default asks about", () => {
    expect(labels(contract("c", { arguments: new Map([["to", argument("recipient", true)]]) }))).toBe(true);
    expect(labels(contract("c", { rest: argument("content", true) }))).toBe(true);
    expect(labels(contract("c", { writes: ["box"] }))).toBe(true);
    expect(labels(contract("c", { flags: { irreversible: true, openWorld: false } }))).toBe(true);
    expect(labels(contract("c", { does: ["write.external.send"] }))).toBe(true);
    expect(labels(contract("c", { output: { label: exactly(nothing), fields: [] } }))).toBe(false);
  });
});

// Which calls of a tool are looked at before it is hidden: every combination once, with the least that they can carry.
import { describe, expect, it } from "vitest";
import type { Grant } from "../../../core/event.ts";
import { exactly, type LabelRange } from "../../../core/label.ts";
import type { RuleText } from "../../../policy/document/shapes-rules.ts";
import { slotsOf } from "../../../policy/semantics/monitors.ts";
import { type MonitorCell, type Q, contextOf, globalKey, initialState } from "../../../policy/semantics/state.ts";
import { local, open, secret, tools } from "../../../../test/kit/proof/small.ts";
import { compiled, SmallRun, type SmallDocument } from "../../../../test/kit/regulation/small-run.ts";
import { optionsMax, optionsOf } from "./options.ts";

const labels = { "s.a": { ...tools.reads(open), args: { x: local } }, "s.read": tools.reads(secret) };
const sequence = { after: { tool: "s.a" }, never: { tool: "s.b" } };
const keyed = { never: { sequence: { ...sequence, key: "x" } } };
const count: RuleText = { id: "r", tier: "block", why: "w", atMost: { of: "s.a", count: 1, key: "x" } };
const document: SmallDocument = {
  labels,
  rules: [count],
  hazards: { h1: keyed, h2: keyed, plain: { never: { sequence } } },
};

const { ir } = compiled(document);
const frame = { ir, slots: slotsOf(ir) };
const contract = new SmallRun(document, ["x"]).contract("s.a");
const start = initialState(ir, frame.slots, undefined);
const cell = (bit: boolean): MonitorCell => ({ bits: [bit], since: 0, times: [], amounts: [] });
const h1 = new Map([
  [globalKey, cell(true)],
  ["armed", cell(true)],
  ["also", cell(true)],
  ["free", cell(false)],
]);
const armed: Q = {
  ...start,
  monitors: { ...start.monitors, hi: frame.slots.map(({ id }) => (id === "h1" ? h1 : new Map())) },
};

describe("the options of a tool", () => {
  const seen = (q: Q, predicates: readonly number[]): readonly string[] =>
    (optionsOf(frame, q, contract, { predicates, slots: frame.slots }) ?? []).map(({ class: { truths, keys } }) =>
      JSON.stringify([[...truths], [...keys]]),
    );
  const product = (h1Keys: readonly (readonly string[])[], predicates: readonly number[]): readonly string[] => {
    const truths = predicates.reduce<readonly (readonly (readonly [number, boolean])[])[]>(
      (all, index) => all.flatMap((one) => [false, true].map((truth) => [...one, [index, truth] as const])),
      [[]],
    );
    const free = [["\u0000"], []];
    return truths.flatMap((truth) =>
      h1Keys.flatMap((one) =>
        free.map((other) =>
          JSON.stringify([
            truth,
            [
              ["h1", one],
              ["h2", other],
            ],
          ]),
        ),
      ),
    );
  };

  it("are all truths with all keys of keyed hazards, a fresh one and none, each once", () => {
    for (const predicates of [[], [4], [4, 7]]) {
      expect(seen(start, predicates).toSorted()).toEqual([...product([["\u0000"], []], predicates)].toSorted());
    }
  });

  it("are also those with the keys that are set, which a call can free", () => {
    const keys = [["\u0000"], [], ["armed", "also"]];
    expect(seen(armed, [4]).toSorted()).toEqual([...product(keys, [4])].toSorted());
  });

  it("are looked at up to a limit", () => {
    const many = (size: number) => Array.from({ length: size }, (_, index) => index);
    const most = Math.log2(optionsMax);
    const found = (size: number) => optionsOf(frame, start, contract, { predicates: many(size), slots: [] })?.length;
    expect([found(most), found(most + 1)]).toEqual([optionsMax, undefined]);
    // Keys count as well: two hazards with two choices each are four times as many.
    const whole = optionsOf(frame, start, contract, { predicates: many(most - 1), slots: frame.slots });
    expect(whole).toBeUndefined();
  });
});

describe("the least that an argument carries", () => {
  const said = { purpose: "", principal: "p", expiresAt: 9 };
  const lower = exactly(ir.lattice.bottom);
  const grant = (kind: "endorse" | "declassify"): Grant =>
    ({ kind, digest: "d", role: "content", from: lower, to: lower, ...said }) as Grant; // the two differ in nothing here
  const least = (mode: "none" | "strict" | "provenance", grants: readonly Grant[] = []): LabelRange | undefined => {
    const policy = compiled({ ...document, flow: { mode } });
    const own = { ir: policy.ir, slots: slotsOf(policy.ir) };
    const q = { ...start, held: [resultOf("s.read")], grants };
    return optionsOf(own, q, contract, { predicates: [], slots: [] })?.[0]?.arguments.get("x")?.range;
  };
  const resultOf = (name: string): LabelRange => new SmallRun(document).contract(name).output.label;

  it.each([
    ["none", [], lower],
    ["provenance", [], lower],
    ["strict", [], contextOf(ir, { ...start, held: [resultOf("s.read")] })],
    ["strict", [{ kind: "consent", digest: "d", ...said }], contextOf(ir, { ...start, held: [resultOf("s.read")] })],
    ["strict", [grant("endorse")], lower],
    ["strict", [grant("declassify")], lower],
  ] as const)("in `%s` with %j", (mode, grants, wanted) => {
    expect(least(mode, grants)).toEqual(wanted);
  });
});

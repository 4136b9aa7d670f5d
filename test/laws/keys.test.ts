// A key that cannot be read may be any key: spelling it so that nobody can read it must never help whoever calls.
import fc from "fast-check";
import { expect, it } from "vitest";
import type { CallOption } from "../../src/core/moment.ts";
import { atLeastAsStrict, strictestOf } from "../../src/core/verdict.ts";
import type { Temporal } from "../../src/policy/ir/ir.ts";
import type { Q } from "../../src/policy/semantics/state.ts";
import type { Frame } from "../../src/policy/semantics/transition.ts";
import { firedSlots, verdictAt } from "../../src/policy/semantics/verdicts.ts";
import { contract, frameOf, option, pattern, round, rule, start, tool } from "../kit/policy/scene.ts";

const tools = [
  contract("a", { does: ["read.local"] }),
  contract("b", { does: ["write.local"] }),
  contract("c", { effects: { must: [], may: ["write.local"] } }),
];
const key = { argument: "to", form: "id", foldLocalPart: false } as const;
const some = fc.constantFrom(tool("a"), tool("b"), tool("c"), pattern({ effects: ["write"] }));

/** Counters are left out: by formal.md annex 8 what has no key counts on one key of its own. */
const temporals: fc.Arbitrary<Temporal> = fc.oneof(
  fc.record({ kind: fc.constant("absence" as const), after: some, never: some, key: fc.constant(key) }),
  fc.record({ kind: fc.constant("absence" as const), after: some, never: some, until: some, key: fc.constant(key) }),
  fc.record({ kind: fc.constant("gate" as const), before: some, need: some, key: fc.constant(key) }),
  fc.record({ kind: fc.constant("gate" as const), before: some, need: some, relock: some, key: fc.constant(key) }),
);
const frames = temporals.map((temporal) => frameOf({ rules: [rule("R", { tier: "block", temporal })] }));

type Call = { readonly tool: number; readonly keys: readonly string[] };
const keys = fc.uniqueArray(fc.constantFrom("x", "y", "*"), { minLength: 1, maxLength: 2 });
const call: fc.Arbitrary<Call> = fc.record({ tool: fc.nat({ max: tools.length - 1 }), keys });

const optionOf = (one: Call): CallOption => option(tools[one.tool] ?? contract("a"), {}, { keys: { R: one.keys } });
const after = (frame: Frame, calls: readonly Call[]): Q =>
  calls.reduce((q, one) => round(frame, q, optionOf(one), { at: 1 }), start(frame));
const verdict = (frame: Frame, q: Q, one: Call) =>
  strictestOf(firedSlots({ frame, q, option: optionOf(one), at: 2 }, "rule").map(({ at }) => verdictAt(at, "deny")));

/** Ask and refuse are one here: which of the two is said rests on what is certain, and an unread key never is. */
const stopped = (frame: Frame, q: Q, one: Call): boolean => verdict(frame, q, one) !== "allow";

it("law: a call without a readable key is stopped wherever it would be with one", () => {
  fc.assert(
    fc.property(frames, fc.array(call, { maxLength: 5 }), call, (frame, before, one) => {
      const q = after(frame, before);
      if (stopped(frame, q, one)) expect(stopped(frame, q, { ...one, keys: [] })).toBe(true);
    }),
  );
});

it("law: a past call without a readable key leaves nothing allowed that it would forbid with one", () => {
  fc.assert(
    fc.property(
      frames,
      fc.array(call, { maxLength: 3 }),
      call,
      fc.array(call, { maxLength: 2 }),
      call,
      (frame, before, hidden, between, one) => {
        const told = after(frame, [...before, hidden, ...between]);
        const untold = after(frame, [...before, { ...hidden, keys: [] }, ...between]);
        if (stopped(frame, told, one)) expect(stopped(frame, untold, one)).toBe(true);
      },
    ),
  );
});

it("law: more keys in one call are never laxer", () => {
  fc.assert(
    fc.property(
      frames,
      fc.array(call, { maxLength: 5 }),
      call,
      fc.constantFrom("x", "y"),
      (frame, before, one, key) => {
        const q = after(frame, before);
        const more = { ...one, keys: [...new Set([...one.keys, key])] };
        expect(atLeastAsStrict(verdict(frame, q, more), verdict(frame, q, one))).toBe(true);
      },
    ),
  );
});

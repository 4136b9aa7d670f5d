// Laws of the semantics over arbitrary small policies: larger labels never loosen, overlapping calls stay under the
// reserved state, and what the mechanisms say is what the guard of the model says.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ToolContract } from "../../src/core/contract.ts";
import { type Label, type LabelRange, join, joinRanges } from "../../src/core/label.ts";
import type { CallOption } from "../../src/core/moment.ts";
import { type Verdict, atLeastAsStrict, combineEnds, strictestOf } from "../../src/core/verdict.ts";
import type { LabelAtom, Pattern, Rule, StoreAtom, Temporal } from "../../src/policy/ir/ir.ts";
import type { End } from "../../src/policy/semantics/patterns.ts";
import { dispatched, guard, succeeded } from "../../src/policy/semantics/semantics.ts";
import { relevance } from "../../src/policy/semantics/relevance.ts";
import { type Q, cellAt, hold, reservedHeld, viewAt } from "../../src/policy/semantics/state.ts";
import { type Frame, contextAt, moveAt } from "../../src/policy/semantics/transition.ts";
import { defaultAtEnds, firedRules, firedSlots, verdictAt } from "../../src/policy/semantics/verdicts.ts";
import {
  argument,
  contract,
  dispatch,
  frameOf,
  lattice,
  must,
  nothing,
  option,
  rule,
  start,
} from "../kit/policy/scene.ts";

const label = fc.integer({ min: 0, max: lattice.top }).map((bits) => bits as Label); // all bits belong to the lattice
const range: fc.Arbitrary<LabelRange> = fc.tuple(label, label).map(([lo, more]) => ({ lo, hi: join(lo, more) }));

const tools: readonly ToolContract[] = [
  contract("read", {
    does: ["read.local"],
    output: { label: { lo: nothing, hi: lattice.top }, fields: [] },
    reads: ["box"],
  }),
  contract("write", {
    does: ["write.local"],
    writes: ["box"],
    arguments: new Map([["a", argument("content", false)]]),
  }),
  contract("send", {
    does: ["write.external.send"],
    arguments: new Map([
      ["a", argument("content", true)],
      ["to", argument("recipient", true)],
    ]),
  }),
  contract("grant", { does: ["write.external.grant"], opens: [{ store: "box", audience: ["anyone"] }] }),
  contract("run", { effects: { must: [], may: ["execute.local", "write.external"] } }),
];
const toolNames = tools.map((one) => one.tool);
const stores = [{ name: "box", audience: 1, initial: { lo: nothing, hi: nothing } }];

const selector = fc.constantFrom(...toolNames, "*").map((tool) => ({ server: "*", tool }));
const effect = fc.constantFrom("read", "write", "write.external", "execute", "write.external.send");

/** Patterns with atoms of the side that their place in a rule allows (formal.md 4.1). */
function patternOf(polarity: "restrict" | "permit"): fc.Arbitrary<Pattern> {
  const atom: fc.Arbitrary<LabelAtom> = label.map((bits) =>
    polarity === "restrict" ? { kind: "atLeast", bits } : { kind: "atMost", forbidden: bits },
  );
  return fc
    .record({
      tools: fc.option(fc.array(selector, { minLength: 1, maxLength: 2 }), { nil: undefined }),
      effects: fc.option(fc.array(effect, { minLength: 1, maxLength: 2 }), { nil: undefined }),
      data: fc.array(
        atom.map((one) => ({ atom: one })),
        { maxLength: 1 },
      ),
      held: fc.option(atom, { nil: undefined }),
      // Audiences only grow, so asking for one is up-closed and belongs to restrictions alone.
      stores: fc.array<StoreAtom>(
        polarity === "restrict"
          ? fc.record({ store: fc.constant(0), audience: fc.constantFrom(1, 2) })
          : atom.map((one) => ({ store: 0, label: one })),
        { maxLength: 1 },
      ),
    })
    .map(({ tools: named, effects, held, ...rest }) => ({
      predicates: [],
      ...rest,
      ...(named === undefined ? {} : { tools: named }),
      ...(effects === undefined ? {} : { effects }),
      ...(held === undefined ? {} : { held }),
    }));
}

const restricts = patternOf("restrict");
const permits = patternOf("permit");

const temporal: fc.Arbitrary<Temporal> = fc.oneof(
  fc.record({ kind: fc.constant("gate" as const), before: restricts, need: permits }),
  fc.record({ kind: fc.constant("absence" as const), after: restricts, never: restricts }),
  fc.record({ kind: fc.constant("at-most" as const), of: restricts, count: fc.integer({ min: 1, max: 2 }) }),
  fc.record({
    kind: fc.constant("owed" as const),
    after: restricts,
    owe: permits,
    within: fc.integer({ min: 1, max: 2 }),
  }),
);

const policyRule = (index: number): fc.Arbitrary<Rule> =>
  fc.oneof(
    restricts.map((when) => rule(`r${index}`, { tier: "block", when })),
    restricts.map((when) => rule(`r${index}`, { tier: "confirm", when })),
    permits.map((when) => rule(`r${index}`, { tier: "allow", when })),
    temporal.map((one) => rule(`r${index}`, { tier: "must", temporal: one })),
  );

const frames: fc.Arbitrary<Frame> = fc
  .tuple(policyRule(0), policyRule(1), policyRule(2))
  .map((rules) => frameOf({ rules, stores }));

const call: fc.Arbitrary<CallOption> = fc
  .tuple(fc.constantFrom(...tools), range, range)
  .map(([of, a, to]) => option(of, { a, to }));

/** What the mechanisms would say: rules in tiers, the default, automata. */
function verdict(frame: Frame, q: Q, x: CallOption): Verdict {
  const scene = { frame, q, option: x, at: 10 };
  const plain = frame.ir.rules.filter((one) => one.kind === "plain");
  const fired = firedRules(scene, plain);
  const parts = defaultAtEnds(scene);
  const allowed = fired.some((one) => one.rule.tier === "allow" && one.at.hi);
  const asks = (end: End): boolean => Object.values(parts[end]).some(Boolean);
  return strictestOf([
    ...fired.flatMap((one) =>
      one.rule.tier === "allow" ? [] : [verdictAt(one.at, one.rule.tier === "block" ? "deny" : "confirm")],
    ),
    ...firedSlots(scene, "rule").map((one) => verdictAt(one.at, "deny")),
    allowed ? "allow" : verdictAt({ lo: asks("lo"), hi: asks("hi") }, "confirm"),
  ]);
}

function raised(x: CallOption, by: LabelRange): CallOption {
  const arguments_ = new Map(
    [...x.arguments].map(([name, one]) => [name, { ...one, range: joinRanges(one.range, by) }]),
  );
  return { ...x, arguments: arguments_ };
}

describe("laws of the semantics", () => {
  it("law: larger argument labels never loosen", () => {
    fc.assert(
      fc.property(frames, call, range, (frame, x, more) => {
        expect(atLeastAsStrict(verdict(frame, start(frame), raised(x, more)), verdict(frame, start(frame), x))).toBe(
          true,
        );
      }),
    );
  });

  it("law: holding more, and stores that hold more or are seen by more, never loosen", () => {
    fc.assert(
      fc.property(frames, call, range, range, (frame, x, held, stored) => {
        const q = start(frame);
        const larger: Q = {
          ...q,
          held: hold(q.held, held),
          stores: q.stores.map((store) => ({ ...store, label: joinRanges(store.label, stored), audience: 3, open: 2 })),
        };
        expect(atLeastAsStrict(verdict(frame, larger, x), verdict(frame, q, x))).toBe(true);
      }),
    );
  });

  it("R4: whatever overlapping calls do, the reserved state was at least as strict", () => {
    const outcome = fc.constantFrom("succeeded" as const, "failed" as const, "unknown" as const);
    fc.assert(
      fc.property(
        frames,
        fc.array(fc.tuple(call, outcome), { minLength: 1, maxLength: 3 }),
        call,
        (frame, flying, x) => {
          let q = start(frame);
          const sent = flying.map(([one, how]) => {
            const out = dispatch(frame, q, one, 1);
            q = out.q;
            return { call: out.call, one, how };
          });
          const reserved = verdict(frame, q, x);
          for (const { call: id, one, how } of sent) {
            q = must(
              frame,
              q,
              how === "unknown"
                ? { at: 2, kind: how, call: id, cause: "x" }
                : how === "failed"
                  ? { at: 2, kind: how, call: id, noEffect: false }
                  : { at: 2, kind: how, call: id },
            );
            // Success may unlock: that is the only way in which waiting can help.
            if (how !== "succeeded") expect(atLeastAsStrict(reserved, verdict(frame, q, x))).toBe(true);
            const { server, tool } = one.contract;
            q = must(frame, q, {
              at: 2,
              kind: "released",
              call: id,
              server,
              tool,
              how: "pass",
              label: { lo: nothing, hi: nothing },
              fields: [],
            });
          }
        },
      ),
    );
  });

  it("one semantics: the mechanisms say at both ends what the guard of the model says", () => {
    fc.assert(
      fc.property(frames, call, range, (frame, x, held) => {
        const q: Q = { ...start(frame), held: [held] };
        const at = (end: End): Verdict => {
          const lens = { end, at: 10, key: () => "", held: reservedHeld(frame.ir, q) };
          const state = viewAt(frame.ir, frame.slots, q, lens);
          const said = guard(contextAt(frame, end), frame.slots, state, {
            move: moveAt(frame, x, end),
            fits: () => true,
          });
          return said.deny ? "deny" : said.confirm ? "confirm" : "allow";
        };
        expect(verdict(frame, q, x)).toBe(combineEnds(at("lo"), at("hi")));
      }),
    );
  });

  it("one semantics: dispatch and success move the engine's state as they move the model's", () => {
    fc.assert(
      fc.property(frames, fc.array(call, { minLength: 1, maxLength: 4 }), fc.boolean(), (frame, calls, held) => {
        let q: Q = { ...start(frame), held: held ? [{ lo: nothing, hi: lattice.top }] : [] };
        // What arms looks at the state that decides: at `hi`, results in flight count as held.
        const view = (from: Q, end: End) => {
          const kept = end === "hi" ? reservedHeld(frame.ir, from) : from.held;
          return viewAt(frame.ir, frame.slots, from, { end, at: 1, key: () => "", held: kept });
        };
        for (const x of calls) {
          const before = q;
          const sent = dispatch(frame, before, x, 1);
          const settled = must(frame, sent.q, { at: 1, kind: "succeeded", call: sent.call });
          for (const end of ["lo", "hi"] as const) {
            const context = contextAt(frame, end);
            const move = moveAt(frame, x, end);
            const armed = dispatched(context, frame.slots, view(before, end), move);
            expect(view(sent.q, end).monitors).toEqual(armed.monitors);
            expect(view(sent.q, end).stores.map(({ label }) => label)).toEqual(armed.stores.map(({ label }) => label));
            // The call has no result to reserve for itself; those before it, which nobody released, have.
            const alone = view({ ...sent.q, inFlight: before.inFlight }, end);
            const unlocked = succeeded(context, frame.slots, alone, move);
            expect(view(settled, end).monitors).toEqual(unlocked.monitors);
          }
          q = settled;
        }
      }),
    );
  });

  it("one semantics: a rule that is only observed is not counted on", () => {
    fc.assert(
      fc.property(policyRule(0), policyRule(1), call, (first, second, x) => {
        const observed = frameOf({ rules: [first, { ...second, mode: "observe" }], stores });
        const alone = frameOf({ rules: [first], stores });
        const said = (frame: Frame, end: End) => {
          const lens = { end, at: 10, key: () => "", held: [] };
          const state = viewAt(frame.ir, frame.slots, start(frame), lens);
          return guard(contextAt(frame, end), frame.slots, state, { move: moveAt(frame, x, end), fits: () => true });
        };
        for (const end of ["lo", "hi"] as const) expect(said(observed, end)).toEqual(said(alone, end));
      }),
    );
  });

  it("relevance: the automata that concern a tool are all that can refuse its calls", () => {
    fc.assert(
      fc.property(frames, fc.array(call, { maxLength: 4 }), call, (frame, before, x) => {
        const q = before.reduce((from, one) => dispatch(frame, from, one, 1).q, start(frame));
        const scene = { frame, q, option: x, at: 2 };
        const { slots } = relevance(frame)(x.contract);
        expect(firedSlots(scene, "rule", slots)).toEqual(firedSlots(scene, "rule"));
      }),
    );
  });

  it("time alone never arms a lock nor fills a counter", () => {
    fc.assert(
      fc.property(frames, call, (frame, x) => {
        const q = dispatch(frame, start(frame), x, 0).q;
        frame.slots.forEach((slot, index) => {
          const cells = q.monitors.hi[index] ?? new Map();
          const count = (at: number): number => cellAt(slot, cells, "", at).bits.filter(Boolean).length;
          expect(count(1e9)).toBeLessThanOrEqual(count(1));
        });
      }),
    );
  });
});

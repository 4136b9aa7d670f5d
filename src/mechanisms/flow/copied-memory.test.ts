// B12: a run that begins with what others hold takes a copy of their memory, and no later event of one is in the other.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { RunEvent } from "../../core/event.ts";
import { exactly } from "../../core/label.ts";
import { type Engine, begin, branched, seal, settlesOn } from "../../core/mechanism.ts";
import type { Run } from "../../core/run.ts";
import { evolve } from "../../core/step.ts";
import { digest, emptyState, makeIr, open, secret, untrusted } from "../../../test/kit/policy/flow-session.ts";
import { unwrap } from "../../../test/kit/gateway/log-records.ts";
import { type FlowMemory, makeFlow } from "./flow.ts";
import { resultUnitsMax } from "./limits.ts";
import { matches } from "./provenance-index.ts";

const flow = makeFlow({
  ir: makeIr("provenance"),
  contextOf: () => exactly(open),
  unmediatedOf: () => exactly(open),
  grantsOf: () => [],
  storeLabels: () => exactly(open),
  addedLabels: () => exactly(open),
  hazards: () => [],
  labelsMatter: () => true,
  digest,
});
/** A mechanism whose memory is replaced and never changed has no copy of its own. */
const counts = seal<number>({
  id: "counts",
  version: 1,
  initial: () => 0,
  remember: (memory) => memory + 1,
  consider: () => ({ kind: "settled", verdict: "allow", reasons: [], obligations: [] }),
});
const model = {
  initial: () => emptyState,
  classify: () => ({ server: "s", tool: "t", truths: new Map(), keys: new Map(), amounts: new Map() }),
  unknownLabels: () => new Map(),
  next: () => ({ ok: true, value: emptyState }) as const,
};
const engine: Engine = { model, mechanisms: [seal(flow), counts] };

const words = fc.constantFrom(
  "mail bob@x.com",
  "acme/site#12",
  "DE89 3704 0044 0532 0130 00",
  "the secret is 4111-1111",
  7,
);
const event: fc.Arbitrary<RunEvent> = fc.oneof(
  words.map((value): RunEvent => ({ kind: "registered", at: 1, text: { source: "instruction", value } })),
  fc.tuple(words, fc.constantFrom(open, secret, untrusted)).map(([value, label]): RunEvent => {
    const common = { kind: "released", at: 1, call: undefined, server: "s", tool: "t", how: "pass" } as const;
    return { ...common, label: exactly(label), fields: [], value };
  }),
);

const memoryOf = (run: Run): FlowMemory => run.memories.get("flow") as FlowMemory;

/** Folds events; what waits to be indexed is indexed where a call asks. */
function fold(events: readonly RunEvent[], from: Run, asks: boolean): Run {
  const run = events.reduce((before, one) => unwrap(evolve(engine, before, one)), from);
  if (asks) matches(memoryOf(run).index, "anything");
  return run;
}

/** All that a memory says; whether it shares that with another one is no part of it. */
function said(run: Run): unknown {
  const { index, sent } = memoryOf(run);
  return [{ ...index, shared: false }, sent, run.memories.get("counts")];
}

test("B12: a copy of a memory goes on by itself, and is what folding gives", () => {
  fc.assert(
    fc.property(fc.array(event), fc.array(event), fc.boolean(), (some, more, asks) => {
      const start = (): Run => fold(some, begin(engine, "one", undefined), asks);
      const first = start();
      const other = branched(engine, first, "other");
      expect(other.key).toBe("other");
      const gone = fold(more, first, asks);
      expect(said(other)).toEqual(said(start()));
      expect(said(fold(more, other, asks))).toEqual(said(gone));
    }),
    { numRuns: 100 },
  );
});

/** Indexes what waits, by parts. */
function settle(run: Run, parts: number): Run {
  for (let part = 0; part < parts && settlesOn(engine, run); part += 1);
  return run;
}

test("B14: when what waits is indexed makes no difference to what is found", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(event, fc.nat(3), fc.boolean()), { maxLength: 30 }), (steps) => {
      const events = steps.map(([one]) => one);
      const late = fold(events, begin(engine, "one", undefined), true);
      let early = begin(engine, "one", undefined);
      for (const [one, parts, copied] of steps) {
        early = settle(fold([one], early, false), parts);
        if (copied) early = branched(engine, early, "one");
      }
      expect(said(settle(early, steps.length + 1))).toEqual(said(late));
      for (const value of ["4111-1111", "bob@x.com", "hello", 7]) {
        expect(matches(memoryOf(early).index, value)).toEqual(matches(memoryOf(late).index, value));
      }
    }),
    { numRuns: 150 },
  );
});

test("B14: a part is a few releases, however many wait, and none of them is lost", () => {
  const release = (value: string): RunEvent => {
    const common = { kind: "released", at: 1, call: undefined, server: "s", tool: "t", how: "pass" } as const;
    return { ...common, label: exactly(secret), fields: [], value };
  };
  const run = fold(
    Array.from({ length: 40 }, (_, index) => release(`${index} ${"gravel ".repeat(300)}`)),
    begin(engine, "one", undefined),
    false,
  );
  let parts = 1;
  while (settlesOn(engine, run)) parts += 1;
  expect(parts).toBeGreaterThan(4);
  expect(memoryOf(run).index.pending).toEqual([]);
  // One that is too large is left out in its turn: every value carries its secrecy from then on.
  const large = fold([release("x".repeat(resultUnitsMax + 1))], run, false);
  expect(matches(memoryOf(large).index, "hello")?.range.hi).toBe(secret);
});

test("B14: a copy shares what is indexed until one of the two adds to it", () => {
  const first = settle(
    fold(
      [{ kind: "registered", at: 1, text: { source: "instruction", value: "mail bob@x.com" } }],
      begin(engine, "one", undefined),
      false,
    ),
    9,
  );
  const { built } = memoryOf(first).index;
  const other = branched(engine, first, "other");
  expect(memoryOf(other).index.built).toBe(built);
  matches(memoryOf(other).index, "bob@x.com");
  expect(memoryOf(other).index.built).toBe(built);
  const more: RunEvent = { kind: "registered", at: 1, text: { source: "instruction", value: "acme/site#12" } };
  const grown = fold([more], other, true);
  expect(memoryOf(grown).index.built).not.toBe(built);
  expect(memoryOf(first).index.built).toBe(built);
});

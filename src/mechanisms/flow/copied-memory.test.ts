// B12: a run that begins with what others hold takes a copy of their memory, and no later event of one is in the other.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { RunEvent } from "../../core/event.ts";
import { exactly } from "../../core/label.ts";
import { type Engine, begin, branched, seal } from "../../core/mechanism.ts";
import type { Run } from "../../core/run.ts";
import { evolve } from "../../core/step.ts";
import { digest, emptyState, makeIr, open, secret, untrusted } from "../../../test/kit/policy/flow-session.ts";
import { unwrap } from "../../../test/kit/gateway/log-records.ts";
import { type FlowMemory, makeFlow } from "./flow.ts";
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

test("B12: a copy of a memory goes on by itself, and is what folding gives", () => {
  fc.assert(
    fc.property(fc.array(event), fc.array(event), fc.boolean(), (some, more, asks) => {
      const start = (): Run => fold(some, begin(engine, "one", undefined), asks);
      const first = start();
      const other = branched(engine, first, "other");
      expect(other.key).toBe("other");
      const gone = fold(more, first, asks);
      expect(other.memories).toEqual(start().memories);
      expect(fold(more, other, asks).memories).toEqual(gone.memories);
    }),
    { numRuns: 100 },
  );
});

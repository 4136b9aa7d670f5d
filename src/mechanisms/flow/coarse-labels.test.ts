import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../core/json.ts";
import { exactly, join, unknownRange, type LabelRange } from "../../core/label.ts";
import { contract, lattice, makeSession, open, secret, untrusted } from "../../../test/kit/policy/flow-session.ts";
import { releasedUnitsMax, resultUnitsMax } from "./limits.ts";

const runs = Number(process.env.SLUICEGATE_RUNS ?? 200);
const send = contract("send", exactly(open));
const worst = join(secret, untrusted);
const ranges: readonly LabelRange[] = [
  exactly(open),
  exactly(secret),
  exactly(untrusted),
  exactly(worst),
  { lo: open, hi: untrusted },
  { lo: open, hi: secret },
  unknownRange(lattice),
];
const texts = ["launch code 7731-ALPHA", "pay ACME at CH93 0076 2011 6238 5295 7", "hello there", "7731-alpha", "Bob"];

describe("calls whose argument labels decide nothing", () => {
  test("law: leaving the comparison out changes no label of a result, and none of a call that somebody looks at", () => {
    const step = fc.record({
      label: fc.constantFrom(...ranges),
      field: fc.option(fc.constantFrom(...ranges)),
      given: fc.constantFrom(...texts),
      said: fc.constantFrom(...texts),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
        const full = makeSession("provenance");
        const lazy = makeSession("provenance", (tool) => tool.tool === "send");
        for (const { label, field, given, said } of steps) {
          const fields = field === null ? [] : [{ pointer: "/note", label: field }];
          const read = contract("read", label, fields);
          const act = (session: typeof full): LabelRange[] => {
            const result = session.exchange(read, { q: given }, { note: said });
            const sent = session.labels(send, { to: given, body: said });
            return [result.range, ...[...sent.values()].map((one) => one.range)];
          };
          expect(act(lazy)).toEqual(act(full));
        }
      }),
      { numRuns: runs },
    );
  });

  test("such an argument may be anything that is held; it is compared where its result would be less than that", () => {
    const session = makeSession("provenance", () => false);
    const read = contract("read", exactly(worst));
    session.exchange(read, {}, { note: "launch code 7731-ALPHA" });
    const range = (tool: typeof read, q: Json): LabelRange | undefined => session.labels(tool, { q }).get("q")?.range;
    expect(range(read, "hello there")).toEqual({ lo: open, hi: worst });
    expect(range(contract("open", exactly(open)), "hello there")).toEqual({ lo: open, hi: untrusted });
    const cases = [{ predicates: [1], output: { label: exactly(open), fields: [] } }];
    expect(range(contract("mixed", exactly(worst), [], { cases }), "hello there")).toEqual({ lo: open, hi: untrusted });
  });

  // Some hundred megabytes are released, which takes its time beside other work.
  const patient = { timeout: 180_000 };
  test(
    "what a run has released beyond the limit is left out, whether or not a call was compared meanwhile",
    patient,
    () => {
      for (const compared of [true, false]) {
        const session = makeSession("provenance", () => compared);
        const read = contract("read", exactly(secret));
        const note = "7731-ALPHA ".repeat(resultUnitsMax / 16);
        const value: JsonObject = { note };
        const size = note.length;
        for (let left = releasedUnitsMax; left > size; left -= size) {
          session.exchange(read, { q: "hello there" }, value);
          expect(session.labels(contract("open", exactly(open)), { q: "good day" }).get("q")?.range).toEqual(
            exactly(open),
          );
        }
        for (let more = 0; more < 2; more += 1) session.exchange(read, { q: "hello there" }, value);
        const later = makeSession("provenance");
        expect(later.labels(send, { body: "good day" }).get("body")?.range).toEqual(exactly(open));
        expect(session.labels(contract("open", exactly(open)), { q: "good day" }).get("q")?.range).toEqual(
          exactly(secret),
        );
      }
    },
  );
});

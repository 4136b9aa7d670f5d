import fc from "fast-check";
import { expect, test } from "vitest";
import { floodGate } from "./flood.ts";

test("law: what stays below the bound in every second passes, and one gate opens once", () => {
  const gap = fc.integer({ min: 0, max: 400 });
  fc.assert(
    fc.property(fc.array(gap, { maxLength: 200 }), fc.integer({ min: 1, max: 20 }), (gaps, max) => {
      let [at, floods] = [0, 0];
      const passes = floodGate(
        max,
        () => at,
        () => (floods += 1),
      );
      const times: number[] = [];
      let stopped = false;
      for (const one of gaps) {
        at += one;
        times.push(at);
        const passed = passes();
        const busiest = Math.max(
          ...times.map((from) => times.filter((time) => time >= from && time < from + 1_000).length),
        );
        if (busiest <= max) expect(passed).toBe(true);
        stopped ||= !passed;
        // Two seconds of a count may touch; twice the bound never passes in one.
        if (!stopped) expect(busiest).toBeLessThanOrEqual(2 * max);
        if (stopped) expect(passed).toBe(false);
      }
      expect(floods).toBe(stopped ? 1 : 0);
    }),
  );
});

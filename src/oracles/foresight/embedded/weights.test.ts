import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Head,
  type Weights,
  decodeWeights,
  encodeWeights,
  headNames,
  judged,
  scoreOf,
  weightsBytesMax,
} from "./weights.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

const head = (bits: number, weight: number): Head => ({
  bits,
  table: new Float32Array(2 ** bits).fill(weight),
  scale: 1.5,
  shift: -0.25,
});

const small: Weights = {
  unsafe: head(3, 0.5),
  critical: head(2, -1),
  filter: head(4, 0),
  private: head(1, 2),
  secret: head(1, 3),
  untrusted: head(1, 4),
};
const file = encodeWeights(small);
const changed = (change: (view: DataView) => void): Uint8Array => {
  const copy = Uint8Array.from(file);
  change(new DataView(copy.buffer));
  return copy;
};
const why = (bytes: Uint8Array): string => {
  const decoded = decodeWeights(bytes);
  return decoded.ok ? "accepted" : decoded.error;
};

test("what is written is read back", () => {
  expect(decodeWeights(file)).toEqual({ ok: true, value: small });
  // A view into a larger buffer, as file reads give them.
  const larger = new Uint8Array(file.length + 7);
  larger.set(file, 7);
  expect(decodeWeights(larger.subarray(7))).toEqual({ ok: true, value: small });
});

test("a score is the sum of the weights, a probability its calibration", () => {
  expect(scoreOf(small.unsafe.table, [0, 8, -1])).toBe(1.5);
  expect(judged(small.unsafe, [])).toBeCloseTo(1 / (1 + Math.exp(0.25)), 12);
});

test("a broken file is refused with its reason", () => {
  expect(why(new Uint8Array(0))).toContain("too early");
  expect(why(file.subarray(0, file.length - 1))).toContain("`untrusted` end too early");
  expect(why(Uint8Array.from([...file, 0]))).toContain("belong to nothing");
  expect(why(new Uint8Array(weightsBytesMax + 1))).toContain("more than");
  expect(why(changed((view) => view.setUint32(0, 1, true)))).toContain("not a file of weights");
  expect(why(changed((view) => view.setUint32(4, 9, true)))).toContain("version 9");
  expect(why(changed((view) => view.setUint32(8, 7, true)))).toContain("other questions");
  expect(why(changed((view) => view.setUint32(12, 40, true)))).toContain("impossible size");
  expect(why(changed((view) => view.setUint32(12, 0, true)))).toContain("impossible size");
  expect(why(changed((view) => view.setFloat64(16, Number.NaN, true)))).toContain("calibration");
  expect(why(changed((view) => view.setFloat64(16, -1, true)))).toContain("calibration");
  expect(why(changed((view) => view.setFloat64(24, 1e9, true)))).toContain("calibration");
  expect(why(changed((view) => view.setFloat32(12 + headNames.length * 20, Infinity, true)))).toContain("not finite");
});

test("no bytes make the decoder throw", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat({ max: file.length }), (noise, from) => {
      const bytes = Uint8Array.from(file);
      bytes.set(noise.subarray(0, Math.max(0, file.length - from)), from);
      expect(typeof decodeWeights(bytes).ok).toBe("boolean");
      expect(decodeWeights(noise).ok).toBe(false);
    }),
    { numRuns: runs },
  );
});

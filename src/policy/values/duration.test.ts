import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalDuration, durationMs, durationText } from "./duration.ts";

test("spans are milliseconds", () => {
  expect(["500ms", "30s", "10m", "24h", "7d", "0s"].map(durationMs)).toEqual([
    500, 30_000, 600_000, 86_400_000, 604_800_000, 0,
  ]);
  for (const text of ["", "10", "m", "1.5h", "-1s", "10 m", "10M", "1000000000000s"])
    expect(durationMs(text)).toBeUndefined();
  expect(["600s", "90m", "24h", "1001ms", "0d", "soon"].map(canonicalDuration)).toEqual([
    "10m",
    "90m",
    "1d",
    "1001ms",
    "0ms",
    "soon",
  ]);
});

test("law: the canonical text keeps the span", () => {
  fc.assert(fc.property(fc.integer({ min: 0, max: 10 ** 9 }), (ms) => durationMs(durationText(ms)) === ms));
});

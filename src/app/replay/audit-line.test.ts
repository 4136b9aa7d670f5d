import { expect, test } from "vitest";
import type { LogView } from "../../gateway/ports/store.ts";
import { auditLineOf } from "./audit-line.ts";

const run = `os:1000/credentials:${"4f".repeat(32)}/session:7255a2bf-22d5-4bd0-9382-da6abf93c2aa`;
const reason = { code: "SG-ARGUMENTS", verdict: "confirm" };
const view = {
  run,
  kind: "refused",
  wallTime: "2026-01-02T03:04:05.000Z",
  server: "files",
  tool: "write_file",
  clear: { decision: { verdict: "confirm", reasons: [reason, reason, { ...reason, rule: "R1" }] } },
} as unknown as LogView;

test("a run stands there whole, since it is what other commands want", () => {
  expect(auditLineOf(view, false)).toContain(`  ${run}  `);
});

test("a code stands there once for each rule", () => {
  expect(auditLineOf(view, false)).toMatch(/ SG-ARGUMENTS SG-ARGUMENTS \(R1\)$/);
});

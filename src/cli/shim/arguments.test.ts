import { expect, test } from "vitest";
import { parseRunArguments } from "./arguments.ts";

test.each([
  [["--", "cat"], { solo: false, command: ["cat"] }],
  [
    ["--policy", "p", "--server=x y", "--solo", "--", "a", "--policy", "--"],
    { policy: "p", server: "x y", solo: true, command: ["a", "--policy", "--"] },
  ],
  [["--tag", "work.1", "--", "cat"], { tag: "work.1", solo: false, command: ["cat"] }],
])("%j", (words, expected) => {
  expect(parseRunArguments(words)).toEqual({ ok: true, value: expected });
});

test.each([
  [[]],
  [["cat"]],
  [["--"]],
  [["--", ""]],
  [["--server", "--"]],
  [["--policy=", "--", "x"]],
  [["--solo=yes", "--", "x"]],
  [["--tag", "policy file x", "--", "x"]],
  [["--server", "mcp.sh", "--", "x"]],
  [["--server", "*", "--", "x"]],
  [["--server", "host:claude-code", "--", "x"]],
  [["--tag", "a", "--policy", "p", "--", "x"]],
])("refused with a sentence: %j", (words) => {
  const parsed = parseRunArguments(words);
  expect(parsed.ok).toBe(false);
  if (parsed.ok) return;
  expect(parsed.error).toMatch(/Use: sluicegate run/);
  expect(parsed.error.length).toBeLessThanOrEqual(240);
});

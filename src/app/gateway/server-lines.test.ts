import { expect, test } from "vitest";
import { lineCharactersMax, serverLine } from "./server-lines.ts";

test("C21: a line names its server, whatever it says, and is bounded", () => {
  expect(serverLine("files", "started")).toBe("[files] started");
  expect(serverLine("files", "sluicegate: approve it")).toBe("[files] sluicegate: approve it");
  expect(serverLine("files", "\u001b[2J\nx")).not.toMatch(/\p{Cc}/u);
  expect(serverLine("n".repeat(999), "x".repeat(99_999)).length).toBeLessThan(lineCharactersMax + 80);
});

import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { orderWith } from "../../../../test/kit/isolation/fake-parts.ts";
import { makeDataFolders } from "./data-folders.ts";
import type { LaunchOrder } from "./launch-order.ts";

let home = "";
beforeEach(() => (home = mkdtempSync(join(tmpdir(), "sluicegate-data-"))));
afterEach(() => rmSync(home, { recursive: true, force: true }));

function make(write: readonly string[], root = false, chain: LaunchOrder["choice"]["chain"] = "launcher"): void {
  const order = orderWith();
  const scope = { ...order.scope, files: { ...order.scope.files, write } };
  // Only these members are read.
  makeDataFolders({ order: { ...order, scope }, home, support: { root }, choice: { chain } } as unknown as LaunchOrder);
}

const at = (...names: readonly string[]): string => join(home, ...names);

test("C21: the data folder that a scope names is made, for its owner alone, and one that is there stays", () => {
  make(["~/.local/share/mcp-memory"]);
  expect(statSync(at(".local/share/mcp-memory")).mode & 0o777).toBe(0o700);
  writeFileSync(at(".local/share/mcp-memory", "memory.json"), "{}");
  make(["~/.local/share/mcp-memory"]);
  expect(existsSync(at(".local/share/mcp-memory", "memory.json"))).toBe(true);
});

test("C21: nothing else that a scope names is made", () => {
  make(["~/notes", "~/.local/share", "~/.local/share/a/b", "~/.local/share/..", "~/.local/share/.x", "/srv/no", "./x"]);
  expect(existsSync(at(".local"))).toBe(false);
  make(["~/.local/share/a"], true, "shell");
  expect(existsSync(at(".local"))).toBe(false);
  writeFileSync(at(".local"), "a file");
  expect(() => make(["~/.local/share/a"])).not.toThrow();
  rmSync(home, { recursive: true });
  make(["~/.local/share/a"]);
  expect(existsSync(home)).toBe(false);
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { clearLeftovers } from "./leftovers.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "sluicegate-home-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

test("a state folder without projections is left alone, and one with leftovers is taken up in silence", async () => {
  const told: string[] = [];
  await clearLeftovers(home, (text) => told.push(text));
  mkdirSync(join(home, "changes", "unfinished"), { recursive: true });
  await clearLeftovers(home, (text) => told.push(text));
  expect(told).toEqual([]);
});

test("what cannot be cleared away keeps no gateway from starting", async () => {
  const told: string[] = [];
  mkdirSync(join(home, "changes", "odd"), { recursive: true });
  // A folder where a manifest belongs: reading it fails in a way nobody foresaw.
  mkdirSync(join(home, "changes", "odd", "manifest.json"));
  writeFileSync(join(home, "projections"), "no folder");
  await expect(clearLeftovers(home, (text) => told.push(text))).resolves.toBeUndefined();
  for (const text of told) expect(text.length).toBeLessThanOrEqual(240);
});

// Eighteen honest servers, each doing something like what a hostile one abuses: every call succeeds, nothing is held
// against them, and one question is asked: a server that lists another tool later has it accepted first.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { plant, type Planted } from "../../kit/server/pairs/bare.ts";
import { catalogue } from "../../kit/server/pairs/catalogue.ts";
import { openFixtures, play, tableOf } from "./fixture-stage.ts";
import { best, ownWord, objectionsIn, type Stage } from "../../kit/gateway/stage.ts";

let planted: Planted;
let stage: Stage;
const rows: string[][] = [];

beforeAll(async () => {
  if (!best) return;
  planted = await plant();
  // A folder that a scope lets a server write must be there, and open to the user that servers of root run as.
  mkdirSync(join(planted.home, ".cache", "facts"), { recursive: true });
  stage = await openFixtures("twin", { planted, collector: planted.collector });
});
afterAll(async () => {
  if (!best) return;
  await stage.close();
  await planted.remove();
  console.log(`\n${tableOf(rows)}`);
});

/** A tool that a labelled server lists later, by the id of the pair (docs/decisions/0037). */
const added: Readonly<Record<string, string>> = { "overlapping-tool": "get_forecast" };

describe.skipIf(!best)("18 honest servers in their projections (need tier A)", () => {
  test.each(catalogue)("$group: $id", async (pair) => {
    const said = await play(stage, pair, "twin");
    const isAdded = (index: number): boolean => pair.twin.script[index]?.tool === added[pair.id];
    expect(said.map(ownWord)).toEqual(said.map((_, index) => (isAdded(index) ? "refused" : undefined)));
    for (const [index, call] of pair.twin.script.entries()) {
      if (isAdded(index)) {
        expect(said[index]?.text).toContain("what its server says of it changed, and is not accepted yet");
        continue;
      }
      expect(said[index]?.text, `call ${index + 1}`).toContain(call.says);
      expect(said[index]?.isError).toBe(call.isError === true);
    }
    rows.push([pair.group, pair.id, `${said.length} calls passed`]);
  });

  test("nothing was held against any of them, and what they wrote is where it belongs", async () => {
    const changed = "overlapping-tool.get_forecast: gateway SG-CHANGED -";
    expect([...new Set(objectionsIn(await stage.records()))]).toEqual([changed]);
    // What the machine lacks for the best is told, and the tool that was added.
    const told = stage.told.filter((line) => !line.includes(" runs in tier "));
    expect(told).toEqual([expect.stringContaining("changed 1 of its tools (get_forecast)")]);
    expect(planted.collected).toEqual([]);
    const { home, workspace } = planted.changed();
    expect(home).toEqual([".cache/facts/starts"]);
    expect(workspace).toEqual([...[1, 2, 3, 4, 5].map((index) => `out-${index}.json`), "poem.txt", "words.txt"]);
  });
});

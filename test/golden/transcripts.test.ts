// The transcripts on record are in order, so that a change of one is a change of one line; `SLUICEGATE_GOLDEN=write` puts
// what a recording appended in its place.
import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { type Line, linesOf, transcriptsFile } from "./transcripts.ts";

/** Tests of one name in different files have a line each; a stage with more lines is another one at each run. */
const alternativesMax = 3;

/** Each line once; a stage that had many is left out. */
function inOrder(lines: readonly Line[]): readonly Line[] {
  const byStage = new Map<string, Line[]>();
  for (const line of lines) {
    const key = `${line[0]} #${line[1]}`;
    const known = byStage.get(key) ?? [];
    if (!known.some(([, , said]) => said === line[2])) known.push(line);
    byStage.set(key, known);
  }
  const kept = [...byStage.values()].filter(({ length }) => length <= alternativesMax).flat();
  return kept.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
}

it("transcripts are in order, and none is there twice", () => {
  const text = readFileSync(transcriptsFile, "utf8");
  const ordered = inOrder(linesOf(text)).map((line) => `${JSON.stringify(line)}\n`);
  if (process.env["SLUICEGATE_GOLDEN"] === "write") writeFileSync(transcriptsFile, ordered.join(""));
  else expect(text).toBe(ordered.join(""));
  expect(ordered.length).toBeGreaterThan(500);
});

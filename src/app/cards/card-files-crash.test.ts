/** What a crash between the two files of cards leaves behind. */
import { mkdtempSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, vi } from "vitest";
import { ok } from "../../core/result.ts";
import { type ReadingText, readingKey } from "../../policy/sections/readings.ts";
import type { ServerAnswer } from "./card-answers.ts";
import { CardFiles, type CardState } from "./card-files.ts";

// The process ends where a file would be replaced: everything before has happened, and nothing after.
let replaced = 0;
let crashAt = Number.POSITIVE_INFINITY;
vi.mock("node:fs", async (original) => {
  const real = await original<typeof import("node:fs")>();
  const renamed = (from: string, to: string): void => {
    if (replaced >= crashAt) throw new Error("the process ended");
    replaced += 1;
    real.renameSync(from, to);
  };
  // The disk itself is no part of this.
  return { ...real, renameSync: renamed, fsyncSync: () => undefined };
});
beforeEach(() => {
  replaced = 0;
  crashAt = Number.POSITIVE_INFINITY;
});

const reading = (server: string, tool: string, until = "2999-01-01"): ReadingText => ({
  server,
  tool,
  digest: "a".repeat(64),
  label: { effects: "read.local" },
  until,
});
const record = (answer: ServerAnswer["answer"], flagged?: string): ServerAnswer => {
  const made = { answer, at: "2026-01-01T00:00:00.000Z", by: "os:1", tools: {} };
  return flagged === undefined ? made : { ...made, flagged };
};
const state = (readings: readonly ReadingText[], one?: ServerAnswer): CardState => ({
  readings,
  servers: new Map(one === undefined ? [] : [["s", one]]),
});

const look = reading("s", "look");
const states: readonly CardState[] = [
  state([]),
  state([], record("refused")),
  state([], record("refused", "it left its scope")),
  state([look], record("accepted")),
  state([look], record("isolated")),
  state([look], record("accepted", "it left its scope")),
  state([reading("s", "look", "2027-01-01"), reading("s", "send")], record("accepted")),
  state([reading("s", "send"), reading("other", "look")], record("accepted")),
];

function counting(files: CardFiles): readonly string[] {
  const found = files.source();
  if (!found.ok) throw new Error(found.error);
  return (found.value?.document.readings ?? []).map((one) => `${readingKey(one)} ${one.until}`).toSorted();
}

const among = (some: readonly string[], all: readonly string[]): boolean => some.every((one) => all.includes(one));

it.each(states.entries().toArray())(
  "never has more accepted than before or after the answer (from state %i)",
  async (_place, from) => {
    for (const [at, to] of [0, 1, 2, 3].flatMap((one) => states.map((other) => [one, other] as const))) {
      crashAt = Number.POSITIVE_INFINITY;
      const files = new CardFiles(mkdtempSync(join(tmpdir(), "sg-crash-")));
      await files.change(() => ok(from));
      const before = counting(files);
      replaced = 0;
      crashAt = at;
      const done = await files.change(() => ok(to));
      crashAt = Number.POSITIVE_INFINITY;
      const left = counting(files);
      await files.change(() => ok(to));
      const after = counting(files);
      expect(among(left, before) || among(left, after), `crash before file ${at}: ${left.join()}`).toBe(true);
      if (done.ok) expect(left).toEqual(after);
      else expect(done.error).toMatch(at === 0 ? /so nothing was answered/ : /less may be accepted than before/);
    }
  },
);

it("is a process that ends where this file says", () => {
  crashAt = 0;
  expect(() => renameSync("a", "b")).toThrow("the process ended");
});

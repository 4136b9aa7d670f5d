/** What a crash between the two files of cards leaves behind. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { replaceFile } from "../../adapters/replace-file.ts";
import { ok } from "../../core/result.ts";
import { type ReadingText, readingKey } from "../../policy/sections/readings.ts";
import type { ServerAnswer } from "./card-answers.ts";
import { CardFiles, type CardState } from "./card-files.ts";

/** A disk of a process that ends before this file is replaced. */
const endingAt = (at: number): typeof replaceFile => {
  let replaced = 0;
  return (file, text) => {
    if (replaced >= at) throw new Error("the process ended");
    replaced += 1;
    replaceFile(file, text);
  };
};

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
      const home = mkdtempSync(join(tmpdir(), "sg-crash-"));
      const files = new CardFiles(home);
      await files.change(() => ok(from));
      const before = counting(files);
      const done = await new CardFiles(home, endingAt(at)).change(() => ok(to));
      const left = counting(files);
      await files.change(() => ok(to));
      const after = counting(files);
      expect(among(left, before) || among(left, after), `crash before file ${at}: ${left.join()}`).toBe(true);
      if (done.ok) expect(left).toEqual(after);
      else expect(done.error).toMatch(at === 0 ? /so nothing was answered/ : /less may be accepted than before/);
    }
  },
);

/**
 * Fuzzing of the readers of arguments: whatever the value, they answer, in time that its length bounds, and every time the
 * same. `SLUICEGATE_FUZZ_MS` is the duration of each, `SLUICEGATE_FUZZ_SEED` repeats a run.
 */
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { loadSqlParsers } from "../../src/adapters/sql/parsers.ts";
import type { Json } from "../../src/core/json.ts";
import { type ReadValue, readingLanguages } from "../../src/core/reading.ts";
import { makeReadValue } from "../../src/mechanisms/regulate/readings/read-value.ts";
import { sqlStatements } from "../kit/sql/statements.ts";

const durationMs = Number(process.env["SLUICEGATE_FUZZ_MS"] ?? 1_500) / readingLanguages.length;
const seed = Number(process.env["SLUICEGATE_FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
/** One value may take this much processor time; the longest that is read takes a tenth. */
const readMsMax = 2_000;

let read: ReadValue;
beforeAll(async () => {
  read = makeReadValue(await loadSqlParsers());
});

const pieces = fc.constantFrom(
  ..."select from where ( ) ' \" ` ; -- /* */ $$ \\ , . * = and case when then end in exists union with as git log -c --output= ls | & > < $( ) ` { } [ ] kubectl get docker ps ssh host GET https://a.example/ \0 \n \t \u00a0 \u202e \ud800 #".split(
    " ",
  ),
);
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.array(pieces, { maxLength: 60 }).map((words) => words.join(" ")),
  fc.array(pieces, { maxLength: 60 }).map((words) => words.join("")),
  sqlStatements,
  // One piece many times: where time that is not linear shows.
  fc
    .tuple(pieces, fc.integer({ min: 1, max: 9_000 }))
    .map(([piece, count]) => piece.repeat(Math.min(count, Math.ceil(20_000 / piece.length)))),
  fc
    .tuple(
      fc.constantFrom(
        "(select ",
        "(",
        "case when ",
        "not ",
        "- ",
        "a,",
        "a.",
        "'x'||",
        "$(",
        "{",
        "a in (",
        "exists (",
      ),
      fc.integer({ min: 1, max: 3_000 }),
    )
    .map(([piece, count]) => `select ${piece.repeat(count)}1`),
);
const value: fc.Arbitrary<Json> = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 1, arbitrary: fc.array(text, { maxLength: 6 }) },
  { weight: 1, arbitrary: fc.record({ method: text, url: text, body: text }, { requiredKeys: [] }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }).map((one) => JSON.parse(JSON.stringify(one)) as Json) },
);

describe(`readers (seed ${seed})`, () => {
  test.each(readingLanguages)("%s answers every value, soon and always the same", (language) => {
    const end = performance.now() + durationMs;
    let rounds = 0;
    while (performance.now() < end || rounds === 0) {
      for (const one of fc.sample(value, { numRuns: 50, seed: seed + rounds })) {
        const before = process.cpuUsage();
        const found = read(language, one);
        const spent = process.cpuUsage(before);
        const took = (spent.user + spent.system) / 1_000;
        if (took > readMsMax)
          throw new Error(`a reading took ${Math.round(took)} ms: ${JSON.stringify(one).slice(0, 2_000)}`);
        expect(read(language, one)).toEqual(found);
        if (found.kind !== "reads") expect(found.because).toMatch(/^[\x20-\x7e]{1,120}$/);
      }
      rounds += 1;
    }
  });
});

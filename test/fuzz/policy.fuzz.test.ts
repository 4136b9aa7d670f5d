/**
 * Fuzzing of the policy loader: mutated policies must load or be refused, in bounded time, without a throw. A finding
 * becomes a file of the corpus. `SLUICEGATE_FUZZ_MS` is the duration, `SLUICEGATE_FUZZ_SEED` repeats a run.
 */
import { readdirSync, readFileSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { loadPolicy } from "../../src/policy/load.ts";
import { shippedOptions } from "../kit/policy/load-packs.ts";

const durationMs = Number(process.env["SLUICEGATE_FUZZ_MS"] ?? 3_000);
const seed = Number(process.env["SLUICEGATE_FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
/** One load may take this much processor time; the largest policy of the corpus takes a hundredth. */
const loadMsMax = 5_000;
const yieldEvery = 100;

const folder = new URL("corpus/policy/", import.meta.url);
const corpus = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), "utf8"));

/** Small deterministic generator (mulberry32), so that a printed seed repeats the run. */
function generator(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const tokens = [
  "[",
  "]",
  "{",
  "}",
  ":",
  ": ",
  ",",
  "- ",
  "\n",
  "\n  ",
  "&a ",
  "*a",
  "!!binary ",
  "? ",
  "|",
  ">",
  "'",
  '"',
  "#",
  "---\n",
  "%YAML 1.1\n",
  "null",
  "~",
  ".nan",
  "1e999",
  "0x7fffffffffffffff",
  "version: 1\n",
  "__proto__",
  "constructor",
  "\u0000",
  "\u202e",
  "\ud800",
  "rules:",
  "when:",
  "tool:",
  "private",
  "== private",
  "unsure",
  "[private, public]",
  "10m",
  "9".repeat(40),
  "*".repeat(60),
  "(".repeat(60),
];

function mutate(text: string, random: () => number): string {
  const at = Math.floor(random() * (text.length + 1));
  const length = Math.floor(random() * 12);
  const token = tokens[Math.floor(random() * tokens.length)] ?? "";
  switch (Math.floor(random() * 6)) {
    case 0:
      return text.slice(0, at) + token + text.slice(at);
    case 1:
      return text.slice(0, at) + text.slice(at + length);
    case 2:
      return text.slice(0, at) + token + text.slice(at + length);
    case 3: {
      const other = corpus[Math.floor(random() * corpus.length)] ?? "";
      const from = Math.floor(random() * (other.length + 1));
      return text.slice(0, at) + other.slice(from, from + 80) + text.slice(at);
    }
    case 4:
      return text.slice(0, at) + token.repeat(1 + Math.floor(random() * 200)) + text.slice(at);
    default:
      return text.slice(0, at) + String.fromCharCode(Math.floor(random() * 0x3000)) + text.slice(at + 1);
  }
}

test("the corpus itself is answered", () => {
  expect(corpus.length).toBeGreaterThan(5);
  for (const text of corpus) loadPolicy({ file: "corpus", text }, shippedOptions);
});

test(
  `mutated policies neither crash nor stall the loader (seed ${seed})`,
  { timeout: durationMs + 60_000 },
  async () => {
    console.log(`policy fuzz: seed ${seed}, ${durationMs} ms`);
    const random = generator(seed);
    const end = performance.now() + durationMs;
    let rounds = 0;
    let loaded = 0;
    while (performance.now() < end) {
      let text = corpus[Math.floor(random() * corpus.length)] ?? "";
      for (let count = Math.floor(random() * 6); count >= 0; count -= 1) text = mutate(text, random);
      const before = process.cpuUsage();
      const answer = loadPolicy({ file: "fuzz", text }, shippedOptions);
      const spent = process.cpuUsage(before);
      const took = (spent.user + spent.system) / 1_000;
      if (took > loadMsMax)
        throw new Error(`a load took ${Math.round(took)} ms: ${JSON.stringify(text.slice(0, 2_000))}`);
      expect(answer.policy === undefined).toBe(answer.diagnostics.some((found) => found.severity === "error"));
      for (const found of answer.diagnostics) expect(found.message.length).toBeLessThanOrEqual(240);
      rounds += 1;
      // A run may last an hour: the worker has to answer who asks it in the meantime.
      if (rounds % yieldEvery === 0) await turn();
      if (answer.policy !== undefined) loaded += 1;
    }
    expect(rounds).toBeGreaterThan(0);
    console.log(`policy fuzz: ${rounds} rounds, ${loaded} loaded`);
  },
);

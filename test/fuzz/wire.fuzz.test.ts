import { readdirSync, readFileSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { cpuMsOf } from "../kit/policy/cpu-time.ts";
import { fuzzOne } from "./wire-cases.ts";

const folder = new URL("./corpus/wire/", import.meta.url);
const corpus = readdirSync(folder)
  .toSorted()
  .map((name) => new Uint8Array(readFileSync(new URL(name, folder))));

const durationMs = Number(process.env["SLUICEGATE_FUZZ_MS"] ?? 3000);
const seed = Number(process.env["SLUICEGATE_FUZZ_SEED"] ?? Date.now() % 2 ** 31);

/** One input may take this long; mutations stay near the corpus in size, so anything slower is super-linear. */
const inputMsMax = 500;

const yieldEvery = 1_000;

/** Bytes of a mutated input. */
const inputBytesMax = 32 * 1024;

const tokens = [
  '"',
  "\\",
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "\n",
  "\r",
  "\0",
  "\\u0000",
  "\\ud800",
  "-0",
  "1.0",
  '"\\u0001"',
  "1e999",
  "id",
  "ID",
]
  .concat(["\u212A", "\uFEFF", "__proto__", '"jsonrpc":"2.0"', '"method":', '"result":{}', "99999999999999999"])
  .map((text) => new TextEncoder().encode(text));

/** A small generator with a printed seed, so that every finding can be repeated (mulberry32). */
function generator(start: number): (below: number) => number {
  let state = start;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function splice(bytes: Uint8Array, at: number, removed: number, added: Uint8Array): Uint8Array {
  const end = Math.min(at + removed, bytes.length);
  const out = new Uint8Array(at + added.length + bytes.length - end);
  out.set(bytes.subarray(0, at));
  out.set(added, at);
  out.set(bytes.subarray(end), at + added.length);
  return out;
}

function mutate(bytes: Uint8Array, below: (limit: number) => number): Uint8Array {
  const at = below(bytes.length + 1);
  const other = corpus[below(corpus.length)] ?? bytes;
  switch (below(6)) {
    case 0:
      return splice(bytes, at, 1, Uint8Array.of(below(256)));
    case 1:
      return splice(bytes, at, 0, tokens[below(tokens.length)] ?? other);
    case 2:
      return splice(bytes, at, below(40), new Uint8Array());
    case 3: {
      // Repeating a piece of the message itself makes names twice and nests.
      const from = below(bytes.length + 1);
      return splice(bytes, at, 0, bytes.subarray(from, from + below(80)));
    }
    case 4: {
      const from = below(other.length);
      return splice(bytes, at, below(20), other.subarray(from, from + below(120)));
    }
  }
  return splice(bytes, at, 1, Uint8Array.of((bytes[at] ?? 0) ^ (1 << below(8))));
}

test("the corpus itself passes", () => {
  expect(corpus.length).toBeGreaterThan(5);
  for (const bytes of corpus) fuzzOne(bytes);
});

test(
  `no mutation breaks the wire layer (seed ${seed}, ${durationMs} ms)`,
  async () => {
    const below = generator(seed);
    const started = performance.now();
    let cases = 0;
    let slowestMs = 0;
    while (performance.now() - started < durationMs) {
      let bytes: Uint8Array = corpus[below(corpus.length)] ?? new Uint8Array();
      for (let round = below(8); round >= 0; round -= 1) bytes = mutate(bytes, below).subarray(0, inputBytesMax);
      let tookMs = 0;
      try {
        tookMs = cpuMsOf(() => fuzzOne(bytes));
      } catch (error) {
        throw new Error(`seed ${seed}, case ${cases}: ${JSON.stringify(new TextDecoder().decode(bytes))}`, {
          cause: error,
        });
      }
      // A second look: garbage is collected once, an input that is slow by nature is slow again.
      if (tookMs > slowestMs)
        tookMs = Math.min(
          tookMs,
          cpuMsOf(() => fuzzOne(bytes)),
        );
      slowestMs = Math.max(slowestMs, tookMs);
      cases += 1;
      // A run may last an hour: the worker has to answer who asks it in the meantime.
      if (cases % yieldEvery === 0) await turn();
    }
    expect(slowestMs).toBeLessThan(inputMsMax);
    expect(cases).toBeGreaterThan(0);
    process.stderr.write(`wire fuzz: seed ${seed}, ${cases} cases, slowest ${slowestMs.toFixed(1)} ms\n`);
  },
  durationMs + 30_000,
);

import fc from "fast-check";
import { expect, test } from "vitest";
import { tailBytesMax, tailLinesMax } from "../../adapters/daemon/daemon-limits.ts";
import { LineTail } from "./line-tail.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const texts = (tail: LineTail): readonly string[] => tail.lines.map(String);

test("however the bytes are cut, short lines come out whole and in order", () => {
  const line = fc.string({ maxLength: 40 }).map((text) => text.replaceAll("\n", " "));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), line, fc.array(fc.nat(60)), (lines, rest, cuts) => {
      const bytes = Buffer.from([...lines, rest].join("\n"));
      const tail = new LineTail(256);
      let start = 0;
      for (const cut of [...cuts, bytes.length]) {
        tail.push(bytes.subarray(start, start + cut));
        start = Math.min(bytes.length, start + cut);
      }
      expect(texts(tail)).toEqual(lines.filter((text) => text !== ""));
      expect(tail.partial.toString()).toBe(rest);
      expect(tail.midLine).toBe(rest !== "");
    }),
    { numRuns: runs },
  );
});

test("of a long line the first and the last bytes are kept, however it was cut and whatever came before", () => {
  const line = fc.stringMatching(/^[a-z]{0,150}$/);
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), line, fc.array(fc.nat(90)), (lines, rest, cuts) => {
      const sample = (text: string): string => (text.length > 64 ? text.slice(0, 32) + text.slice(-32) : text);
      const bytes = Buffer.from([...lines, rest].join("\n"));
      const tail = new LineTail(64);
      let start = 0;
      for (const cut of [...cuts, bytes.length]) {
        // One buffer for all chunks, as in the shim: what the tail holds must be its own.
        const chunk = Buffer.from(bytes.subarray(start, start + cut));
        tail.push(chunk);
        chunk.fill(0);
        start = Math.min(bytes.length, start + cut);
      }
      expect(texts(tail)).toEqual(lines.filter((text) => text !== "").map(sample));
      expect(tail.partial.toString()).toBe(sample(rest));
    }),
    { numRuns: runs },
  );
});

test("memory stays bounded and the newest lines survive", () => {
  const many = new LineTail(64);
  for (let index = 0; index < 10 * tailLinesMax; index += 1) many.push(Buffer.from(`line ${index}\n`));
  expect(many.lines.length).toBeLessThanOrEqual(2 * tailLinesMax);
  expect(texts(many).at(-1)).toBe(`line ${10 * tailLinesMax - 1}`);
  const large = new LineTail(tailBytesMax);
  for (let index = 0; index < 9; index += 1) large.push(Buffer.from(`${"x".repeat(tailBytesMax / 2)}\n`));
  expect(large.lines.reduce((sum, line) => sum + line.length, 0)).toBeLessThanOrEqual(2 * tailBytesMax);
  // Trimmed by bytes or by lines, what is left is the newest, whole and in order.
  const both = new LineTail(4_096);
  const sent: string[] = [];
  for (let index = 0; index < 3_000; index += 1) {
    sent.push(`${index} ${"y".repeat((index * 37) % 6_000)}`.slice(0, 4_096));
    both.push(Buffer.from(`${sent.at(-1) ?? ""}\n`));
    if (index % 7 !== 0) continue;
    const held = texts(both);
    expect(held).toEqual(sent.slice(-held.length));
    expect(index < 100 || held.length >= 100).toBe(true);
  }
});

test("clear forgets lines and the unfinished one", () => {
  const tail = new LineTail(64);
  tail.push(Buffer.from("a\nb"));
  tail.clear();
  expect([texts(tail), tail.partial.length, tail.midLine]).toEqual([[], 0, false]);
});

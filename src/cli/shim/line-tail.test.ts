import fc from "fast-check";
import { expect, test } from "vitest";
import { tailBytesMax, tailLinesMax } from "../../adapters/daemon/limits.ts";
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

test("of a long line the beginning and the end are kept, however it was cut", () => {
  const bytes = Buffer.from(`{"id":1,${"x".repeat(5_000)}"end":2}`);
  for (const size of [1, 7, 300, 10_000]) {
    const tail = new LineTail(64);
    for (let start = 0; start < bytes.length; start += size) tail.push(bytes.subarray(start, start + size));
    tail.push(Buffer.from("\n"));
    expect(texts(tail)[0]).toMatch(/^\{"id":1,x+"end":2\}$/);
    expect(texts(tail)[0]?.length).toBeLessThanOrEqual(64);
  }
});

test("memory stays bounded and the newest lines survive", () => {
  const many = new LineTail(64);
  for (let index = 0; index < 10 * tailLinesMax; index += 1) many.push(Buffer.from(`line ${index}\n`));
  expect(many.lines.length).toBeLessThanOrEqual(2 * tailLinesMax);
  expect(texts(many).at(-1)).toBe(`line ${10 * tailLinesMax - 1}`);
  const large = new LineTail(tailBytesMax);
  for (let index = 0; index < 9; index += 1) large.push(Buffer.from(`${"x".repeat(tailBytesMax / 2)}\n`));
  expect(large.lines.reduce((sum, line) => sum + line.length, 0)).toBeLessThanOrEqual(2 * tailBytesMax);
});

test("clear forgets lines and the unfinished one", () => {
  const tail = new LineTail(64);
  tail.push(Buffer.from("a\nb"));
  tail.clear();
  expect([texts(tail), tail.partial.length, tail.midLine]).toEqual([[], 0, false]);
});

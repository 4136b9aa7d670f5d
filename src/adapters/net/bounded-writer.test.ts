import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { boundedWriter, bufferedBytesMax } from "./bounded-writer.ts";

test("C21: a stream that nothing reads holds a bounded number of bytes, and tells later what was left out", () => {
  const written: string[] = [];
  let read: (() => void) | undefined;
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => {
      written.push(chunk);
      read = done;
    },
  });
  const write = boundedWriter(stream);
  const line = `${"x".repeat(99_999)}\n`;
  for (let count = 0; count < 100; count += 1) write(line);
  expect(stream.writableLength).toBeLessThanOrEqual(bufferedBytesMax + line.length);
  while (stream.writableLength > 0) read?.();
  const before = written.length;
  write("again\n");
  while (stream.writableLength > 0) read?.();
  expect(written.slice(before)).toEqual([expect.stringMatching(/^sluicegate: 8\d lines were dropped/), "again\n"]);
});

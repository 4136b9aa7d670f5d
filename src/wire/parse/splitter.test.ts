import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { LineSplitter, oversizeSampleBytes, type SplitEvent } from "./splitter.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function feed(splitter: LineSplitter, text: string, chunkBytes: number): SplitEvent[] {
  const bytes = bytesOf(text);
  const events: SplitEvent[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) events.push(...splitter.push(bytes.slice(at, at + chunkBytes)));
  events.push(...splitter.end());
  return events;
}

const shown = (events: readonly SplitEvent[]): string[] =>
  events.map((event) => (event.kind === "line" ? textOf(event.bytes) : `oversize ${event.lengthBytes}`));

describe("line splitter", () => {
  test("the first bytes of a line over the cap are known before its end", () => {
    const splitter = new LineSplitter(4);
    splitter.push(bytesOf("abcdefg"));
    const head = splitter.droppedHead;
    expect(textOf(head ?? bytesOf(""))).toBe("abcdefg");
    splitter.push(bytesOf("hij"));
    expect(splitter.droppedHead).toBe(head);
    splitter.push(bytesOf("\n"));
    expect(splitter.droppedHead).toBeUndefined();
  });

  test("gives the same lines for every way of cutting the stream", () => {
    const lines = fc.array(fc.string({ unit: "grapheme" }).map((line) => line.replaceAll(/[\r\n]/g, "")));
    fc.assert(
      fc.property(lines, fc.integer({ min: 1, max: 40 }), fc.constantFrom("\n", "\r\n"), (all, chunk, ending) => {
        const splitter = new LineSplitter(10_000);
        const expected = all.filter((line) => line.length > 0);
        expect(shown(feed(splitter, all.map((line) => line + ending).join(""), chunk))).toEqual(expected);
        expect(splitter.pendingBytes).toBe(0);
      }),
      { numRuns: runs },
    );
  });

  test("drops only the line over the cap, for every way of cutting, and goes on after it", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 11, max: 40 }), (chunk, length) => {
        const text = `0123456789\n${"x".repeat(length)}\nshort\n`;
        const got = shown(feed(new LineSplitter(10), text, chunk));
        expect(got).toEqual(["0123456789", `oversize ${length}`, "short"]);
      }),
      { numRuns: runs },
    );
  });

  test("a line of exactly the cap passes with either line end", () => {
    for (const chunk of [1, 3, 50]) {
      expect(shown(feed(new LineSplitter(4), "1234\r\n1234\n", chunk))).toEqual(["1234", "1234"]);
    }
  });

  test("holds no more than the cap and one chunk while a large line arrives, and samples both ends", () => {
    const splitter = new LineSplitter(5_000);
    splitter.push(bytesOf(`HEAD${"a".repeat(996)}`));
    for (let round = 0; round < 50; round += 1) {
      expect(splitter.push(bytesOf("b".repeat(1_500)))).toEqual([]);
      expect(splitter.pendingBytes).toBeLessThanOrEqual(6_501);
    }
    const [event, next] = splitter.push(bytesOf("cccTAIL\nnext\n"));
    if (event?.kind !== "oversize") throw new Error("expected an oversize event");
    expect(event.lengthBytes).toBe(1_000 + 75_000 + 7);
    expect(textOf(event.head).startsWith("HEAD")).toBe(true);
    expect(event.head.length).toBe(oversizeSampleBytes);
    expect(textOf(event.tail).endsWith("bcccTAIL")).toBe(true);
    expect(event.tail.length).toBe(oversizeSampleBytes);
    expect(next).toEqual({ kind: "line", bytes: bytesOf("next") });
  });

  test("the samples of a dropped line are its ends, for every way of cutting", () => {
    const numbers = Array.from({ length: 2_000 }, (_, at) => String(at)).join(" ");
    fc.assert(
      fc.property(fc.integer({ min: 1_501, max: 6_000 }), fc.integer({ min: 1, max: 7_000 }), (length, chunk) => {
        const line = numbers.slice(0, length);
        const head = bytesOf(line.slice(0, oversizeSampleBytes));
        const tail = bytesOf(line.slice(-oversizeSampleBytes));
        const events = feed(new LineSplitter(1_500), `${line}\n`, chunk);
        expect(events).toEqual([{ kind: "oversize", lengthBytes: length, head, tail }]);
      }),
      { numRuns: runs },
    );
  });

  test("a line that arrives byte by byte is held in few parts", () => {
    const splitter = new LineSplitter(100_000);
    const text = Array.from({ length: 50_000 }, (_, at) => String.fromCharCode(97 + (at % 26))).join("");
    for (const byte of bytesOf(text)) splitter.push(Uint8Array.of(byte));
    // Each part is copied once when the line ends.
    const copied = vi.spyOn(Uint8Array.prototype, "set");
    const events = splitter.push(bytesOf("\n"));
    expect(copied.mock.calls.length).toBeLessThan(20);
    copied.mockRestore();
    expect(shown(events)).toEqual([text]);
  });

  test("an unfinished last line counts at the end of the stream", () => {
    expect(shown(feed(new LineSplitter(100), "a\nb", 100))).toEqual(["a", "b"]);
    expect(shown(feed(new LineSplitter(2), "abcd", 1))).toEqual(["oversize 4"]);
  });
});

import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { type ServerEvent, SseParser } from "./sse-parser.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

function read(parts: readonly (string | Uint8Array)[], cap = 1_000): unknown[] {
  const parser = new SseParser(cap);
  const show = (event: ServerEvent): unknown =>
    event.kind === "event" ? [event.name, Buffer.from(event.data).toString(), event.id] : event;
  return parts.flatMap((part) => parser.push(typeof part === "string" ? Buffer.from(part) : part)).map(show);
}

test("fields, comments, several data lines, default names", () => {
  expect(read(["\uFEFF: hello\nevent: endpoint\ndata: /x\n\ndata:a\ndata: b\nid: 7\n\ndata\n\nfoo: bar\n\n"])).toEqual([
    ["endpoint", "/x", undefined],
    ["message", "a\nb", "7"],
    ["message", "", "7"],
  ]);
});

test("a retry is told, one that is no number is not; an id with NUL is ignored", () => {
  expect(read(["retry: 250\nretry: soon\nid: a\0b\ndata: x\n\n"])).toEqual([
    { kind: "retry", delayMs: 250 },
    ["message", "x", undefined],
  ]);
});

test("an event that the end cut off is none", () => {
  expect(read(["data: x\n"])).toEqual([]);
});

test("data over the cap is dropped, keeps both ends, and the next event is read", () => {
  for (const size of [1, 7, 100, 5_000]) {
    const bytes = Buffer.from(`id: 3\ndata: {"id":9,"big":"${"x".repeat(50_000)}","end":1}\n\ndata: ok\n\n`);
    const parts: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size) parts.push(bytes.subarray(at, at + size));
    const events = read(parts, 2_000);
    expect(events).toHaveLength(2);
    const first = events[0];
    if (!(first instanceof Object) || !("head" in first) || !(first.head instanceof Uint8Array))
      throw new Error("no head");
    expect(Buffer.from(first.head).toString()).toMatch(/^\{"id":9/);
    expect(events[1]).toEqual(["message", "ok", "3"]);
  }
});

test("regression: data that arrives byte by byte, or in empty lines, is held in few parts", () => {
  const parser = new SseParser(100_000);
  const parts = (bytes: string): number => {
    // Each part is copied once when the event ends.
    const copying = vi.spyOn(Uint8Array.prototype, "set");
    parser.push(Buffer.from(bytes));
    const copied = copying.mock.calls.length;
    copying.mockRestore();
    return copied;
  };
  for (const byte of Buffer.from(`data: ${"x".repeat(30_000)}`)) parser.push(Uint8Array.of(byte));
  expect(parts("\n\n")).toBeLessThan(20);
  for (let line = 0; line < 30_000; line += 1) parser.push(Buffer.from("data:\n"));
  expect(parts("\n")).toBeLessThan(20);
});

test("law: how the bytes are cut, and which line ends are used, changes nothing", () => {
  const line = fc.stringMatching(/^[ -~é]{0,20}$/);
  const event = fc.array(line, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 5 }),
      fc.constantFrom("\n", "\r\n", "\r"),
      fc.integer({ min: 1, max: 9 }),
      (events, end, size) => {
        const bytes = Buffer.from(
          events.map((lines) => lines.map((one) => `data: ${one}${end}`).join("") + end).join("") + ":",
        );
        const parts: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += size) parts.push(bytes.subarray(at, at + size));
        expect(read(parts)).toEqual(events.map((lines) => ["message", lines.join("\n"), undefined]));
      },
    ),
    { numRuns: runs },
  );
});

import { expect, test } from "vitest";
import { EventLog, eventId, readEventId } from "./event-log.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test("events of one stream only, after a place only, without those that merely mark one", () => {
  const log = new EventLog(10, 1_000);
  const first = log.append(1, bytes("a"));
  log.append(2, bytes("b"));
  log.append(1, bytes(""));
  const last = log.append(1, bytes("c"));
  expect(log.after(1, first.position)).toEqual([last]);
  expect(log.after(1, last.position)).toEqual([]);
});

test("both caps hold, and the oldest go first", () => {
  const few = new EventLog(2, 1_000);
  for (const text of ["a", "b", "c"]) few.append(1, bytes(text));
  expect(few.after(1, 0).map((event) => new TextDecoder().decode(event.bytes))).toEqual(["b", "c"]);
  const small = new EventLog(100, 10);
  for (const text of ["12345", "67890", "x"]) small.append(1, bytes(text));
  expect(small.after(1, 0)).toHaveLength(2);
  small.append(1, bytes("y".repeat(11)));
  expect(small.after(1, 0)).toEqual([]);
});

test("ids are read back, and nothing else is", () => {
  const event = new EventLog(1, 10).append(7, bytes("a"));
  expect(readEventId(eventId(event))).toEqual({ stream: 7, position: 1 });
  for (const text of ["", "7", "7-", "-1-2", "7-1x", "1e3-1", "9".repeat(20) + "-1"])
    expect(readEventId(text)).toBeUndefined();
});

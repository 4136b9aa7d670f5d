import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type EffectEvent,
  effectActions,
  effectGrades,
  effectOutcomes,
  traceTextCharactersMax,
} from "../../../core/isolation/effect-trace.ts";
import { bounded, collapse, startupSummary } from "./collapse.ts";
import { eventsOfKindMin } from "./session-limits.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

function event(sequence: number, more: Partial<EffectEvent> = {}): EffectEvent {
  return {
    sequence,
    at: sequence,
    action: "file-read",
    outcome: "success",
    grade: "hint",
    phase: "call",
    count: 1,
    ...more,
  };
}

const anyEvent = fc.record({
  action: fc.constantFrom(...effectActions),
  outcome: fc.constantFrom(...effectOutcomes),
  grade: fc.constantFrom(...effectGrades),
  phase: fc.constant("call" as const),
  path: fc.constantFrom("/a", "/b", "/c/.ssh/id_rsa", "/d", "/e", "/f/.env"),
  count: fc.integer({ min: 1, max: 3 }),
  bytes: fc.integer({ min: 0, max: 9 }),
});
const events = fc
  .array(anyEvent, { maxLength: 120 })
  .map((list) => list.map((one, sequence): EffectEvent => ({ ...one, sequence, at: sequence })));
const max = fc.integer({ min: 1, max: 40 });

const total = (list: readonly EffectEvent[]): number => list.reduce((sum, one) => sum + one.count, 0);

test("equal events merge, whatever their time, process and size; sizes add up", () => {
  const merged = collapse([
    event(1, { bytes: 2, process: 7 }),
    event(2, { bytes: 3, process: 8 }),
    event(3, { path: "/x" }),
  ]);
  expect(merged).toEqual({
    events: [event(1, { bytes: 5, process: 7, count: 2 }), event(3, { path: "/x" })],
    dropped: 0,
  });
});

test("law: counts are conserved and never more events stay than there is room for", () => {
  fc.assert(
    fc.property(events, max, (list, room) => {
      const kept = collapse(list, room);
      expect(total(kept.events) + kept.dropped).toBe(total(list));
      expect(kept.events.length).toBeLessThanOrEqual(room);
    }),
    { numRuns: runs },
  );
});

test("law: collapsing again changes nothing, and the order of first sight stays", () => {
  fc.assert(
    fc.property(events, max, (list, room) => {
      const kept = collapse(list, room);
      expect(collapse(kept.events, room)).toEqual({ events: kept.events, dropped: 0 });
      const order = kept.events.map(({ sequence }) => sequence);
      expect(order).toEqual(order.toSorted((a, b) => a - b));
    }),
    { numRuns: runs },
  );
});

test("attack: a flood of plain reads, before or after, does not hide an effect, a denial or a secret", () => {
  const flood = Array.from({ length: 500 }, (_, index) => event(index, { path: `/r${index}` }));
  const telling = [
    event(900, { action: "file-write", path: "/w" }),
    event(901, { outcome: "denied", path: "/q" }),
    event(902, { path: "/home/ada/.aws/credentials" }),
  ];
  for (const list of [
    [...flood, ...telling],
    [...telling, ...flood],
  ]) {
    const { events: kept, dropped } = collapse(list);
    expect(telling.every((one) => kept.some(({ sequence }) => sequence === one.sequence))).toBe(true);
    expect(dropped).toBe(503 - 256);
  }
});

test("attack: a flood of one kind of effect leaves the others their places", () => {
  const flood = Array.from({ length: 400 }, (_, index) =>
    event(index, { action: "file-create", path: `/home/ada/.ssh/${index}` }),
  );
  const sent = Array.from({ length: eventsOfKindMin }, (_, index) =>
    event(900 + index, { action: "net-connect", port: index }),
  );
  const { events: kept } = collapse([...flood, ...sent]);
  expect(kept.filter(({ action }) => action === "net-connect")).toHaveLength(eventsOfKindMin);
});

test("texts are cut, and a path that turns back on itself hides no end behind the cut", () => {
  const seen = { at: 0, action: "file-read", outcome: "success", grade: "hint" } as const;
  const turning = `/project/${"a/".repeat(300)}${"../".repeat(301)}etc/shadow`;
  expect(bounded({ ...seen, path: turning }).path).toBe("/etc/shadow");
  expect(bounded({ ...seen, path: `/${"a".repeat(600)}`, detail: "x".repeat(600) })).toEqual({
    ...seen,
    path: `/${"a".repeat(traceTextCharactersMax - 1)}`,
    detail: "x".repeat(traceTextCharactersMax),
  });
  const plain = { ...seen, path: "/project/.hidden", domain: "example.org" };
  expect(bounded(plain)).toEqual(plain);
});

test("plain reads of a start become one for each folder of its own; what lies elsewhere keeps its path", () => {
  const places = { home: "/tmp/ada", workspace: ["/project"], code: ["/opt/server", "/usr"], scratch: ["/tmp"] };
  const seen = { at: 3, action: "file-read", outcome: "success", grade: "hint" } as const;
  const summary = (path: string): string | undefined => startupSummary({ ...seen, path, process: 4 }, places).path;
  expect(["/opt/server/node_modules/x/y.js", "/usr/lib/libc.so", "/tmp/cache/1"].map(summary)).toEqual([
    "/opt/server",
    "/usr",
    "/tmp",
  ]);
  for (const kept of [
    { ...seen, path: "/tmp/ada/.ssh/id_rsa" },
    { ...seen, action: "file-write" as const, path: "/tmp/x" },
    // Its folder is out of scope, or on the way to what is in it, and the file is the other.
    { ...seen, path: "/dev/null" },
    { ...seen, path: "/rooted" },
    { ...seen, path: "/tmp/ada/diary.txt" },
    seen,
  ]) {
    expect(startupSummary(kept, places)).toBe(kept);
  }
});

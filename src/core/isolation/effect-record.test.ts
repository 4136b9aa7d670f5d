import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { eventFrom, isQuietRecord, traceFrom, traceJson, tracesFrom, tracesJson } from "./effect-record.ts";
import {
  type EffectEvent,
  type EffectTrace,
  type WorkspaceChange,
  effectActions,
  effectGrades,
  effectOutcomes,
  effectPhases,
  traceEventsMax,
} from "./effect-trace.ts";
import type { Json } from "../json.ts";
import { isolationTiers } from "./scope.ts";

const numRuns = Number(process.env.SLUICEGATE_RUNS ?? 200);

const event: EffectEvent = {
  sequence: 1,
  at: 12.5,
  action: "net-connect",
  outcome: "denied",
  grade: "broker",
  phase: "call",
  count: 1,
  domain: "evil.example",
  port: 443,
};
const trace: EffectTrace = {
  tier: "A",
  complete: true,
  dropped: 0,
  places: { home: "/home/ana", workspace: ["/w"], code: ["/usr"], scratch: ["/tmp"] },
  events: [event],
  changes: [{ path: "a.txt", kind: "added", bytes: 3, guarded: false }],
};

const text = fc.string({ maxLength: 40 });
const number = fc.nat();
const events: fc.Arbitrary<EffectEvent> = fc.record(
  {
    sequence: number,
    at: fc.double({ min: 0, max: 1e9, noNaN: true }),
    action: fc.constantFrom(...effectActions),
    outcome: fc.constantFrom(...effectOutcomes),
    grade: fc.constantFrom(...effectGrades),
    phase: fc.constantFrom(...effectPhases),
    count: fc.integer({ min: 1, max: 99 }),
    path: text,
    target: text,
    domain: text,
    address: text,
    port: number,
    transport: fc.constantFrom("tcp" as const, "udp" as const, "unix" as const),
    program: text,
    commandLine: text,
    bytes: number,
    process: number,
    detail: text,
  },
  { requiredKeys: ["sequence", "at", "action", "outcome", "grade", "phase", "count"] },
);
const changes: fc.Arbitrary<WorkspaceChange> = fc.record({
  path: text,
  kind: fc.constantFrom("added", "modified", "deleted", "mode", "link", "special"),
  bytes: number,
  guarded: fc.boolean(),
});
const traces: fc.Arbitrary<EffectTrace> = fc.record(
  {
    tier: fc.constantFrom(...isolationTiers, "remote" as const),
    complete: fc.boolean(),
    dropped: number,
    places: fc.record({ home: text, workspace: fc.array(text), code: fc.array(text), scratch: fc.array(text) }),
    events: fc.array(events, { maxLength: 5 }),
    changes: fc.array(changes, { maxLength: 5 }),
    failure: text,
  },
  { requiredKeys: ["tier", "complete", "dropped", "places", "events", "changes"] },
);

const nowhere = { home: "", workspace: [], code: [], scratch: [] };

function isQuiet({ events: happened, changes: changed }: EffectTrace): boolean {
  return happened.length === 0 && changed.length === 0;
}

test("law: what is written is read back the same, less the places of what did not happen", () => {
  fc.assert(
    fc.property(traces, (any) => {
      const given = isQuiet(any) ? { ...any, places: nowhere } : any;
      expect(traceFrom(traceJson(any))).toEqual(given);
      expect(traceFrom(traceJson(given))).toEqual(given);
      expect(traceFrom(JSON.parse(JSON.stringify(traceJson(given))) as Json)).toEqual(
        JSON.parse(JSON.stringify(given)),
      );
    }),
    { numRuns },
  );
});

test("law: anything at all is a trace or is not, and never a fault", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (json) => {
      expect(traceFrom(json as Json)).toBeUndefined();
    }),
    { numRuns },
  );
});

test("fields have the names of ECS and OpenTelemetry", () => {
  expect(traceJson(trace)["sluicegate.events"]).toEqual([
    {
      "event.sequence": 1,
      "sluicegate.at_ms": 12.5,
      "event.category": "network",
      "event.action": "net-connect",
      "event.outcome": "failure",
      "sluicegate.verdict": "deny",
      "sluicegate.trust": "broker",
      "sluicegate.attribution": "call",
      "sluicegate.count": 1,
      "destination.domain": "evil.example",
      "destination.port": 443,
    },
  ]);
});

test("a clock that kept its lexeme is read; a fraction of an event is not", () => {
  const [record] = traceJson(trace)["sluicegate.events"] as readonly { readonly [name: string]: Json }[];
  expect(
    eventFrom({ ...record, "sluicegate.at_ms": JSON.rawJSON("12.500000000000000001") as unknown as Json })?.at,
  ).toBe(12.5);
  expect(eventFrom({ ...record, "sluicegate.count": 1.5 })).toBeUndefined();
});

describe("what goes beyond a trace is none", () => {
  const record = traceJson(trace);
  const [first = null] = record["sluicegate.events"] as readonly { readonly [name: string]: Json }[];
  const [change = null] = record["sluicegate.changes"] as readonly { readonly [name: string]: Json }[];
  test.each<[string, Json]>([
    ["tier", { ...record, "sluicegate.tier": "Z" }],
    ["complete", { ...record, "sluicegate.complete": "yes" }],
    ["dropped", { ...record, "sluicegate.dropped": -1 }],
    ["failure", { ...record, "sluicegate.failure": 1 }],
    ["too many events", { ...record, "sluicegate.events": Array.from({ length: traceEventsMax + 1 }, () => first) }],
    ["an event", { ...record, "sluicegate.events": [{}] }],
    ["an outcome", { ...record, "sluicegate.events": [{ ...first, "event.outcome": "success" }] }],
    ["a count", { ...record, "sluicegate.events": [{ ...first, "sluicegate.count": 0 }] }],
    ["a long text", { ...record, "sluicegate.events": [{ ...first, "file.path": "x".repeat(513) }] }],
    ["a port", { ...record, "sluicegate.events": [{ ...first, "destination.port": "443" }] }],
    ["a transport", { ...record, "sluicegate.events": [{ ...first, "network.transport": "pigeon" }] }],
    ["a change", { ...record, "sluicegate.changes": [{ ...change, "event.action": "moved" }] }],
    ["places", { ...record, "sluicegate.places": { home: "/" } }],
    ["a place", { ...record, "sluicegate.places": { home: "/", workspace: [1], code: [], scratch: [] } }],
  ])("%s", (_, json) => {
    expect(traceFrom(json)).toBeUndefined();
  });
});

test("several processes stay apart in one record, and one that cannot be read spoils all of it", () => {
  expect(tracesFrom(tracesJson([trace]))).toEqual([trace]);
  expect(tracesJson([trace])).toEqual(traceJson(trace));
  expect(tracesFrom(tracesJson([trace, trace]))).toEqual([trace, trace]);
  expect(tracesFrom(tracesJson([]))).toEqual([]);
  expect(tracesFrom([traceJson(trace), {}])).toBeUndefined();
  expect(tracesFrom({})).toBeUndefined();
});

test("a trace in which nothing happened is a short record, and half of a longer one is none", () => {
  const quiet = traceJson({ ...trace, events: [], changes: [] });
  expect(Object.keys(quiet)).toEqual(["sluicegate.tier", "sluicegate.complete", "sluicegate.dropped"]);
  const whole = traceJson(trace);
  for (const name of ["sluicegate.places", "sluicegate.events", "sluicegate.changes"]) {
    const { [name]: _gone, ...half } = whole;
    expect(traceFrom(half)).toBeUndefined();
  }
});

test("law: a record is quiet exactly if nothing was seen and nothing is said of it", () => {
  fc.assert(
    fc.property(traces, (one) => {
      const seen = one.events.length > 0 || one.changes.length > 0;
      expect(isQuietRecord(traceJson(one))).toBe(!seen && one.failure === undefined);
      expect(isQuietRecord(tracesJson([one, one]))).toBe(false);
    }),
  );
  for (const odd of [null, 1, "A", [], {}, { "sluicegate.tier": "Z" }, { "sluicegate.tier": { path: "/x" } }])
    expect(isQuietRecord(odd)).toBe(false);
  // Whoever answers a question could use these names, too.
  const quiet = { "sluicegate.tier": "A", "sluicegate.complete": true, "sluicegate.dropped": 0 };
  for (const said of [{ "sluicegate.complete": "a patient" }, { "sluicegate.dropped": "a patient" }, { note: 1 }])
    expect(isQuietRecord({ ...quiet, ...said })).toBe(false);
});

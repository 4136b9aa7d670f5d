import { expect, test } from "vitest";
import type { EffectEvent } from "../../core/isolation/effect-trace.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { event, grounds, orderOf, traceOf } from "../../../test/kit/isolation/projection-scene.ts";
import { judgeTrace } from "./judgement.ts";

test("by default the way on keeps the default for every other server", () => {
  const named = event({ action: "dns-query", domain: "x.example", outcome: "unknown", grade: "broker" });
  const signal = event({ action: "process-signal", outcome: "denied" });
  const wayOf = (seen: EffectEvent, mode: IsolationOrder["mode"]): string | undefined =>
    judgeTrace(grounds(traceOf({ events: [seen] }), { ...orderOf(), mode })).violations[0]?.way;
  expect(wayOf(named, "auto")).toMatch(/under isolation\.servers\.s$/);
  expect(wayOf(named, "where-possible")).toMatch(/servers\.s, beside `isolation\.backend: where-possible`$/);
  expect(wayOf(signal, "where-possible")).toBe(wayOf(signal, "auto"));
});

const closed = { ...orderOf().scope.net, mode: "none", allow: [] } as const;

type Seen = Partial<EffectEvent> & Pick<EffectEvent, "action">;

test("by default a need that the projection refused is not held against a call, and anything else is", () => {
  const rulesOf = (seen: Seen, mode: IsolationOrder["mode"], tier: "A" | "B" = "A"): readonly string[] => {
    const trace = traceOf({ tier, events: [event({ outcome: "denied", ...seen })] });
    return judgeTrace(grounds(trace, { ...orderOf(), mode })).violations.map(({ rule }) => rule);
  };
  const needs: readonly Seen[] = [
    { action: "dns-query", domain: "x.example", grade: "broker" },
    { action: "net-connect", domain: "x.example", port: 443, transport: "tcp", grade: "broker" },
    { action: "file-read", path: "/srv/data" },
    { action: "file-write", path: "/srv/data" },
  ];
  for (const need of needs) {
    expect(rulesOf(need, "auto"), need.action).not.toEqual([]);
    expect(rulesOf(need, "where-possible"), need.action).toEqual([]);
    expect(rulesOf({ ...need, outcome: "success" }, "where-possible"), need.action).not.toEqual([]);
  }
  const key = { action: "file-read", path: "/proc/1/environ", outcome: "success" } as const;
  expect(rulesOf(key, "auto")).toEqual(["file.secret"]);
  expect(rulesOf(key, "where-possible")).toEqual([]);
  expect(rulesOf(key, "where-possible", "B")).toEqual(["file.secret"]);
  expect(rulesOf({ action: "file-write", path: "/root/.ssh/authorized_keys" }, "where-possible")).not.toEqual([]);
  expect(rulesOf({ action: "process-signal" }, "where-possible")).toEqual(["process.signal"]);
});

test("by default what only the broker could have passed on is tried in vain unless the broker tells it", () => {
  const rulesOf = (seen: Seen, mode: IsolationOrder["mode"], tier: "A" | "B" = "A"): readonly string[] => {
    const trace = traceOf({ tier, events: [event({ outcome: "success", grade: "kernel", ...seen })] });
    return judgeTrace(grounds(trace, { ...orderOf({ net: closed }), mode })).violations.map(({ rule }) => rule);
  };
  // A datagram leaves its socket without an error, although nothing carries it.
  const question = { address: "198.18.0.1", port: 53, transport: "udp" } as const;
  for (const action of ["net-connect", "net-send"] as const) {
    expect(rulesOf({ action, ...question }, "auto")).toEqual(["net.destination"]);
    expect(rulesOf({ action, ...question }, "where-possible")).toEqual([]);
    expect(rulesOf({ action, ...question }, "where-possible", "B")).toEqual(["net.destination"]);
    expect(rulesOf({ action, ...question, grade: "broker" }, "where-possible")).toEqual(["net.destination"]);
  }
  expect(rulesOf({ action: "dns-query", domain: "x.example" }, "where-possible")).toEqual([]);
  const socket = { action: "net-connect", transport: "unix", path: "/run/x.sock" } as const;
  expect(rulesOf(socket, "where-possible")).toEqual(["net.socket"]);
});

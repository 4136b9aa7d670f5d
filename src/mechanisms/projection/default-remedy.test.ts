import { expect, test } from "vitest";
import type { EffectEvent } from "../../core/isolation/effect-trace.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { event, grounds, orderOf, traceOf } from "../../../test/kit/isolation/projection-scene.ts";
import { judgeTrace } from "./judgement.ts";

test("by default the way on keeps the default for every other server", () => {
  const named = event({ action: "dns-query", domain: "x.example", outcome: "denied", grade: "broker" });
  const signal = event({ action: "process-signal", outcome: "denied" });
  const wayOf = (seen: EffectEvent, mode: IsolationOrder["mode"]): string | undefined =>
    judgeTrace(grounds(traceOf({ events: [seen] }), { ...orderOf(), mode })).violations[0]?.way;
  expect(wayOf(named, "auto")).toMatch(/under isolation\.servers\.s$/);
  expect(wayOf(named, "where-possible")).toMatch(/servers\.s, beside `isolation\.backend: where-possible`$/);
  expect(wayOf(signal, "where-possible")).toBe(wayOf(signal, "auto"));
});

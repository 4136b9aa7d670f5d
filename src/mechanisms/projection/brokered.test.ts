/** Attempts at the network as a violation tells them: by the host that was meant, not by an address of the broker. */
import { expect, test } from "vitest";
import type { EffectEvent } from "../../core/isolation/effect-trace.ts";
import { event, orderOf, traceOf } from "../../../test/kit/isolation/projection-scene.ts";
import { groundsOf } from "./grounds.ts";
import { judgeTrace } from "./judgement.ts";

const grounds = (trace: ReturnType<typeof traceOf>, order = orderOf()) => groundsOf(order, trace, undefined);

test("C21: where nothing may be reached, a question is told by its name and not by the address of the resolver", () => {
  const closed = orderOf({ net: { mode: "none", allow: [] } });
  const way = event({ action: "net-connect", address: "198.18.0.1", port: 53, transport: "udp" });
  const question = event({ action: "dns-query", domain: "evil.example.org", grade: "broker", outcome: "denied" });
  const found = (events: readonly EffectEvent[], tier: "A" | "B" = "A") =>
    judgeTrace(grounds(traceOf({ events, tier }), closed)).violations.map(({ what }) => what);
  const asked = "asked for the name `evil.example.org`, which its scope does not hold";
  expect(found([way, question])).toEqual([asked]);
  // Without the broker's word the address is all there is; other ports and addresses of the broker count as before.
  expect(found([way])).toEqual(["tried to reach `198.18.0.1:53`, which its scope does not name"]);
  expect(found([way, question], "B")).toHaveLength(2);
  expect(found([event({ action: "net-connect", address: "198.18.0.1", port: 3128 }), question])).toHaveLength(2);
  expect(found([event({ action: "net-connect", address: "198.18.1.0", port: 53 }), question])).toHaveLength(2);
  expect(found([way, { ...question, grade: "hint" }])).toHaveLength(2);
});

test("C21: a connection to a granted name at another port is told by name and port", () => {
  const other = event({ action: "net-connect", address: "198.18.1.0", domain: "api.example.com", port: 8080 });
  const { violations } = judgeTrace(grounds(traceOf({ events: [other] })));
  expect(violations.map(({ what }) => what)).toEqual([
    "tried to reach `api.example.com:8080`, which its scope does not name",
  ]);
});

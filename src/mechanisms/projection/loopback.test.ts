import { expect, test } from "vitest";
import type { EffectEvent } from "../../core/isolation/effect-trace.ts";
import { event, grounds, orderOf, traceOf } from "../../../test/kit/isolation/projection-scene.ts";
import { judgeTrace } from "./judgement.ts";

function rules(part: Partial<EffectEvent>, allow: readonly string[] = []): readonly string[] {
  const one = event({
    action: "net-connect",
    address: "127.0.0.1",
    port: 6379,
    transport: "tcp",
    outcome: "failed",
    ...part,
  });
  const order = orderOf({ net: { mode: "list", allow } });
  const { violations, suspicions } = judgeTrace(grounds(traceOf({ events: [one] }), order), []);
  return [...violations, ...suspicions].map(({ rule, verdict }) => `${rule} ${verdict}`);
}

test("a service of this machine that a server looks for in its own network is asked about", () => {
  expect(rules({})).toEqual(["suspicion.loopback confirm"]);
  expect(rules({ outcome: "denied", port: 22 })).toEqual(["suspicion.loopback confirm"]);
  expect(rules({ address: "::ffff:127.0.0.1" })).toEqual(["suspicion.loopback confirm"]);
  expect(rules({ address: "127.1.2.3" })).toEqual(["suspicion.loopback confirm"]);
  expect(rules({ action: "net-send", transport: "udp" })).toEqual(["suspicion.loopback confirm"]);
});

test("its own services, what its scope names, and the address that libraries try first are not", () => {
  expect(rules({ outcome: "success" })).toEqual([]);
  expect(rules({}, ["localhost:6379"])).toEqual([]);
  expect(rules({ address: "::1" })).toEqual([]);
});

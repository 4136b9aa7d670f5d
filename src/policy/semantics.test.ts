import { describe, expect, it } from "vitest";
import { exactly } from "../core/label.ts";
import { argument, contract, frameOf, lattice, option, pattern, secret, start, tool } from "../../test/policy/scene.ts";
import type { Hazard } from "./ir.ts";
import { asksForTrust, bad, groupBits } from "./semantics.ts";
import { viewAt } from "./state.ts";
import { contextAt, moveAt } from "./transition.ts";

const common = { id: "H", loss: "L", why: "w", consent: "never", mode: "enforce" } as const;
const send = contract("send", { does: ["write.external.send"], rest: argument("content", true) });

function isBad(hazard: Hazard, labels: Parameters<typeof option>[1] = {}): boolean {
  const frame = frameOf({ hazards: [hazard] });
  const around = viewAt(frame.ir, [], start(frame), { end: "hi", at: 0, key: () => "" });
  return bad(contextAt(frame, "hi"), hazard, { move: moveAt(frame, option(send, labels), "hi"), around });
}

describe("a bad move", () => {
  it("of a flow is a target that gets such data, neither of the two alone", () => {
    const from = { atom: { kind: "atLeast", bits: secret } } as const;
    const leak: Hazard = { ...common, kind: "flow", from, to: tool("send") };
    expect(isBad(leak, { text: exactly(secret) })).toBe(true);
    expect(isBad(leak, { text: exactly(lattice.bottom) })).toBe(false);
    expect(isBad({ ...leak, to: tool("look") }, { text: exactly(secret) })).toBe(false);
  });

  it("of a call hazard is the call itself", () => {
    expect(isBad({ ...common, kind: "call", call: tool("send") })).toBe(true);
    expect(isBad({ ...common, kind: "call", call: tool("look") })).toBe(false);
  });

  it("of a temporal hazard is known to its automaton only", () => {
    const temporal = { kind: "absence", after: pattern(), never: pattern() } as const;
    expect(isBad({ ...common, kind: "temporal", temporal })).toBe(false);
  });
});

it("the default looks at labels of what acts or reads outside, and of what is hard to undo at home", () => {
  const asks = (effect: string): boolean => asksForTrust({ must: [], may: [effect as "read.local"] }); // words of the list
  expect(["write.external.send", "read.external", "write.local.delete", "write.local.config"].map(asks)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(["read.local", "write.local"].map(asks)).toEqual([false, false]);
});

it("groups are bits in the order of the lattice; a group nobody declared is none", () => {
  expect(groupBits(["me", "team", "anyone"], ["anyone", "me", "strangers"])).toBe(0b101);
});

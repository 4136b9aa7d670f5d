import { describe, expect, it } from "vitest";
import { exactly, join, withTrust } from "../core/label.ts";
import {
  argument,
  contract,
  dispatch,
  frameOf,
  lattice,
  option,
  pattern,
  secret,
  start,
  tool,
} from "../../test/policy/scene.ts";
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

describe("stores after a dispatch", () => {
  const stores = ["box", "other"].map((name) => ({ name, audience: 1, initial: exactly(lattice.bottom) }));
  const frame = frameOf({ stores });
  const opened = (part: Parameters<typeof contract>[1], a = lattice.bottom) =>
    dispatch(frame, start(frame), option(contract("act", part), { a: exactly(a) }), 1).q.stores;
  const untrusted = withTrust(lattice, lattice.bottom, "untrusted");

  it("opened to others may hold what is untrusted from then on; nobody knows that it does", () => {
    const [box, other] = opened({ opens: [{ store: "box", audience: ["anyone"] }] });
    expect(box).toMatchObject({ label: { lo: lattice.bottom, hi: untrusted }, audience: 3, open: 2 });
    expect(other).toMatchObject({ label: exactly(lattice.bottom), audience: 1, open: 0 });
  });

  it("opened to the run's own person stay as trusted as they were", () => {
    const [box] = opened({ opens: [{ store: "box", audience: ["me"] }] });
    expect(box).toMatchObject({ label: exactly(lattice.bottom), audience: 1, open: 1 });
  });

  it("opened and written at once take both", () => {
    const opens = [{ store: "box", audience: ["me", "anyone"] }];
    const [box, other] = opened({ opens, writes: ["box", "other"] }, secret);
    expect(box).toMatchObject({ label: { lo: secret, hi: join(secret, untrusted) }, audience: 3, open: 3 });
    expect(other).toMatchObject({ label: exactly(secret), audience: 1, open: 0 });
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

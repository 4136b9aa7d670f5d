// The shared part of a state: what runs have in common, how it is kept, and what a lost history means.
import { describe, expect, it } from "vitest";
import type { Json } from "../../core/json.ts";
import { exactly, withTrust } from "../../core/label.ts";
import { describeStores, exportShared, importShared, sharedChanged, topState, withShared } from "./shared-state.ts";
import { firedSlots } from "./verdicts.ts";
import {
  contract,
  dispatch,
  frameOf,
  lattice,
  nothing,
  option,
  round,
  rule,
  secret,
  start,
  tool,
} from "../../../test/kit/policy/scene.ts";

const stores = [
  { name: "repo", audience: 1, initial: exactly(nothing) },
  { name: "wiki", audience: 2, initial: exactly(nothing) },
];
const frame = frameOf({ stores });
const write = contract("write", { does: ["write.local"], writes: ["repo"] });
const share = contract("share", { does: ["write.external.share"], opens: [{ store: "repo", audience: ["anyone"] }] });
const written = dispatch(frame, start(frame), option(write, { a: exactly(secret) }), 1).q;

describe("shared state", () => {
  it("changes with what a call writes or opens, and with nothing else", () => {
    expect(sharedChanged(start(frame), written)).toBe(true);
    expect(sharedChanged(start(frame), dispatch(frame, start(frame), option(share), 1).q)).toBe(true);
    expect(sharedChanged(start(frame), dispatch(frame, start(frame), option(contract("read")), 1).q)).toBe(false);
  });

  it("is that of a known state where only the history of a run is lost", () => {
    const lost = topState(frame, written);
    expect(lost.stores).toBe(written.stores);
    expect(lost).toMatchObject({ held: topState(frame).held, lost: true });
    expect(topState(frame).stores.map(({ audience, open }) => [audience, open])).toEqual([
      [3, 3],
      [3, 3],
    ]);
  });

  it("joins, and never forgets", () => {
    const shared = dispatch(frame, start(frame), option(share), 1).q;
    const both = withShared(written, shared);
    // An open channel brings what nobody vouches for, at any time.
    const brought = { lo: secret, hi: withTrust(lattice, secret, "untrusted") };
    expect(both.stores[0]).toEqual({ label: brought, audience: 3, open: 2, added: brought });
    expect(withShared(both, start(frame)).stores).toEqual(both.stores);
  });

  it("survives being stored, under the same lattice only", () => {
    const stored = JSON.parse(JSON.stringify(exportShared(frame, written)));
    expect(importShared(frame, stored)?.stores).toEqual(written.stores);
    expect(importShared(frame, { ...stored, lattice: { levels: ["x"] } })).toBeUndefined();
    expect(importShared(frame, { ...stored, stores: [] })).toBeUndefined();
    expect(importShared(frame, { ...stored, stores: {} })?.stores).toEqual(start(frame).stores);
  });

  const whole = { lo: 0, hi: 3, audience: 3, open: 0, added: { lo: 0, hi: 3 } };
  it.each<[string, Json]>([
    ["nothing", {}],
    ["a number", 1],
    ["a list", Object.assign([], whole)],
    ...["lo", "hi", "audience", "open"].flatMap((part) =>
      [-1, 0.5, 4_096, "0", null].map((value): [string, Json] => [part, { ...whole, [part]: value }]),
    ),
    ["one group too many", { ...whole, audience: 4 }],
    ["added", { ...whole, added: { lo: 0 } }],
    ["added", { ...whole, added: { hi: 0 } }],
    // With its ends crossed a label would restrict nothing at the end on which safety rests.
    ["hi below lo", { ...whole, lo: 3, hi: 0 }],
    ["what was added, hi below lo", { ...whole, added: { lo: 3, hi: 0 } }],
  ])("of which a part is damaged is not read: %s", (_, damage) => {
    const stored = exportShared(frame, written);
    expect(importShared(frame, { ...stored, stores: { repo: whole } })?.stores[0]?.label.hi).toBe(3);
    expect(importShared(frame, { ...stored, stores: { repo: damage } })).toBeUndefined();
  });

  it("keeps what another policy of the same labels says of its own stores", () => {
    const other = frameOf({ stores: [{ name: "mine", audience: 1, initial: exactly(nothing) }] });
    const both = exportShared(other, start(other), exportShared(frame, written));
    expect(importShared(frame, both)?.stores).toEqual(written.stores);
    expect(importShared(other, both)?.stores).toEqual(start(other).stores);
    const strange = { lattice: { levels: ["x"] }, stores: { repo: {} } };
    expect(exportShared(other, start(other), strange)).toEqual(exportShared(other, start(other)));
  });

  it("starts as declared under any labels once a person has had every store forgotten", () => {
    expect(importShared(frame, { stores: {} })?.stores).toEqual(start(frame).stores);
  });

  it("is described in words", () => {
    expect(describeStores(frame, written)[0]).toEqual({ store: "repo", label: "private", audience: ["me"] });
    expect(describeStores(frame, topState(frame))[0]?.label).toContain("at most");
  });
});

describe("a run whose history is lost", () => {
  const pay = contract("pay", { does: ["write.external.pay"] });
  const cases = [
    rule("limit", { tier: "block", temporal: { kind: "at-most", of: tool("pay"), count: 3 } }),
    rule("never", { tier: "block", temporal: { kind: "absence", after: tool("look"), never: tool("pay") } }),
    rule("owed", { tier: "must", temporal: { kind: "owed", after: tool("look"), owe: tool("note"), within: 2 } }),
    rule("sum", { tier: "block", temporal: { kind: "budget", of: tool("pay"), argument: "amount", limit: "10" } }),
  ];

  it.each(cases)("asks where $id may stand in the way", (one) => {
    const lost = frameOf({ rules: [one] });
    const x = option(pay, {}, { amounts: { sum: "1" } });
    expect(firedSlots({ frame: lost, q: start(lost), option: x, at: 0 }, "rule")).toEqual([]);
    expect(firedSlots({ frame: lost, q: topState(lost), option: x, at: 0 }, "rule")).toMatchObject([
      { at: { lo: false, hi: true } },
    ]);
  });

  it("unlocks again by what this run itself did", () => {
    const gate = rule("gate", { tier: "must", temporal: { kind: "gate", before: tool("pay"), need: tool("look") } });
    const lost = frameOf({ rules: [gate] });
    const fires = (q: ReturnType<typeof topState>) =>
      firedSlots({ frame: lost, q, option: option(pay), at: 0 }, "rule");
    expect(fires(topState(lost)).length).toBe(1);
    expect(fires(round(lost, topState(lost), option(contract("look")), { at: 1 }))).toEqual([]);
  });
});

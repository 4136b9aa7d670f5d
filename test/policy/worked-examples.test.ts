// The worked examples of formal.md as far as they concern the running gateway, under their numbers.
import { describe, expect, it } from "vitest";
import { type LabelRange, exactly } from "../../src/core/label.ts";
import { type Verdict, strictestOf } from "../../src/core/verdict.ts";
import type { CallOption } from "../../src/core/moment.ts";
import { hazardReasons } from "../../src/policy/semantics/explanations.ts";
import type { Hazard } from "../../src/policy/ir/ir.ts";
import type { Q } from "../../src/policy/semantics/state.ts";
import type { Frame } from "../../src/policy/semantics/transition.ts";
import { defaultAtEnds, firedRules, firedSlots, verdictAt } from "../../src/policy/semantics/verdicts.ts";
import {
  argument,
  contract,
  dispatch,
  frameOf,
  lattice,
  must,
  nothing,
  option,
  pattern,
  round,
  rule,
  secret,
  start,
  tool,
} from "../kit/policy/scene.ts";

const privately = exactly(secret);
const unsure: LabelRange = { lo: nothing, hi: secret };

/** What rules, automata and hazards together say of a call; the default is left out where an example has none. */
function verdict(frame: Frame, q: Q, x: CallOption, at = 0): Verdict {
  const scene = { frame, q, option: x, at };
  const plain = frame.ir.rules.filter((one) => one.kind === "plain");
  return strictestOf([
    ...firedRules(scene, plain).map(({ at: ends, rule: fired }) =>
      verdictAt(ends, fired.tier === "block" ? "deny" : "confirm"),
    ),
    ...firedSlots(scene, "rule").map(({ at: ends, slot }) =>
      verdictAt(ends, slot.tier === "confirm" ? "confirm" : "deny"),
    ),
    ...hazardReasons("test", scene, scene.frame.ir.hazards).map((reason) => reason.verdict),
  ]);
}

const readPrivate = contract("read_priv", { does: ["read.local"], output: { label: privately, fields: [] } });
const send = contract("send", {
  does: ["write.external.send"],
  arguments: new Map([["body", argument("content", true)]]),
});

describe("example 5: a hazard on a move whose target is harmless", () => {
  const leak: Hazard = {
    id: "leak",
    loss: "L1",
    consent: "never",
    why: "private data stays here",
    mode: "enforce",
    kind: "flow",
    from: { atom: { kind: "atLeast", bits: secret }, audience: 2 },
    to: pattern({ effects: ["write.external"] }),
  };
  const frame = frameOf({ hazards: [leak] });

  it("refuses the send although the state would not change", () => {
    expect(verdict(frame, start(frame), option(send, { body: privately }))).toBe("deny");
    expect(verdict(frame, start(frame), option(send, { body: exactly(nothing) }))).toBe("allow");
  });

  it("asks where the hazard may be consented to, and where it is only possible", () => {
    const may = frameOf({ hazards: [{ ...leak, consent: "may" }] });
    expect(verdict(may, start(may), option(send, { body: privately }))).toBe("confirm");
    expect(verdict(frame, start(frame), option(send, { body: unsure }))).toBe("confirm");
  });
});

describe("example 6: an interval at a sink", () => {
  const frame = frameOf({
    rules: [
      rule("R", {
        tier: "block",
        when: pattern({ effects: ["write.external"], data: [{ atom: { kind: "atLeast", bits: secret } }] }),
      }),
    ],
  });

  it("unsure asks, certain denies, harmless passes", () => {
    expect(verdict(frame, start(frame), option(send, { body: unsure }))).toBe("confirm");
    expect(verdict(frame, start(frame), option(send, { body: privately }))).toBe("deny");
    expect(verdict(frame, start(frame), option(send, { body: exactly(nothing) }))).toBe("allow");
  });
});

describe("example 1: stores, audiences, and a reader nobody asks", () => {
  const stores = [{ name: "repo", audience: 1, initial: exactly(nothing) }];
  const write = contract("write_repo", {
    does: ["write.local"],
    writes: ["repo"],
    arguments: new Map([["text", argument("content", false)]]),
  });
  const grant = contract("grant", { does: ["write.external.grant"], opens: [{ store: "repo", audience: ["anyone"] }] });
  const rules = [
    rule("no-write", {
      tier: "block",
      when: pattern({
        tools: [{ server: "s", tool: "write_repo" }],
        data: [{ atom: { kind: "atLeast", bits: secret } }],
        stores: [{ store: 0, audience: 2 }],
      }),
    }),
    rule("no-grant", {
      tier: "block",
      when: pattern({
        tools: [{ server: "s", tool: "grant" }],
        stores: [{ store: 0, label: { kind: "atLeast", bits: secret } }],
      }),
    }),
  ];
  const frame = frameOf({ rules, stores });

  it("a store remembers what was written, for every run", () => {
    const written = round(frame, start(frame), option(write, { text: privately }), { at: 1 });
    expect(verdict(frame, written, option(grant))).toBe("deny");
    expect(verdict(frame, start(frame, written), option(grant))).toBe("deny");
  });

  it("an audience only grows", () => {
    const granted = round(frame, start(frame), option(grant), { at: 1 });
    expect(verdict(frame, granted, option(write, { text: privately }))).toBe("deny");
    expect(verdict(frame, granted, option(write, { text: exactly(nothing) }))).toBe("allow");
  });

  it("a failed write restricts like one that succeeded", () => {
    const failed = round(frame, start(frame), option(write, { text: privately }), { at: 1, outcome: "failed" });
    expect(verdict(frame, failed, option(grant))).toBe("deny");
  });
});

describe("example 8: calls in flight", () => {
  const enable = contract("enable_web", { does: ["write.local.config"] });
  const when = pattern({ tools: [{ server: "s", tool: "enable_web" }], held: { kind: "atLeast", bits: secret } });
  const frame = frameOf({ rules: [rule("no-web", { tier: "block", when })] });

  it("what a call in flight may bring counts as held", () => {
    const sent = dispatch(frame, start(frame), option(readPrivate), 1);
    expect(verdict(frame, start(frame), option(enable))).toBe("allow");
    expect(verdict(frame, sent.q, option(enable))).toBe("deny");
  });

  it("after release it is held", () => {
    const q = round(frame, start(frame), option(readPrivate), { at: 1, label: privately });
    expect(verdict(frame, q, option(enable))).toBe("deny");
  });

  it("a result that was rejected is not held", () => {
    const sent = dispatch(frame, start(frame), option(readPrivate), 1);
    const done = must(frame, sent.q, { at: 2, kind: "succeeded", call: sent.call });
    const q = must(frame, done, {
      at: 2,
      kind: "released",
      call: sent.call,
      server: "s",
      tool: "read_priv",
      how: "reject",
      label: privately,
      fields: [],
    });
    expect(verdict(frame, q, option(enable))).toBe("allow");
  });
});

describe("example 9: a timed restriction", () => {
  const timed = frameOf({
    rules: [
      rule("R", {
        tier: "block",
        temporal: { kind: "absence", after: tool("read_priv"), never: tool("send"), withinMs: 600_000 },
      }),
    ],
  });

  it("holds for its time from the dispatch, also when the read failed, and no longer", () => {
    const q = round(timed, start(timed), option(readPrivate), { at: 1_000, outcome: "failed" });
    expect(verdict(timed, q, option(send), 1_001)).toBe("deny");
    expect(verdict(timed, q, option(send), 601_000)).toBe("allow");
  });

  it("starts anew with every read", () => {
    const once = round(timed, start(timed), option(readPrivate), { at: 0 });
    const twice = round(timed, once, option(readPrivate), { at: 500_000 });
    expect(verdict(timed, twice, option(send), 700_000)).toBe("deny");
  });

  it("a hazard without limit holds for ever", () => {
    const hazard: Hazard = {
      id: "h",
      loss: "L",
      consent: "never",
      why: "w",
      mode: "enforce",
      kind: "temporal",
      temporal: { kind: "absence", after: tool("read_priv"), never: tool("send") },
    };
    const frame = frameOf({ hazards: [hazard] });
    const q = round(frame, start(frame), option(readPrivate), { at: 0 });
    expect(verdict(frame, q, option(send), 1e12)).toBe("deny");
  });
});

describe("example 10: two categories together", () => {
  const both = lattice.categoryMask as typeof secret; // both categories of the lattice
  const frame = frameOf({
    rules: [
      rule("R", {
        tier: "block",
        when: pattern({ tools: [{ server: "s", tool: "send" }], data: [{ atom: { kind: "atLeast", bits: both } }] }),
      }),
    ],
  });

  it("only the join of both is refused, also over two arguments", () => {
    const medical = exactly(2 as typeof secret); // bit 1: first category
    const finance = exactly(4 as typeof secret); // bit 2: second category
    expect(verdict(frame, start(frame), option(send, { body: medical }))).toBe("allow");
    expect(verdict(frame, start(frame), option(send, { body: finance }))).toBe("allow");
    expect(verdict(frame, start(frame), option(send, { body: medical, subject: finance }))).toBe("deny");
  });
});

describe("example 11: a success unlocks its own run only", () => {
  const backup = contract("backup", { does: ["write.local"] });
  const remove = contract("remove", { does: ["write.local.delete"] });
  const frame = frameOf({
    rules: [rule("R", { tier: "must", temporal: { kind: "gate", before: tool("remove"), need: tool("backup") } })],
  });

  it("needs a success, in this run", () => {
    expect(verdict(frame, start(frame), option(remove))).toBe("deny");
    const failed = round(frame, start(frame), option(backup), { at: 1, outcome: "failed" });
    expect(verdict(frame, failed, option(remove))).toBe("deny");
    const inFlight = dispatch(frame, start(frame), option(backup), 1).q;
    expect(verdict(frame, inFlight, option(remove))).toBe("deny");
    const done = round(frame, start(frame), option(backup), { at: 1 });
    expect(verdict(frame, done, option(remove))).toBe("allow");
    expect(verdict(frame, start(frame, done), option(remove))).toBe("deny");
  });
});

describe("example 15: keys", () => {
  const key = { argument: "to", form: "email", foldLocalPart: true } as const;
  const frame = frameOf({
    rules: [rule("R", { tier: "block", temporal: { kind: "at-most", of: tool("send"), count: 1, key } })],
  });
  const to = (...keys: string[]) => option(send, {}, { keys: { R: keys } });

  it("counts per key; a list is all of its keys; without a key all share one", () => {
    const q = round(frame, start(frame), to("bob@x.com"), { at: 1 });
    expect(verdict(frame, q, to("bob@x.com"))).toBe("deny");
    expect(verdict(frame, q, to("eve@x.com"))).toBe("allow");
    expect(verdict(frame, q, to("bob@x.com", "eve@x.com"))).toBe("deny");
    const unread = round(frame, q, to(), { at: 2 });
    expect(verdict(frame, unread, to())).toBe("deny");
  });
});

describe("defaults", () => {
  it("ask for execution and for control arguments that an attacker may have chosen", () => {
    const frame = frameOf({});
    const pay = contract("pay", {
      does: ["write.external.pay"],
      arguments: new Map([["iban", argument("recipient", true)]]),
    });
    const doubtful: LabelRange = { lo: nothing, hi: lattice.untrustedBit as typeof secret };
    const at = (x: CallOption) => defaultAtEnds({ frame, q: start(frame), option: x, at: 0 }).hi;
    expect(at(option(pay, { iban: doubtful })).untrusted).toBe(true);
    expect(at(option(pay, { iban: exactly(nothing) })).untrusted).toBe(false);
    expect(at(option(send, { body: privately })).bound).toBe(true);
    expect(at(option(contract("run", { does: ["execute.local"] }))).execute).toBe(true);
    expect(at(option(readPrivate))).toEqual({
      execute: false,
      outside: false,
      untrusted: false,
      bound: false,
      untraced: false,
    });
  });
});

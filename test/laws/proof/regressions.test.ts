// What random policies and traces have found: named, small, and kept.
import { describe, expect, it } from "vitest";
import type { HazardText, RuleText } from "../../../src/policy/document/shapes-rules.ts";
import type { PolicyDocument } from "../../../src/policy/canonical/policy-document.ts";
import { decideCore, makeProver } from "../../../src/proof/prove/prove.ts";
import type { Subject } from "../../../src/proof/prove/subject.ts";
import { certified, checkedFor } from "../../kit/proof/certified.ts";
import { exploreExplicitly } from "../../kit/proof/explicit.ts";
import { Household } from "../../kit/proof/household.ts";
import type { Recipe } from "../../kit/proof/planted.ts";
import { coreOf, hazardId, subjectOf } from "../../kit/proof/random-policy.ts";

const open = { confidentiality: "public", trust: "trusted" };
const secret = { confidentiality: "private", trust: "trusted" };
const foreign = { confidentiality: "public", trust: "untrusted" };
const local = { role: "content" as const, sink: false };

function made(document: Omit<PolicyDocument, "version" | "hazards">, never: HazardText["never"]): Subject {
  const whole: PolicyDocument = {
    version: 1,
    lattice: { confidentiality: ["public", "private"] },
    servers: { s: { trust: "trusted" } },
    flow: { mode: "strict" },
    // Watched, so that nothing but the rules keeps it away.
    hazards: { [hazardId]: { mode: "observe", never } },
    ...document,
  };
  const subject = subjectOf(whole, Object.keys(document.labels ?? {}));
  if (subject === undefined) throw new Error("the policy does not load");
  return subject;
}

/** Steps to the hazard under all rules, by the engine and by the explorer. */
function steps(subject: Subject): readonly (number | undefined)[] {
  const core = coreOf(subject);
  const found = decideCore(makeProver(subject), hazardId, core);
  if (!found.ok) throw new Error(found.error);
  return [found.value.distance, exploreExplicitly(subject, hazardId, core)?.steps];
}

function acts(subject: Subject) {
  const house = new Household(subject, 2);
  const call = (run: number, name: string, how: { x?: Recipe; y?: Recipe; atOnce?: boolean } = {}): void => {
    const tool = subject.contracts.findIndex((one) => one.tool === name);
    const { atOnce = true, ...given } = how;
    house.perform({ kind: "call", run, tool, given, ending: "succeeded", atOnce });
  };
  const finish = (): void => {
    for (let stage = 0; stage < 3; stage += 1) house.perform({ kind: "advance", which: 0 });
  };
  return { house, call, finish };
}

describe("arguments", () => {
  it("one that a hazard names may be given though the tool does not declare it", () => {
    const subject = made(
      {
        labels: {
          "s.get": { effects: "read.local", rest: local, output: secret },
          "s.put": { effects: "read.local", rest: local, output: open },
        },
      },
      { flow: { from: { confidentiality: "private", args: ["x"] }, to: "s.put" } },
    );
    expect(steps(subject)).toEqual([2, 2]);
    const { house, call } = acts(subject);
    call(0, "get");
    call(0, "put", { x: { kind: "copy", of: 0 } });
    expect(house.met.bad).toBe(1);
  });

  it("an outside read without the argument that says where is not asked about for the others", () => {
    const place = { role: "identifier" as const, sink: true, audience: "anyone" };
    const steering = { role: "query" as const, sink: false };
    const subject = made(
      {
        labels: {
          "s.get": { effects: "read.local", rest: local, output: foreign },
          "s.look": { effects: "read.external", args: { x: place, y: steering }, rest: local, output: open },
        },
      },
      { flow: { from: { trust: "untrusted", args: ["y"] }, to: "s.look" } },
    );
    expect(steps(subject)).toEqual([2, 2]);
    const { house, call } = acts(subject);
    call(0, "get");
    call(0, "look", { x: { kind: "copy", of: 0 }, y: { kind: "copy", of: 0 } });
    expect(house.met).toMatchObject({ refused: 1, bad: 0 });
    call(0, "look", { y: { kind: "copy", of: 0 } });
    expect(house.met).toMatchObject({ refused: 1, bad: 1 });
  });
});

describe("calls that overlap", () => {
  const rules: readonly RuleText[] = [
    { id: "r1", tier: "must", why: "order", gate: { before: "s.send", need: "s.step" } },
    { id: "r2", tier: "block", why: "order", absence: { after: "s.step", never: ["s.read", "s.get"] } },
    { id: "r3", tier: "block", why: "order", absence: { after: "s.get", never: "s.step" } },
    { id: "r4", tier: "block", why: "clean", when: { tool: "s.step", store: { name: "box", label: "private" } } },
    { id: "r5", tier: "block", why: "clean", when: { tool: "s.send", data: { trust: "untrusted" } } },
  ];
  const subject = made(
    {
      labels: {
        "s.get": { effects: "read.local", rest: local, output: secret },
        "s.save": { effects: "write.local", args: { x: local }, rest: local, output: open, writes: "box" },
        "s.read": { effects: "read.local", rest: local, output: open, reads: "box" },
        "s.step": { effects: "read.local", rest: local, output: open },
        "s.send": { effects: "read.local", args: { x: local }, rest: local, output: open },
      },
      stores: { box: { audience: "me", label: open } },
      rules,
    },
    { flow: { from: "private", to: "s.send" } },
  );

  // Not yet so: the model takes what a store holds when a call that reads it is sent, the run when it answers.
  it("a result that would bring what others wrote into the store meanwhile is not shown", () => {
    const { house, call, finish } = acts(subject);
    call(0, "read", { atOnce: false });
    call(0, "step");
    call(1, "get");
    call(1, "save", { x: { kind: "copy", of: 0 } });
    finish();
    call(0, "send", { x: { kind: "copy", of: 2 } });
    const [engine] = steps(subject);
    expect(engine !== undefined || house.met.bad === 0).toBe(true);
  });
});

describe("moves that random policies seldom need", () => {
  const sends = { effects: "read.local", args: { x: local }, rest: local, output: open };

  it("what the host reads by itself is less than the worst", () => {
    const subject = made(
      {
        labels: { "s.send": sends },
        stores: { box: { audience: "me", label: secret } },
        host: { read: { open: ["box"] } },
        rules: [{ id: "clean", tier: "block", why: "clean", when: { tool: "s.send", data: { trust: "untrusted" } } }],
      },
      { flow: { from: "private", to: "s.send" } },
    );
    expect(steps(subject)).toEqual([2, 2]);
  });

  it("two calls on their way unlock twice, one of them after the other has been used up", () => {
    const rules: readonly RuleText[] = [
      { id: "first", tier: "must", why: "order", gate: { before: "s.send", need: "s.ask", unless: "s.send" } },
      { id: "then", tier: "block", why: "order", absence: { after: "s.send", never: "s.ask" } },
    ];
    const labels = { "s.ask": { effects: "read.local", rest: local, output: open }, "s.send": sends };
    expect(steps(made({ labels, rules }, { atMost: { of: "s.send", count: 2 } }))).toEqual([8, 8]);
  });

  it("a debt falls due after as many calls as it has", () => {
    const rules: readonly RuleText[] = [
      { id: "debt", tier: "must", why: "order", owed: { after: "s.pay", owe: "s.tell", within: 2 } },
      { id: "once", tier: "block", why: "order", atMost: { of: "s.pay", count: 1 } },
    ];
    const write = { effects: "write.local", rest: local, output: open };
    const labels = { "s.pay": { ...write, effects: "write.local.pay" }, "s.tell": write, "s.send": write };
    const after = { after: "s.pay", never: "s.send", until: "s.tell" };
    const allow: RuleText = { id: "free", tier: "allow", why: "free", when: { tool: "*" } };
    expect(steps(made({ labels, rules: [...rules, allow] }, { sequence: after }))).toEqual([2, 2]);
    const due = rules.map((rule) => (rule.owed === undefined ? rule : { ...rule, owed: { ...rule.owed, within: 1 } }));
    expect(steps(made({ labels, rules: [...due, allow] }, { sequence: after }))).toEqual([undefined, undefined]);
  });
});

describe("the checker", () => {
  it("takes two spellings of one unlocking call for one, as the engine does", () => {
    const labels = {
      "s.a": { effects: "read.local", rest: local, output: open, writes: "box", reads: "box" },
      "s.b": { effects: "read.local", rest: local, output: foreign },
    };
    const rules: readonly RuleText[] = [
      {
        id: "r0",
        tier: "must",
        why: "order",
        gate: { before: "s.b", need: { tool: "s.a", held: { trust: "untrusted" } } },
      },
      {
        id: "r1",
        tier: "must",
        why: "order",
        immediately: { before: ["s.a", "s.b"], need: { tool: "s.a", held: { categories: ["medical"] } } },
      },
    ];
    const lattice = { confidentiality: ["public", "private"], categories: ["medical"] };
    const stores = { box: { audience: "me" } };
    const subject = made({ lattice, labels, rules, stores }, { call: "s.b" });
    const core = coreOf(subject);
    const found = decideCore(makeProver(subject), hazardId, core);
    if (!found.ok) throw new Error(found.error);
    expect(found.value.distance).toBeUndefined();
    expect(checkedFor(subject, certified(subject, core, found.value))).toMatchObject({ ok: true });
  });
});

// What an older policy stops, said as hazards of a newer one.
import { describe, expect, it } from "vitest";
import type { CanonicalPolicy } from "../policy/canonical/form.ts";
import type { RuleText, ToolLabelsText } from "../policy/document.ts";
import { blocks, local, open, secret, sink, small, tools } from "../../test/proof-kit/small.ts";
import { milderLabels, missingRules, newAllowances, oldRulePrefix, oldRules } from "./difference.ts";

const labels = { "s.read": tools.reads(secret), "s.send": tools.sends(), "s.ask": tools.reads(open) };
const policy = (rules: readonly RuleText[]): CanonicalPolicy =>
  small({ labels, rules, never: { call: "s.send" } }).policy.policy;
const rule = (id: string, part: Omit<RuleText, "id" | "why">): RuleText => ({ id, why: `because of ${id}`, ...part });
const send = { before: "s.send", need: "s.ask" };

describe("rules as hazards", () => {
  const { hazards, unsayable } = oldRules(
    policy([
      blocks("plain", "s.send"),
      rule("order", { tier: "block", absence: { after: "s.read", never: "s.send" } }),
      rule("number", { tier: "block", atMost: { of: "s.send", count: 2 } }),
      rule("once", { tier: "block", exactlyOnce: { of: "s.send" } }),
      rule("each", { tier: "block", exactlyOnce: { of: "s.send", key: "to" } }),
      rule("gate", { tier: "must", gate: send }),
      rule("again", { tier: "must", gate: { ...send, unless: "s.read" } }),
      rule("debt", { tier: "must", owed: { after: "s.read", owe: "s.ask", within: 2 } }),
      rule("asks", { tier: "block", when: "s.send", predicate: { name: "f", source: "export const f = () => true" } }),
      rule("lifts", { tier: "allow", when: "s.send" }),
      { ...blocks("watched", "s.send"), mode: "observe" },
    ]),
  );

  it("each rule that can be said as one is a hazard of its own name", () => {
    const never = Object.entries(hazards).map(([id, one]) => [
      id.slice(oldRulePrefix.length),
      Object.keys(one.never)[0],
    ]);
    expect(Object.fromEntries(never)).toEqual({
      plain: "call",
      order: "sequence",
      number: "atMost",
      once: "atMost",
      each: "atMost",
      gate: "unless",
    });
    expect(hazards["before/each"]?.never.atMost).toMatchObject({ count: 1, key: { argument: "to" } });
    expect(hazards["before/once"]?.never.atMost).not.toHaveProperty("key");
    expect(hazards["before/plain"]).toMatchObject({ consent: "never", mode: "enforce", why: "because of plain" });
  });

  it("what cannot be said is named, what allows or only observes is not", () => {
    expect(unsayable.map(({ id }) => id)).toEqual(["again", "asks", "debt"]);
  });

  it("rules are the same where they say the same, whatever they are called", () => {
    const present = policy([rule("debt-2", { tier: "must", owed: { after: "s.read", owe: "s.ask", within: 2 } })]);
    expect(missingRules(unsayable, present).map(({ id }) => id)).toEqual(["again", "asks"]);
  });

  it("an allow rule that the old policy did not have takes a question away", () => {
    const allow = (id: string, when: string): RuleText => rule(id, { tier: "allow", when });
    const found = newAllowances(policy([allow("a", "s.ask")]), policy([allow("b", "s.ask"), allow("c", "s.send")]));
    expect(found.map(({ id }) => id)).toEqual(["c"]);
  });
});

describe("labels that believe less", () => {
  const contracts = (of: ToolLabelsText) =>
    small({ labels: { "s.tool": of }, stores: { box: {} }, never: { call: "s.tool" } }).contracts;
  const before = contracts({
    effects: ["read.local", "write.external"],
    args: { text: sink },
    rest: local,
    output: secret,
    writes: "box",
    opens: { store: "box", audience: "anyone" },
  });

  it("every part is named", () => {
    const after = contracts({ effects: "read.local", args: { text: local }, rest: local, output: open });
    expect(milderLabels(before, after)).toEqual([
      expect.stringMatching(/^s\.tool: its results are labelled lower, .*more may go into text$/),
    ]);
    expect(milderLabels(before, after)[0]).toMatch(/do less.*fewer stores.*open fewer/);
  });

  it("the same labels, stricter ones, and tools that are new are not", () => {
    const strict = contracts({ effects: "read.local", args: { text: local }, rest: local, output: open });
    expect(milderLabels(before, before)).toEqual([]);
    expect(milderLabels(strict, before)).toEqual([]);
    expect(milderLabels([], before)).toEqual([]);
  });
});

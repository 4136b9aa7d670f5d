// What an older policy stops, said as hazards of a newer one.
import { describe, expect, it } from "vitest";
import type { CanonicalPolicy } from "../../policy/canonical/policy-document.ts";
import type { RuleText } from "../../policy/document/shapes-rules.ts";
import type { ToolLabelsText } from "../../policy/document/shapes-labels.ts";
import { type Small, blocks, local, open, secret, sink, small, tools } from "../../../test/kit/proof/small.ts";
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

describe("what is believed to be milder", () => {
  const subject = (of: ToolLabelsText, more: Partial<Small> = {}) =>
    small({ labels: { "s.tool": of }, stores: { box: {} }, never: { call: "s.tool" }, ...more });
  const whole: ToolLabelsText = {
    effects: ["read.local", "write.external"],
    args: { text: sink },
    rest: local,
    output: secret,
    writes: "box",
    opens: { store: "box", audience: "anyone" },
  };
  const before = subject(whole);

  it("every part is named", () => {
    const after = subject({ effects: "read.local", args: { text: local }, rest: local, output: open });
    expect(milderLabels(before, after)).toEqual([
      "s.tool: its results are labelled lower, it is believed to do less, it is believed to write to fewer stores, " +
        "it is believed to open fewer stores, more may go into text",
    ]);
  });

  it("the same labels, stricter ones, and tools that are new are not", () => {
    const strict = subject({ effects: "read.local", args: { text: local }, rest: local, output: open });
    expect(milderLabels(before, before)).toEqual([]);
    expect(milderLabels(strict, before)).toEqual([]);
    expect(milderLabels({ ...before, contracts: [] }, before)).toEqual([]);
  });

  type Label = typeof open | typeof secret;
  const fields = (size: Label): ToolLabelsText => ({ output: { ...secret, fields: { "/size": size } } });
  const inCase = (output: Label, path = "/x"): ToolLabelsText => ({
    output: open,
    cases: [{ when: { arg: { path } }, output }],
  });
  it.each<[string, ToolLabelsText, ToolLabelsText, string]>([
    ["a field", fields(secret), fields(open), "its results are labelled lower"],
    [
      "a field with a lower label that nothing was said of",
      { output: secret },
      fields(open),
      "its results are labelled lower",
    ],
    [
      "what a store brings to a part that is now a field",
      { reads: "box", output: open },
      { reads: "box", output: { ...open, fields: { "/size": open } } },
      "its results are labelled lower",
    ],
    ["a case", inCase(secret), inCase(open), "its results are labelled lower"],
    ["a case that is gone", inCase(secret), { output: open }, "its results are labelled lower"],
    ["a case for other arguments", inCase(secret), inCase(secret, "/y"), "its results are labelled lower"],
    [
      "what it does in a case",
      { effects: "read.local", cases: [{ when: { arg: { do: "x" } }, effects: ["read.local", "write.local"] }] },
      { effects: "read.local" },
      "it is believed to do less",
    ],
    [
      "what it does for sure",
      { effects: ["read.local", "write.local"] },
      { effects: { must: ["read.local"], may: ["read.local", "write.local"] } },
      "what it does is less certain",
    ],
    [
      "what its results are at least",
      { output: secret },
      { output: { ...secret, confidentiality: ["public", "private"] } },
      "its results are labelled less certainly",
    ],
    ["that it cannot be undone", { flags: ["irreversible"] }, { flags: [] }, "it is believed to do less"],
    ["that it meets strangers", { flags: ["open_world"] }, { flags: [] }, "it is believed to do less"],
    ["a store that it reads", { reads: "box" }, { reads: [] }, "it is believed to read fewer stores"],
    [
      "whom it lets in",
      { opens: { store: "box", audience: ["me", "anyone"] } },
      { opens: { store: "box", audience: "me" } },
      "it is believed to open fewer stores",
    ],
    ["arguments without a name", { rest: sink }, { rest: local }, "more may go into other arguments"],
    ["an argument that gets a name", { rest: sink }, { args: { note: local }, rest: sink }, "more may go into note"],
    [
      "who sees an argument",
      { args: { text: { role: "content", sink: true, audience: ["me", "anyone"], bound: "public" } } },
      { args: { text: { role: "content", sink: true, audience: "me", bound: "public" } } },
      "more may go into text",
    ],
    [
      "what steers the call",
      { args: { to: { ...local, role: "recipient" } } },
      { args: { to: local } },
      "more may go into to",
    ],
  ])("in %s", (_what, one, other, says) => {
    const common = { effects: ["read.local"], output: open, rest: local, args: { text: local } };
    const [strict, mild] = [subject({ ...common, ...one }), subject({ ...common, ...other })];
    expect(milderLabels(strict, mild)).toEqual([`s.tool: ${says}`]);
  });

  const reads = { effect: "read" };
  const sure: ToolLabelsText = { effects: ["read.local", "write.local"] };
  const perhaps: ToolLabelsText = { effects: { must: ["write.local"], may: ["read.local", "write.local"] } };
  const one = (part: Parameters<typeof rule>[1]): Partial<Small> => ({ rules: [rule("r", part)] });
  const more = ["s.tool: it lets more through"];
  it.each<[string, Partial<Small>, readonly string[]]>([
    ["an allow rule", one({ tier: "allow", when: reads }), more],
    ["a gate", one({ tier: "must", gate: { before: "s.tool", need: reads } }), more],
    ["a debt", one({ tier: "must", owed: { after: "s.tool", owe: reads, within: 2 } }), more],
    ["a hazard", { never: { unless: { call: "s.tool", need: reads } } }, more],
    ["a rule that blocks", one({ tier: "block", when: reads }), []],
    ["a rule that only observes", one({ tier: "allow", mode: "observe", when: reads }), []],
    ["a gate for another tool", one({ tier: "must", gate: { before: "s.tool", need: "s.other" } }), []],
  ])("where a tool is surely what %s asks for, and was not", (_what, part, says) => {
    expect(milderLabels(subject(perhaps, part), subject(sure, part))).toEqual(says);
  });

  it("where data is followed less, or a store holds less or has fewer readers", () => {
    const store = (label: Label, audience: string) => subject(whole, { stores: { box: { label, audience } } });
    expect(milderLabels(store(secret, "anyone"), store(open, "me"))).toEqual([
      "store box: it begins with a lower label, fewer can read it",
    ]);
    expect(
      milderLabels(
        store(open, "me"),
        subject(whole, { stores: { box: { label: secret, audience: ["me", "anyone"] } } }),
      ),
    ).toEqual([]);
    const mode = (flow: "none" | "strict" | "provenance") => subject(whole, { flow: { mode: flow } });
    expect(milderLabels(mode("provenance"), mode("none"))).toEqual([
      "flow: mode `none` follows less than `provenance`",
    ]);
    expect(milderLabels(mode("strict"), mode("provenance"))).toEqual([
      "flow: mode `provenance` follows less than `strict`",
    ]);
    expect(milderLabels(mode("provenance"), mode("strict"))).toEqual([]);
  });
});

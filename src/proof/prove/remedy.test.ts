// Rules that would close a way, from the hazard's own words to taking tools away.
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { HazardText, NeverText, RuleText } from "../../policy/document/shapes-rules.ts";
import { blocks, open, prove, secret, sha256, small, subjectOfDocument, tools } from "../../../test/kit/proof/small.ts";
import { compilePolicy } from "../../policy/compile/compile.ts";
import { closingLine, closingRules, ruleLine, unlabelledTools } from "./remedy.ts";

const labels = { "s.read": tools.reads(secret), "s.send": tools.sends(), "s.ask": tools.reads(open) };

function candidates(never: NeverText, hazard: Omit<HazardText, "never"> = {}, rules: readonly RuleText[] = []) {
  const subject = small({ labels, rules, never, hazard });
  return closingRules(subject, "h", prove(subject).counterexample?.steps ?? []);
}

describe("the first candidate says what the hazard says", () => {
  it.each<[NeverText, object]>([
    [
      { flow: { from: "private", to: "s.send" } },
      { tier: "block", when: { tool: ["s.send"], data: [{ confidentiality: "private" }] } },
    ],
    [{ call: { effect: "write.external" } }, { tier: "block", when: { effect: ["write.external"] } }],
    [{ sequence: { after: "s.read", never: "s.send" } }, { tier: "block", absence: { after: { tool: ["s.read"] } } }],
    [
      { unless: { call: "s.send", need: "s.ask" } },
      { tier: "must", gate: { before: { tool: ["s.send"] }, need: { tool: ["s.ask"] } } },
    ],
    [{ atMost: { of: "s.send", count: 2 } }, { tier: "block", atMost: { count: 2 } }],
  ])("%#", (never, expected) => {
    const [first] = candidates(never);
    expect(first).toMatchObject({ id: "h-guard", mode: "enforce", serves: ["h"], why: "against h", ...expected });
  });

  it("it has an id that is free, and the reason of the hazard", () => {
    const taken = ["h-guard", "h-guard-2"].map((id) => blocks(id, "s.ask"));
    expect(candidates({ call: "s.send" }, { why: "it hurts" }, taken)[0]).toMatchObject({
      id: "h-guard-3",
      why: "it hurts",
    });
    expect(closingRules(small({ labels, never: { call: "s.send" } }), "other", [])).toEqual([]);
  });
});

describe("further candidates", () => {
  it("take the last tool away", () => {
    const found = candidates({ sequence: { after: "s.read", never: "s.send" } });
    expect(found.slice(1).map(({ when }) => when)).toEqual([{ tool: ["s.send"] }]);
  });

  it("keep data out of an open store, or the door shut", () => {
    const subject = small({
      labels: { "s.read": tools.reads(secret), "s.write": tools.writes("repo"), "s.grant": tools.grants("repo") },
      stores: { repo: { audience: "me", label: open } },
      never: { flow: { from: { confidentiality: "private", audience: ["anyone"] }, to: { effect: "write.external" } } },
    });
    const found = closingRules(subject, "h", prove(subject).counterexample?.steps ?? []);
    expect(found.slice(1).map(({ when }) => when)).toEqual([
      { tool: ["s.write"], data: [{ confidentiality: "private" }] },
      { tool: ["s.grant"] },
      { tool: ["s.grant"] },
    ]);
    const late = small({
      labels: { "s.read": tools.reads(secret), "s.grant": tools.grants("repo") },
      stores: { repo: { audience: "me", label: open } },
      never: { sequence: { after: "s.read", never: { effect: "write.external" } } },
    });
    const doors = closingRules(late, "h", prove(late).counterexample?.steps ?? []);
    expect(doors[1]?.when).toEqual({ tool: ["s.grant"] });
    expect(closingRules(late, "h", [{ kind: "host-send", label: 0 }])).toHaveLength(1);
  });

  it("name tools of which nobody has said what they do, once", () => {
    const subject = subjectOfDocument({
      version: 1,
      servers: { s: {} },
      labels: { "s.known": tools.reads(open), "s.other": {} },
      hazards: { h: { never: { call: "s.other" } } },
    });
    const { steps } = prove(subject).without.counterexample ?? { steps: [] };
    expect(unlabelledTools(subject, [...steps, ...steps, { kind: "speak", label: 0 }])).toEqual(["s.other"]);
    expect(unlabelledTools({ ...subject, contracts: [] }, steps)).toEqual([]);
  });
});

describe("a rule as one line", () => {
  it("is YAML that means the same", () => {
    const [rule] = candidates(
      { flow: { from: "private", to: { tool: ["s.send", "s.*"], flags: ["open_world"] } } },
      { why: 'so: "it" is' },
    );
    if (rule === undefined) throw new Error("a flow has a rule");
    const line = ruleLine(rule);
    expect(line).not.toContain("\n");
    expect(parse(line)).toMatchObject({
      id: "h-guard",
      tier: "block",
      why: 'so: "it" is',
      when: { data: { confidentiality: "private" } },
    });
  });

  it.each([
    "when: {tool: s.send, effect: [read, write], flags: [irreversible]}",
    "when: {data: {confidentiality: private, categories: [medical], readers: [me], roles: [content], args: [text], audience: me}}",
    "when: {tool: s.send, store: {name: box, label: private}}",
    "when: {arg: {to: {any: [{glob: a*}]}, text: {all: [{equals: [null]}, {not: x}]}}}",
    'when: {arg: {"a: b": x, "c, d": {equals: [1, true]}, "no": {present: true}}}',
    "when: {arg: {to: {schema: {type: object, required: [path], enum: [[x]]}}, path: {path: [/a]}, net: {cidr: 10.0.0.0/8}}}",
    'when: {arg: {sum: {range: {min: 1, max: "2.5"}}, host: {domain: [a.example]}, note: {regex: "^a: b$"}, to: {label: private}}}',
    "inject: {before: s.send, call: {tool: s.ask, arguments: {tool: [x], path: [[1]], flags: {glob: [y]}}}}",
    "gate: {before: s.send, need: s.ask, unless: [s.read, s.ask], within: 60s, key: {argument: to, exact: true}}",
  ])("is the rule itself to whoever adds it to the policy: %s", (text) => {
    const rulesOf = (written: string) =>
      subjectOfDocument({
        version: 1,
        lattice: { categories: ["medical"] },
        stores: { box: {} },
        labels,
        rules: [parse(written) as RuleText],
      }).policy.policy.rules;
    const tier = text.startsWith("when") ? "block" : "must";
    const rules = rulesOf(`{id: R, tier: ${tier}, why: w, ${text}}`);
    for (const rule of rules) expect(rulesOf(ruleLine(rule))).toEqual(rules);
    expect(rules).toHaveLength(1);
  });

  it("names the function that a rule asks, and leaves out the program", () => {
    const [rule] = candidates({ call: "s.send" });
    if (rule === undefined) throw new Error("a call has a rule");
    const line = ruleLine({ ...rule, predicate: { name: "f", source: "export const f = () => true" } });
    expect(parse(line)).toMatchObject({ predicate: "f" });
    expect(line).not.toContain("export");
  });

  it.each(["true", "no", "null", "1", "a: b", "- a", "*a", "a #b", "", "mail:outbox", "a b", "x:", "é"])(
    "keeps the text %j a text",
    (why) => {
      const [rule] = candidates({ call: "s.send" });
      if (rule === undefined) throw new Error("a call has a rule");
      expect(parse(ruleLine({ ...rule, why }))).toMatchObject({ why });
    },
  );
});

describe("the closing line", () => {
  const line = (subject: ReturnType<typeof small>, cost: ((trial: number) => number) | undefined): string => {
    const [hazard] = subject.policy.ir.hazards;
    if (hazard === undefined) throw new Error("the policy has a hazard");
    let trials = 0;
    const steps = (prove(subject).counterexample ?? prove(subject).without.counterexample)?.steps ?? [];
    return closingLine({ subject, hazard, steps }, (rule) => {
      const { policy } = subject.policy;
      if (cost === undefined) return undefined;
      const tried = compilePolicy({ ...policy, rules: [...policy.rules, rule] }, sha256).policy;
      const own = cost((trials += 1));
      return tried && { subject: { ...subject, policy: tried }, cost: () => own };
    });
  };

  it("names the cheapest rule under which the hazard is proved", () => {
    const subject = small({ labels, never: { sequence: { after: "s.read", never: "s.send" } } });
    expect(line(subject, (trial) => trial)).toMatch(
      /^To close it, add: \{.*absence:.* \(costs 1 of 0 `expect:` traces\)$/,
    );
    expect(line(subject, (trial) => -trial)).toMatch(/^To close it, add: \{.*when: \{tool: s.send\}.* \(costs -2 of 0/);
  });

  it("else the tool that has no label, else says that one must go", () => {
    const unlabelled = subjectOfDocument({
      version: 1,
      servers: { s: {} },
      labels: { "s.other": {} },
      hazards: { h: { never: { call: "s.other" } } },
    });
    expect(line(unlabelled, undefined)).toBe(
      "To close it, label s.other under `labels:`: nothing is known of what it does",
    );
    expect(line(small({ labels, never: { call: "s.send" } }), undefined)).toBe(
      "No single rule closes it: take one of these tools away, or write `accepts: [h]`",
    );
  });
});

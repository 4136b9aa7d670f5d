import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Temporal } from "../ir/ir.ts";
import { compilePolicy } from "./compile.ts";
import { loadPolicy } from "../load.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const load = (text: string) =>
  loadPolicy({ file: "p.yaml", text: `version: 1\n${text}` }, { loader: () => undefined, hash });

function compiled(text: string) {
  const loaded = load(text);
  if (loaded.policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics));
  return loaded.policy;
}

const rule = (tier: string, when: string): string => `rules: [{id: R, tier: ${tier}, why: w, when: ${when}}]\n`;
const lattice =
  "lattice: {confidentiality: [public, sensitive, private], categories: [finance, medical], groups: [me, anyone]}\n";

/** Bits: sensitive 1, private 2, finance 4, medical 8, anyone 16, me 32, untrusted 64. */
describe("label atoms are one-sided by tier", () => {
  test.each([
    ["block", "{confidentiality: private}", { kind: "atLeast", bits: 3 }],
    ["confirm", "{categories: [medical]}", { kind: "atLeast", bits: 8 }],
    ["block", "{trust: untrusted}", { kind: "atLeast", bits: 64 }],
    ["block", "{readers: [me]}", { kind: "atLeast", bits: 16 }],
    ["allow", "{confidentiality: sensitive}", { kind: "atMost", forbidden: 2 + 4 + 8 + 16 + 32 }],
    [
      "allow",
      "{confidentiality: private, categories: [finance], readers: [me]}",
      { kind: "atMost", forbidden: 8 + 32 },
    ],
    ["allow", "{trust: trusted}", { kind: "atMost", forbidden: 64 }],
    ["allow", "{trust: untrusted}", { kind: "atMost", forbidden: 0 }],
  ])("%s %s", (tier, data, atom) => {
    const found = compiled(lattice + rule(tier, `{data: ${data}}`)).ir.rules[0];
    expect(found?.kind === "plain" && found.when.data[0]?.atom).toEqual(atom);
  });
});

test.each([
  ["allow", true],
  ["block", false],
])("%s by the label of an argument asks that the argument is there: %s", (tier, asks) => {
  const { ir } = compiled(rule(tier, "{arg: {to: {label: {trust: trusted}}}}"));
  const found = ir.rules[0];
  const present = { kind: "argument", argument: "to", test: { kind: "present" }, ifAbsent: false };
  expect(found?.kind === "plain" && found.when.data).toMatchObject([{ names: ["to"] }]);
  expect(ir.predicates.slice(1)).toEqual(asks ? [present] : []);
  expect(found?.kind === "plain" && found.when.predicates).toEqual(asks ? [{ index: 1, holds: true }] : []);
});

describe("words that are wrong are shown with a remedy", () => {
  test.each([
    [rule("block", '{data: {confidentiality: "== private"}}'), "EQUALITY", 2],
    [rule("block", '{held: {trust: "== trusted"}}'), "EQUALITY", 2],
    [rule("block", "{data: {confidentiality: [public, private]}}"), "ATOM", 2],
    [rule("block", "{data: {confidentiality: unsure}}"), "ATOM", 2],
    [rule("block", "{data: privat}"), "LEVEL", 2],
    [rule("block", "{data: {categories: [x]}}"), "CATEGORY", 2],
    [rule("block", "{data: {readers: [x]}}"), "GROUP", 2],
    [rule("block", "{data: {trust: maybe}}"), "TRUST", 2],
    [rule("block", "{data: {confidentiality: private, audience: [x]}}"), "GROUP", 2],
    [rule("allow", "{data: {roles: [content]}}"), "ATOM", 2],
    [rule("allow", "{data: {}}"), "ATOM", 2],
    [rule("allow", "{data: {args: [to]}}"), "ATOM", 2],
    [rule("block", "{arg: {n: {range: {min: 10, max: 9.5}}}}"), "RANGE", 2],
    ["rules: [{id: R, tier: block, why: w, atMost: {of: a, count: 1, within: 0s}}]", "FORM", 2],
    ["rules: [{id: R, tier: block, why: w, absence: {after: a, never: b, within: 00m}}]", "FORM", 2],
    ["rules: [{id: R, tier: block, why: w, budget: {of: a, argument: n, limit: 1, within: 0d}}]", "FORM", 2],
    [rule("block", "{store: {name: s}}"), "STORE", 2],
    [rule("must", "a.b"), "TIER", 2],
    ["labels: {mail.get_*: {effects: read.local}, 'mail.*_new': {effects: write.local}}", "TIE", 2],
    [rule("block", '{arg: {a: {regex: "(?=x)"}}}'), "REGEX", 2],
    [rule("block", "{arg: {a: {cidr: 10.0.0.0/99}}}"), "CIDR", 2],
    [rule("block", '{arg: {a: {domain: "a b"}}}'), "DOMAIN", 2],
    [rule("block", '{arg: {a: {path: ""}}}'), "PATH", 2],
    [rule("block", `{arg: {a: {glob: "${"x".repeat(2_000)}"}}}`), "GLOB", 2],
    [rule("block", "{arg: {a: {schema: {$ref: 'http://x'}}}}"), "SCHEMA", 2],
    [rule("block", "{arg: {a: {not: {label: private}}}}"), "LABEL", 2],
    [rule("block", "{arg: {/a/b: {label: private}}}"), "LABEL", 2],
    [rule("block", "{data: {confidentiality: private, args: [/a/b]}}"), "LABEL", 2],
    ["labels: {a.b: {args: {/a/b: recipient}}}", "LABEL", 2],
    [rule("block", `{arg: {a: ${"{not: ".repeat(20)}x${"}".repeat(20)}}}`), "DEPTH", 2],
    ["stores: {s: {}}\n" + rule("allow", "{store: {name: s, audience: me}}"), "AUDIENCE", 3],
    ["stores: {s: {audience: x}}", "GROUP", 2],
    ["labels: {a.b: {reads: s}}", "STORE", 2],
    ['match: {tag: "a b"}', "FORM", 2],
    ["match: {tag: ''}", "FORM", 2],
    ["labels: {a.b: {output: {confidentiality: [private, public]}}}", "INTERVAL", 2],
    ["labels: {a.b: {output: public, cases: [{when: {arg: {}}, output: private}]}}", "CASE", 2],
    [
      "labels: {a.b: {output: sensitive, effects: read.local, cases: [{when: {arg: {p: x}}, output: private, effects: []}]}}",
      "CASE",
      2,
    ],
    ["lattice: {categories: [a, b], groups: [a]}", "LATTICE", 2],
    ["lattice: {clearance: {x: public}}", "GROUP", 2],
    ["servers: {a: {operator: x}}", "GROUP", 2],
    ["host: {send: {open: x}}", "GROUP", 2],
    ["servers: {my.server: {trust: untrusted}}", "KEY", 2],
    ["accepts: [H]", "HAZARD", 2],
    ["expect: [{trace: [a.b], verdict: deny, by: R}]", "RULE", 2],
    ["approvals: {hold: 2m}", "RANGE", 2],
    ["rules: [{id: R, tier: block, why: w, gate: {before: a, need: b}}]", "TIER", 2],
    ["rules: [{id: R, tier: must, why: w, atMost: {of: a, count: 1}}]", "TIER", 2],
    ["rules: [{id: R, tier: must, why: w, owed: {after: a, owe: b}}]", "OWED", 2],
    ["rules: [{id: R, tier: must, why: w, inject: {before: a.b, call: {tool: b}}}]", "INJECT", 2],
  ])("%s", (text, code, line) => {
    const { policy, diagnostics } = load(text);
    expect(policy).toBeUndefined();
    const errors = diagnostics.filter((found) => found.severity === "error");
    expect(errors.map((found) => [found.code, found.line])).toContainEqual([`SG-POLICY-${code}`, line]);
    for (const found of diagnostics) {
      expect(found.message.length + found.remedy.length).toBeLessThanOrEqual(480);
      expect(found.remedy).not.toBe("");
    }
  });
});

test("a store that nobody declared is to be declared where there is none, else to be named as it is", () => {
  const remedies = (text: string) => load(text).diagnostics.map(({ code, remedy }) => [code, remedy]);
  for (const text of ["labels: {a.b: {reads: s}}", "host: {read: {open: s}}", rule("block", "{store: {name: s}}")]) {
    expect(remedies(text)).toEqual([["SG-POLICY-STORE", "declare it under `stores`"]]);
    expect(remedies(`stores: {s1: {}}\n${text}`)).toEqual([["SG-POLICY-STORE", "did you mean `s1`?"]]);
  }
});

test.each([
  "{tool: []}",
  "{effect: []}",
  "{flags: []}",
  "{data: []}",
  "{store: []}",
  "{data: {confidentiality: private, roles: []}}",
  "{data: {confidentiality: private, args: []}}",
  "{data: {confidentiality: private, audience: []}}",
  "{store: {name: s, audience: []}}",
  ...["equals", "glob", "domain", "path", "cidr"].map((kind) => `{arg: {to: {${kind}: []}}}`),
])("a condition that names nothing is refused, as it would hold for nothing or for everything: %s", (when) => {
  const { policy, diagnostics } = load(`stores: {s: {}}\n${rule("block", when)}`);
  expect(policy).toBeUndefined();
  expect(diagnostics.map(({ code }) => code)).toContain("SG-POLICY-LENGTH");
});

test.each([
  "labels: {a.b: {args: {to: {role: recipient, sink: true, audience: []}}}}",
  "stores: {s: {}}\nlabels: {a.b: {opens: {store: s, audience: []}}}",
  "regulation: {leases: [{tool: [], calls: 1}]}",
])("nobody to see a sink or to be let in, and a lease of nothing, are refused: %s", (text) => {
  const { policy, diagnostics } = load(text);
  expect(policy).toBeUndefined();
  expect(diagnostics.map(({ code }) => code)).toEqual(["SG-POLICY-LENGTH"]);
});

test("what is written and not active yet, or always true, is said", () => {
  const text = `stpa: s.yaml
flow: {mode: handles}
judges: {j: {url: "http://localhost:1", model: m}}
admission: {labels: declared}
reflection: {}
rules: [{id: R, tier: block, why: w, when: {data: public}}]
`;
  const { policy, diagnostics } = load(text);
  expect(policy?.ir.flow).toBe("strict");
  expect(diagnostics.map(({ code, severity, line }) => [code, severity, line])).toEqual([
    ["SG-POLICY-INACTIVE", "warning", 3],
    ["SG-POLICY-VACUOUS", "warning", 7],
    ["SG-POLICY-INACTIVE", "info", 6],
    ["SG-POLICY-IDLE", "info", 4],
  ]);
});

describe("temporal rules", () => {
  const temporal = (tier: string, body: string): readonly (Temporal | undefined)[] =>
    compiled(`rules: [{id: R, tier: ${tier}, why: w, ${body}}]`).ir.rules.map((each) =>
      each.kind === "temporal" ? each.temporal : undefined,
    );
  const of = (tool: string) => ({ tools: [{ server: "*", tool }], predicates: [], data: [], stores: [] });

  test.each<[string, string, readonly object[]]>([
    [
      "must",
      "gate: {before: b, need: a, unless: c, within: 10m, key: {argument: to, form: email}}",
      [
        {
          kind: "gate",
          before: of("b"),
          need: of("a"),
          relock: of("c"),
          withinMs: 600_000,
          key: { argument: "to", form: "email", foldLocalPart: false },
        },
      ],
    ],
    [
      "block",
      "absence: {after: a, never: b, until: c}",
      [{ kind: "absence", after: of("a"), never: of("b"), until: of("c") }],
    ],
    [
      "confirm",
      "atMost: {of: a, count: 3, within: 24h, key: to}",
      [
        {
          kind: "at-most",
          of: of("a"),
          count: 3,
          withinMs: 86_400_000,
          key: { argument: "to", form: "id", foldLocalPart: true },
        },
      ],
    ],
    ["must", "immediately: {before: b, need: a}", [{ kind: "immediately", before: of("b"), need: of("a") }]],
    [
      "block",
      "budget: {of: a, argument: amount, limit: 100.50}",
      [{ kind: "budget", of: of("a"), argument: "amount", limit: "100.5" }],
    ],
    [
      "must",
      "owed: {after: a, owe: b, within: 3, before: c}",
      [{ kind: "owed", after: of("a"), owe: of("b"), within: 3, before: of("c") }],
    ],
    [
      "must",
      "inject: {before: b, call: {tool: log.write, arguments: {text: done}}}",
      [{ kind: "inject", before: of("b"), server: "log", tool: "write", arguments: { text: "done" } }],
    ],
    [
      "must",
      "byEnd: {after: a, by: b, action: hold}",
      [{ kind: "by-end", after: of("a"), by: of("b"), action: "hold" }],
    ],
    [
      "must",
      "byEnd: {after: a, by: b, action: report, key: id}",
      [
        {
          kind: "by-end",
          after: of("a"),
          by: of("b"),
          action: "report",
          key: { argument: "id", form: "id", foldLocalPart: false },
        },
      ],
    ],
    [
      "must",
      "mode: observe, byEnd: {after: a, by: b, action: hold}",
      [{ kind: "by-end", after: of("a"), by: of("b"), action: "report" }],
    ],
    ["block", "exactlyOnce: {of: a}", [{ kind: "at-most", of: of("a"), count: 1 }]],
    [
      "block",
      "exactlyOnce: {of: a, after: b}",
      [
        { kind: "at-most", of: of("a"), count: 1 },
        { kind: "by-end", after: of("b"), by: of("a"), action: "report", once: true },
      ],
    ],
  ])("%s %s", (tier, body, wanted) => {
    expect(temporal(tier, body)).toEqual(wanted);
  });
});

test("a whole pattern, hazards of every kind, stores and settings", () => {
  const { ir, settings } = compiled(`${lattice}stores: {s: {audience: [me], label: sensitive}, u: {}}
hazards:
  F:
    loss: L
    consent: may
    why: f
    never: {flow: {from: {trust: untrusted, roles: [command], args: [c], audience: anyone}, to: {effect: execute}}}
  C: {never: {call: {flags: irreversible}}}
  S: {mode: observe, never: {sequence: {after: a.b, never: c.d, within: 1m}}}
rules:
  - id: R
    tier: block
    why: w
    mode: observe
    when:
      tool: [a.b, c]
      effect: [write, read.local]
      flags: [irreversible, open_world]
      workspace: false
      held: private
      arg: {x: {label: private}, y: z}
      store: [{name: s, label: private, audience: anyone}]
approvals: {form: all, by: other, hold: 30s, expires: 5m}
limits: {runIdle: 1h, answerWait: 500ms}
match: {sessions: untrusted}
audit: {payload: clear, keepDays: 3, keepMb: 2, durability: full}
host: {sampling: allow, send: {open: anyone}}
mode: observe
`);
  const found = ir.rules[0];
  expect(found?.kind === "plain" && found.when).toEqual({
    tools: [
      { server: "*", tool: "c" },
      { server: "a", tool: "b" },
    ],
    effects: ["read.local", "write"],
    flags: { irreversible: true, openWorld: true },
    predicates: [
      { index: 1, holds: true },
      { index: 0, holds: false },
    ],
    data: [{ atom: { kind: "atLeast", bits: 3 }, names: ["x"] }],
    held: { kind: "atLeast", bits: 3 },
    stores: [{ store: 0, label: { kind: "atLeast", bits: 3 }, audience: 1 }],
  });
  expect(ir.hazards.map(({ id, kind, consent, mode, loss }) => [id, kind, consent, mode, loss])).toEqual([
    ["C", "call", "never", "enforce", ""],
    ["F", "flow", "may", "enforce", "L"],
    ["S", "temporal", "never", "observe", ""],
  ]);
  expect(ir.stores).toEqual([
    { name: "s", audience: 2, initial: { lo: 1, hi: 65 } },
    { name: "u", audience: 1, initial: { lo: 0, hi: 64 } },
  ]);
  expect(settings).toEqual({
    mode: "observe",
    sampling: "allow",
    approvals: { form: "all", by: "other", holdMsMax: 30_000, expiryMs: 300_000 },
    sessions: "untrusted",
    runIdleMs: 3_600_000,
    payload: "clear",
    keepDays: 3,
    keepBytes: 2_097_152,
    durability: "full",
    answerWaitMsMax: 500,
  });
});

test.each(["{trust: untrusted}", "{confidentiality: private, categories: [finance, medical], readers: []}"])(
  "a condition of a permission that always holds is said: %s",
  (held) => {
    const { diagnostics } = load(lattice + rule("allow", `{tool: a.b, held: ${held}}`));
    expect(diagnostics.map(({ code, severity, line }) => [code, severity, line])).toEqual([
      ["SG-POLICY-VACUOUS", "warning", 3],
    ]);
  },
);

test("a range may hold one number", () => {
  const { predicates } = compiled(rule("block", "{arg: {n: {range: {min: 1.50, max: '1.5'}}}}")).ir;
  expect(predicates[1]).toMatchObject({ test: { test: { kind: "range", min: "1.5", max: "1.5" } } });
});

test("an absent argument restricts, permits nothing, and presence itself is exact", () => {
  const absent = (tier: string, body: string): unknown => {
    const { predicates } = compiled(rule(tier, `{arg: {a: ${body}}}`)).ir;
    return predicates[1]?.kind === "argument" ? predicates[1].ifAbsent : undefined;
  };
  expect(absent("block", "{glob: x}")).toBe(true);
  expect(absent("allow", "{glob: x}")).toBe(false);
  expect(absent("block", "{present: true}")).toBe(false);
  expect(absent("allow", "{present: false}")).toBe(true);
  const { predicates } = compiled(
    rule("block", "{arg: {a: x}}").replace("]", ", {id: S, tier: confirm, why: w, when: {arg: {a: x}}}]"),
  ).ir;
  expect(predicates).toHaveLength(2);
});

test("a canonical policy from elsewhere may not name a pack that it does not carry", () => {
  const { policy } = compiled("servers: {m: {trust: trusted}}");
  const server = { ...policy.servers["m"], pack: "gone" };
  const found = compilePolicy({ ...policy, servers: { m: server } } as typeof policy, hash); // one member more
  expect(found.policy).toBeUndefined();
  expect(found.problems.map(({ code, path }) => `${code} ${path.join(".")}`)).toEqual([
    "SG-POLICY-PACK servers.m.pack",
  ]);
});

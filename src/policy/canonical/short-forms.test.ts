/** What is written in short or left out, beside what it means: the long form is a policy of its own, and the same one. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { PolicyDocument } from "./policy-document.ts";
import { loadPolicy } from "../load.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const setting = `version: 1
lattice: {categories: [finance, medical], groups: [team]}
stores: {box: {}, drawer: {}}
`;

function loaded(text: string) {
  const { policy, diagnostics } = loadPolicy(
    { file: "p.yaml", text: `${setting}${text}` },
    { loader: () => undefined, hash },
  );
  if (policy === undefined) throw new Error(JSON.stringify(diagnostics));
  return policy;
}

/** The part in its long form is what the canonical policy holds, to the letter. */
function isShortFor(short: string, long: string): void {
  const policy = loaded(short);
  const wanted = parse(long) as PolicyDocument;
  for (const section of Object.keys(wanted) as (keyof PolicyDocument)[]) {
    expect({ [section]: policy.policy[section as keyof typeof policy.policy] }).toEqual({ [section]: wanted[section] });
  }
  expect(loaded(long).canonical).toBe(policy.canonical);
}

it("what is left out has the value that the documents name", () => {
  isShortFor(
    "",
    `mode: enforce
match: {}
host: {tools: hooks, send: gated, read: gated, execute: gated, sampling: refuse}
servers: {}
labels: {}
packs: {}
hazards: {}
rules: []
keep: []
accepts: []
expect: []
flow: {mode: provenance}
approvals: {form: reversible, by: anyone, hold: 45s, expires: 10m}
audit: {payload: sealed, keepDays: 30, durability: normal}
limits: {runIdle: 8h, answerWait: 2s}
`,
  );
  const { policy } = loadPolicy({ file: "p.yaml", text: "version: 1" }, { loader: () => undefined, hash });
  expect(policy?.policy.lattice).toEqual({
    confidentiality: ["public", "sensitive", "private"],
    categories: [],
    trust: ["trusted", "untrusted"],
    groups: ["anyone", "me"],
    clearance: {},
  });
  expect(policy?.policy.stores).toEqual({});
});

it("what is written is kept, where it is not what would hold anyway", () => {
  const text = `mode: observe
match: {client: c}
host: {tools: none, send: {open: [team]}, read: open, execute: open, sampling: allow}
servers: {s: {trust: trusted, operator: team, reach: local, mode: observe}}
flow: {mode: strict}
approvals: {form: all, by: other, hold: 5s, expires: 3m}
audit: {payload: clear, keepDays: 7, keepMb: 100, durability: full}
limits: {runIdle: 1h, answerWait: 500ms}
`;
  isShortFor(text, text);
  const lattice =
    "{confidentiality: [open, shut], clearance: {me: shut, anyone: {confidentiality: open, categories: [x]}}, categories: [x]}";
  const { policy } = loadPolicy(
    { file: "p.yaml", text: `version: 1\nlattice: ${lattice}` },
    { loader: () => undefined, hash },
  );
  expect(policy?.policy.lattice).toEqual({
    confidentiality: ["open", "shut"],
    categories: ["x"],
    trust: ["trusted", "untrusted"],
    groups: ["anyone", "me"],
    clearance: {
      me: { confidentiality: "shut", categories: [] },
      anyone: { confidentiality: "open", categories: ["x"] },
    },
  });
});

describe("labels", () => {
  it.each([
    ["a level as output", "output: private", "output: {confidentiality: private}"],
    ["a label that nobody knows", "output: unsure", "output: {confidentiality: unsure, trust: unsure}"],
    ["the paper's trust", "output: {trust_level: untrusted}", "output: {trust: untrusted}"],
    ["our own beside it", "output: {trust: trusted, trust_level: untrusted}", "output: {trust: trusted}"],
    [
      "words twice and in any order",
      "output: {confidentiality: [public, private], categories: [medical, finance, medical], readers: [team, me]}",
      "output: {confidentiality: [public, private], categories: [finance, medical], readers: [me, team]}",
    ],
    [
      "fields",
      "output: {confidentiality: public, fields: {/a: private, /b: {trust: trusted, from: [y, x]}, /c: unsure}}",
      "output: {confidentiality: public, fields: {/a: {confidentiality: private}, /b: {trust: trusted, from: [x, y]}, /c: {confidentiality: unsure, trust: unsure}}}",
    ],
    ["an effect", "effects: read.local", "effects: {must: [read.local], may: [read.local]}"],
    [
      "effects, and the paper's word for one",
      "effects: [read.local, external_write, read.local]",
      "effects: {must: [read.local, write.external], may: [read.local, write.external]}",
    ],
    ["effects that only may be", "effects: {may: [write, read]}", "effects: {must: [], may: [read, write]}"],
    [
      "what is surely done could be done",
      "effects: {must: [write.local], may: [external_write]}",
      "effects: {must: [write.local], may: [write.external, write.local]}",
    ],
    [
      "the paper's word for all of them",
      "capabilities: read.local",
      "effects: {must: [read.local], may: [read.local]}",
    ],
    ["flags", "flags: [open_world, irreversible, open_world]", "flags: [irreversible, open_world]"],
    [
      "arguments",
      "args: {to: recipient, text: {role: content, sink: true, bound: public, audience: team}}",
      "args: {to: {role: recipient}, text: {role: content, sink: true, bound: {confidentiality: public, categories: []}, audience: [team]}}",
    ],
    [
      "bounds with categories",
      "rest: {bound: {confidentiality: public, categories: [medical, finance]}}",
      "rest: {bound: {confidentiality: public, categories: [finance, medical]}}",
    ],
    ["the rest", "rest: content", "rest: {role: content}"],
    [
      "cases",
      "cases: [{when: {arg: {path: secret}}, output: private, effects: read.local}, {when: {arg: {path: {glob: [b, a]}}}, output: private}]",
      "cases: [{when: {arg: {path: {equals: [secret]}}}, output: {confidentiality: private}, effects: {must: [read.local], may: [read.local]}}, {when: {arg: {path: {glob: [a, b]}}}, output: {confidentiality: private}}]",
    ],
    ["stores", "reads: box\nwrites: [drawer, box]", "reads: [box]\nwrites: [box, drawer]"],
    ["what is opened", "opens: {store: box, audience: team}", "opens: [{store: box, audience: [team]}]"],
  ])("%s", (_what, short, long) => {
    const of = (text: string): string => `labels:\n  s.t:\n    ${text.replaceAll("\n", "\n    ")}\n`;
    isShortFor(of(short), of(long));
  });
});

describe("patterns", () => {
  it.each([
    ["a tool", "s.t", "{tool: [s.t]}"],
    ["tools", "[s.u, s.t, s.u]", "{tool: [s.t, s.u]}"],
    ["effects", "{effect: [write, external_write]}", "{effect: [write, write.external]}"],
    ["one effect", "{effect: external_write}", "{effect: [write.external]}"],
    ["a flag", "{flags: irreversible}", "{flags: [irreversible]}"],
    ["flags", "{flags: [open_world, irreversible]}", "{flags: [irreversible, open_world]}"],
    ["data of a level", "{data: private}", "{data: [{confidentiality: private}]}"],
    [
      "data of certain arguments",
      "{data: {trust_level: untrusted, roles: [path, content, path], args: [b, a], audience: team}}",
      "{data: [{trust: untrusted, roles: [content, path], args: [a, b], audience: [team]}]}",
    ],
    ["what is held", "{held: private}", "{held: {confidentiality: private}}"],
    [
      "stores",
      "{store: {name: box, label: private, audience: team}}",
      "{store: [{name: box, label: {confidentiality: private}, audience: [team]}]}",
    ],
    ["the workspace", "{tool: s.t, workspace: false}", "{tool: [s.t], workspace: false}"],
    ["arguments", "{arg: {a: 1}}", "{arg: {a: {equals: [1]}}}"],
  ])("%s", (_what, short, long) => {
    const of = (text: string): string =>
      `rules: [{id: R, tier: block, why: w, serves: [], mode: enforce, when: ${text}}]\n`;
    isShortFor(of(short).replace(", serves: [], mode: enforce", ""), of(long));
  });
});

describe("tests of arguments", () => {
  it.each([
    ["null", "null", "{equals: [null]}"],
    ["values of all kinds", '{equals: [x, 2, true, null, "2", 2]}', '{equals: [true, 2, null, "2", x]}'],
    ["whether it is there", "{present: true}", "{present: true}"],
    ["globs", "{glob: [b*, a*]}", "{glob: [a*, b*]}"],
    ["domains", "{domain: Example.COM}", "{domain: [example.com]}"],
    ["what is no domain", "{any: [{domain: [b.example, a.example]}]}", "{any: [{domain: [a.example, b.example]}]}"],
    ["folders", "{path: /srv//data/}", "{path: [/srv/data]}"],
    ["blocks", "{cidr: [10.0.1.0/24, 10.0.0.0/24]}", "{cidr: [10.0.0.0/24, 10.0.1.0/24]}"],
    ["an expression", "{regex: a+}", "{regex: a+}"],
    ["a range", '{range: {min: 1.50, max: "007.0"}}', '{range: {min: "1.5", max: "7"}}'],
    ["half a range", "{range: {max: 2}}", '{range: {max: "2"}}'],
    ["the other half", "{range: {min: 2}}", '{range: {min: "2"}}'],
    ["a schema", "{schema: {type: string}}", "{schema: {type: string}}"],
    ["no value", "{not: x}", "{not: {equals: [x]}}"],
    ["all of several", "{all: [x, {glob: y}]}", "{all: [{equals: [x]}, {glob: [y]}]}"],
    ["one of several", "{any: [y, x]}", "{any: [{equals: [y]}, {equals: [x]}]}"],
    ["its label", "{label: private}", "{label: {confidentiality: private}}"],
  ])("%s", (_what, short, long) => {
    const of = (text: string, tool: string): string =>
      `rules: [{id: R, tier: block, why: w, serves: [], mode: enforce, when: {tool: ${tool}, arg: {a: ${text}}}}]\n`;
    isShortFor(of(short, "s.t"), of(long, "[s.t]"));
  });
});

describe("rules and hazards", () => {
  const a = "{tool: [s.a]}";
  const b = "{tool: [s.b]}";
  const key = "{argument: to, form: id}";
  it.each([
    ["must", "gate: {before: s.a, need: s.b}", `gate: {before: ${a}, need: ${b}}`],
    [
      "must",
      "gate: {before: s.a, need: s.b, unless: s.c, within: 60s, key: to}",
      `gate: {before: ${a}, need: ${b}, unless: {tool: [s.c]}, within: 1m, key: ${key}}`,
    ],
    [
      "must",
      "gate: {before: s.a, need: s.b, key: {argument: to, exact: true}}",
      `gate: {before: ${a}, need: ${b}, key: {argument: to, form: id, exact: true}}`,
    ],
    ["block", "absence: {after: s.a, never: s.b}", `absence: {after: ${a}, never: ${b}}`],
    [
      "block",
      "absence: {after: s.a, never: s.b, until: s.c, within: 90s, key: {argument: to, form: email}}",
      `absence: {after: ${a}, never: ${b}, until: {tool: [s.c]}, within: 90s, key: {argument: to, form: email}}`,
    ],
    ["block", "atMost: {of: s.a, count: 2}", `atMost: {of: ${a}, count: 2}`],
    [
      "block",
      "atMost: {of: s.a, count: 2, within: 24h, key: to}",
      `atMost: {of: ${a}, count: 2, within: 1d, key: ${key}}`,
    ],
    ["block", "exactlyOnce: {of: s.a}", `exactlyOnce: {of: ${a}}`],
    ["block", "exactlyOnce: {of: s.a, after: s.b, key: to}", `exactlyOnce: {of: ${a}, after: ${b}, key: ${key}}`],
    ["must", "immediately: {before: s.a, need: s.b}", `immediately: {before: ${a}, need: ${b}}`],
    ["block", "budget: {of: s.a, argument: sum, limit: 10.50}", `budget: {of: ${a}, argument: sum, limit: "10.5"}`],
    [
      "block",
      "budget: {of: s.a, argument: sum, limit: 7, within: 120m, key: to}",
      `budget: {of: ${a}, argument: sum, limit: "7", within: 2h, key: ${key}}`,
    ],
    ["must", "owed: {after: s.a, owe: s.b, within: 2}", `owed: {after: ${a}, owe: ${b}, within: 2}`],
    ["must", "owed: {after: s.a, owe: s.b, before: s.c}", `owed: {after: ${a}, owe: ${b}, before: {tool: [s.c]}}`],
    ["must", "inject: {before: s.a, call: {tool: s.b}}", `inject: {before: ${a}, call: {tool: s.b, arguments: {}}}`],
    [
      "must",
      "inject: {before: s.a, call: {tool: s.b, arguments: {x: 1}}}",
      `inject: {before: ${a}, call: {tool: s.b, arguments: {x: 1}}}`,
    ],
    ["must", "byEnd: {after: s.a, by: s.b, action: hold}", `byEnd: {after: ${a}, by: ${b}, action: hold}`],
    [
      "must",
      "byEnd: {after: s.a, by: s.b, action: report, key: to}",
      `byEnd: {after: ${a}, by: ${b}, action: report, key: {argument: to, form: id}}`,
    ],
    [
      "block",
      "when: s.a, predicate: {name: f, source: 'export const f = () => true'}",
      `when: ${a}, predicate: {name: f, source: 'export const f = () => true'}`,
    ],
  ])("a rule %s with %s", (tier, short, long) => {
    isShortFor(
      `rules: [{id: R, tier: ${tier}, why: "  w ", serves: L, ${short}}]\n`,
      `rules: [{id: R, tier: ${tier}, why: w, serves: [L], mode: enforce, ${long}}]\n`,
    );
  });

  it.each([
    ["flow: {from: private, to: s.a}", `flow: {from: {confidentiality: private}, to: ${a}}`],
    ["call: s.a", `call: ${a}`],
    ["sequence: {after: s.a, never: s.b, within: 60s}", `sequence: {after: ${a}, never: ${b}, within: 1m}`],
    ["unless: {call: s.a, need: s.b}", `unless: {call: ${a}, need: ${b}}`],
    [
      "unless: {call: s.a, need: s.b, within: 60s, key: to}",
      `unless: {call: ${a}, need: ${b}, within: 1m, key: ${key}}`,
    ],
    ["atMost: {of: s.a, count: 3}", `atMost: {of: ${a}, count: 3}`],
  ])("a hazard of %s", (short, long) => {
    isShortFor(
      `hazards: {H: {never: {${short}}}}\n`,
      `hazards: {H: {loss: "", consent: never, why: "", mode: enforce, never: {${long}}}}\n`,
    );
    isShortFor(
      `hazards: {H: {loss: l, consent: may, why: " because ", mode: observe, never: {${short}}}}\n`,
      `hazards: {H: {loss: l, consent: may, why: because, mode: observe, never: {${long}}}}\n`,
    );
  });

  it("what stays possible, and what is expected", () => {
    isShortFor(
      "keep: [{trace: [s.a]}, {trace: [{s.b: {x: 1}}], firm: true}]\nexpect: [{trace: [{run: new}, {user: go}, s.a], verdict: allow}]\n",
      "keep: [{trace: [s.a], firm: false}, {trace: [{s.b: {x: 1}}], firm: true}]\nexpect: [{trace: [{run: new}, {user: go}, s.a], verdict: allow}]\n",
    );
  });
});

describe("other sections", () => {
  it("stores: whoever names no audience means everyone", () => {
    const { policy } = loaded("");
    expect(policy.stores).toEqual({ box: { audience: ["anyone"] }, drawer: { audience: ["anyone"] } });
    const own = loadPolicy(
      { file: "p.yaml", text: "version: 1\nstores: {a: {audience: [me, anyone, me], label: private}}" },
      { loader: () => undefined, hash },
    );
    expect(own.policy?.policy.stores).toEqual({
      a: { audience: ["anyone", "me"], label: { confidentiality: "private" } },
    });
  });

  it("judges", () => {
    isShortFor(
      "judges: {j: {url: 'http://127.0.0.1:1/v1', model: m}}\n",
      "judges: {j: {url: 'http://127.0.0.1:1/v1', model: m, kind: openai, above: shapes, wait: 2s, tokensMax: 8192, runTokensMax: 500000, canary: true, answers: schema, labelFirst: true}}\n",
    );
    isShortFor(
      "judges: {j: {url: 'http://127.0.0.1:1', model: m, kind: ollama, bound: private, audience: me, above: nothing, wait: 1000ms, tokensMax: 100, runTokensMax: 200, keyEnv: KEY, canary: false, answers: tags, labelFirst: false}}\n",
      "judges: {j: {url: 'http://127.0.0.1:1', model: m, kind: ollama, bound: {confidentiality: private, categories: []}, audience: [me], above: nothing, wait: 1s, tokensMax: 100, runTokensMax: 200, keyEnv: KEY, canary: false, answers: tags, labelFirst: false}}\n",
    );
  });

  it("what the client does by itself", () => {
    isShortFor(
      "host: {send: {open: team}, read: {open: [drawer, box, drawer]}, execute: {open: []}}\n",
      "host: {tools: hooks, send: {open: [team]}, read: {open: [box, drawer]}, execute: {open: []}, sampling: refuse}\n",
    );
  });

  it("regulation", () => {
    isShortFor(
      "regulation: {filter: {mode: lease, ttl: 600s}, epsilon: 0.1}\n",
      "regulation: {filter: {mode: lease, ttl: 10m}, epsilon: 0.1}\n",
    );
    isShortFor("regulation: {filter: {mode: accumulate}}\n", "regulation: {filter: {mode: accumulate}}\n");
    isShortFor("regulation: {onUnsafe: confirm}\n", "regulation: {onUnsafe: confirm}\n");
    isShortFor("regulation: {onSilence: deny}\n", "regulation: {onSilence: deny}\n");
    isShortFor("regulation: {judge: all}\n", "regulation: {judge: all}\n");
    isShortFor(
      "regulation: {leases: [{tool: s.a, calls: 2}, {tool: [s.b, s.a], for: 60s}]}\n",
      "regulation: {leases: [{tool: [s.a], calls: 2}, {tool: [s.a, s.b], for: 1m}]}\n",
    );
  });
});

import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { expect, test } from "vitest";
import type { Json } from "../../core/json.ts";
import { checkSchema, satisfies } from "../values/json-schema.ts";
import { checkShape } from "../document/check.ts";
import { shippedToolLabels } from "../document/shapes-labels.ts";
import { policyShape } from "./policy-document.ts";
import { labelsSchema, policySchema } from "./schema.ts";

test.each([
  ["policy", policySchema()],
  ["labels", labelsSchema()],
])(
  "the published schema of %s is the one that the shapes give (else run `node scripts/policy-schema.ts`)",
  (name, schema) => {
    const file = new URL(`../../../schema/${name}.schema.json`, import.meta.url);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(schema);
    expect(checkSchema(schema)).toBeUndefined();
  },
);

test("labels that a server ships name no store and no case", () => {
  const good = {
    version: 1,
    effects: ["read.external"],
    args: { to: "recipient" },
    output: { confidentiality: "private" },
  };
  for (const [labels, wanted] of [
    [good, true],
    [{}, true],
    [{ ...good, reads: "mail:inbox" }, false],
    [{ ...good, cases: [] }, false],
    [{ ...good, version: 2 }, false],
    [{ effects: ["fly"] }, false],
  ] as const) {
    expect(satisfies(labelsSchema(), labels)).toBe(wanted);
    expect(checkShape(shippedToolLabels, labels).length === 0).toBe(wanted);
  }
});

test("the schema itself uses only keywords that our own interpreter knows", () => {
  expect(checkSchema(policySchema())).toBeUndefined();
});

const good = [
  "{}",
  "{mode: observe, extends: [default], accepts: [H]}",
  "{rules: [{id: R, tier: block, why: w, when: a.b}]}",
  "{rules: [{id: R, tier: must, why: w, gate: {before: a, need: [b, c], key: {argument: id, form: email}, within: 10m}}]}",
  "{rules: [{id: R, tier: block, why: w, when: {arg: {a: 5, b: null, c: {not: {any: [x, {glob: y}]}}}, store: {name: s}}}]}",
  "{labels: {a.b: {effects: {may: [read]}, args: {x: path, y: {role: content, bound: {confidentiality: public}}}}}}",
  "{labels: {a.b: {output: {confidentiality: [public, private], fields: {/a/*: {trust: trusted, from: []}}}}}}",
  "{hazards: {H: {never: {flow: {from: private, to: {effect: write}}}}}}",
  "{hazards: {H: {never: {sequence: {after: a, never: b, until: c, within: 1m, key: id}}}}}",
  "{hazards: {H: {never: {unless: {call: a, need: b, within: 1h, key: {argument: id}}}}}}",
  "{hazards: {H: {never: {atMost: {of: a, count: 2, within: 1d, key: id}}}}}",
  "{expect: [{trace: [a, {b: {c: [1]}}], verdict: deny, by: R}], keep: [{trace: [a], firm: true}]}",
  "{host: {send: {open: [anyone]}, sampling: allow}, lattice: {clearance: {anyone: public}}}",
  "{regulation: {filter: {mode: lease, ttl: 5m}, epsilon: 0.1}, judges: {j: {url: x}}, isolation: {trace_mode: full}}",
  "{regulation: {power: {budget: 40.5, weights: {write.external.send: 9}}, leases: [{tool: a.b, calls: 3}], shortlist: 12}}",
  "{regulation: {leases: [{tool: [a.b, c], for: 10m}], models: {embedded: true, judge: j}}, judges: {j: {url: x}}}",
  "{isolation: {backend: auto, require: A-, servers: {s: {backend: learn, net: {allow: [x:1]}, tools: {t: {allow: [y:2]}}}}}}",
  "{isolation: {defaults: {files: {read: [/x], workspace: {per: run, quotaMb: 1}}, limits: {memoryMb: 64}, env: {set: {A: b}}}}}",
  "{isolation: {required: true, trace_mode: py, exec_trace_whitelisted: false, allowed_domains: [x]}, pack: {name: p, scope: {}}}",
  "{pack: {name: p}, audit: {keepDays: 7, keepMb: 500}, limits: {runIdle: 1h}, approvals: {form: all}}",
];
const bad = [
  "[]",
  "{nope: 1}",
  "{rules: [{id: R, tier: block, why: w}]}",
  "{rules: [{id: R, tier: block, why: w, when: a, gate: {before: a, need: b}}]}",
  "{rules: [{id: 1, tier: block, why: w, when: a}]}",
  "{rules: [{id: R, tier: block, why: '', when: a}]}",
  "{rules: [{id: R, tier: block, why: w, when: {}}]}",
  "{rules: [{id: R, tier: block, why: w, when: []}]}",
  "{rules: [{id: R, tier: must, why: w, gate: {before: a, need: b, key: [x, y]}}]}",
  "{rules: [{id: R, tier: block, why: w, when: {arg: {a: {glob: x, regex: y}}}}]}",
  "{rules: [{id: R, tier: block, why: w, atMost: {of: a, count: 1.5}}]}",
  "{labels: {a.b: {effects: [fly]}}}",
  "{labels: {a.b: {output: {}}, 'c d': {}}}",
  "{labels: {a.b: {output: {confidentiality: [a, b, c]}}}}",
  "{hazards: {H: {never: {}}}}",
  "{hazards: {H: {never: {call: a, flow: {from: private, to: a}}}}}",
  "{hazards: {H: {never: {unless: {call: a}}}}}",
  "{hazards: {H: {never: {unless: {before: a, need: b}}}}}",
  "{hazards: {H: {never: {atMost: {of: a, count: 1}, call: a}}}}",
  "{expect: [{trace: [], verdict: deny}]}",
  "{expect: [{trace: [a], verdict: maybe}]}",
  "{limits: {runIdle: 5}}",
  "{lattice: {confidentiality: []}}",
  "{audit: {keepDays: 0}}",
  "{audit: {keepMb: 0}}",
  "{audit: {keepMb: 1048577}}",
  "{regulation: {power: {}}}",
  "{regulation: {power: {weights: {external_write: 3}}}}",
  "{regulation: {leases: [{calls: 3}]}}",
  "{regulation: {shortlist: 0}}",
  "{regulation: {models: {judge: [j]}}}",
  "{isolation: {backend: learn}}",
  "{isolation: {defaults: {tools: {}}}}",
  "{isolation: {servers: {s: {env: {set: {'A-B': c}}}}}}",
  "{isolation: {servers: {s: {limits: {memoryMb: 0}}}}}",
  "{isolation: {require: D}}",
];

test.each([...good.map((text) => [text, true] as const), ...bad.map((text) => [text, false] as const)])(
  "parser and schema agree on %s",
  (text, wanted) => {
    const value: unknown = parse(text);
    const document = Array.isArray(value) ? value : { version: 1, ...(value as object) }; // every entry is a map or a list
    expect(checkShape(policyShape, document).length === 0).toBe(wanted);
    expect(satisfies(policySchema(), document as Json)).toBe(wanted); // JSON by construction
  },
);

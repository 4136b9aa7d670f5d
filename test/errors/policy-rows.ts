/** A small policy for each diagnostic of the loader, and the word that its sentence must name. */
import { stringMember } from "../../src/core/json.ts";
import type { Manifests } from "../../src/policy/canonical/canonical.ts";
import type { PolicyInput } from "../../src/policy/canonical/extends.ts";
import { policyTextUnitsMax } from "../../src/policy/values/limits.ts";
import type { ToolLists } from "../../src/policy/contracts/contracts.ts";

export type PolicyRow = {
  readonly code: string;
  /** What stands behind `version: 1`, or the whole text where it does not begin so. */
  readonly text: string;
  /** Subject of the sentence. */
  readonly names: string;
  readonly lists?: ToolLists;
};

/** Other files that the rows extend. */
export const besideRows: Readonly<Record<string, PolicyInput>> = {
  loop: { file: "loop", text: "version: 1\nextends: [loop2]\n" },
  loop2: { file: "loop2", text: "version: 1\nextends: [loop]\n" },
  ruled: { file: "ruled", text: "version: 1\nrules: [{id: R, tier: block, why: w, when: b}]\n" },
  plain: { file: "plain", text: "version: 1\n" },
};

const reading = (until: string, label: string): string =>
  `readings: [{server: a, tool: x, digest: ${"a".repeat(64)}, until: "${until}", label: ${label}}]`;

const rule = (text: string): string => `rules: [{id: R, tier: block, why: w, ${text}}]`;

const lists: ToolLists = { mail: [{ name: "send" }, { name: "read" }], files: [{ name: "read" }] };

export function namesOf(given: ToolLists): Manifests {
  return Object.fromEntries(
    Object.entries(given).map(([server, tools]) => [server, tools.map((tool) => stringMember(tool, "name") ?? "")]),
  );
}

const bomb = [
  "a: &a [x,x,x,x,x,x,x,x,x]",
  ...["ab", "bc", "cd", "de", "ef", "fg", "gh", "hi"].map(
    ([from, to]) => `${to}: &${to} [${Array(9).fill(`*${from}`).join(",")}]`,
  ),
].join("\n");

export const policyRows: readonly PolicyRow[] = [
  { code: "SYNTAX", text: "mode: [", names: "YAML" },
  { code: "SIZE", text: `#${" ".repeat(policyTextUnitsMax)}`, names: "policy" },
  { code: "DEPTH", text: "expect: &a [*a]", names: "nested" },
  { code: "ALIAS", text: bomb, names: "aliases" },
  { code: "TAG", text: "mode: !!js/function x", names: "tag" },
  { code: "DUPLICATE", text: "version: 1", names: "version" },
  { code: "EMPTY", text: rule("when: {}"), names: "says nothing" },
  { code: "TEXT", text: 'stpa: "\\ud800"', names: "stpa" },
  { code: "NUMBER", text: "regulation: {epsilon: .nan}", names: "epsilon" },
  { code: "KEY", text: "rulse: []", names: "rulse" },
  { code: "MISSING", text: "rules: [{tier: block, why: w, when: a}]", names: "id" },
  { code: "TYPE", text: "rules: {}", names: "rules" },
  { code: "WORD", text: "mode: enforced", names: "enforced" },
  { code: "FORM", text: rule("when: {effect: fly}"), names: "fly" },
  { code: "LENGTH", text: "keep: [{trace: []}]", names: "keep[0].trace" },
  { code: "CHOICE", text: "rules: [{id: R, tier: block, why: w}]", names: "rule" },
  { code: "RANGE", text: "audit: {keepDays: 0}", names: "0" },
  { code: "EXTENDS", text: "extends: [nowhere]", names: "nowhere" },
  { code: "CYCLE", text: "extends: [loop]", names: "loop" },
  { code: "REPLACES", text: `extends: [ruled]\n${rule("when: a")}`, names: "R" },
  { code: "PREDICATE", text: rule("when: a, predicate: 'none.ts#f'"), names: "none.ts" },
  {
    code: "UNPROVED",
    text: 'rules: [{id: O, tier: must, why: w, owed: {after: a.x, owe: a.y, within: 2}}, {id: R, tier: block, why: w, when: a.y, predicate: {name: f, source: "export const f = 1"}}]',
    names: "program",
  },
  { code: "PACK", text: "servers: {m: {pack: plain}}", names: "plain" },
  { code: "ID", text: "labels: {a.x: {}, x: {}}", names: "x" },
  {
    code: "LATTICE",
    text: `lattice: {confidentiality: [public, private], categories: [${Array.from({ length: 40 }, (_, at) => `c${at}`).join(", ")}], groups: [me, anyone]}`,
    names: "lattice",
  },
  { code: "LEVEL", text: rule("when: {data: {confidentiality: secert}}"), names: "secert" },
  { code: "CATEGORY", text: rule("when: {data: {categories: [medcal]}}"), names: "medcal" },
  { code: "TRUST", text: "labels: {a.x: {output: {confidentiality: public, trust: trustde}}}", names: "trustde" },
  { code: "GROUP", text: "stores: {s: {audience: [evryone]}}", names: "evryone" },
  { code: "INTERVAL", text: "labels: {a.x: {output: {confidentiality: [private, public]}}}", names: "interval" },
  { code: "EQUALITY", text: rule('when: {data: {confidentiality: "== private"}}'), names: "==" },
  { code: "ATOM", text: rule("when: {data: {confidentiality: [public, private]}}"), names: "interval" },
  { code: "VACUOUS", text: rule("when: {data: {confidentiality: public}}"), names: "condition" },
  {
    code: "LABEL",
    text: rule("when: {arg: {to: {not: {label: {trust: untrusted}}}}}"),
    names: "label",
  },
  { code: "TOOL", text: rule("when: mail.sned"), names: "sned", lists },
  {
    code: "ARGUMENT",
    text: rule("when: {tool: mail.send, arg: {bdy: x}}"),
    names: "bdy",
    lists: { mail: [{ name: "send", inputSchema: { properties: { body: {} } } }] },
  },
  { code: "AMBIGUOUS", text: rule("when: read").replace("tier: block", "tier: allow"), names: "read", lists },
  { code: "READING", text: reading("2027-01-31", "{reads: nowhere}"), names: "reads" },
  { code: "READING-END", text: reading("2025-12-31", "{effects: read}"), names: "a.x" },
  { code: "STORE", text: "labels: {a.x: {writes: [nowhere]}}", names: "nowhere" },
  {
    code: "AUDIENCE",
    text: "stores: {s: {audience: me}}\nrules: [{id: R, tier: allow, why: w, when: {store: {name: s, audience: [anyone]}}}]",
    names: "store",
  },
  {
    code: "CASE",
    text: "labels: {a.x: {cases: [{when: {arg: {}}, output: private}]}}",
    names: "case",
  },
  { code: "RULE", text: "expect: [{trace: [a], verdict: deny, by: R9}]", names: "R9" },
  { code: "HAZARD", text: "accepts: [H9]", names: "H9" },
  { code: "TIER", text: "rules: [{id: R, tier: must, why: w, when: a}]", names: "must" },
  { code: "OWED", text: "rules: [{id: R, tier: must, why: w, owed: {after: a.x, owe: a.y}}]", names: "debt" },
  {
    code: "INJECT",
    text: "rules: [{id: R, tier: must, why: w, inject: {before: a.x, call: {tool: undo, arguments: {}}}}]",
    names: "gateway",
  },
  {
    code: "COMPENSATE",
    text: "rules: [{id: R, tier: must, why: w, byEnd: {after: a.x, by: a.y, action: compensate}}]",
    names: "compensate",
  },
  {
    code: "REFERENCE",
    text: "rules: [{id: R, tier: must, why: w, inject: {before: a.x, call: {tool: b.y, arguments: {of: '{call}'}}}}]",
    names: "{call}",
  },
  { code: "GLOB", text: rule(`when: {arg: {to: {glob: "${"x".repeat(1_100)}"}}}`), names: "glob" },
  { code: "DOMAIN", text: rule('when: {arg: {to: {domain: ["not a name"]}}}'), names: "not a name" },
  { code: "PATH", text: rule('when: {arg: {p: {path: ["a\\\\b"]}}}'), names: "a\\b" },
  { code: "CIDR", text: rule('when: {arg: {p: {cidr: ["10.0.0.0/99"]}}}'), names: "10.0.0.0/99" },
  { code: "REGEX", text: rule('when: {arg: {p: {regex: "(?=x)"}}}'), names: "(?=x)" },
  { code: "SCHEMA", text: rule('when: {arg: {p: {schema: {"$ref": "http://x"}}}}'), names: "schema" },
  { code: "FILTER", text: "regulation: {filter: {mode: lease}}", names: "mode: lease" },
  { code: "LEASE", text: "regulation: {leases: [{tool: mail.send}]}", names: "lease" },
  { code: "JUDGE", text: "regulation: {models: {judge: jugde}}", names: "jugde" },
  { code: "JUDGE-MODEL", text: 'judges: {j: {url: "http://127.0.0.1:1"}}', names: "j" },
  { code: "JUDGE-URL", text: "judges: {j: {url: x, model: m}}", names: "j" },
  { code: "JUDGE-WAIT", text: 'judges: {j: {url: "http://127.0.0.1:1", model: m, wait: 9s}}', names: "9s" },
  { code: "IDLE", text: "regulation: {epsilon: 0.1}", names: "epsilon" },
  { code: "SCOPE-PATH", text: "isolation: {defaults: {files: {read: [data]}}}", names: "data" },
  { code: "SCOPE-BROAD", text: 'isolation: {servers: {s: {net: {allow: ["*.com:443"]}}}}', names: "*.com" },
  { code: "SCOPE-DESTINATION", text: 'isolation: {defaults: {net: {allow: ["http://x"]}}}', names: "http://x" },
  { code: "SCOPE-SENSITIVE", text: 'isolation: {servers: {s: {files: {read: ["~/.ssh"]}}}}', names: "~/.ssh" },
  { code: "SCOPE-VARIABLE", text: "isolation: {servers: {s: {env: {pass: [HOME]}}}}", names: "HOME" },
  { code: "SCOPE-CONFLICT", text: "isolation: {trace_mode: full, trace: none}", names: "trace" },
  { code: "SCOPE-IDLE", text: 'isolation: {servers: {s: {net: {mode: open, allow: ["a.b:1"]}}}}', names: "net" },
  { code: "SCOPE-TOOL", text: "isolation: {servers: {mail: {tools: {sned: {}}}}}", names: "sned", lists },
  {
    code: "SCOPE-LABELS",
    text: 'isolation: {servers: {mail: {net: {allow: ["a.b:1"]}}}}\nlabels: {mail.read: {effects: [read.local]}}',
    names: "read",
    lists,
  },
  { code: "KEEP", text: "keep: [{trace: [{user: hello}]}]", names: "trace" },
  { code: "DIGESTS", text: "audit: {payload: digests}", names: "restart" },
  { code: "BOUNDED", text: "admission: {pre_result_max_chars: 0}", names: "pre_result_max_chars" },
  { code: "INACTIVE", text: "flow: {mode: handles}", names: "handles" },
  {
    code: "DEAD",
    text: `${rule("when: {effect: execute.local}")}\nlabels: {m.read_x: {effects: [read.local]}}`,
    names: "R",
    lists: { m: [{ name: "read_x", annotations: { readOnlyHint: true } }] },
  },
  {
    code: "SHADOWED",
    text: "rules: [{id: A, tier: block, why: w, when: mail.send}, {id: B, tier: confirm, why: w, when: mail.send}]",
    names: "B",
  },
  { code: "ALWAYS-DENY", text: rule("when: mail.send"), names: "mail.send", lists },
  { code: "UNSCOPED", text: "rules: [{id: R, tier: allow, why: w, when: send}]", names: "any server" },
  {
    code: "LIFTS-BOUND",
    text: "labels: {mail.send: {args: {body: {role: content, bound: public}}, effects: write.external}}\nrules: [{id: R, tier: allow, why: w, when: mail.send}]",
    names: "body",
  },
  { code: "APPROVER", text: "approvals: {by: other}", names: "by: other" },
  { code: "UNLABELLED", text: "mode: enforce", names: "mail.send", lists },
];

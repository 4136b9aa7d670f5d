import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import {
  allow,
  block,
  confirm,
  effect,
  flow,
  label,
  labels,
  limit,
  must,
  never,
  not,
  policy,
  tool,
} from "../builder.ts";
import { type PolicyInput, type PolicyLoader, defaultInput, packLoader } from "./extends.ts";
import type { PolicyDocument } from "./policy-document.ts";
import { loadCanonical, loadPolicy } from "../load.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const nothing: PolicyLoader = () => undefined;

function canonicalOf(input: PolicyInput, loader: PolicyLoader = nothing): string {
  const loaded = loadPolicy(input, { loader, hash });
  if (loaded.policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics));
  return loaded.policy.canonical;
}

const asInput = (document: PolicyDocument, file = "policy.ts"): PolicyInput => ({ file, document });
const yaml = (document: PolicyDocument): PolicyInput => ({ file: "p.yaml", text: stringify(document) });
const from = (text: string): PolicyInput => ({ file: "p.yaml", text: `version: 1\n${text}` });

test("short and long forms, in any order, are one policy", () => {
  const short = `lattice: {categories: [medical]}
stores: {s: {audience: me}}
labels: {mail.send: {capabilities: external_write, args: {to: recipient}, output: private, opens: {store: s, audience: me}}}
rules:
  - {id: B, tier: confirm, why: " w ", when: send}
  - {id: A, tier: block, why: w, when: {tool: [mail.send], arg: {to: x, n: {range: {max: 1.50}}}, data: private}, serves: S}
  - {id: C, tier: block, why: w, atMost: {of: send, count: 1, within: 3600s, key: to}}
`;
  const long = `lattice: {confidentiality: [public, sensitive, private], categories: [medical], groups: [anyone, me]}
mode: enforce
flow: {mode: provenance}
stores: {s: {audience: [me]}}
labels:
  mail.send:
    effects: {must: [write.external], may: [write.external]}
    args: {to: {role: recipient}}
    output: {confidentiality: private}
    opens: [{store: s, audience: [me]}]
rules:
  - {id: C, tier: block, why: w, atMost: {of: {tool: "*.send"}, count: 1, within: 1h, key: {argument: to, form: id}}}
  - {id: A, tier: block, why: w, serves: [S], when: {tool: mail.send, arg: {to: {equals: x}, n: {range: {max: "1.5"}}}, data: [{confidentiality: private}]}}
  - {id: B, tier: confirm, why: w, when: {tool: ["*.send"]}}
`;
  expect(canonicalOf(from(short))).toBe(canonicalOf(from(long)));
});

test("canonical JSON is a policy whose canonical form it is, and only that text is accepted", () => {
  const text = canonicalOf(from("rules: [{id: A, tier: block, why: w, when: send}]"));
  expect(canonicalOf({ file: "c.json", text })).toBe(text);
  expect(loadCanonical(text, hash)?.digest).toBe(hash(text));
  expect(loadCanonical(text, hash)?.ir).toEqual(
    loadPolicy(from("rules: [{when: send, why: w, tier: block, id: A}]"), { loader: nothing, hash }).policy?.ir,
  );
  expect(loadCanonical(`${text} `, hash)).toBeUndefined();
  expect(loadCanonical("{", hash)).toBeUndefined();
});

const words = (...each: string[]): fc.Arbitrary<string> => fc.constantFrom(...each);
const pattern = fc.oneof(
  words("mail.send", "files.*", "read"),
  fc.record(
    {
      tool: fc.oneof(words("mail.send", "read"), fc.array(words("a.b", "c"), { minLength: 1, maxLength: 3 })),
      effect: fc.oneof(words("write.external", "read"), fc.array(words("write.local", "execute"), { minLength: 1 })),
      flags: fc.constant("irreversible" as const),
      workspace: fc.boolean(),
      data: fc.oneof(words("private", "sensitive"), fc.record({ trust: fc.constant("untrusted" as const) })),
      arg: fc.dictionary(
        words("to", "n"),
        fc.oneof(words("x", "y"), fc.record({ not: words("x") }), fc.record({ glob: words("a*", "**/b") })),
        {
          minKeys: 1,
        },
      ),
    },
    { requiredKeys: ["tool"] },
  ),
);
const rule = fc.record({
  id: fc.uuid().map((id) => `r${id}`),
  tier: fc.constantFrom("block" as const, "confirm" as const),
  why: fc.constant("w"),
  when: pattern,
});
const documents: fc.Arbitrary<PolicyDocument> = fc
  .record(
    {
      mode: fc.constantFrom("enforce" as const, "observe" as const),
      flow: fc.record({ mode: fc.constantFrom("strict" as const, "provenance" as const) }),
      rules: fc.array(rule, { maxLength: 4 }),
      accepts: fc.constant<string[]>([]),
      limits: fc.record({ runIdle: words("8h", "28800s", "90m") }),
    },
    { requiredKeys: [] },
  )
  .map((document) => policy(document));

test("law: a document in YAML, in JSON and from the builder has one canonical form", () => {
  fc.assert(
    fc.property(documents, (document) => {
      const built = canonicalOf(asInput(document));
      expect(canonicalOf(yaml(document))).toBe(built);
      expect(canonicalOf({ file: "p.json", text: JSON.stringify(document) })).toBe(built);
      expect(canonicalOf({ file: "c.json", text: built })).toBe(built);
    }),
    { numRuns: Math.min(runs, 2_000) },
  );
});

test("the builder says what YAML says", () => {
  const built = policy({
    stores: { s: { audience: "me" } },
    rules: [
      block("B", effect("write.external", { data: label("private") }), { why: "w" }),
      must.gate("G", { before: "a.del", need: "a.backup", key: "id" }, { why: "w" }),
      limit.atMost(
        "L",
        { of: tool("a.send", { to: not({ domain: "example.com" }) }), count: 2 },
        { why: "w", tier: "confirm" },
      ),
    ],
    hazards: {
      H: { consent: "may", never: flow("private", effect("write.external")) },
      I: { never: never.sequence({ after: "a.pay", never: "a.send", until: "a.ask", within: "60m", key: "to" }) },
      J: { never: never.unless({ call: "a.del", need: "a.backup", within: "3600s", key: "id" }) },
      K: { never: never.atMost({ of: "a.send", count: 5, within: "24h" }) },
    },
  });
  const written = `stores: {s: {audience: me}}
rules:
  - {id: B, tier: block, why: w, when: {effect: write.external, data: {confidentiality: private}}}
  - {id: G, tier: must, why: w, gate: {before: a.del, need: a.backup, key: id}}
  - {id: L, tier: confirm, why: w, atMost: {of: {tool: a.send, arg: {to: {not: {domain: example.com}}}}, count: 2}}
hazards:
  H: {consent: may, never: {flow: {from: private, to: {effect: write.external}}}}
  I: {never: {sequence: {after: a.pay, never: a.send, until: a.ask, within: 1h, key: {argument: to}}}}
  J: {never: {unless: {call: a.del, need: a.backup, within: 1h, key: {argument: id, form: id}}}}
  K: {never: {atMost: {of: a.send, count: 5, within: 1d}}}
`;
  expect(canonicalOf(asInput(built))).toBe(canonicalOf(from(written)));
});

test("the builder has a word for every kind of rule", () => {
  const said = { why: "w" };
  const rules = [
    confirm("a", "x", said),
    allow("b", "x", said),
    must.owed("c", { after: "x", owe: "y", within: 1 }, said),
    must.inject("d", { before: "x", call: { tool: "log.write" } }, said),
    must.immediately("e", { before: "x", need: "y" }, said),
    must.byEnd("f", { after: "x", by: "y", action: "report" }, said),
    limit.absence("g", { after: "x", never: "y" }, said),
    limit.exactlyOnce("h", { of: "x" }, said),
    limit.budget("i", { of: "x", argument: "n", limit: 5 }, said),
  ];
  const built = loadPolicy(asInput(policy({ rules, labels: { "s.x": labels({ effects: "read" }) } }), "built.ts"), {
    loader: nothing,
    hash,
  });
  expect(built.diagnostics).toEqual([]);
  expect(built.policy?.ir.rules.map((each) => each.id)).toEqual(rules.map((each) => each.id));
  const wrong = loadPolicy(asInput(policy({ accepts: ["H"] })), { loader: nothing, hash });
  expect(wrong.diagnostics.map(({ file, line, column }) => [file, line, column])).toEqual([["policy.ts", 0, 0]]);
});

test("packs of one name, and shipped names, are kept apart", () => {
  const files: { readonly [name: string]: string } = { a: "a.yaml", b: "b.yaml" };
  const loader = packLoader(new Map(), (name) => {
    const file = files[name];
    return file === undefined ? undefined : { file, text: "version: 1\npack: {name: same}\n" };
  });
  const twice = loadPolicy(from("extends: [a, b]"), { loader, hash });
  expect(twice.diagnostics.map((found) => found.code)).toContain("SG-POLICY-PACK");
  expect(packLoader(new Map())("default", "x")).toBe(defaultInput);
  expect(packLoader(new Map([["p", "text"]]))("p", "x")).toEqual({ file: "packs/p.yaml", text: "text" });
  expect(packLoader(new Map())("p", "x")).toBeUndefined();
});

describe("extends", () => {
  const files: { readonly [name: string]: string } = {
    base: "version: 1\nlattice: {categories: [medical]}\nlabels: {a.x: {effects: read.local, output: private}}\nrules: [{id: R, tier: block, why: base, when: a.x}, {id: S, tier: block, why: base, when: a.y}]\n",
    loop: "version: 1\nextends: [loop2]\n",
    loop2: "version: 1\nextends: [loop]\n",
    bad: "version: 1\nmoed: observe\n",
    ruled: "version: 1\npack: {name: ruled}\nrules: [{id: R, tier: block, why: w, when: a.x}]\n",
    pack: "version: 1\npack: {name: pack, reach: local}\nstores: {g: {audience: me}}\nlabels: {x: {effects: read.local, reads: g}}\n",
  };
  const loader: PolicyLoader = (name) =>
    files[name] === undefined ? undefined : { file: `${name}.yaml`, text: files[name] };
  const load = (text: string) => loadPolicy(from(text), { loader, hash });

  test("later documents replace rules by id and labels by key, and add categories", () => {
    const { policy: loaded } = load(
      "extends: [base]\nlattice: {categories: [finance]}\nlabels: {a.x: {output: public}}\nrules: [{id: R, tier: confirm, why: own, when: a.x}]\n",
    );
    expect(loaded?.policy.rules.map(({ id, tier, why }) => [id, tier, why])).toEqual([
      ["R", "confirm", "own"],
      ["S", "block", "base"],
    ]);
    expect(loaded?.policy.lattice.categories).toEqual(["finance", "medical"]);
    expect(loaded?.policy.labels["a.x"]).toEqual({
      effects: { must: ["read.local"], may: ["read.local"] },
      output: { confidentiality: "public" },
    });
  });

  test("a pack is joined, by name or for a server, and its faults are shown in its own file", () => {
    expect(Object.keys(load("extends: [pack]\n").policy?.policy.packs ?? {})).toEqual(["pack"]);
    const chosen = load("servers: {m: {pack: pack}}\n").policy;
    expect(chosen?.policy.packs["pack"]?.labels["x"]?.reads).toEqual(["g"]);
    expect(chosen?.ir.stores.map((store) => store.name)).toEqual(["g"]);
    const { diagnostics } = loadPolicy(from("extends: [pack]\n"), {
      loader: () => ({ file: "pack.yaml", text: files["pack"]?.replace("reads: g", "output: privat") ?? "" }),
      hash,
    });
    expect(diagnostics.map(({ code, file, line }) => [code, file, line])).toEqual([
      ["SG-POLICY-LEVEL", "pack.yaml", 4],
    ]);
  });

  test.each([
    ["extends: [nowhere]", "SG-POLICY-EXTENDS", "p.yaml", 2],
    ["extends: [loop]", "SG-POLICY-CYCLE", "loop2.yaml", 2],
    ["extends: [bad]", "SG-POLICY-KEY", "bad.yaml", 2],
    ["servers: {m: {pack: base}}", "SG-POLICY-PACK", "p.yaml", 2],
    ["extends: [ruled]", "SG-POLICY-PACK", "ruled.yaml", 3],
    [
      "rules: [{id: R, tier: block, why: w, when: a}, {id: R, tier: block, why: w, when: b}]",
      "SG-POLICY-ID",
      "p.yaml",
      2,
    ],
    ["hazards: {R: {never: {call: a}}}\nrules: [{id: R, tier: block, why: w, when: a}]", "SG-POLICY-ID", "p.yaml", 3],
    ["labels: {a.x: {}, b.x: {}}\nrules: [{id: R, tier: allow, why: w, when: x}]", "SG-POLICY-AMBIGUOUS", "p.yaml", 3],
    ["labels: {a.x: {}, x: {}}", "SG-POLICY-ID", "p.yaml", 2],
    ["rules: [{id: R, tier: allow, why: w, when: {arg: {}}}]", "SG-POLICY-EMPTY", "p.yaml", 2],
  ])("%s is refused", (text, code, file, line) => {
    const { policy: loaded, diagnostics } = load(text);
    expect(loaded).toBeUndefined();
    expect(diagnostics.map((found) => [found.code, found.file, found.line])).toContainEqual([code, file, line]);
  });

  test("so is an endless chain", () => {
    let count = 0;
    const endless: PolicyLoader = () => ({ file: `f${(count += 1)}`, text: "version: 1\nextends: [next]\n" });
    const { diagnostics } = loadPolicy(from("extends: [next]"), { loader: endless, hash });
    expect(diagnostics.at(-1)?.code).toBe("SG-POLICY-EXTENDS");
    expect(count).toBeLessThan(100);
  });
});

describe("names", () => {
  const manifests = { mail: ["send", "read.all"], files: ["read", "send"] };
  const load = (name: string, tier = "allow") =>
    loadPolicy(from(`rules: [{id: R, tier: ${tier}, why: w, when: "${name}"}]`), { loader: nothing, hash, manifests });

  test.each([
    ["read", "files.read"],
    ["mail.send", "mail.send"],
    ["read.all", "mail.read.all"],
    ["*.send", "*.send"],
    ["s*", "*.s*"],
    ["other.tool", "other.tool"],
  ])("%s is %s", (name, full) => {
    expect(load(name).policy?.policy.rules[0]?.when?.tool).toEqual([full]);
  });

  test.each(["block", "confirm"])("in a %s rule a bare name is the tool of that name on every server", (tier) => {
    const named = (name: string) => load(name, tier).policy?.policy.rules[0]?.when?.tool;
    expect(["read", "send", "s*", "mail.send", "other.tool"].map(named)).toEqual([
      ["*.read"],
      ["*.send"],
      ["*.s*"],
      ["mail.send"],
      ["other.tool"],
    ]);
    expect(named("read.all")).toEqual(["*.read.all", "read.all"]);
    expect(load("raed", tier).diagnostics.map(({ code }) => code)).toEqual(["SG-POLICY-TOOL"]);
  });

  test.each([
    ["gate: {before: read, need: read}", "must", { before: "*.read", need: "files.read" }],
    ["gate: {before: a.b, need: a.b, unless: read}", "must", { before: "a.b", need: "a.b", unless: "*.read" }],
    [
      "absence: {after: read, never: read, until: read}",
      "block",
      { after: "*.read", never: "*.read", until: "files.read" },
    ],
    ["atMost: {of: read, count: 1}", "confirm", { of: "*.read" }],
    ["exactlyOnce: {of: read, after: read}", "block", { of: "*.read", after: "*.read" }],
    ["budget: {of: read, argument: n, limit: 3}", "block", { of: "*.read" }],
    ["immediately: {before: read, need: read}", "must", { before: "*.read", need: "files.read" }],
    ["owed: {after: read, owe: read, before: read}", "must", { after: "*.read", owe: "files.read", before: "*.read" }],
    ["inject: {before: read, call: {tool: read}}", "must", { before: "*.read" }],
    ["byEnd: {after: read, by: read, action: hold}", "must", { after: "*.read", by: "files.read" }],
  ])("what arms, counts or forbids is any server's, what unlocks is the known one's: %s", (form, tier, wanted) => {
    const text = `rules: [{id: R, tier: ${tier}, why: w, ${form}}]`;
    const rule = loadPolicy(from(text), { loader: nothing, hash, manifests }).policy?.policy.rules[0];
    const [body] = Object.entries(rule ?? {}).flatMap(([key, value]) => (form.startsWith(`${key}:`) ? [value] : []));
    const full = Object.entries(wanted).map(([key, tool]) => [key, { tool: [tool] }]);
    expect(body).toMatchObject(Object.fromEntries(full));
  });

  test.each([
    ["flow: {from: private, to: read}", { flow: { to: { tool: ["*.read"] } } }],
    ["call: read", { call: { tool: ["*.read"] } }],
    ["unless: {call: read, need: read}", { unless: { call: { tool: ["*.read"] }, need: { tool: ["files.read"] } } }],
    ["atMost: {of: read, count: 1}", { atMost: { of: { tool: ["*.read"] } } }],
  ])("so it is in a hazard: %s", (never, wanted) => {
    const loaded = loadPolicy(from(`hazards: {H: {never: {${never}}}}`), { loader: nothing, hash, manifests });
    expect(loaded.policy?.policy.hazards["H"]?.never).toMatchObject(wanted);
  });

  test.each(["other.delete", "host:claude-code.Write"])(
    "%s may be a tool, although the policy labels only others of a server whose list was not given",
    (name) => {
      const text = `labels: {other.read: {effects: read.local}, "host:claude-code.Bash": {effects: execute}}\nrules: [{id: R, tier: block, why: w, when: "${name}"}]`;
      const loaded = loadPolicy(from(text), { loader: nothing, hash, manifests });
      expect(loaded.diagnostics).toEqual([]);
      expect(loaded.policy?.policy.rules[0]?.when?.tool).toEqual([name]);
    },
  );

  test.each([
    ["send", "SG-POLICY-AMBIGUOUS", "write one of `mail.send`, `files.send`"],
    ["raed", "SG-POLICY-TOOL", "did you mean `read`?"],
    ["mail.sned", "SG-POLICY-TOOL", "did you mean `send`?"],
    ["host:*", "SG-POLICY-TOOL", "write `host:*.*` for all of them"],
    ["host:claude-code", "SG-POLICY-TOOL", "write `host:claude-code.*` for all of them"],
  ])("%s is refused: %s", (name, code, remedy) => {
    expect(load(name).diagnostics.map((found) => [found.code, found.remedy, found.line])).toEqual([[code, remedy, 2]]);
  });
});

test("a store may have any name, the one of a prototype as well", () => {
  const loaded = loadPolicy(from("stores: {__proto__: {audience: me}}\nlabels: {a.b: {reads: __proto__}}"), {
    loader: nothing,
    hash,
  });
  expect(loaded.policy?.ir.stores.map(({ name, audience }) => [name, audience])).toEqual([["__proto__", 2]]);
});

test.each(["{a.x: {}, a.y: {}}", "{x: {p: 1}, a.x: {p: 2}}", "{}"])(
  "a step of a trace is one call or one person's act, or the rest of it would be looked at by nobody: %s",
  (step) => {
    const { policy: loaded, diagnostics } = loadPolicy(
      from(
        `labels: {a.x: {}}\nexpect:\n  - trace: [a.x]\n    verdict: deny\n  - trace: [${step}]\n    verdict: deny\n`,
      ),
      { loader: nothing, hash },
    );
    expect(loaded).toBeUndefined();
    expect(diagnostics.map(({ code, line }) => [code, line])).toEqual([["SG-POLICY-CHOICE", 6]]);
  },
);

test("a canonical policy from elsewhere may not have two rules of one id, as automata go by it", () => {
  const text = canonicalOf(
    from("rules: [{id: A, tier: block, why: w, when: send}, {id: B, tier: allow, why: w, when: send}]"),
  );
  expect(loadCanonical(text, hash)).toBeDefined();
  expect(loadCanonical(text.replace('"id":"B"', '"id":"A"'), hash)).toBeUndefined();
});

test("a finding about one entry of `keep` has the place of that entry", () => {
  const text = "version: 1\nkeep:\n  - {trace: [s.x]}\n  - {trace: [s.x, s.y]}\n";
  const options = { loader: nothing, hash, manifests: { s: ["x"] } };
  const { diagnostics } = loadPolicy({ file: "p.yaml", text }, options);
  expect(diagnostics.map(({ code, line }) => [code, line])).toEqual([["SG-POLICY-TOOL", 4]]);
});

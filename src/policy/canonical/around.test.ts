/** What stands around a policy: selection, lints, explanations, import of permission lists. */
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import { importClaudePermissions } from "../lint/claude-import.ts";
import { explainTool } from "../lint/explain.ts";
import type { ToolLists } from "../contracts/contracts.ts";
import { lintPolicy } from "../lint/lint.ts";
import { loadPolicy } from "../load.ts";
import { selectionProblems, selectPolicy } from "../select.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const digestOf = (listed: JsonObject): string => hash(JSON.stringify(listed));

function compiled(text: string) {
  const loaded = loadPolicy({ file: "p.yaml", text: `version: 1\n${text}` }, { loader: () => undefined, hash });
  if (loaded.policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics));
  return loaded.policy;
}

describe("selection", () => {
  const policies = [
    "",
    "match: {client: 'c*'}",
    "match: {client: code}",
    "match: {principal: ann}",
    "match: {principal: 'a*', tag: ci}",
  ].map(compiled);
  const chosen = (principal: string, client?: string, tag?: string): number =>
    policies.findIndex((policy) => policy === selectPolicy(policies, { principal, client, tag }));

  test("the most specific match wins", () => {
    expect(chosen("bob")).toBe(0);
    expect(chosen("bob", "cursor")).toBe(1);
    expect(chosen("bob", "code")).toBe(2);
    expect(chosen("ann", "code")).toBe(3);
    expect(chosen("abe", "code", "ci")).toBe(4);
    expect(selectionProblems(policies)).toEqual([]);
    expect(selectPolicy(policies.slice(1), { principal: "bob", client: undefined, tag: undefined })).toBeUndefined();
  });

  test.each([
    ["", "", 1],
    ["match: {client: 'a*'}", "match: {client: '*b'}", 1],
    ["match: {client: a}", "match: {client: b}", 0],
    ["match: {client: 'a*'}", "match: {client: 'ab*'}", 0],
    ["match: {tag: a}", "match: {tag: a}", 1],
  ])("%s and %s tie: %i", (left, right, count) => {
    expect(selectionProblems([compiled(left), compiled(right)])).toHaveLength(count);
  });
});

const lists: ToolLists = {
  mail: [{ name: "send" }, { name: "list" }],
  files: [{ name: "read" }, { name: "frob" }],
};
const labels = `labels:
  mail.send: {effects: write.external.send, flags: [irreversible]}
  mail.list: {effects: read.external}
  files.read: {effects: read.local}
`;

describe("lints", () => {
  const lint = (text: string): readonly string[] =>
    lintPolicy(compiled(labels + text), lists, digestOf).map(
      (found) => `${found.code.slice(10)} ${found.path.join(".")}`,
    );

  test.each([
    ["", []],
    ["rules: [{id: R, tier: allow, why: w, when: {tool: mail.elicitation/create}}]", []],
    ["approvals: {by: other}", ["APPROVER approvals.by"]],
    ["match: {principal: 'os:1000'}\napprovals: {by: other}", ["APPROVER approvals.by"]],
    ["match: {principal: 'desk:*'}\napprovals: {by: other}", []],
    ["rules: [{id: R, tier: block, why: w, when: {tool: mail.list, effect: write}}]", ["DEAD rules.R"]],
    [
      "rules: [{id: R, tier: block, why: w, when: {tool: mail.list, flags: irreversible, data: private}}]",
      ["DEAD rules.R"],
    ],
    [
      "rules: [{id: R, tier: block, why: w, when: {tool: mail.send, flags: open_world, data: private}}]",
      ["DEAD rules.R"],
    ],
    ["rules: [{id: R, tier: block, why: w, atMost: {of: gone.tool, count: 1}}]", ["DEAD rules.R"]],
    [
      "rules: [{id: A, tier: block, why: w, when: {effect: write, data: private}}, {id: B, tier: confirm, why: w, when: {effect: write.external, data: private, held: private}}]",
      ["SHADOWED rules.B"],
    ],
    [
      "rules: [{id: A, tier: confirm, why: w, when: {tool: 'mail.*', held: private}}, {id: B, tier: confirm, why: w, when: {tool: mail.send, held: private}}]",
      ["SHADOWED rules.B"],
    ],
    [
      "rules: [{id: A, tier: block, why: w, when: {tool: mail.send}}, {id: B, tier: allow, why: w, when: {tool: mail.send, arg: {to: x}}}]",
      ["SHADOWED rules.B", "ALWAYS-DENY rules.A"],
    ],
    [
      "rules: [{id: A, tier: block, why: w, when: {tool: mail.send, arg: {to: x}}}, {id: B, tier: allow, why: w, when: {tool: mail.send, arg: {to: x}}}]",
      [],
    ],
    ["rules: [{id: A, tier: block, why: w, when: {tool: '*'}}]", ["ALWAYS-DENY rules.A"]],
    ["rules: [{id: A, tier: block, why: w, when: {tool: mail.gone2}}]", ["DEAD rules.A"]],
    ["rules: [{id: A, tier: block, why: w, mode: observe, when: {tool: mail.send}}]", []],
    [
      "rules: [{id: X, tier: confirm, why: w, when: {workspace: true, held: private, arg: {a: x}}}, {id: Y, tier: must, why: w, inject: {before: mail.send, call: {tool: mail.list}}}]",
      [],
    ],
    ["rules: [{id: A, tier: must, why: w, gate: {before: mail.send, need: gone.ok}}]", ["ALWAYS-DENY rules.A"]],
    ["hazards: {H: {never: {unless: {call: mail.send, need: gone.ok}}}}", ["ALWAYS-DENY hazards.H"]],
    ["hazards: {H: {never: {unless: {call: mail.send, need: mail.list}}}}", []],
    [
      "hazards: {H: {never: {unless: {call: mail.send, need: mail.list}}}}\nrules: [{id: B, tier: block, why: w, when: mail.list}]",
      ["ALWAYS-DENY rules.B", "ALWAYS-DENY hazards.H"],
    ],
    [
      "rules: [{id: A, tier: must, why: w, gate: {before: mail.send, need: mail.list}}, {id: B, tier: block, why: w, when: mail.list}]",
      ["ALWAYS-DENY rules.B", "ALWAYS-DENY rules.A"],
    ],
    [
      "rules: [{id: O, tier: must, why: w, owed: {after: gone.a, owe: mail.send, within: 1}}, {id: N, tier: block, why: w, absence: {after: mail.list, never: gone.b}}]",
      ["DEAD rules.N", "DEAD rules.O"],
    ],
  ])("%s", (text, wanted) => {
    expect(lint(text)).toEqual([...wanted, "UNLABELLED labels"]);
  });

  test("a rule may speak of a labelled tool whose server is not listed", () => {
    const text =
      "  chat.post: {effects: write.external.publish}\nrules: [{id: P, tier: block, why: w, when: {tool: chat.post, effect: ";
    expect(lint(`${text}write.external.publish, data: private}}]`)).toEqual(["UNLABELLED labels"]);
    expect(lint(`${text}write.external.pay, data: private}}]`)).toEqual(["DEAD rules.P", "UNLABELLED labels"]);
  });

  test("a rule without any condition refuses every call, whatever tools there are", () => {
    const policy = compiled("rules: [{id: E, tier: block, why: w, when: {tool: mail.send}}]");
    const rules = policy.ir.rules.map((rule) => {
      if (rule.kind !== "plain") return rule;
      const { tools: _tools, ...bare } = rule.when;
      return { ...rule, when: bare };
    });
    const found = lintPolicy({ ...policy, ir: { ...policy.ir, rules } }, { mail: [{ name: "send" }] }, digestOf);
    expect(found.map(({ message }) => message)).toContain("rule `E` refuses every call");
  });

  test("labels of tools that are not listed, and rules that refuse everything", () => {
    const policy = compiled(
      "labels: {mail.gone: {effects: read.local}}\nrules: [{id: E, tier: block, why: w, when: {held: public}}]",
    );
    const found = lintPolicy(policy, { mail: [{ name: "send" }] }, digestOf).map((each) => each.code);
    expect(found).toContain("SG-POLICY-TOOL");
    expect(lintPolicy(policy, {}, digestOf)).toEqual([]);
  });
});

describe("explanations", () => {
  test("say what is believed, from where, and which rules can speak", () => {
    const policy = compiled(`${labels}stores: {out: {audience: anyone}}
hazards: {H: {why: "no leaks", never: {flow: {from: private, to: {effect: write.external}}}}, C: {never: {call: files.read}}, S: {never: {sequence: {after: files.read, never: mail.send}}}}
rules:
  - {id: A, tier: block, why: "stays here", when: {effect: write.external, data: private}}
  - {id: G, tier: must, why: "list first", gate: {before: mail.send, need: mail.list, unless: files.read}}
  - {id: N, tier: block, why: x, absence: {after: files.read, never: mail.send, until: mail.list}}
  - {id: L, tier: block, why: x, atMost: {of: mail.send, count: 1}}
  - {id: O, tier: must, why: x, owed: {after: files.read, owe: files.frob, within: 1, before: mail.send}}
  - {id: I, tier: must, why: x, immediately: {before: mail.send, need: mail.list}}
  - {id: J, tier: must, why: x, inject: {before: mail.send, call: {tool: log.write}}}
  - {id: E, tier: must, why: x, byEnd: {after: mail.list, by: mail.send, action: report}}
  - {id: F, tier: block, why: x, when: {flags: open_world}}
`);
    const found = explainTool(policy, {
      server: "mail",
      tool: "send",
      digestOf,
      listed: { name: "send", inputSchema: { properties: { to: { type: "string" } } } },
    });
    expect(found.source).toBe("operator");
    expect(found.rules.map((rule) => rule.id)).toEqual(["A", "E", "G", "I", "J", "L", "N", "O"]);
    expect(found.hazards.map((hazard) => hazard.id)).toEqual(["H", "S"]);
    expect(found.arguments).toEqual([{ name: "to", role: "recipient", seenBy: ["anyone"], bound: "public" }]);
    expect(found.sentences[0]).toBe("mail.send may do: write.external.send; your policy says so.");
    expect(found.sentences).toContain("Argument to is a recipient and is seen by anyone; up to public may go there.");
  });

  test("name the categories that may go to a sink", () => {
    const policy = compiled(`lattice: {categories: [finance, medical]}
stores: {desk: {audience: me, label: {categories: [finance]}}}
labels: {desk.put: {effects: write.external, args: {to: recipient, text: content}, writes: desk}}
`);
    const found = explainTool(policy, { server: "desk", tool: "put", digestOf });
    expect(found.arguments.map(({ name, bound }) => `${name}: ${bound}`)).toEqual(["text: public", "to: public"]);
  });

  test("A5: name the types of arguments and of parts of the result", () => {
    const policy = compiled(`labels:
  desk.put: {effects: read.local, args: {id: {role: identifier, type: file}}, output: {confidentiality: public, fields: {/id: {type: file}}}}
`);
    const found = explainTool(policy, { server: "desk", tool: "put", digestOf });
    expect(found.arguments).toMatchObject([{ name: "id", type: "file" }]);
    expect(found.types).toEqual([{ pointer: "/id", type: "file" }]);
    expect(found.sentences).toContain("At /id stands a name of the type file.");
    expect(found.sentences).toContain("Argument id is an identifier of the type file and stays here.");
  });

  test("name the program that has to agree", () => {
    const policy = compiled(`labels: {s.t: {effects: read.local}}
rules: [{id: R, tier: block, why: it must fit, when: s.t, predicate: {name: fits, source: "export const fits = 1"}}]
`);
    const found = explainTool(policy, { server: "s", tool: "t", digestOf });
    expect(found.rules).toEqual([{ id: "R", tier: "block", why: "it must fit", program: "fits" }]);
    expect(found.sentences).toContain("Rule R (block) can speak if its program `fits` says so: it must fit.");
  });

  test("of an unknown tool say that the worst is assumed", () => {
    const found = explainTool(compiled(""), { server: "s", tool: "t", digestOf });
    expect(found.sentences[0]).toBe("s.t may do: anything; unlabelled, so the worst is assumed.");
    expect(found.sentences).toContain("No rule names it; the default decides.");
    const labelled = compiled(
      "stores: {g: {}}\nlabels: {s.t: {effects: [], reads: g, writes: g, output: {confidentiality: public, trust: trusted, fields: {/a: private}}, args: {p: path}}}",
    );
    const sentences = explainTool(labelled, { server: "s", tool: "t", digestOf }).sentences.join(" ");
    expect(sentences).toContain("may do: nothing");
    expect(sentences).toContain("At /a it returns");
    expect(sentences).toContain("It reads the store g. It writes to the store g.");
    expect(sentences).toContain("Argument p is a path and stays here.");
  });
});

test("permission lists are imported where a rule says the same, and the rest is listed", () => {
  const { document, imported, left } = importClaudePermissions({
    permissions: {
      allow: ["mcp__github__list_issues", "WebSearch", "Bash(npm test:*)", "WebFetch(domain:example.com)", "Read(~/x)"],
      ask: ["mcp__slack", "WebFetch(domain:example.com)", 7],
      deny: ["mcp__files__*", "Bash", "mcp__a.b__c", "???"],
    },
  });
  expect(imported).toBe(6);
  expect(document.rules?.map((rule) => [rule.tier, JSON.stringify(rule.when)])).toEqual([
    ["block", '{"tool":"files.*"}'],
    ["block", '{"tool":"host:claude-code.Bash"}'],
    ["confirm", '{"tool":"slack.*"}'],
    ["confirm", '{"tool":"host:claude-code.WebFetch","arg":{"url":{"domain":"example.com"}}}'],
    ["allow", '{"tool":"github.list_issues"}'],
    ["allow", '{"tool":"host:claude-code.WebSearch"}'],
  ]);
  expect(left.map(({ list, entry }) => [list, entry])).toEqual([
    ["deny", "mcp__a.b__c"],
    ["deny", "???"],
    ["ask", "7"],
    ["allow", "Bash(npm test:*)"],
    ["allow", "WebFetch(domain:example.com)"],
    ["allow", "Read(~/x)"],
  ]);
  const loaded = loadPolicy({ file: "i", document: { ...document, extends: [] } }, { loader: () => undefined, hash });
  expect(loaded.diagnostics).toEqual([]);
  expect(importClaudePermissions("x").imported).toBe(0);
  // A word where a list belongs may be what forbids.
  const words = importClaudePermissions({ permissions: { deny: "Bash", ask: null, allow: [] } });
  expect(words.left).toEqual([{ list: "deny", entry: '"Bash"', reason: "it is not a list" }]);
});

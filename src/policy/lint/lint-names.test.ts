import { describe, expect, it } from "vitest";
import type { ToolLists } from "../contracts/contracts.ts";
import { lintPolicy } from "./lint.ts";
import { lintNames } from "./lint-names.ts";
import { loadPolicy } from "../load.ts";

const properties = (...names: readonly string[]) => ({ properties: Object.fromEntries(names.map((one) => [one, {}])) });
const lists: ToolLists = {
  mail: [
    { name: "send", inputSchema: { type: "object", ...properties("to", "body", "a/b") } },
    { name: "search", inputSchema: { type: "object", additionalProperties: false, ...properties("query") } },
    { name: "open", inputSchema: { type: "object", additionalProperties: {}, ...properties("x") } },
    { name: "either", inputSchema: { type: "object", anyOf: [], ...properties("x") } },
    { name: "silent" },
  ],
};

function said(text: string, from: "servers" | "packs" = "servers", known: ToolLists = lists): readonly string[] {
  const input = { file: "p.yaml", text: `version: 1\nextends: []\n${text}` };
  const { policy, diagnostics } = loadPolicy(input, { loader: () => undefined, hash: (one) => one });
  if (policy === undefined) throw new Error(JSON.stringify(diagnostics));
  return lintNames(policy, known, from).map(
    ({ code, severity, path, message, remedy }) =>
      `${severity} ${code.slice(10)} ${path.join(".")}: ${message}: ${remedy}`,
  );
}

const rule = (when: string): string => `rules: [{id: R, tier: confirm, why: w, when: ${when}}]`;

describe("an argument that no tool lists", () => {
  it("is named with the nearest that one does", () => {
    const lacks = "`bdy` is an argument that `mail.send` does not list: did you mean `body`?";
    expect(said("labels: {mail.send: {args: {bdy: content}}}")).toEqual([
      `warning ARGUMENT labels.mail.send: \`labels\`: ${lacks}`,
    ]);
    for (const when of ["{tool: mail.send, arg: {bdy: x}}", "{tool: mail.send, arg: {/bdy/0: x}}"])
      expect(said(rule(when))).toEqual([`warning ARGUMENT rules.R: rule \`R\`: ${lacks}`]);
    expect(said(rule("{tool: mail.send, data: {confidentiality: private, args: [bdy]}}"))).toHaveLength(1);
    expect(said("rules: [{id: R, tier: block, why: w, budget: {of: mail.send, argument: bdy, limit: 1}}]")).toEqual([
      `warning ARGUMENT rules.R: rule \`R\`: ${lacks}`,
    ]);
    for (const never of [
      "call: {tool: mail.send, arg: {bdy: x}}",
      "flow: {from: private, to: {tool: mail.send, arg: {bdy: x}}}",
      "sequence: {after: mail.search, never: {tool: mail.send, arg: {bdy: x}}}",
    ])
      expect(said(`hazards: {H: {loss: L, never: {${never}}}}`)).toEqual([
        `warning ARGUMENT hazards.H: hazard \`H\`: ${lacks}`,
      ]);
    expect(said(rule("{tool: [mail.send, mail.search], arg: {qurey: x}}"))).toEqual([
      "warning ARGUMENT rules.R: rule `R`: `qurey` is an argument that none of its tools lists: did you mean `query`?",
    ]);
    expect(said(rule("{tool: mail.send, arg: {bdy: x}}"), "packs")).toEqual([
      `info ARGUMENT rules.R: rule \`R\`: ${lacks}`,
    ]);
  });

  it("is not told where one of the tools has it, or may have it, or nobody knows", () => {
    for (const when of [
      "{tool: mail.send, arg: {body: x}}",
      "{tool: mail.send, arg: {/a~1b/0: x}}",
      "{tool: [mail.send, mail.search], arg: {query: x}}",
      '{tool: "mail.*", arg: {bdy: x}}',
      "{tool: mail.open, arg: {bdy: x}}",
      "{tool: mail.either, arg: {bdy: x}}",
      "{tool: mail.silent, arg: {bdy: x}}",
      "{tool: [mail.send, post.send], arg: {bdy: x}}",
      "{effect: write, arg: {bdy: x}}",
      "{tool: mail.gone, arg: {bdy: x}}",
      "{tool: mail.send, workspace: false}",
    ])
      expect(said(rule(when))).toEqual([]);
    expect(said("rules: [{id: R, tier: block, why: w, exactlyOnce: {of: mail.send, after: mail.search}}]")).toEqual([]);
  });
});

describe("a tool that is not listed", () => {
  it("is named under `labels` with the nearest that its server lists", () => {
    expect(said("labels: {mail.snd: {output: public}}")).toEqual([
      "warning TOOL labels.mail.snd: `mail.snd` is labelled, but its server lists no such tool: did you mean `send`?",
    ]);
    expect(said("labels: {mail.snd: {output: public}}", "servers", { mail: [] })[0]).toContain("remove the labels");
    expect(said("labels: {mail.send: {}, post.snd: {}, 'mail.*': {}}")).toEqual([]);
  });

  it("is noted in rules where a pack lists one of a like name, and nobody labelled it", () => {
    expect(said(rule("mail.snd"), "packs")).toEqual([
      "info TOOL rules.R: rule `R` speaks of `mail.snd`, which the pack of that server does not list: did you mean `send`?",
    ]);
    expect(said(rule("mail.forward_all"), "packs")).toEqual([]);
    expect(said(`labels: {mail.snd: {output: public}}\n${rule("mail.snd")}`, "packs")).toEqual([]);
  });
});

it("is part of what a policy is warned of under the lists that are given", () => {
  const input = { file: "p.yaml", text: `version: 1\nextends: []\n${rule("{tool: mail.send, arg: {bdy: x}}")}` };
  const { policy } = loadPolicy(input, { loader: () => undefined, hash: (one) => one });
  if (policy === undefined) throw new Error("it loads");
  expect(lintPolicy(policy, lists, () => "").map(({ code }) => code)).toContain("SG-POLICY-ARGUMENT");
});

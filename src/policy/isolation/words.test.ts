/** Scopes in words, and what they say against the tools that servers list. */
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import type { CompiledPolicy } from "../compile/compile.ts";
import { explainTool } from "../lint/explain.ts";
import { lintPolicy } from "../lint/lint.ts";
import { loadPolicy } from "../load.ts";
import { isolationOrder } from "../ir/isolation-order.ts";
import { orderSentences } from "./words.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const digestOf = (listed: JsonObject): string => hash(JSON.stringify(listed));

function compiled(text: string): CompiledPolicy {
  const loaded = loadPolicy({ file: "p.yaml", text: `version: 1\n${text}` }, { loader: () => undefined, hash });
  if (loaded.policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics));
  return loaded.policy;
}

function sentences(section: string, tool?: string): string {
  const order = isolationOrder(compiled(`isolation: ${section}`), "s");
  if (order === undefined) throw new Error("no order");
  return orderSentences(order, tool).join("\n");
}

describe("an order in words", () => {
  test("of a server of which nothing is said", () => {
    expect(sentences("{}")).toBe(
      [
        "s runs isolated, in the best tier there is.",
        "It writes into a projection of the workspace; its writes (at most 512 MiB) reach it after each call whose result passes.",
        "It reaches no network.",
        "It starts any program that it can see.",
        "It gets nothing of your environment but settings of language and terminal.",
        "It has at most 1024 MiB of memory, 128 processes, 1024 open files, 3600 s of processor time, files of 256 MiB, 120 s for one call.",
        "Its reads, writes, connections and programs are traced; a call that leaves this scope is rejected.",
      ].join("\n"),
    );
  });

  test.each([
    ["{backend: off}", "s runs bare: nothing keeps it from anything"],
    ["{backend: where-possible}", "s runs isolated where this machine gives tier A, else bare."],
    ["{backend: where-possible}", "Of your environment it gets what your client's configuration names for it."],
    ["{backend: where-possible, require: A}", "s runs isolated, in tier A or better, or not at all."],
    ["{servers: {s: {backend: learn}}}", "It is only watched"],
    ["{require: A-}", "in tier A- or better, or not at all"],
    ["{defaults: {files: {workspace: {mode: read}}}}", "It reads the workspace and cannot write into it."],
    ["{defaults: {files: {workspace: {mode: none}}}}", "It does not see the workspace."],
    ["{defaults: {files: {workspace: {mode: direct}}}}", "It writes into the workspace itself; nothing"],
    ["{defaults: {files: {workspace: {per: run}}}}", "reach it when the run ends well."],
    ["{defaults: {files: {workspace: {commit: review}}}}", "wait for you: `sluicegate changes` shows them."],
    ["{defaults: {files: {workspace: {commit: never}}}}", "never reach it."],
    ["{defaults: {files: {read: [/a, /b], write: [/c], deny: [/d]}}}", "It reads /a, /b.\nIt writes /c itself"],
    ["{defaults: {files: {deny: [/d]}}}", "It never sees /d."],
    ["{defaults: {files: {read: [/1, /2, /3, /4, /5, /6, /7, /8]}}}", "It reads /1, /2, /3, /4, /5, /6 and 2 more."],
    ["{defaults: {net: {mode: open}}}", "It reaches every network this machine does, so no tier above B can hold it."],
    ["{defaults: {net: {mode: list}}}", "It connects only to what a call is granted, with at most 32 MiB in one call"],
    [
      "{defaults: {net: {allow: [a.example], callBytesMax: 9}}}",
      "It connects to a.example:443, with at most 9 bytes in",
    ],
    ["{defaults: {exec: {mode: none}}}", "It starts no other program."],
    ["{defaults: {exec: {programs: [git]}}}", "It starts git and no other program."],
    ["{defaults: {env: {pass: [A], set: {B: c}}}}", "it gets A.\nIt is given B by the policy."],
    ["{defaults: {sockets: [/srv/x.sock]}}", "It connects to the sockets /srv/x.sock of this machine."],
    [
      "{trace: effects, onViolation: end}",
      "what it reads is not; a call that leaves this scope is rejected and the server ends.",
    ],
    ["{trace: none, onViolation: revoke}", "only its writes, its connections and its limits are known; a call"],
    ["{defaults: {serial: true}}", "are traced, one call at a time; a call"],
  ])("%s", (section, said) => {
    expect(sentences(section)).toContain(said);
  });

  test("tools are spoken of, all or one", () => {
    const section = `{servers: {s: {tools: {
      t: {read: [/a], write: [/b], allow: [c.example], programs: [d]}, u: {read: [/e]}, v: {}}}}}`;
    const all = sentences(section);
    expect(all).toContain(
      "While t is called, it may also read /a and write /b and connect to c.example:443 and start d.",
    );
    expect(all).toContain("While u is called, it may also read /e.");
    expect(all).not.toContain("While v");
    expect(sentences(section, "u")).not.toContain("While t");
    expect(sentences(section, "w")).not.toContain("While");
  });

  test("the explanation of a tool ends with what its server may touch", () => {
    const text = "isolation: {servers: {s: {tools: {t: {read: [/a]}, u: {read: [/b]}}}}}";
    const found = explainTool(compiled(text), { server: "s", tool: "t", digestOf });
    expect(found.sentences.slice(-found.isolation.length)).toEqual(found.isolation);
    expect(found.isolation.at(-1)).toBe("While t is called, it may also read /a.");
    expect(explainTool(compiled("mode: enforce"), { server: "s", tool: "t", digestOf }).isolation).toEqual([]);
  });
});

describe("scopes against tools", () => {
  const lists = {
    s: [{ name: "look" }, { name: "send" }, { name: "vague" }, { name: "a" }, { name: "b" }, { name: "c" }],
  };
  const labels = `
labels:
  s.look: {effects: [read.local]}
  s.send: {effects: [write.external.send]}
  s.vague: {effects: [read]}
`;
  const findings = (text: string): readonly string[] =>
    lintPolicy(compiled(text), lists, digestOf)
      .filter(({ code }) => code.includes("SCOPE"))
      .map(({ severity, code, message, path }) => `${severity} ${code} ${path.join(".")}: ${message}`);

  test("a scope of a tool that is not listed is never used", () => {
    expect(findings("isolation: {servers: {s: {tools: {lok: {}, look: {}}}}}")).toEqual([
      "warning SG-POLICY-SCOPE-TOOL isolation.servers.s.tools.lok: server `s` lists no tool `lok`, so this scope is never used",
    ]);
  });

  test("local tools of a server that may connect whichever is called", () => {
    const wide = `${labels}isolation: {servers: {s: {net: {allow: [a.example]}}}}`;
    expect(findings(wide)).toEqual([
      "info SG-POLICY-SCOPE-LABELS isolation.servers.s.net: `look` of `s` are labelled local, and the server may connect during any call",
    ]);
    const many = wide.replace(
      "s.send",
      "s.a: {effects: [read.local]}\n  s.b: {effects: [read.local]}\n  s.c: {effects: [write.local]}\n  s.send",
    );
    expect(findings(many)[0]).toContain("`look`, `a`, `b` and 1 more of `s` are labelled local");
    expect(findings(wide.replace("allow: [a.example]", "mode: open"))).toHaveLength(1);
  });

  test.each([
    `${labels}isolation: {}`,
    `${labels}isolation: {servers: {s: {net: {mode: list}}}}`,
    `${labels}isolation: {servers: {s: {backend: off, net: {mode: open}}}}`,
    `${labels}isolation: {servers: {s: {tools: {send: {allow: [a.example]}}}}}`,
    `isolation: {servers: {s: {net: {allow: [a.example]}}}}`,
    labels,
  ])("nothing to say of %s", (text) => {
    expect(findings(text)).toEqual([]);
  });

  test("a tool that is local only outside a case is not local", () => {
    const text = `${labels.replace("{effects: [read.local]}", "{effects: [read.local], cases: [{when: {arg: {x: y}}, effects: {may: [read.local, read.external]}}]}")}isolation: {servers: {s: {net: {allow: [a.example]}}}}`;
    expect(findings(text)).toEqual([]);
  });
});

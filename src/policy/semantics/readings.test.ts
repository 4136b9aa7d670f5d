import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import type { ReadValue } from "../../core/reading.ts";
import { shippedOptions } from "../../../test/kit/policy/load-packs.ts";
import { contractOfTool } from "../contracts/contracts.ts";
import { explainTool } from "../lint/explain.ts";
import { loadPolicy } from "../load.ts";
import type { Frame } from "./transition.ts";
import { conditionText, unreadClause } from "./readings.ts";

const text = `
version: 1
extends: [default]
labels:
  db.query:
    effects: { must: [], may: [read.external, write.external] }
    cases:
      - when: { arg: { sql: { reads: "sql:postgres" }, mode: { present: false } } }
        effects: [read.external]
      - when: { arg: { sql: { any: [{ reads: "sql:sqlite" }, { all: [{ reads: shell }] }] } } }
        effects: [read.external]
      - when: { arg: { mode: x } }
        output: public
  db.other:
    effects: { must: [], may: [read.external] }
    cases: [{ when: { arg: { "sql\\n": { not: { reads: sql } } } }, effects: { must: [], may: [read.external, write.external] } }]
  db.plain: { effects: [read.external], cases: [{ when: { arg: { a: { path: /w } } }, effects: [read.external] }] }
`;
const loaded = loadPolicy({ file: "p.yaml", text }, shippedOptions);
const policy = loaded.policy;
if (policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics));
const { ir, table } = policy;

const read: ReadValue = (language, value) =>
  value === language ? { kind: "reads" } : { kind: "unread", because: `it is no ${language}` };
const clause = (
  tool: string,
  given: JsonObject,
  truths: readonly (readonly [number, boolean])[] = [],
): string | undefined => {
  const frame: Frame = { ir, slots: [], read };
  const contract = contractOfTool(table, "db", { name: tool }, () => "d");
  return unreadClause(frame, contract, { truths: new Map(truths), arguments: given });
};

describe("what a question says of a reading", () => {
  it("names the first argument that was not read, as what, and why", () => {
    expect(clause("query", { sql: "x" })).toBe(
      "`sql` was not read as a plain SELECT of PostgreSQL: it is no sql:postgres",
    );
    expect(clause("query", { sql: "sql:postgres", mode: 1 })).toBe(
      "`sql` was not read as a plain SELECT of SQLite: it is no sql:sqlite",
    );
  });

  it("says nothing where a case holds, nothing was given, or no case asks", () => {
    const contract = contractOfTool(table, "db", { name: "query" }, () => "d");
    const holding = (contract.cases.find(({ predicates }) => predicates.length === 2)?.predicates ?? []).map(
      (index) => [index, true] as const,
    );
    expect(holding.length).toBe(2);
    expect(clause("query", { sql: "x" }, holding)).toBeUndefined();
    expect(clause("query", {})).toBeUndefined();
    expect(clause("plain", { a: "x" })).toBeUndefined();
    expect(clause("other", { "sql\n": "x" })).toBeUndefined();
    expect(unreadClause({ ir, slots: [] }, contract, { truths: new Map(), arguments: { sql: "x" } })).toContain(
      "there is no reader for it",
    );
  });

  it("policy explain says when a case holds", () => {
    const said = explainTool(policy, { server: "db", tool: "query", digestOf: () => "d" }).sentences.join("\n");
    expect(said).toContain(
      "Where `mode` is absent and `sql` is read as a plain SELECT of PostgreSQL, it may do: read.external.",
    );
    expect(said).toContain("Where `sql` is read as a plain SELECT of SQLite, it may do: read.external.");
    expect(conditionText([{ kind: "workspace" }])).toBe("every path is in the workspace");
    const some = { kind: "some", test: { kind: "reads", language: "shell" } } as const;
    expect(conditionText([{ kind: "argument", argument: "a b", test: some, ifAbsent: true }])).toBe(
      "an argument is read as listed commands",
    );
    const plain = { kind: "glob", patterns: ["x"] } as const;
    expect(conditionText([{ kind: "argument", argument: "a", test: plain, ifAbsent: true }])).toBe(
      "`a` passes its test",
    );
  });
});

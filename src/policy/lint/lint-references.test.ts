import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import { loadPolicy } from "../load.ts";
import { lintPolicy } from "./lint.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const rule = (place: string): string =>
  `rules: [{id: R, tier: must, why: w, inject: {before: db.drop, call: {tool: db.copy, arguments: {of: "{call${place}}"}}}}]`;

function found(policy: string, ...listed: readonly JsonObject[]): readonly string[] {
  const loaded = loadPolicy(
    { file: "p.yaml", text: `version: 1\nlabels: {db.drop: {}, db.copy: {}}\n${policy}` },
    { loader: () => undefined, hash },
  );
  if (loaded.policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics));
  const problems = lintPolicy(loaded.policy, { db: listed }, () => "d".repeat(64));
  return problems.filter(({ code }) => code === "SG-POLICY-REFERENCE").map(({ message }) => message);
}

const nested = { type: "object", properties: { name: { type: "string" } } };
const drop = { name: "drop", inputSchema: { type: "object", properties: { table: nested } } };

it.each([
  ["an argument that the tool declares", "/table", drop],
  ["a member that it declares", "/table/name", drop],
  ["what a schema leaves open", "/table/name/first", drop],
  ["a tool whose schema says nothing", "/other", { name: "drop", inputSchema: { type: "object" } }],
  ["another tool than that of the rule", "/other", { ...drop, name: "copy" }],
])("says nothing of %s", (_what, place, listed) => {
  expect(found(rule(place), listed)).toEqual([]);
});

it.each(["/tabel", "/table/nam"])("tells of a reference that no call of the tool can fill: %s", (place) => {
  expect(found(rule(place), drop)).toEqual([expect.stringContaining(`\`db.drop\` declares no \`${place}\``)]);
});

it("has nothing to say of other rules", () => {
  expect(found("rules: [{id: R, tier: block, why: w, when: db.drop}]", drop)).toEqual([]);
  expect(found("rules: [{id: R, tier: block, why: w, atMost: {of: db.drop, count: 1}}]", drop)).toEqual([]);
});

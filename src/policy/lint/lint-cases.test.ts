import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import { lintPolicy } from "./lint.ts";
import { loadPolicy } from "../load.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const secret = "cases: [{when: {arg: {path: {glob: '**/.env'}}}, output: private}]";
const pack = `version: 1
pack: {name: files}
labels:
  read: {effects: read.local, output: public, ${secret}}
  list: {effects: read.local, output: public}
`;

function found(policy: string, listed: { readonly [server: string]: readonly JsonObject[] } = {}) {
  const loader = (name: string) => (name === "files" ? { file: "files.yaml", text: pack } : undefined);
  const loaded = loadPolicy({ file: "p.yaml", text: `version: 1\n${policy}` }, { loader, hash });
  if (loaded.policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics));
  const problems = lintPolicy(loaded.policy, listed, () => "d".repeat(64));
  return problems.filter(({ code }) => code === "SG-POLICY-REPLACES");
}

const chosen = "servers: {files: {pack: files}}\n";
const own = (tool: string, what: string): string => `${chosen}labels: {"files.${tool}": {${what}}}`;
const mine = "cases: [{when: {arg: {path: {path: /hr}}}, output: private}]";

it("tells that cases of one's own take the place of a pack's, also where no list is given", () => {
  const problem = {
    severity: "warning",
    path: ["labels", "files.read"],
    message: "the cases of `files.read` take the place of those of its pack",
  };
  expect(found(own("read", mine))).toMatchObject([problem]);
  expect(found(own("read", mine), { files: [{ name: "read" }] })).toMatchObject([problem]);
});

it("tells it of a group of tools where one of them is listed that the pack has cases for", () => {
  expect(found(own("*", mine), { files: [{ name: "list" }, { name: "read" }] })).toHaveLength(1);
  expect(found(own("*", mine), { files: [{ name: "list" }], other: [{ name: "read" }] })).toEqual([]);
});

it.each([
  ["labels without cases", own("read", "output: private")],
  ["an empty list, which takes the cases away on purpose", own("read", "cases: []")],
  ["a tool for which the pack has none", own("list", mine)],
  ["a server without the pack", `labels: {"files.read": {${mine}}}`],
])("says nothing of %s", (_what, policy) => {
  expect(found(policy, { files: [{ name: "read" }, { name: "list" }] })).toEqual([]);
});

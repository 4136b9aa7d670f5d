import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import type { ContractCase, ToolContract } from "../../core/contract.ts";
import type { JsonObject } from "../../core/json.ts";
import { contractOfTool } from "./contracts.ts";
import { loadPolicy } from "../load.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

const pack = `version: 1
pack: {name: files}
labels:
  read:
    effects: read.local
    output: {confidentiality: public, trust: trusted}
    cases: [{when: {arg: {path: {glob: "**/.env"}}}, output: {confidentiality: sensitive, trust: trusted, fields: {/size: {confidentiality: sensitive, trust: trusted}}}, effects: [read.local, write.local]}]
`;

function contractOf(policy: string, listed: JsonObject = {}): ToolContract {
  const text = `version: 1\nservers: {files: {pack: files}}\n${policy}`;
  const loader = (name: string) => (name === "files" ? { file: "files.yaml", text: pack } : undefined);
  const loaded = loadPolicy({ file: "p.yaml", text }, { loader, hash });
  if (loaded.policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics));
  return contractOfTool(loaded.policy.table, "files", { name: "read", ...listed }, () => "d");
}

/** What one written case says, of the output and of the effects. */
const merged = (cases: readonly ContractCase[]): Partial<ContractCase> => Object.assign({}, ...cases);

it("the case of a pack replaces what the pack says", () => {
  const { output, cases } = contractOf("");
  const { output: raised, effects } = merged(cases);
  expect(output.label).toEqual({ lo: 0, hi: 0 });
  expect(raised?.label).toEqual({ lo: 1, hi: 1 });
  expect(effects?.may).toEqual(["read.local", "write.local"]);
});

it("and lowers nothing of what the operator says", () => {
  const operator = `labels:
  files.read:
    effects: [read.local, execute.local]
    output: {confidentiality: private, trust: trusted, fields: {/name: {confidentiality: public, trust: untrusted}}}
`;
  const found = merged(contractOf(operator).cases);
  expect(found?.output).toEqual({
    label: { lo: 3, hi: 3 },
    fields: [
      { pointer: "/name", label: { lo: 1 | 16, hi: 1 | 16 } },
      { pointer: "/size", label: { lo: 3 | 16, hi: 3 | 16 } },
    ],
  });
  expect(found?.effects?.may).toEqual(["execute.local", "read.local", "write.local"]);
});

it("and nothing of what the server says against itself", () => {
  const labels = { output: { confidentiality: "private", trust: "trusted" }, effects: "write.external" };
  const found = merged(contractOf("", { _meta: { "io.github.sluicegate/labels": labels } }).cases);
  expect(found?.output?.label).toEqual({ lo: 3, hi: 3 });
  expect(found?.effects?.may).toContain("write.external");
});

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

it("A5: types come from the operator, else from the pack, and never from the server", () => {
  const typed = (place: string, type: string) =>
    `output: {fields: {${place}: {type: ${type}}}}, args: {path: {type: ${type}}}`;
  const shipped: JsonObject = {
    inputSchema: { type: "object", properties: { path: {} } },
    _meta: {
      "io.github.sluicegate/labels": {
        args: { path: { type: "evil" } },
        output: { fields: { "/size": { type: "evil" } } },
      },
    },
  };
  const types = (policy: string, listed: JsonObject = shipped) => {
    const made = contractOf(policy, listed);
    return [made.types, made.arguments.get("path")?.type];
  };
  expect(types("")).toEqual([undefined, undefined]);
  expect(types(`labels: {files.read: {${typed("/id", "file")}}}`)).toEqual([
    [{ pointer: "/id", type: "file" }],
    "file",
  ]);
  const both = `labels: {files.read: {${typed("/id", "file")}}, "files.*": {${typed("/id", "other")}}, "*.read": {output: {fields: {/n: {type: n}}}}}`;
  expect(types(both)).toEqual([
    [
      { pointer: "/id", type: "file" },
      { pointer: "/n", type: "n" },
    ],
    "file",
  ]);
});

it("A5: a field with a type alone is no part with a label of its own, and types are those of every case", () => {
  const made = contractOf(`labels:
  files.read:
    output: {confidentiality: public, trust: trusted, fields: {/a: {type: a}, /b: {type: b, confidentiality: public, from: []}}}
    cases: [{when: {arg: {path: x}}, output: {confidentiality: private, trust: untrusted, fields: {/d: {type: d}}}}]`);
  expect(made.output.fields.map(({ pointer }) => pointer)).toEqual(["/b"]);
  expect(made.types?.map(({ type }) => type)).toEqual(["a", "b", "d"]);
});

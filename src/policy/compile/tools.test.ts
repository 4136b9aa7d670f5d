import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { loadPolicy } from "../load.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

/** How a call without the argument is classed: a case that restricts holds for it, one that permits does not. */
function heldByAbsence(labels: string): boolean | undefined {
  const text = `version: 1\nlabels: {files.read: {${labels}}}\n`;
  const { policy, diagnostics } = loadPolicy({ file: "p.yaml", text }, { loader: () => undefined, hash });
  if (policy === undefined) throw new Error(JSON.stringify(diagnostics));
  return policy.table.entries[0]?.statement.cases?.some(({ predicate }) => {
    const asked = policy.ir.predicates[predicate];
    return asked?.kind === "argument" && asked.ifAbsent;
  });
}

const label = (level: string): string => `{confidentiality: ${level}, trust: trusted}`;
const output = (level: string, fields = ""): string =>
  `output: {confidentiality: ${level}, trust: trusted, fields: {${fields}}}`;
const when = "when: {arg: {path: {glob: '/open/**'}}}";

it.each<[string, string, boolean]>([
  [output("public"), output("private"), true],
  [output("private"), output("public"), false],
  [output("public", `/a: ${label("public")}`), output("public", `/a: ${label("private")}`), true],
  [output("public", `/a: ${label("private")}`), output("public", `/a: ${label("public")}`), false],
  // A field that is no longer named has the label of what is around it.
  [output("public", `/a: ${label("private")}`), output("public"), false],
  [output("private"), output("private", `/a: ${label("public")}`), false],
  [output("public", `/a: ${label("public")}`), output("private", `/b: ${label("private")}`), true],
  // An argument that no longer reaches a field takes its label with it.
  [output("public"), output("public", "/a: {confidentiality: public, trust: trusted, from: []}"), false],
  [
    output("public", "/a: {confidentiality: public, trust: trusted, from: []}"),
    output("public", "/a: {confidentiality: private, trust: trusted, from: [path]}"),
    true,
  ],
  ["effects: write.local", "effects: write.local.delete", true],
  ["effects: [write.local]", "effects: write", true],
  // `write` is also `write.external`, which a case for local writes leaves out.
  ["effects: write", "effects: write.local", false],
])("a case of %s with %s holds for an absent argument: %s", (base, found, expected) => {
  expect(heldByAbsence(`${base}, cases: [{${when}, ${found}}]`)).toBe(expected);
});

/** Which documents make a policy, in which order, and what is said where one cannot be had. */
import { describe, expect, it } from "vitest";
import { policyDocumentsMax } from "../values/limits.ts";
import { type PolicyInput, gather } from "./extends.ts";

/** Gathers `own`, where every other name is a file of that name. */
function gathered(own: string, files: { readonly [name: string]: string } = {}) {
  const asked: (readonly [string, string])[] = [];
  const input = (file: string, text: string): PolicyInput => ({ file, text: `version: 1\n${text}` });
  const found = gather(input("own", own), (name, from) => {
    asked.push([name, from]);
    return Object.hasOwn(files, name) ? input(name, files[name] ?? "") : undefined;
  });
  return {
    documents: found.documents.map(({ file }) => file),
    packs: found.packs.map(({ file }) => file),
    said: found.diagnostics.map(({ code, file, line, message, remedy }) => [code, file, line, message, remedy]),
    asked,
    whole: found,
  };
}

describe("the documents of a policy", () => {
  it("come base first and each once, however often it is named", () => {
    const files = { a: "extends: [c, b]", b: "extends: [c]", c: "" };
    expect(gathered("extends: [a, b]", files)).toMatchObject({ documents: ["c", "b", "a", "own"], said: [] });
  });

  it("are looked for beside the one that names them", () => {
    const files = { a: "servers: {s: {pack: p}}", p: "pack: {name: p}" };
    expect(gathered("extends: [a]", files).asked).toEqual([
      ["a", "own"],
      ["p", "a"],
    ]);
  });

  it("are kept apart from packs, which may be named by `extends` or for a server", () => {
    const files = { p: "pack: {name: p}\nextends: [c]", q: "pack: {name: q}", c: "" };
    const own = "extends: [p]\nservers: {s: {pack: q}, t: {pack: p}, u: {trust: trusted}}";
    expect(gathered(own, files)).toMatchObject({ documents: ["c", "own"], packs: ["p", "q"], said: [] });
  });

  it("are none where the first cannot be read", () => {
    expect(gathered("rules: x")).toMatchObject({
      documents: [],
      packs: [],
      said: [["SG-POLICY-TYPE", "own", 2, "rules is text, expected a list", "write a list"]],
    });
  });

  it("may be as many as the limit says", () => {
    const chain = (length: number) =>
      Object.fromEntries(
        Array.from({ length }, (_, at) => [`f${at}`, at === length - 1 ? "" : `extends: [f${at + 1}]`]),
      );
    expect(gathered("extends: [f0]", chain(policyDocumentsMax - 1))).toMatchObject({ said: [] });
    const { documents, said } = gathered("extends: [f0]", chain(policyDocumentsMax));
    expect(said).toEqual([["SG-POLICY-EXTENDS", "f62", 2, "more than 64 documents are joined", "extend fewer"]]);
    expect(documents).toHaveLength(policyDocumentsMax);
  });

  it.each([
    ["extends: [a,\n  x]", { a: "" }, ["EXTENDS", "own", 3, "there is no policy, pack or file `x`", "check the name"]],
    ["servers:\n  s: {pack: x}", {}, ["EXTENDS", "own", 3, "there is no policy, pack or file `x`", "check the name"]],
    [
      "servers:\n  s: {pack: a}",
      { a: "" },
      ["PACK", "own", 3, "`a` is not a label pack", "name a pack, or use `extends`"],
    ],
    ["extends: [a]", { a: "mode: x" }, ["WORD", "a", 2, "`x` is not a mode", "use `enforce`, `observe`"]],
    [
      "extends: [a]",
      { a: "extends: [own]", own: "" },
      ["CYCLE", "a", 2, "`own` extends itself through 2 files", "remove one link of the cycle"],
    ],
    [
      "extends: [p]",
      { p: "pack: {name: p}\nhazards: {}" },
      ["PACK", "p", 3, "a label pack has no `hazards`", "move it to a policy that extends the pack"],
    ],
  ])("%j with %j is refused", (own, files, [code, ...rest]) => {
    expect(gathered(own, files).said).toEqual([[`SG-POLICY-${code}`, ...rest]]);
  });
});

describe("the programs of rules", () => {
  const rule = (id: string, more: string): string => `{id: ${id}, tier: block, why: w, when: x${more}}`;
  const rulesOf = ({ whole }: ReturnType<typeof gathered>) => whole.documents.at(-1)?.document.rules;

  it("are read beside the policy, and the other rules stay as they are", () => {
    const own = `rules: [${rule("A", "")}, ${rule("B", ", predicate: 'checks.ts#isBusy'")}, ${rule("C", ", predicate: {name: n, source: s}")}]`;
    const found = gathered(own, { "checks.ts": "export const isBusy = 1;" });
    expect(found).toMatchObject({ said: [], asked: [["checks.ts", "own"]] });
    const source = "version: 1\nexport const isBusy = 1;";
    expect(rulesOf(found)?.map(({ id, predicate }) => [id, predicate])).toEqual([
      ["A", undefined],
      ["B", { name: "isBusy", source }],
      ["C", { name: "n", source: "s" }],
    ]);
  });

  it("are missed where they are not there, or are no text", () => {
    const own = `rules:\n  - ${rule("A", "")}\n  - ${rule("B", ", predicate: 'checks.ts#isBusy'")}`;
    const text = `version: 1\n${own}`;
    const said = ["SG-POLICY-PREDICATE", 4, "there is no program `checks.ts`", "check the path, from this file"];
    for (const program of [undefined, { file: "checks.ts", document: { version: 1 } } as const]) {
      const found = gather({ file: "own", text }, () => program);
      expect(found.diagnostics.map(({ code, line, message, remedy }) => [code, line, message, remedy])).toEqual([said]);
      expect(found.documents[0]?.document.rules?.[1]?.predicate).toEqual({ name: "isBusy", source: "" });
    }
  });
});

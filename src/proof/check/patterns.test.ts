import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Action,
  type Pattern,
  type PatternForm,
  atomsOf,
  fitsEffects,
  fitsTool,
  meaningOf,
  patternOf,
} from "./patterns.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const refusals: string[] = [];
const lattice = {
  levels: ["public", "private"],
  categories: [],
  groups: ["me"],
  refuse: (reason: string): void => void refusals.push(reason),
};
let index = 0;
const read = (form: PatternForm, restricts = true): Pattern =>
  patternOf({ lattice, nextDataIndex: () => (index += 1) }, form, restricts);
const plain = { irreversible: false, openWorld: false };
const calls = (selector: string, server: string, tool: string): boolean =>
  fitsTool(read({ tool: [selector] }), { server, tool, flags: plain });

describe("a selector", () => {
  it.each([
    ["git.push", "git", "push", true],
    ["git.push", "other", "push", false],
    ["push", "any", "push", true],
    ["git.*", "git", "a.b", true],
    ["git.a.b", "git", "a.b", true],
    ["*.a*c*e", "s", "abcde", true],
    ["*.a*e*e", "s", "abcde", false],
    ["*.ab*bc", "s", "abc", false],
    ["*.*x*", "s", "abc", false],
    ["*", "", "", true],
    ["b*", "s", "ab", false],
  ])("%s on %s.%s: %s", (selector, server, tool, fits) => {
    expect(calls(selector, server, tool)).toBe(fits);
  });

  it("law: a star stands for any characters", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 6 });
    fc.assert(
      fc.property(letters, fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 8 }), (glob, text) => {
        const expected = new RegExp(`^${glob.replaceAll("*", ".*")}$`).test(text);
        expect(calls(glob, "s", text)).toBe(expected);
      }),
      { numRuns: runs },
    );
  });
});

describe("effects and flags", () => {
  const done = { must: ["write.external.send"], may: ["write.external.send", "read"] };
  const fits = (effect: readonly string[], restricts: boolean): boolean =>
    fitsEffects(read({ effect }, restricts), done);
  it.each([
    ["write", true, true],
    ["write.external.send", true, true],
    ["write.ext", false, false],
    ["read", true, false],
    ["read.external", true, false],
    ["write.external.send.more", false, false],
    ["execute", false, false],
  ])("%s: restricting %s, permitting %s", (effect, restricting, permitting) => {
    expect([fits([effect], true), fits([effect], false)]).toEqual([restricting, permitting]);
  });

  it("everything is every effect", () => {
    expect(fitsEffects(read({ effect: ["execute"] }), "all")).toBe(true);
    expect(fitsEffects(read({}), { must: [], may: [] })).toBe(true);
  });

  it("every listed flag is needed", () => {
    const action: Omit<Action, "effects"> = { server: "s", tool: "t", flags: { irreversible: true, openWorld: false } };
    expect(fitsTool(read({ flags: ["irreversible"] }), action)).toBe(true);
    expect(fitsTool(read({ flags: ["irreversible", "open_world"] }), action)).toBe(false);
  });
});

it("a permission by the label of an argument asks that the argument is there", () => {
  const form = { arg: { to: { label: { trust: "trusted" } } } };
  const present = '{"argument":"to","ifAbsent":false,"kind":"argument","test":{"kind":"present"}}';
  expect([...read(form, false).truths]).toEqual([[present, true]]);
  expect([...read(form, true).truths]).toEqual([]);
});

it("labels of arguments, context and stores become atoms", () => {
  const label = { confidentiality: "private" };
  const pattern = read({
    arg: { body: { label }, to: { glob: ["x"] } },
    data: [{ ...label, roles: ["content"], audience: ["me"] }],
    held: label,
    store: [{ name: "s", label, audience: ["me"] }, { name: "t" }],
    workspace: false,
  });
  expect(atomsOf(pattern)).toEqual(Array.from({ length: 4 }, () => ({ kind: "atLeast", bits: 1n })));
  expect(pattern.data.map(({ args, audience }) => [args, audience])).toEqual([
    [undefined, 1n],
    [["body"], undefined],
  ]);
  expect([...pattern.truths.values()]).toEqual([true, false]);
  expect(refusals).toEqual([]);
  read({ arg: { body: { label, not: 1 } } });
  expect(refusals[0]).toMatch(/unknown member "not"/);
});

it("two patterns mean the same only if they ask the same of stores and of who sees an argument", () => {
  const asked: readonly PatternForm[] = [
    {},
    { data: [{ trust: "trusted" }] },
    { data: [{ trust: "trusted", audience: ["me"] }] },
    { store: [{ name: "box", audience: ["me"] }] },
    { store: [{ name: "box", audience: [] }] },
    { store: [{ name: "other", audience: ["me"] }] },
    { store: [{ name: "box", label: { trust: "trusted" } }] },
  ];
  expect(new Set(asked.map((form) => meaningOf(read(form, false)))).size).toBe(asked.length);
  for (const form of asked) expect(meaningOf(read(form, false))).toBe(meaningOf(read(form, false)));
});

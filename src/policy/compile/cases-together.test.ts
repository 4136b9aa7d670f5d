/** Cases of a tool's labels that hold for the same call: what all of them say counts, whichever is written first. */
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OutputContract } from "../../core/contract.ts";
import { mayCover, mustCover } from "../../core/effect.ts";
import type { Json } from "../../core/json.ts";
import { type Held, heldFor } from "../../../test/kit/policy/held-labels.ts";
import type { CaseText } from "../document/shapes-labels.ts";
import type { PolicyDocument } from "../canonical/policy-document.ts";
import { loadPolicy } from "../load.ts";
import { isAbove, togetherMax } from "./cases.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

/** Label of a part of a result and the arguments that reach it: the longest pointers that name it decide. */
function partAt({ label, fields }: OutputContract, path: string): { lo: number; hi: number; from: readonly string[] } {
  const parts = path.split("/");
  const named = fields.map((field) => ({ ...field, steps: field.pointer.split("/") }));
  const around = named.filter(({ steps }) => {
    return steps.length <= parts.length && steps.every((step, index) => step === "*" || step === parts[index]);
  });
  const longest = Math.max(...around.map(({ steps }) => steps.length));
  const found = around.filter(({ steps }) => steps.length === longest);
  const deciding = found.length === 0 ? [{ label, from: undefined }] : found;
  const names = deciding.flatMap(({ from }) => from ?? ["a", "b", "c"]);
  return {
    lo: deciding.reduce((all, one) => all | one.label.lo, 0),
    hi: deciding.reduce((all, one) => all | one.label.hi, 0),
    from: [...new Set(names)].toSorted(),
  };
}

function permutations<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, index) => permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));
}

describe("cases that raise together", () => {
  const letters = ["p", "q", "r", "s"];
  const some = fc.subarray(letters, { minLength: 1 });
  const labels = fc.record({
    confidentiality: fc.subarray(["public", "sensitive", "private"], { minLength: 1, maxLength: 2 }).map(([lo, hi]) => {
      return hi === undefined ? lo : [lo, hi];
    }),
    categories: fc.subarray(["x", "y"]),
    trust: fc.constantFrom("trusted", "untrusted", "unsure"),
  });
  const pointers = ["/i", "/j", "/i/k", "/*/k"];
  const from = fc.subarray(["a", "b"]);
  const field = fc.record({ label: labels, from }, { requiredKeys: ["label"] });
  const output = fc
    .tuple(labels, fc.dictionary(fc.constantFrom(...pointers), field, { maxKeys: 2 }))
    .map(([own, fields]) => ({
      ...own,
      fields: Object.fromEntries(
        Object.entries(fields).map(([pointer, one]) => [
          pointer,
          { ...one.label, ...(one.from === undefined ? {} : { from: one.from }) },
        ]),
      ),
    }));
  const reach = fc.subarray(["write.local", "write.local.delete", "write.external", "read.local"]);
  const raising = fc.record(
    {
      when: some.map((equals) => ({ arg: { a: { equals } } })),
      output,
      effects: fc.tuple(reach, reach).map(([must, may]) => ({ must, may })),
    },
    { requiredKeys: ["when"] },
  ) as fc.Arbitrary<CaseText>;
  const bottom = { confidentiality: "public", categories: [], trust: "trusted" as const };
  // Nothing is below these, so that every case raises.
  const base = {
    effects: { must: [], may: [] },
    output: { ...bottom, fields: Object.fromEntries(pointers.map((pointer) => [pointer, { ...bottom, from: [] }])) },
  };
  const held = (cases: readonly CaseText[], a: Json | undefined): Held => {
    const found = heldFor({ ...base, cases })?.(a);
    if (found === undefined) throw new Error("refused");
    return found;
  };
  const asked = fc.option(fc.oneof(some, fc.constantFrom(...letters)), { nil: undefined });

  it("law: all that hold count, whatever stands first, and none does more for sure than it says", () => {
    fc.assert(
      fc.property(fc.array(raising, { minLength: 1, maxLength: 4 }), asked, (cases, a) => {
        const together = held(cases, a);
        const other = held(cases.toReversed(), a);
        const alone = cases.map((one) => held([one], a));
        for (const one of alone) {
          expect(isAbove(together.output!, one.output!, [])).toBe(true);
          for (const each of one.effects!.may) expect(mayCover(each, together.effects!.may)).toBe(true);
        }
        for (const each of together.effects!.must)
          expect(
            mustCover(
              each,
              alone.flatMap((one) => one.effects!.must),
            ),
          ).toBe(true);
        expect(isAbove(together.output!, other.output!, []) && isAbove(other.output!, together.output!, [])).toBe(true);
        for (const each of together.effects!.may) expect(mayCover(each, other.effects!.may)).toBe(true);
      }),
      { numRuns: runs },
    );
  });

  it("law: each part of a result has the labels and the arguments that each case says of it", () => {
    const paths = ["/i", "/j", "/i/k", "/j/k", "/h/k", "/h"];
    fc.assert(
      fc.property(fc.array(raising, { minLength: 1, maxLength: 4 }), asked, (cases, a) => {
        const together = held(cases, a).output!;
        for (const one of cases.map((each) => held([each], a).output!)) {
          for (const path of paths) {
            const [all, own] = [partAt(together, path), partAt(one, path)];
            expect([path, all.lo & own.lo, all.hi & own.hi]).toEqual([path, own.lo, own.hi]);
            expect([path, ...all.from]).toEqual(expect.arrayContaining([...own.from]));
          }
        }
      }),
      { numRuns: runs },
    );
  });

  const medical: CaseText = {
    when: { arg: { a: { equals: ["p"] } } },
    output: { confidentiality: "public", categories: ["x"], trust: "trusted" },
  };
  const finance: CaseText = {
    when: { arg: { a: { equals: ["q"] } } },
    output: { confidentiality: "public", categories: ["y"], trust: "trusted" },
  };
  const deletes: CaseText = { when: { arg: { a: { equals: ["q"] } } }, effects: "write.local.delete" };
  const sends: CaseText = { when: { arg: { a: { equals: ["p"] } } }, effects: "write.external" };

  it("regression: a list of which a part fits each of two categories has both", () => {
    const [one, two, both] = ["p", "q", ["p", "q"]].map((a) => held([medical, finance], a).output!.label.hi);
    expect(both).toBe(Number(one) | Number(two));
    expect([one, two]).not.toContain(both);
  });

  const whenSure = { arg: { a: { equals: ["p"] } } };
  const inOrders = (cases: readonly CaseText[]): readonly Held[] =>
    permutations(cases).map((order) => held(order, "p"));

  it("regression: of three, of which one says all of another and neither all of the third, each counts", () => {
    // What the first and the second say together names no field, and hid what the third says of `/j`.
    const cases = [
      {},
      { "/j": { ...bottom, categories: ["y"], from: [] } },
      { "/j": { ...bottom, categories: ["x"] } },
    ];
    const found = inOrders(cases.map((fields) => ({ when: whenSure, output: { ...bottom, fields } })));
    const both = held([medical, finance], ["p", "q"]).output!.label.hi;
    for (const { output: said } of found) expect(partAt(said!, "/j").hi).toBe(both);
  });

  it("regression: what is sure counts beside what is only possible and as high", () => {
    const levels = ["private", ["public", "private"], "sensitive"] as const;
    const cases = levels.map((confidentiality) => ({ when: whenSure, output: { ...bottom, confidentiality } }));
    const [sure] = inOrders(cases.slice(0, 1)).map((one) => one.output);
    for (const { output: said } of inOrders(cases)) expect(said).toEqual(sure);
    // Each says what the other does not: one that more is possible, the other that more is sure.
    for (const { output: said } of inOrders(cases.slice(1)))
      expect(said?.label).toEqual({ lo: held(cases.slice(2), "p").output?.label.lo, hi: sure?.label.hi });
  });

  it("regression: a field inside another keeps the arguments that reach it", () => {
    const outer = { "/i": { ...bottom, from: ["a"] } };
    const inner = { ...outer, "/i/k": bottom };
    const found = inOrders([outer, inner].map((fields) => ({ when: whenSure, output: { ...bottom, fields } })));
    for (const { output: said } of found) expect(partAt(said!, "/i/k").from).toEqual(["a", "b", "c"]);
  });

  it("regression: a field is no part of what a store brings, so a case that names one hides none that does not", () => {
    const stores = { notes: { audience: "me", label: { confidentiality: "private", trust: "trusted" as const } } };
    const output = { ...bottom, confidentiality: "sensitive" };
    const cases = [output, { ...output, fields: { "/i": output } }].map((said) => ({ when: whenSure, output: said }));
    for (const order of permutations(cases)) {
      const found = heldFor(
        { reads: "notes", effects: "read.local", output: base.output, cases: order },
        stores,
      )?.("p");
      expect(found?.output?.fields).toEqual([]);
    }
  });

  it("regression: what one says of the output hides nothing that another says of the effects", () => {
    for (const cases of [
      [medical, deletes],
      [deletes, medical],
    ]) {
      const { output: said, effects } = held(cases, ["p", "q"]);
      expect(said).toEqual(held([medical], "p").output);
      expect(effects?.may).toEqual(["write.local.delete"]);
    }
  });

  it("what each surely does is done where both surely fit, and what neither does alone is done by no part", () => {
    const same = { when: medical.when };
    const surely = held(
      [
        { ...same, effects: "write.external" },
        { ...same, effects: "write.local.delete" },
      ],
      "p",
    );
    expect(surely.effects?.must).toEqual(["write.external", "write.local.delete"]);
    expect(held([sends, deletes], ["p", "q"]).effects).toEqual({
      must: [],
      may: ["write.external", "write.local.delete"],
    });
  });

  it("what lowers is passed over by no set of cases that stand behind it", () => {
    const lowers: CaseText = {
      when: { arg: { a: { equals: ["r"] } } },
      output: { confidentiality: "public", trust: "trusted" },
    };
    const found = heldFor({
      output: { confidentiality: "sensitive", trust: "trusted" },
      effects: "read.local",
      cases: [
        lowers,
        { ...medical, output: { confidentiality: "private", categories: ["x"] } },
        { ...finance, output: { confidentiality: "private", categories: ["y"] } },
      ],
    });
    expect(found?.("r").output?.label.hi).toBeLessThan(Number(found?.("p").output?.label.hi));
  });

  it("more sets than the limit are refused where they stand, and as many as it are not", () => {
    const document = (count: number): PolicyDocument => {
      const names = Array.from({ length: count }, (_, index) => `c${index}`);
      const cases = names.map((name) => ({
        when: { arg: { a: name } },
        output: { confidentiality: "public", categories: [name], trust: "trusted" as const },
      }));
      return { version: 1, lattice: { categories: names }, labels: { "s.t": { ...base, cases } } };
    };
    const load = (count: number) =>
      loadPolicy({ file: "p.ts", document: document(count) }, { loader: () => undefined, hash });
    // Of six cases 57 sets can hold together, of seven 120.
    expect(load(6).policy?.table.entries[0]?.statement.cases).toHaveLength(63);
    expect(load(7).diagnostics).toMatchObject([
      { code: "SG-POLICY-CASE", message: `more than ${togetherMax} sets of its cases can hold together` },
    ]);
  });
});

describe("of two cases that raise the stricter counts, whichever is written first", () => {
  const team: CaseText = { when: { arg: { a: { path: "/team" } } }, output: { confidentiality: "sensitive" } };
  const own: CaseText = { when: { arg: { a: { path: "/private" } } }, output: { confidentiality: "private" } };
  const inside: CaseText = { when: { arg: { a: { path: "/team/pay" } } }, output: { confidentiality: "private" } };
  const labelled = (cases: readonly CaseText[], a: Json | undefined): Held | undefined =>
    heldFor({ output: { confidentiality: "public" }, effects: "read.local", cases })?.(a);

  it.each<[string, readonly CaseText[], Json | undefined, CaseText]>([
    ["a list of which a part fits each", [team, own], ["/team/a", "/private/x"], own],
    ["a place inside another", [team, inside], "/team/pay/june", inside],
    ["a call without the argument", [team, own], undefined, own],
    ["three of them", [team, inside, own], ["/team/a", "/private/x"], own],
    ["what only the milder fits", [team, own], "/team/a", team],
  ])("regression: %s", (_what, cases, a, wanted) => {
    const alone = labelled([wanted], a)?.output;
    expect(alone).toBeDefined();
    for (const order of [cases, cases.toReversed()]) expect(labelled(order, a)?.output).toEqual(alone);
  });

  it("what lowers stays where it is written", () => {
    const lowers: CaseText = { when: { arg: { a: { path: "/open" } } }, output: { confidentiality: "public" } };
    const raises: CaseText = { when: { arg: { a: { path: "/open/x" } } }, output: { confidentiality: "private" } };
    const of = (cases: readonly CaseText[]): Held | undefined =>
      heldFor({ output: { confidentiality: "sensitive" }, effects: "read.local", cases })?.("/open/x/1");
    expect(of([lowers, raises])?.output).not.toEqual(of([raises, lowers])?.output);
  });
});

/** Words of labels and what they come to, compared with what the words say. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Label, fromBits, mayFlow, toText } from "../../core/label.ts";
import type { BoundForm, LabelForm, LatticeForm } from "../document/long-form.ts";
import type { Problem } from "../document/diagnostic.ts";
import type { LabelAtom } from "../ir/ir.ts";
import type { LabelCompiler } from "../ir/label-table.ts";
import { compileLattice, labelCompiler } from "./labels.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

const levels = ["public", "sensitive", "private"];
const form: LatticeForm = {
  confidentiality: levels,
  categories: ["finance", "medical"],
  trust: ["trusted", "untrusted"],
  groups: ["anyone", "me", "team"],
  clearance: { team: { confidentiality: "sensitive", categories: ["finance"] } },
};

function compiler(lattice: LatticeForm = form): { readonly labels: LabelCompiler; readonly problems: Problem[] } {
  const problems: Problem[] = [];
  const report = (found: Problem): void => void problems.push(found);
  return { labels: labelCompiler(lattice, compileLattice(lattice, report), report), problems };
}

const { lattice } = compiler().labels;
const every: readonly Label[] = Array.from({ length: lattice.top + 1 }, (_, bits) => fromBits(lattice, bits)!).filter(
  // The bits of a level hold those of the levels below it.
  (label) => (label & lattice.levelMask) !== 0b10,
);

type Words = { readonly level: string; readonly categories: readonly string[]; readonly readers: readonly string[] };
const inWords = (label: Label): Words & { readonly trust: string } => {
  const text = toText(lattice, label);
  return { ...text, readers: text.readers ?? form.groups };
};
const closed = every.map((label) => ({ label, ...inWords(label) }));
const isWithin = (some: readonly string[], all: readonly string[]): boolean => some.every((each) => all.includes(each));
const isNoHigher = (left: string, right: string): boolean => levels.indexOf(left) <= levels.indexOf(right);

const said: fc.Arbitrary<LabelForm> = fc.record(
  {
    confidentiality: fc.constantFrom(...levels),
    categories: fc.subarray([...form.categories]),
    readers: fc.subarray([...form.groups]),
    trust: fc.constantFrom("trusted" as const, "untrusted" as const),
  },
  { requiredKeys: [] },
);

describe("a condition on a label", () => {
  const holds = (atom: LabelAtom, label: Label): boolean =>
    atom.kind === "atLeast" ? (label & atom.bits) === atom.bits : (label & atom.forbidden) === 0;

  it("law: that restricts holds for whatever is at least as closed as it says", () => {
    fc.assert(
      fc.property(said, (asked) => {
        const atom = compiler().labels.atom(asked, "restrict", []);
        const wrong = closed.filter(({ label, level, categories, readers, trust }) => {
          const fits =
            isNoHigher(asked.confidentiality?.toString() ?? "public", level) &&
            isWithin(asked.categories ?? [], categories) &&
            isWithin(readers, asked.readers ?? form.groups) &&
            (asked.trust !== "untrusted" || trust === "untrusted");
          return holds(atom, label) !== fits;
        });
        expect(wrong).toEqual([]);
      }),
      { numRuns: runs },
    );
  });

  it("law: that permits holds for whatever is at most as closed as it says, in each part of which it speaks", () => {
    fc.assert(
      fc.property(said, (asked) => {
        const atom = compiler().labels.atom(asked, "permit", []);
        const secrecy = asked.confidentiality !== undefined;
        const wrong = closed.filter(({ label, level, categories, readers, trust }) => {
          const fits =
            (!secrecy || isNoHigher(level, asked.confidentiality.toString())) &&
            ((!secrecy && asked.categories === undefined) || isWithin(categories, asked.categories ?? [])) &&
            ((!secrecy && asked.readers === undefined) || isWithin(asked.readers ?? form.groups, readers)) &&
            (asked.trust !== "trusted" || trust === "trusted");
          return holds(atom, label) !== fits;
        });
        expect(wrong).toEqual([]);
      }),
      { numRuns: runs },
    );
  });

  it("that holds for every label is told, where it restricts", () => {
    const { labels, problems } = compiler();
    labels.atom({ confidentiality: "public" }, "permit", ["rules", "R"]);
    labels.atom({ confidentiality: "public", trust: "untrusted" }, "restrict", ["rules", "R"]);
    expect(problems).toEqual([]);
    labels.atom({ confidentiality: "public" }, "restrict", ["rules", "R"]);
    expect(problems).toEqual([
      {
        code: "SG-POLICY-VACUOUS",
        severity: "warning",
        path: ["rules", "R"],
        message: "every label is at least this, so the condition always holds",
        remedy: "name a level above the lowest, or leave the condition out",
      },
    ]);
  });

  it.each<[LabelForm, readonly string[]]>([
    [{ trust: "untrusted" }, ["VACUOUS"]],
    [{ readers: [] }, ["VACUOUS"]],
    [{ confidentiality: "private", categories: ["finance", "medical"], readers: [] }, ["VACUOUS"]],
    [{ readers: ["me"] }, []],
    // A wrong word stands for the worst label, of which all would be at most: it is told of, and that is enough.
    [{ confidentiality: "privat" }, ["LEVEL"]],
    [{ confidentiality: "private", categories: ["finance", "medicin"], readers: [] }, ["CATEGORY"]],
    [{}, []],
  ])("%j as a permission: %j", (asked, codes) => {
    const { labels, problems } = compiler();
    labels.atom(asked, "permit", ["rules", "R"]);
    expect(problems.map(({ code }) => code)).toEqual(codes.map((code) => `SG-POLICY-${code}`));
    for (const found of problems) expect(found.severity).toBe(codes[0] === "VACUOUS" ? "warning" : "error");
  });
});

describe("what must not reach an audience", () => {
  const bound: fc.Arbitrary<BoundForm> = fc.record({
    confidentiality: fc.constantFrom(...levels),
    categories: fc.subarray([...form.categories]),
  });
  const cleared: { readonly [group: string]: BoundForm } = {
    anyone: { confidentiality: "public", categories: [] },
    me: { confidentiality: "private", categories: form.categories },
    team: { confidentiality: "sensitive", categories: ["finance"] },
  };

  it("law: is what is above the bound, or above the clearance of one of them where there is none, or not for all of them", () => {
    fc.assert(
      fc.property(fc.option(bound, { nil: undefined }), fc.subarray([...form.groups]), (most, audience) => {
        const forbidden = compiler().labels.forbidden(most, audience, []);
        const bounds = most === undefined ? audience.map((group) => cleared[group]!) : [most];
        const wrong = closed.filter(({ label, level, categories, readers }) => {
          const fits =
            isWithin(audience, readers) &&
            bounds.every((each) => isNoHigher(level, each.confidentiality) && isWithin(categories, each.categories));
          return mayFlow(label, forbidden) !== fits;
        });
        expect(wrong).toEqual([]);
      }),
      { numRuns: runs },
    );
  });

  it("has no clearance from the prototype of all objects", () => {
    const { labels, problems } = compiler({ ...form, groups: ["constructor", "me"], clearance: {} });
    expect(labels.forbidden(undefined, ["constructor"], []) & lattice.levelMask).toBe(lattice.levelMask);
    expect(problems).toEqual([]);
  });
});

it("groups are bits in the order of the lattice", () => {
  const { labels, problems } = compiler();
  expect([[], ["anyone"], ["me"], ["team", "anyone"]].map((groups) => labels.groupBits(groups, []))).toEqual([
    0, 1, 2, 5,
  ]);
  expect(problems).toEqual([]);
  expect(labels.groupBits(["me", "teem"], ["servers", "s"])).toBe(2);
  expect(problems).toMatchObject([{ code: "SG-POLICY-GROUP", path: ["servers", "s"], remedy: "did you mean `team`?" }]);
});

describe("the label of a value", () => {
  /** Bits: sensitive 1, private 2, finance 4, medical 8, anyone 16, me 32, team 64, untrusted 128. */
  it.each<[LabelForm, number, number]>([
    [{ confidentiality: "sensitive", trust: "trusted" }, 1, 1],
    [{ confidentiality: "private", trust: "untrusted" }, 131, 131],
    [{ confidentiality: "public", categories: ["medical"], readers: ["me"], trust: "trusted" }, 88, 88],
    [{ confidentiality: ["public", "sensitive"], trust: ["trusted", "untrusted"] }, 0, 129],
    [{ confidentiality: "private" }, 3, 131],
    [{ confidentiality: "private", trust: "unsure" }, 3, 131],
    [{ trust: "trusted" }, 0, 127],
    [{ confidentiality: "unsure", trust: "trusted" }, 0, 127],
    [{ categories: ["finance"], trust: "trusted" }, 4, 127],
    [{ confidentiality: "inferred", trust: "inferred" }, 0, 0],
    [{ confidentiality: "inferred", trust: "untrusted" }, 128, 128],
    [{ confidentiality: "inferred", categories: ["finance"], trust: "inferred" }, 4, 4],
  ])("%j", (text, lo, hi) => {
    const { labels, problems } = compiler();
    expect(labels.range(text, [])).toEqual({ lo, hi });
    expect(problems).toEqual([]);
  });
});

describe("a wrong word", () => {
  type Use = (labels: LabelCompiler) => unknown;
  const level = "`privat` is not a level of the lattice";
  const equality = "a label cannot be compared with `==`: rules must not loosen as labels grow";
  const oneSided = "write the level alone: it means `at least` in block, must, confirm and `at most` in allow";
  const interval = "a rule asks about one level, not about an interval";
  it.each<[string, Use, string, readonly string[], string, string]>([
    [
      "level",
      (on) => on.atom({ confidentiality: "privat" }, "restrict", ["a"]),
      "LEVEL",
      ["a", "confidentiality"],
      level,
      "did you mean `private`?",
    ],
    [
      "level of a value",
      (on) => on.range({ confidentiality: "privat" }, ["a"]),
      "LEVEL",
      ["a", "confidentiality"],
      level,
      "did you mean `private`?",
    ],
    [
      "level of a bound",
      (on) => on.forbidden({ confidentiality: "privat", categories: [] }, [], ["a"]),
      "LEVEL",
      ["a"],
      level,
      "did you mean `private`?",
    ],
    [
      "level that is compared",
      (on) => on.range({ confidentiality: " == private" }, ["a"]),
      "EQUALITY",
      ["a", "confidentiality"],
      equality,
      oneSided,
    ],
    [
      "level with signs in it",
      (on) => on.range({ confidentiality: "private ==" }, ["a"]),
      "LEVEL",
      ["a", "confidentiality"],
      "`private ==` is not a level of the lattice",
      "did you mean `private`?",
    ],
    [
      "category",
      (on) => on.atom({ categories: ["medicin"] }, "restrict", ["a"]),
      "CATEGORY",
      ["a", "categories"],
      "`medicin` is not a category of the lattice",
      "did you mean `medical`?",
    ],
    [
      "category of a value",
      (on) => on.range({ confidentiality: "private", trust: "trusted", categories: ["x"] }, ["a"]),
      "CATEGORY",
      ["a", "categories"],
      "`x` is not a category of the lattice",
      "use `finance`, `medical`",
    ],
    [
      "reader",
      (on) => on.atom({ readers: ["me", "teem"] }, "restrict", ["a"]),
      "GROUP",
      ["a", "readers"],
      "`teem` is not a group of the lattice",
      "did you mean `team`?",
    ],
    [
      "reader of a value",
      (on) => on.range({ readers: ["me", "teem"] }, ["a"]),
      "GROUP",
      ["a", "readers"],
      "`teem` is not a group of the lattice",
      "did you mean `team`?",
    ],
    [
      "trust",
      (on) => on.range({ trust: "trust" }, ["a"]),
      "TRUST",
      ["a", "trust"],
      "`trust` is not a trust value",
      "did you mean `trusted`?",
    ],
    [
      "trust in a condition",
      (on) => on.atom({ confidentiality: "private", trust: "maybe" }, "restrict", ["a"]),
      "TRUST",
      ["a", "trust"],
      "`maybe` is not a trust value",
      "use `trusted`, `untrusted`",
    ],
    [
      "trust that is compared",
      (on) => on.range({ trust: " == trusted" }, ["a"]),
      "EQUALITY",
      ["a", "trust"],
      equality,
      oneSided,
    ],
    [
      "trust with signs in it",
      (on) => on.range({ trust: "trusted==" }, ["a"]),
      "TRUST",
      ["a", "trust"],
      "`trusted==` is not a trust value",
      "did you mean `trusted`?",
    ],
    [
      "interval",
      (on) => on.range({ confidentiality: ["private", "public"], trust: "trusted" }, ["a"]),
      "INTERVAL",
      ["a"],
      "the lower end of the interval is above the upper",
      "swap the two ends",
    ],
    [
      "interval in a condition",
      (on) => on.atom({ confidentiality: ["public", "private"] }, "permit", ["a"]),
      "ATOM",
      ["a", "confidentiality"],
      interval,
      "write one level",
    ],
    [
      "doubt in a condition",
      (on) => on.atom({ confidentiality: "unsure" }, "permit", ["a"]),
      "ATOM",
      ["a", "confidentiality"],
      interval,
      "write one level",
    ],
    [
      "word for the label of the arguments in a condition",
      (on) => on.atom({ trust: "inferred" }, "permit", ["a"]),
      "ATOM",
      ["a", "trust"],
      interval,
      "write one level",
    ],
  ])("%s", (_what, use, code, path, message, remedy) => {
    const { labels, problems } = compiler();
    use(labels);
    expect(problems).toEqual([{ code: `SG-POLICY-${code}`, severity: "error", path, message, remedy }]);
  });

  it("is the worst that it could mean", () => {
    const { labels } = compiler();
    const value = { confidentiality: "privat", categories: ["x"], readers: ["y"], trust: "z" };
    expect(labels.range(value, []).hi).toBe(lattice.top);
    expect(labels.range({ confidentiality: "privat", trust: "trusted" }, []).lo).toBe(lattice.top);
  });

  it("of a lattice without categories is to be declared", () => {
    const { labels, problems } = compiler({ ...form, categories: [], clearance: {} });
    labels.range({ confidentiality: "private", trust: "trusted", categories: ["x"] }, []);
    expect(problems).toMatchObject([{ code: "SG-POLICY-CATEGORY", remedy: "declare it under `lattice.categories`" }]);
  });

  it("of a clearance has the place of the clearance", () => {
    const { labels, problems } = compiler({ ...form, clearance: { team: { confidentiality: "x", categories: [] } } });
    labels.forbidden(undefined, ["team"], ["labels", "t"]);
    expect(problems.map(({ path }) => path)).toEqual([["lattice", "clearance", "team"]]);
  });

  it("in what a server says is told to whoever asked", () => {
    const { labels, problems } = compiler();
    const heard: Problem[] = [];
    const quiet = labels.quiet((found) => void heard.push(found));
    expect(quiet.range({ confidentiality: "privat", trust: "trusted" }, []).hi).toBe(lattice.top);
    expect([problems.length, heard.length]).toEqual([0, 1]);
  });
});

it("a lattice that cannot be made is reported, and the least one stands in for it", () => {
  const problems: Problem[] = [];
  const made = compileLattice({ ...form, groups: ["finance"] }, (found) => void problems.push(found));
  expect(made).toMatchObject({ levels: ["public"], categories: [], groups: [] });
  expect(problems).toMatchObject([
    { code: "SG-POLICY-LATTICE", path: ["lattice"], remedy: "declare fewer or other names", severity: "error" },
  ]);
  expect(problems[0]?.message).toContain("declared twice");
});

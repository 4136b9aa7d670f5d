import fc from "fast-check";
import { describe as suite, expect, it } from "vitest";
import {
  type Label,
  type Lattice,
  atMost,
  categoryLabel,
  confidentiality,
  describe,
  exactly,
  excludedBits,
  forbiddenAt,
  fromBits,
  isUntrusted,
  join,
  joinAll,
  joinAllRanges,
  joinRanges,
  levelLabel,
  makeLattice,
  mayFlow,
  readersLabel,
  toText,
  trustOf,
  unknownRange,
  withTrust,
} from "./label.ts";
import { labelBitsMax } from "./limits.ts";
import { err } from "./result.ts";

const numRuns = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

function lattice(): Lattice {
  const made = makeLattice({
    levels: ["public", "sensitive", "private"],
    categories: ["medical", "credentials"],
    groups: ["me", "org:acme", "anyone"],
  });
  if (!made.ok) throw new Error(made.error);
  return made.value;
}

const base = lattice();
const labels = fc.integer({ min: 0, max: base.top }).map((bits) => fromBits(base, bits) as Label);

suite("labels", () => {
  it("are a join semilattice: associative, commutative, idempotent, with bottom as unit", () => {
    fc.assert(
      fc.property(labels, labels, labels, (a, b, c) => {
        expect(join(a, join(b, c))).toBe(join(join(a, b), c));
        expect(join(a, b)).toBe(join(b, a));
        expect(join(a, a)).toBe(a);
        expect(join(a, base.bottom)).toBe(a);
        expect(joinAll([a, b, c], base.bottom)).toBe(join(a, join(b, c)));
      }),
      { numRuns },
    );
  });

  it("join is the least upper bound", () => {
    fc.assert(
      fc.property(labels, labels, labels, (a, b, c) => {
        expect(atMost(a, join(a, b))).toBe(true);
        expect(atMost(a, c) && atMost(b, c)).toBe(atMost(join(a, b), c));
      }),
      { numRuns },
    );
  });

  it("a larger label never flows where a smaller one may not", () => {
    fc.assert(
      fc.property(labels, labels, labels, (small, extra, forbidden) => {
        if (!mayFlow(small, forbidden)) expect(mayFlow(join(small, extra), forbidden)).toBe(false);
      }),
      { numRuns },
    );
  });

  it("flow is decided by level, categories and audience", () => {
    const level = (name: string) => levelLabel(base, name) as Label;
    const anyone = excludedBits(base, ["anyone"]) as Label;
    const toAnyone = forbiddenAt(base, level("public"), anyone);
    expect(mayFlow(level("public"), toAnyone)).toBe(true);
    expect(mayFlow(level("sensitive"), toAnyone)).toBe(false);
    expect(mayFlow(categoryLabel(base, "medical") as Label, toAnyone)).toBe(false);
    expect(mayFlow(readersLabel(base, ["me"]) as Label, toAnyone)).toBe(false);
    expect(mayFlow(readersLabel(base, ["anyone"]) as Label, toAnyone)).toBe(true);
    const toMe = forbiddenAt(base, base.top, excludedBits(base, ["me"]) as Label);
    expect(mayFlow(join(level("private"), readersLabel(base, ["me"]) as Label), toMe)).toBe(true);
  });

  it("ranges join at both ends; one that adds nothing leaves the other as it is", () => {
    const range = joinRanges(unknownRange(base), exactly(levelLabel(base, "private") as Label));
    expect(range).toEqual({ lo: levelLabel(base, "private"), hi: base.top });
    // The same object: states are compared by identity to see whether a label moved at all.
    expect(joinRanges(range, exactly(levelLabel(base, "sensitive") as Label))).toBe(range);
  });

  it("law: of ranges, too, the join is associative and lies above each of them at both ends", () => {
    const ranges = fc.tuple(labels, labels).map(([lo, more]) => ({ lo, hi: join(lo, more) }));
    fc.assert(
      fc.property(ranges, ranges, ranges, (a, b, c) => {
        const all = joinAllRanges([b, c], a);
        expect(all).toEqual(joinRanges(a, joinRanges(b, c)));
        for (const one of [a, b, c]) expect([atMost(one.lo, all.lo), atMost(one.hi, all.hi)]).toEqual([true, true]);
        expect(atMost(all.lo, all.hi)).toBe(true);
      }),
      { numRuns },
    );
  });

  it("each level, category and group has bits of its own, and their label says no more than its name", () => {
    const [publicly, sensitive, privately] = base.levels.map((name) => levelLabel(base, name) as Label);
    expect([publicly, sensitive, privately]).toEqual([0b0, 0b1, 0b11]);
    expect(base.categories.map((name) => categoryLabel(base, name))).toEqual([0b100, 0b1000]);
    expect(base.groups.map((name) => excludedBits(base, [name]))).toEqual([0b1_0000, 0b10_0000, 0b100_0000]);
    expect(base).toMatchObject({
      levelMask: 0b11,
      categoryMask: 0b1100,
      readerMask: 0b111_0000,
      untrustedBit: 0b1000_0000,
    });
    expect([base.bottom, base.top]).toEqual([0, 0b1111_1111]);
    for (const name of base.categories)
      expect(toText(base, categoryLabel(base, name) as Label).categories).toEqual([name]);
    for (const name of base.levels) expect(toText(base, levelLabel(base, name) as Label).level).toBe(name);
  });

  it("trust and secrecy are separate parts of a label", () => {
    fc.assert(
      fc.property(labels, (label) => {
        expect(join(confidentiality(base, label), trustOf(base, label))).toBe(label);
        expect(isUntrusted(base, withTrust(base, label, "trusted"))).toBe(false);
        expect(isUntrusted(base, withTrust(base, label, "untrusted"))).toBe(true);
      }),
      { numRuns },
    );
  });

  it("says labels in words", () => {
    const label = join(levelLabel(base, "private") as Label, categoryLabel(base, "medical") as Label);
    expect(describe(base, withTrust(base, label, "untrusted"))).toBe("private, medical, untrusted");
    expect(describe(base, readersLabel(base, ["me"]) as Label)).toBe("public, only for me");
    expect(describe(base, readersLabel(base, ["me", "org:acme"]) as Label)).toBe("public, only for me and org:acme");
    expect(describe(base, readersLabel(base, []) as Label)).toBe("public, for nobody");
    expect(toText(base, base.bottom)).toEqual({
      level: "public",
      categories: [],
      readers: undefined,
      trust: "trusted",
    });
  });

  it("knows only declared names and bits", () => {
    expect(levelLabel(base, "secret")).toBeUndefined();
    expect(categoryLabel(base, "finance")).toBeUndefined();
    expect(readersLabel(base, ["nobody"])).toBeUndefined();
    expect(excludedBits(base, ["nobody"])).toBeUndefined();
    expect(fromBits(base, base.top + 1)).toBeUndefined();
    expect(fromBits(base, -1)).toBeUndefined();
    expect(fromBits(base, 0.5)).toBeUndefined();
  });

  it("regression: bits beyond the 32 that arithmetic keeps are no label, though they vanish in it", () => {
    // Read back as a label, such a number forbade nothing.
    for (const bits of [2 ** 32, 2 ** 40 + 1, -(2 ** 32), Number.MAX_SAFE_INTEGER, Number.NaN, Infinity])
      expect(fromBits(base, bits)).toBeUndefined();
    expect([0, 1, base.top].map((bits) => fromBits(base, bits))).toEqual([0, 1, base.top]);
  });

  it("refuses a lattice without levels, with a name twice, or with too many bits", () => {
    const none = { levels: [], categories: [], groups: [] };
    expect(makeLattice(none)).toEqual(err("the lattice has no confidentiality level: declare at least one"));
    expect(makeLattice({ ...none, levels: ["a"], groups: ["a"] })).toEqual(
      err("`a` is declared twice in the lattice: give each name one meaning"),
    );
    // One level needs no bit, trust needs one.
    const many = Array.from({ length: labelBitsMax }, (_, index) => `c${index}`);
    expect(makeLattice({ ...none, levels: ["a"], categories: many.slice(1) })).toMatchObject({
      ok: true,
      value: { bitCount: labelBitsMax, top: 2 ** labelBitsMax - 1 },
    });
    expect(makeLattice({ ...none, levels: ["a"], categories: many })).toEqual(
      err("the lattice needs 31 bits, the limit is 30: declare fewer categories or groups"),
    );
  });
});

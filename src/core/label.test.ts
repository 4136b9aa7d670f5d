import fc from "fast-check";
import { describe as suite, expect, it } from "vitest";
import type { Label, Lattice } from "./label.ts";
import {
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

  it("ranges join at both ends", () => {
    const range = joinRanges(unknownRange(base), exactly(levelLabel(base, "private") as Label));
    expect(range).toEqual({ lo: levelLabel(base, "private"), hi: base.top });
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

  it("refuses a lattice without levels, with a name twice, or with too many bits", () => {
    const none = { levels: [], categories: [], groups: [] };
    expect(makeLattice(none)).toMatchObject({ ok: false });
    expect(makeLattice({ ...none, levels: ["a"], groups: ["a"] })).toMatchObject({ ok: false });
    const many = Array.from({ length: labelBitsMax }, (_, index) => `c${index}`);
    expect(makeLattice({ ...none, levels: ["a"], categories: many })).toMatchObject({ ok: false });
  });
});

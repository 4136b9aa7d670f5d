/** Labels of results as they are compiled, and which of two results says more. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { OutputContract } from "../../core/contract.ts";
import { exactly, fromBits } from "../../core/label.ts";
import { lattice } from "../../../test/kit/policy/scene.ts";
import { loadPolicy } from "../load.ts";
import { isAbove } from "./cases.ts";

const runs = { numRuns: Number(process.env["SLUICEGATE_RUNS"] ?? 200) };

type Field = readonly [bits: number, from?: readonly string[]];
const label = (bits: number) => exactly(fromBits(lattice, bits) ?? lattice.top);

/** The whole has the first label; each field its own, and the arguments that reach it. */
function output(bits: number, fields: { readonly [pointer: string]: Field } = {}): OutputContract {
  return {
    label: label(bits),
    fields: Object.entries(fields).map(([pointer, [own, from]]) => ({
      pointer,
      label: label(own),
      ...(from === undefined ? {} : { from }),
    })),
  };
}

it.each<[string, boolean, OutputContract, OutputContract]>([
  ["the same", true, output(1, { "/a": [2, ["x"]] }), output(1, { "/a": [2, ["x"]] })],
  ["more of the whole", true, output(3), output(1)],
  ["less of the whole", false, output(1), output(3)],
  ["something else", false, output(2), output(1)],
  ["more of the field", true, output(1, { "/a": [3] }), output(1, { "/a": [1] })],
  ["less of the field", false, output(1, { "/a": [0] }), output(1, { "/a": [1] })],
  ["less of one of two fields", false, output(0, { "/a": [1], "/b": [0] }), output(0, { "/a": [1], "/b": [1] })],
  [
    "a field that is lower than what is around it, on both sides",
    true,
    output(1, { "/a": [0] }),
    output(1, { "/a": [0] }),
  ],
  ["a field less, and no part as high as it was", false, output(0), output(0, { "/a": [1] })],
  ["a field less, and all as high as it was", true, output(1), output(0, { "/a": [1] })],
  ["a field more, below what was around it", false, output(1, { "/a": [0] }), output(1)],
  ["a field more, above what was around it", true, output(1, { "/a": [3] }), output(1)],
  ["another field, as high as anything was", true, output(3, { "/b": [3] }), output(1, { "/a": [3] })],
  ["another field, lower than the first was", false, output(3, { "/b": [1] }), output(1, { "/a": [3] })],
  ["more arguments that reach the field", true, output(0, { "/a": [0, ["x", "y"]] }), output(0, { "/a": [0, ["y"]] })],
  ["fewer arguments that reach it", false, output(0, { "/a": [0, ["x"]] }), output(0, { "/a": [0, ["x", "y"]] })],
  ["none that reach it, where all did", false, output(0, { "/a": [0, []] }), output(0, { "/a": [0] })],
  ["all that reach it, where one did", true, output(0, { "/a": [0] }), output(0, { "/a": [0, ["x"]] })],
  ["one that reaches a field that had no name", false, output(0, { "/a": [0, ["x"]] }), output(0)],
  [
    "regression: one that reaches a field, where all reached a part of it",
    false,
    output(0, { "/a": [0, ["x"]] }),
    output(0, { "/a": [0, ["x"]], "/a/b": [0] }),
  ],
  [
    "one that reaches a field, and the same a part of it",
    true,
    output(0, { "/a": [0, ["x"]] }),
    output(0, { "/a": [0, ["x"]], "/a/b": [0, ["x"]] }),
  ],
])("%s: %s", (_what, above, high, low) => {
  expect(isAbove(high, low, [])).toBe(above);
});

it("law: whatever is labelled higher stays above, and two that are above each other say the same", () => {
  const bits = fc.integer({ min: 0, max: 3 });
  const from = fc.option(fc.subarray(["x", "y"]), { nil: undefined });
  const fields = fc.dictionary(fc.constantFrom("/a", "/b"), fc.tuple(bits, from), {
    maxKeys: 2,
    noNullPrototype: true,
  });
  const any = fc.tuple(bits, fields).map(([whole, parts]) => output(whole, parts as { [pointer: string]: Field }));
  const top = (of: OutputContract): OutputContract => ({
    label: label(lattice.top),
    fields: of.fields.map((field) => ({ ...field, label: label(lattice.top) })),
  });
  fc.assert(
    fc.property(any, any, (one, other) => {
      expect(isAbove(one, one, [])).toBe(true);
      expect(isAbove(top(one), one, [])).toBe(true);
      if (isAbove(one, other, [])) expect(isAbove({ ...one, label: label(3) }, other, [])).toBe(true);
      const named = (of: OutputContract): string =>
        of.fields
          .map(({ pointer }) => pointer)
          .toSorted()
          .join(" ");
      if (isAbove(one, other, []) && isAbove(other, one, []) && named(one) === named(other)) {
        expect(one.label).toEqual(other.label);
      }
    }),
    runs,
  );
});

it("a result of which only fields are labelled is otherwise unknown, and each field names what reaches it", () => {
  const text = `version: 1
labels:
  s.t: {output: {fields: {/size: {confidentiality: public, trust: trusted, from: [path]}, /text: private}}}
  s.u: {output: {}}
`;
  const { policy } = loadPolicy({ file: "p.yaml", text }, { loader: () => undefined, hash: () => "" });
  const of = (tool: string) => policy?.table.entries.find((entry) => entry.tool === tool)?.statement.output;
  const { bottom, top, levelMask, untrustedBit } = policy?.ir.lattice ?? lattice;
  expect(of("u")).toEqual({ label: { lo: bottom, hi: top }, fields: [] });
  expect(of("t")).toEqual({
    label: { lo: bottom, hi: top },
    fields: [
      { pointer: "/size", label: { lo: bottom, hi: bottom }, from: ["path"] },
      { pointer: "/text", label: { lo: levelMask, hi: levelMask | untrustedBit } },
    ],
  });
});

it("a wrong word in a field is shown where it stands", () => {
  const text = "version: 1\nlabels:\n  s.t:\n    output:\n      fields:\n        /a: private\n        /b: secret\n";
  const { diagnostics } = loadPolicy({ file: "p.yaml", text }, { loader: () => undefined, hash: () => "" });
  expect(diagnostics.map(({ code, line }) => [code, line])).toEqual([["SG-POLICY-LEVEL", 7]]);
});

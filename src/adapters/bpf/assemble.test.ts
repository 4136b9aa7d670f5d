import fc from "fast-check";
import { expect, test } from "vitest";
import { argumentOffset, assemble, failWith, filterActions, instructionCount, type Line } from "./assemble.ts";
import { interpret } from "../../../test/kit/isolation/bpf-interpreter.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const call = (number: number, ...args: readonly bigint[]) => ({ number, architecture: 0, arguments: args });

function program(lines: readonly Line[]): Uint8Array {
  const built = assemble(lines);
  if (!built.ok) throw new Error(built.error);
  return built.value;
}

test("a program is encoded as the kernel reads it", () => {
  const bytes = program([
    { kind: "load", offset: 0 },
    { kind: "jump", test: "equal", value: 59, no: "end" },
    { kind: "return", action: failWith(1) },
    { kind: "label", name: "end" },
    { kind: "return", action: filterActions.allow },
  ]);
  expect(Buffer.from(bytes).toString("hex")).toBe(
    ["2000000000000000", "150000013b000000", "0600000001000500", "060000000000ff7f"].join(""),
  );
});

test("a jump reaches its label, however far", () => {
  const gaps = fc.tuple(fc.nat({ max: 400 }), fc.nat({ max: 400 }));
  const values = fc.integer({ min: 0, max: 0xffffffff });
  const tests = fc.constantFrom("equal", "greater", "at-least", "any-bit");
  fc.assert(
    fc.property(gaps, values, values, tests, ([near, far], compared, loaded, kind) => {
      const filler = (count: number, action: number): Line[] =>
        Array.from({ length: count }, () => ({ kind: "return", action }));
      const bytes = program([
        { kind: "load", offset: argumentOffset(0) },
        { kind: "jump", test: kind, value: compared, yes: "yes", no: "no" },
        ...filler(near, 9),
        { kind: "label", name: "yes" },
        { kind: "return", action: 1 },
        ...filler(far, 9),
        { kind: "label", name: "no" },
        { kind: "return", action: 2 },
      ]);
      const truth = {
        equal: loaded === compared,
        greater: loaded > compared,
        "at-least": loaded >= compared,
        "any-bit": (loaded & compared) !== 0,
      }[kind];
      expect(interpret(bytes, call(0, BigInt(loaded)))).toBe(truth ? 1 : 2);
    }),
    { numRuns: runs },
  );
});

test("a jump without a label goes on, near or far", () => {
  const far: Line[] = Array.from({ length: 300 }, () => ({ kind: "and", mask: 0xffffffff }));
  for (const between of [[], far]) {
    const bytes = program([
      { kind: "load", offset: 0 },
      { kind: "jump", test: "equal", value: 7, yes: "seven" },
      ...between,
      { kind: "goto", label: "other" },
      { kind: "label", name: "seven" },
      { kind: "return", action: 7 },
      { kind: "label", name: "other" },
      { kind: "return", action: 1 },
    ]);
    expect(interpret(bytes, call(7))).toBe(7);
    expect(interpret(bytes, call(8))).toBe(1);
  }
});

test("both halves of an argument can be asked for", () => {
  const bytes = program([
    { kind: "load", offset: argumentOffset(1, "high") },
    { kind: "and", mask: 0xff },
    { kind: "jump", test: "equal", value: 5, no: "no" },
    { kind: "return", action: 1 },
    { kind: "label", name: "no" },
    { kind: "return", action: 2 },
  ]);
  expect(interpret(bytes, call(0, 0n, 0x105_0000_0000n))).toBe(1);
  expect(interpret(bytes, call(0, 0n, 5n))).toBe(2);
});

test("what the kernel would refuse is an error", () => {
  const end: Line = { kind: "return", action: 0 };
  const jump = (label: string): Line => ({ kind: "jump", test: "equal", value: 0, yes: label });
  expect(assemble([])).toMatchObject({ ok: false });
  expect(assemble([jump("nowhere"), end])).toMatchObject({ ok: false, error: expect.stringContaining("nowhere") });
  expect(assemble([{ kind: "label", name: "top" }, jump("top"), end])).toMatchObject({ ok: false });
  expect(assemble([{ kind: "label", name: "a" }, { kind: "label", name: "a" }, end])).toMatchObject({ ok: false });
  expect(assemble(Array.from({ length: 5_000 }, () => end))).toMatchObject({ ok: false });
});

test("a program knows its length", () => {
  expect(instructionCount(program([{ kind: "return", action: 0 }]))).toBe(1);
});

import { expect, test } from "vitest";
import { architectureOf, architectures, systemCallNames, systemCallNumber, systemCalls } from "./system-calls.ts";

test("no two calls of an architecture share a number", () => {
  for (const architecture of architectures) {
    const numbers = systemCalls.flatMap((name) => systemCallNumber(architecture, name) ?? []);
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(systemCallNames(architecture).size).toBe(numbers.length);
  }
});

test("calls added since both architectures share a table have one number", () => {
  for (const name of systemCalls) {
    const number = systemCallNumber("x64", name) ?? 0;
    if (number >= 424) expect([name, systemCallNumber("arm64", name)]).toEqual([name, number]);
  }
});

test("arm64 has only the newer form of a call", () => {
  expect(systemCallNumber("arm64", "open")).toBeUndefined();
  expect(systemCallNumber("arm64", "openat")).toBe(56);
  expect(systemCallNumber("x64", "execve")).toBe(59);
  expect(systemCallNames("x64").get(257)).toBe("openat");
});

test("only architectures with a table are known", () => {
  expect(architectureOf("x64")).toBe("x64");
  expect(architectureOf("riscv64")).toBeUndefined();
});

import { expect, test } from "vitest";
import { failWith, filterActions } from "../bpf/assemble.ts";
import { interpret } from "../../../test/kit/isolation/bpf-interpreter.ts";
import {
  type Architecture,
  architectures,
  auditArchitectures,
  type SystemCall,
  systemCallNumber,
} from "../bpf/system-calls.ts";
import { notifiedCalls, notifyFilter, type TraceLevel } from "./notify-filter.ts";

const { allow, notify } = filterActions;
const refuse = failWith(38);

function ask(
  level: TraceLevel,
  name: SystemCall,
  args: readonly bigint[] = [],
  architecture: Architecture = "x64",
): number {
  const program = notifyFilter(architecture, level);
  if (!program.ok) throw new Error(program.error);
  const number = systemCallNumber(architecture, name) ?? -1;
  const seen = { number, architecture: auditArchitectures[architecture], arguments: args };
  return interpret(program.value, seen) ?? -1;
}

test("every call that is told of is asked about, on both architectures and levels", () => {
  const telling = [1n, 0x1n, 0x41n, 1n, 0x7f00_0000_0000n, 0n];
  for (const architecture of architectures) {
    for (const name of notifiedCalls.filter((one) => systemCallNumber(architecture, one) !== undefined)) {
      for (const level of ["full", "effects"] as const) {
        expect([name, level, ask(level, name, telling, architecture)]).toEqual([name, level, notify]);
      }
    }
    expect(ask("full", "read", [], architecture)).toBe(allow);
    expect(ask("full", "exit_group", [], architecture)).toBe(allow);
  }
});

test("`effects` lets pass only opens that can change nothing", () => {
  const reading = 0x80000n;
  for (const [name, at] of [
    ["open", 1],
    ["openat", 2],
  ] as const) {
    const call = (level: TraceLevel, flags: bigint) => {
      const args = [0n, 0n, 0n];
      args[at] = flags;
      return ask(level, name, args);
    };
    expect(call("full", reading)).toBe(notify);
    expect(call("effects", reading)).toBe(allow);
    for (const writing of [0x1n, 0x2n, 0x40n, 0x200n]) expect(call("effects", reading | writing)).toBe(notify);
  }
  expect(ask("effects", "openat2")).toBe(notify);
  expect(ask("effects", "creat")).toBe(notify);
});

test("an address anywhere in the register is an address", () => {
  expect(ask("full", "sendto", [0n, 0n, 0n, 0n, 0n])).toBe(allow);
  expect(ask("full", "sendto", [0n, 0n, 0n, 0n, 1n])).toBe(notify);
  expect(ask("full", "sendto", [0n, 0n, 0n, 0n, 0x1_0000_0000n])).toBe(notify);
});

test("only the signal that does nothing passes unasked", () => {
  expect(ask("full", "tgkill", [5n, 5n, 23n])).toBe(allow);
  expect(ask("full", "tgkill", [5n, 5n, 9n])).toBe(notify);
  expect(ask("full", "tkill", [5n, 23n])).toBe(allow);
  expect(ask("full", "kill", [5n, 23n])).toBe(notify);
});

test("ways around the filter do not exist", () => {
  expect(ask("full", "io_uring_setup")).toBe(refuse);
  const program = notifyFilter("x64", "full");
  if (!program.ok) throw new Error(program.error);
  const seen = { number: 2, architecture: auditArchitectures.arm64, arguments: [] };
  expect(interpret(program.value, seen)).toBe(refuse);
  const x32 = { number: 0x40000000 + 2, architecture: auditArchitectures.x64, arguments: [] };
  expect(interpret(program.value, x32)).toBe(refuse);
});

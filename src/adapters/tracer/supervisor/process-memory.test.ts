import { expect, test } from "vitest";
import type { Native } from "../native.ts";
import { ProcessMemory, processMemoryBytes } from "./process-memory.ts";

const at = 4_096;

/** A process whose memory is `memory` from address 4096 on, read as process_vm_readv does, or fails with `error`. */
function process(memory: string, error?: number) {
  const bytes = Buffer.alloc(processMemoryBytes);
  const arena = { address: 0, bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
  const reads: number[] = [];
  const readMemory = (_pid: number, local: number, remote: number, count: number): number => {
    let got = 0;
    for (let index = 0; index < count && error === undefined; index++) {
      const start = Number(arena.view.getBigUint64(remote + 16 * index, true));
      const length = Number(arena.view.getBigUint64(remote + 16 * index + 8, true));
      const there = memory.slice(start - at, start - at + length);
      got += bytes.write(there, Number(arena.view.getBigUint64(local, true)) + got, "latin1");
    }
    reads.push(got);
    return error === undefined ? got : -1;
  };
  const native = { readMemory, errorNumber: () => error ?? 0 } as unknown as Native; // only what is asked here
  return { memory: new ProcessMemory(native, arena), reads };
}

test("a short text costs one small read, a long one is read whole", () => {
  const short = process(`/etc/hosts\0${"x".repeat(5_000)}`);
  expect(short.memory.text(1, at)).toBe("/etc/hosts");
  expect(short.reads).toEqual([256]);
  const long = `/${"deep/".repeat(500)}end`;
  expect(process(`${long}\0rest`).memory.text(1, at)).toBe(long);
  expect(process("no end").memory.text(1, at)).toBe("no end");
  expect(process("a".repeat(300)).memory.text(1, at, 160)).toBe("a".repeat(160));
});

test.each([
  ["an address where nothing is", 14],
  ["a process that has ended", 3],
])("%s gives nothing, as it gives the kernel nothing", (_, error) => {
  expect(process("", error).memory.text(1, at)).toBeUndefined();
});

test("regression: memory that only the kernel may read is a fault of sight, not a call without effect", () => {
  expect(() => process("", 1).memory.text(1, at)).toThrow("closed");
});

test("no address is no text", () => {
  expect(process("x").memory.text(1, 0)).toBeUndefined();
});

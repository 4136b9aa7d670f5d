import { describe, expect, it } from "vitest";
import type { UpstreamHandler } from "../../gateway/ports/transport.ts";
import { connectProcess } from "../stdio/stdio-upstream.ts";
import { defaultServerMemoryBytes, ServerMemory } from "./server-memory.ts";

const mebibyte = 1024 * 1024;

function memoryOf(megabytes: number, resident: Record<number, number> = {}) {
  const time = { now: 0 };
  const memory = new ServerMemory({
    bytesMax: megabytes * mebibyte,
    nowMs: () => time.now,
    residentOf: (leader) => (resident[leader] ?? 0) * mebibyte,
  });
  return { memory, time };
}

describe("B13: the memory of local servers", () => {
  it("counts what they use, and more while they start", () => {
    const { memory, time } = memoryOf(1_000, { 1: 10, 2: 300 });
    memory.started(1);
    memory.started(2);
    expect(memory.usedBytes()).toBe((48 + 300) * mebibyte);
    time.now = 10_001;
    expect(memory.usedBytes()).toBe(310 * mebibyte);
    expect(memory.servers).toBe(2);
  });

  it("counts a server of which nothing is known as one that starts", () => {
    const { memory, time } = memoryOf(1_000);
    memory.started(1);
    time.now = 60_000;
    expect(memory.usedBytes()).toBe(48 * mebibyte);
  });

  it("refuses one more where it would be too much, and not once one ends", () => {
    const { memory } = memoryOf(100, { 1: 60 });
    const ends = memory.started(1);
    expect(memory.hasRoom()).toBe(false);
    expect(memory.refusal()).toBe(
      "No memory is left for it: 1 servers use 60 MiB of 100. End a session, or raise `memoryMb`.",
    );
    ends();
    expect(memory.refusal()).toBeUndefined();
  });

  it("a process that is measured is not measured again at once", () => {
    let looks = 0;
    const time = { now: 0 };
    const residentOf = (): number => (looks += 1) * mebibyte;
    const memory = new ServerMemory({ bytesMax: 100 * mebibyte, nowMs: () => time.now, residentOf });
    memory.started(1);
    for (let count = 0; count < 9; count += 1) memory.hasRoom();
    expect(looks).toBe(1);
    time.now = 1_000;
    memory.hasRoom();
    expect(looks).toBe(2);
  });

  it("the end of one that had this leader before says nothing of its successor", () => {
    const { memory } = memoryOf(100);
    const ends = memory.started(1);
    memory.started(1);
    ends();
    expect(memory.servers).toBe(1);
  });

  it("half of the machine's is the default", () => {
    expect(defaultServerMemoryBytes()).toBeGreaterThan(64 * mebibyte);
  });

  it("a server that may not start ends its connection with the reason; others are counted until they are ended", async () => {
    const { memory } = memoryOf(100);
    const reasons: string[] = [];
    const handler: UpstreamHandler = { message: () => undefined, closed: (reason) => reasons.push(reason) };
    const target = {
      kind: "stdio",
      command: process.execPath,
      args: ["-e", "process.stdin.resume()"],
      env: {},
      workingDirectory: "/",
    } as const;
    const one = connectProcess(target, handler, { memory });
    expect(memory.servers).toBe(1);
    const ended = one.close();
    expect(memory.servers).toBe(0);
    await ended;
    expect(reasons).toEqual(["The connection was closed by the gateway."]);
    const ending = new Promise<string>((resolve) => {
      const short = { ...target, args: ["-e", ""] };
      connectProcess(short, { message: () => undefined, closed: resolve }, { memory });
    });
    expect(memory.servers).toBe(1);
    await ending;
    expect(memory.servers).toBe(0);
    const full = memoryOf(40).memory;
    const refused = new Promise<string>((resolve) => {
      connectProcess(target, { message: () => undefined, closed: resolve }, { memory: full });
    });
    expect(await refused).toMatch(/No memory is left for it: 0 servers use 0 MiB of 40/);
    const launched = new Promise<string>((resolve) => {
      const launch = () => Promise.reject(new Error("never"));
      connectProcess(target, { message: () => undefined, closed: resolve }, { memory: full, launch });
    });
    expect(await launched).toMatch(/No memory is left/);
  });
});

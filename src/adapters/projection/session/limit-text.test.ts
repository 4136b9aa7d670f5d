import { expect, test } from "vitest";
import { anyOrder } from "../../../../test/kit/isolation/isolation-order.ts";
import type { ProcessEnd } from "../../process/server-process.ts";
import { limitText } from "./limit-text.ts";
import { watchLimits } from "./kernel-limits.ts";

const ended = async (end: Partial<ProcessEnd>): Promise<string | undefined> => {
  const order = { ...anyOrder, server: "notes" };
  const server = { ended: Promise.resolve(end), processGroup: process.pid } as unknown as Parameters<
    typeof watchLimits
  >[0]["server"]; // only these two are looked at
  const { limits } = order.scope;
  const watch = watchLimits({ pid: process.pid, limits, server, now: () => 0, cgroup: "none" });
  await server.ended;
  await Promise.resolve();
  return limitText(watch.fatal, order);
};

test("a server that a limit ended is told with the limit and how to raise it, however its end is reported", async () => {
  for (const end of [{ signal: "SIGXCPU" as const }, { code: 128 + 24 }]) {
    expect(await ended(end)).toMatch(
      /s of processor time.*raise `limits: \{cpuSeconds: \.\.\.\}` under isolation\.servers\.notes/,
    );
  }
  for (const end of [{ signal: "SIGXFSZ" as const }, { code: 128 + 25 }]) {
    expect(await ended(end)).toContain("limits: {fileMb: ...}");
  }
});

test("another end is no limit's: a kill without a hit, a crash, an exit", async () => {
  for (const end of [{ signal: "SIGKILL" as const }, { signal: "SIGSEGV" as const }, { code: 1 }, { code: 137 }]) {
    expect(await ended(end)).toBeUndefined();
  }
  expect(limitText("memoryMb", anyOrder)).toMatch(/MiB of memory.*memoryMb/);
});

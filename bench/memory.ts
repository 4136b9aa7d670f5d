import { setTimeout as sleep } from "node:timers/promises";
import { startChild } from "../test/kit/client/child.ts";
import { createSandbox } from "../test/kit/gateway/run-gateway.ts";
import { residentKilobytes, underTest } from "./processes.ts";
import { startSubject } from "./subjects.ts";

export type Memory = {
  readonly bareNodeKilobytes: number;
  readonly shimKilobytes: number;
  /** All processes of Sluicegate except the shim: the daemon and its children. */
  readonly daemonKilobytes: number;
  readonly processes: readonly { readonly command: string; readonly kilobytes: number }[];
};

const calls = 1000;
const settleMs = 10_000;

async function bareNode(): Promise<number> {
  const child = startChild([process.execPath, "-e", "process.stdin.resume()"]);
  await sleep(1000);
  const kilobytes = residentKilobytes(child.process.pid ?? 0);
  await child.stop();
  return kilobytes;
}

/** Resident memory ten seconds after a thousand calls of 1 KB over stdio, of a daemon that has served nothing else. */
export async function measureMemory(): Promise<Memory> {
  const bareNodeKilobytes = await bareNode();
  const sandbox = await createSandbox();
  const subject = await startSubject("guarded", "stdio", 1, sandbox);
  try {
    for (let done = 0; done < calls; done += 1) {
      await subject.driver.ask("tools/call", { name: "read_text", arguments: { bytes: 1024 } }, 1024);
    }
    await sleep(settleMs);
    const found = underTest(subject.root ?? 0, subject.assignment);
    const processes = found.map(({ pid, command }) => ({ pid, command, kilobytes: residentKilobytes(pid) }));
    const shim = processes.find(({ pid }) => pid === subject.root)?.kilobytes ?? 0;
    const all = processes.reduce((sum, { kilobytes }) => sum + kilobytes, 0);
    return { bareNodeKilobytes, shimKilobytes: shim, daemonKilobytes: all - shim, processes };
  } finally {
    await subject.stop();
    await sandbox.remove();
  }
}

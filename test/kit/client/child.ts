import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A process that a test or benchmark started and must end. */
export type Child = {
  readonly process: ChildProcess;
  readonly stderr: () => string;
  /** Ends it by SIGTERM, by SIGKILL when it does not listen. */
  readonly stop: () => Promise<void>;
};

const stopMsMax = 5_000;
const stderrCharactersMax = 20_000;

export function startChild(command: readonly string[], env: Readonly<Record<string, string>> = {}): Child {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, ...env } });
  let stderr = "";
  child.stderr.setEncoding("utf8");
  child.stderr.on("data", (chunk: string) => {
    stderr = (stderr + chunk).slice(-stderrCharactersMax);
  });
  // A write to a process that just ended is not the test's failure; the missing answer is.
  child.stdin.on("error", () => {});
  const ended = once(child, "close");
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), stopMsMax);
    await ended;
    clearTimeout(timer);
  };
  return { process: child, stderr: () => stderr, stop };
}

/** First line that the process prints, or a failure that quotes what it said instead. */
export async function firstLine(child: Child, waitMsMax = 15_000): Promise<string> {
  return await new Promise((resolve, reject) => {
    let text = "";
    const fail = (what: string): void => reject(new Error(`${what}: ${child.stderr().slice(-500)}`));
    const timer = setTimeout(() => fail("no line in time"), waitMsMax);
    child.process.stdout?.setEncoding("utf8");
    child.process.stdout?.on("data", (chunk: string) => {
      text += chunk;
      const end = text.indexOf("\n");
      if (end < 0) return;
      clearTimeout(timer);
      resolve(text.slice(0, end));
    });
    child.process.once("close", () => fail("the process ended"));
  });
}

/** A TCP port of this machine that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server on a TCP port always has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Waits until something answers HTTP at this URL, whatever it answers. */
export async function answering(url: string, child: Child, waitMsMax = 15_000): Promise<void> {
  const until = performance.now() + waitMsMax;
  while (performance.now() < until) {
    if (child.process.exitCode !== null) break;
    try {
      await (await fetch(url, { method: "OPTIONS" })).body?.cancel();
      return;
    } catch {
      await sleep(50);
    }
  }
  throw new Error(`nothing answers at ${url}: ${child.stderr().slice(-500)}`);
}

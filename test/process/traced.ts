// Programs that run with the tracer's filter on, and why they cannot here.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Sighting, Tracer } from "../../src/adapters/projection/parts.ts";
import { openNative } from "../../src/adapters/tracer/native.ts";
import type { TraceLevel } from "../../src/adapters/tracer/notify-filter.ts";
import { startSupervisor, type Supervisor } from "../../src/adapters/tracer/notify-tracer.ts";

/** Undefined where system calls can be traced, else the reason to print. */
export async function tracerAbsent(): Promise<string | undefined> {
  const native = openNative();
  if (!native.ok) return native.error;
  const started = await startSupervisor();
  if (!started.ok) return started.error;
  const program = await traced(started.value, ["/bin/true"]).catch((error: unknown) => String(error));
  if (typeof program !== "string") await program.ended;
  started.value.close();
  return typeof program === "string" ? program : undefined;
}

export async function supervisor(): Promise<Supervisor> {
  const started = await startSupervisor();
  if (!started.ok) throw new Error(started.error);
  return started.value;
}

export type TracedProgram = {
  readonly child: ChildProcess;
  readonly tracer: Tracer;
  /** The next line on its standard output. */
  readonly line: () => Promise<string>;
  /** Calls back with each line as soon as it is read. */
  readonly onLine: (listener: (line: string) => void) => void;
  readonly say: (line: string) => void;
  readonly ended: Promise<readonly unknown[]>;
};

export type TracedOptions = {
  readonly level?: TraceLevel;
  readonly programsBefore?: number;
  readonly noPrograms?: boolean;
  /** User and group that the program runs as. */
  readonly user?: number;
  /** Leaves the launcher where it is; `go` makes it the program. */
  readonly stopped?: boolean;
};

/** Starts a program under the tracer; everything from its own start is on record. */
export async function traced(
  by: Supervisor,
  command: readonly string[],
  options: TracedOptions = {},
): Promise<TracedProgram> {
  const level = options.level ?? "full";
  const file = fileURLToPath(new URL("./fixture/traced-launcher.ts", import.meta.url));
  const child = fork(file, [level, ...command], {
    stdio: ["pipe", "pipe", "ignore", "ipc"],
    execArgv: ["--disable-warning=ExperimentalWarning"],
    cwd: "/",
    ...(options.user === undefined ? {} : { uid: options.user, gid: options.user }),
  });
  const ended = once(child, "exit");
  const [message] = (await once(child, "message")) as [{ fd?: number; error?: string }];
  if (message.fd === undefined || child.pid === undefined) throw new Error(message.error ?? "no launcher");
  const programsBefore = options.programsBefore ?? 0;
  const tracer = await by.trace({
    pid: child.pid,
    fd: message.fd,
    level,
    programsBefore,
    ...(options.noPrograms === true ? { noPrograms: true } : {}),
  });
  if (!tracer.ok) {
    child.kill("SIGKILL");
    throw new Error(tracer.error);
  }
  const listeners = new Set<(line: string) => void>();
  let rest = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) for (const listener of listeners) listener(line);
  });
  child.stdin?.on("error", () => undefined);
  if (options.stopped !== true) child.send("go");
  const line = (): Promise<string> =>
    new Promise((resolve) => {
      const listener = (text: string): void => {
        listeners.delete(listener);
        resolve(text);
      };
      listeners.add(listener);
    });
  const onLine = (listener: (line: string) => void): void => void listeners.add(listener);
  const say = (text: string): void => void child.stdin?.write(`${text}\n`);
  return { child, tracer: tracer.value, line, onLine, say, ended };
}

/** A program that evaluates each line of its input with `fs` and `net` in scope, and answers with one line. */
export function evaluator(): readonly string[] {
  const script = `const fs = require("node:fs"), net = require("node:net"), child_process = require("node:child_process");
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  let answer;
  try { answer = String(eval(line)); } catch (error) { answer = error.code ?? String(error); }
  process.stdout.write(answer + "\\n");
});
process.stdout.write("ready\\n");`;
  return [process.execPath, "-e", script];
}

export function paths(sightings: readonly Sighting[], action: Sighting["action"]): readonly string[] {
  return sightings.flatMap((one) => (one.action === action && one.path !== undefined ? [one.path] : []));
}

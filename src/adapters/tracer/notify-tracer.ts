/**
 * The gateway's side of a supervisor: starts it, hands it the listeners of launchers, and reads what it put on record.
 */
import { type ChildProcess, fork } from "node:child_process";
import { closeSync, constants, existsSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { err, ok, type Result } from "../../core/result.ts";
import type { Sighting, Tracer } from "../projection/parts.ts";
import { sightingsWaitingMax, supervisorStartMsMax, takeOverMsMax } from "./limits.ts";
import { Liveness } from "./liveness.ts";
import type { TraceLevel } from "./notify-filter.ts";
import { prepareRing, RingReader } from "./ring.ts";
import type { SupervisorOrder, SupervisorReport } from "./supervisor-protocol.ts";

export type SupervisorOptions = {
  /** Private folder of the gateway, best one in memory; records live in a folder of their own in it. */
  readonly folder: string;
};

export type TraceRequest = {
  /** The launcher that called `installNotifyFilter`, as a process id of the host, and what that returned. */
  readonly pid: number;
  readonly fd: number;
  readonly level: TraceLevel;
  /** Programs that start before the server does: 1 for a sandbox that then starts it, 0 for a launcher that becomes it. */
  readonly programsBefore: number;
  /** Nothing may start a program once the server runs, itself included: every such call fails with EPERM. */
  readonly noPrograms?: boolean;
};

export interface Supervisor {
  /** Takes over a listener. Once this resolves with a tracer, the launcher may go on to become another program. */
  trace(request: TraceRequest): Promise<Result<Tracer, string>>;
  /** Process id on the host. */
  readonly pid: number;
  /** Why it traces nothing more. */
  readonly failure: string | undefined;
  /** The folder of its records is there, so another server can be added. */
  readonly usable: boolean;
  /** Closes at once, or with the last server that it traces. */
  retire(): void;
  close(): void;
}

/** Starts a supervisor, or says in one sentence why this machine cannot have one. */
export async function startSupervisor(options: SupervisorOptions): Promise<Result<Supervisor, string>> {
  const folder = makeFolder(options.folder);
  if (folder === undefined) {
    return err("The tracer could not make a folder for its records. Check the permissions of the runtime folder.");
  }
  const file = fileURLToPath(new URL(`./supervisor-main${extname(import.meta.url)}`, import.meta.url));
  const child = fork(file, [folder], {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    // It keeps next to nothing, and should not grow its heap before it collects garbage.
    execArgv: ["--disable-warning=ExperimentalWarning", "--max-semi-space-size=1", "--max-old-space-size=64"],
    env: {},
  });
  const supervisor = new RunningSupervisor(child, folder);
  const started = await supervisor.ready;
  if (started.ok) return ok(supervisor);
  supervisor.close();
  return started;
}

function makeFolder(parent: string): string | undefined {
  try {
    return mkdtempSync(join(parent, "trace-"));
  } catch {
    return undefined;
  }
}

const gone = "The process that traces servers has ended, so nothing more can be vouched for. Start the run again.";

class RunningSupervisor implements Supervisor {
  readonly ready: Promise<Result<void, string>>;
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #tracers = new Map<number, NotifyTracer>();
  readonly #answers = new Map<number, (answer: Result<void, string>) => void>();
  readonly #liveness: Liveness;
  #failure: string | undefined;
  #next = 1;
  #retired = false;

  constructor(child: ChildProcess, folder: string) {
    this.#child = child;
    this.#folder = folder;
    this.#liveness = new Liveness(child.pid);
    this.ready = this.#answer(0, supervisorStartMsMax);
    // Only the process that we started writes to this channel.
    child.on("message", (message: SupervisorReport) => this.#hear(message));
    child.on("error", () => this.#end(gone));
    child.on("exit", () => this.#end(gone));
    // It lives as long as the gateway and must not keep it alive.
    child.unref();
    child.channel?.unref();
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get failure(): string | undefined {
    return this.#failure;
  }

  get usable(): boolean {
    return this.#failure === undefined && !this.#retired && existsSync(this.#folder);
  }

  async trace(request: TraceRequest): Promise<Result<Tracer, string>> {
    if (this.#failure !== undefined) return err(this.#failure);
    const id = this.#next++;
    const file = join(this.#folder, `${id}`);
    const fd = makeRecord(file);
    if (fd === undefined) return err("The tracer's record could not be made. Free space in the runtime folder.");
    const tracer = new NotifyTracer(fd, { alive: () => this.#alive(), closed: () => this.#remove(id, file) });
    this.#tracers.set(id, tracer);
    this.#send({ kind: "add", id, file, ...request });
    const answer = await this.#answer(id, takeOverMsMax);
    if (answer.ok) return ok(tracer);
    tracer.close();
    return answer;
  }

  retire(): void {
    this.#retired = true;
    if (this.#tracers.size === 0) this.close();
  }

  close(): void {
    this.#end("The tracer was closed.");
    this.#child.kill("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #answer(id: number, waitMsMax: number): Promise<Result<void, string>> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => settle(err("The tracer did not answer in time. Start the run again.")), waitMsMax);
      const settle = (answer: Result<void, string>): void => {
        clearTimeout(timer);
        this.#answers.delete(id);
        resolve(answer);
      };
      this.#answers.set(id, settle);
    });
  }

  #hear(message: SupervisorReport): void {
    switch (message.kind) {
      case "ready":
        this.#answers.get(0)?.(ok(undefined));
        return;
      case "unable":
        this.#answers.get(0)?.(err(message.reason));
        return;
      case "added":
        this.#answers.get(message.id)?.(ok(undefined));
        return;
      case "refused":
        this.#answers.get(message.id)?.(err(message.reason));
        return;
      case "filling":
        this.#tracers.get(message.id)?.fetch();
        return;
      case "ended":
        // The server has ended; what it did stays to be drained.
        return;
    }
  }

  #remove(id: number, file: string): void {
    if (!this.#tracers.delete(id)) return;
    if (this.#failure === undefined) this.#send({ kind: "remove", id });
    rmSync(file, { force: true });
    if (this.#retired) this.retire();
  }

  /** Asked of the system, because its `exit` event may come after the answer that it must be known for. */
  #alive(): void {
    if (this.#failure === undefined && !this.#liveness.alive()) this.#end(gone);
  }

  #send(order: SupervisorOrder): void {
    if (this.#child.connected) this.#child.send(order);
  }

  #end(reason: string): void {
    if (this.#failure !== undefined) return;
    this.#failure = reason;
    this.#liveness.close();
    for (const tracer of this.#tracers.values()) tracer.fail(reason);
    for (const settle of this.#answers.values()) settle(err(reason));
  }
}

/** Exclusive and private: the name lies in a folder that only the gateway's user can enter. */
function makeRecord(file: string): number | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
    prepareRing(fd);
    return fd;
  } catch {
    if (fd !== undefined) closeSync(fd);
    return undefined;
  }
}

type TracerOwner = {
  /** Lets every tracer fail if the supervisor has ended. */
  readonly alive: () => void;
  readonly closed: () => void;
};

class NotifyTracer implements Tracer {
  readonly #fd: number;
  readonly #reader: RingReader;
  readonly #owner: TracerOwner;
  #waiting: Sighting[] = [];
  #overflow = 0;
  #failure: string | undefined;
  #open = true;

  constructor(fd: number, owner: TracerOwner) {
    this.#fd = fd;
    this.#owner = owner;
    this.#reader = new RingReader(fd, performance.now() - Number(process.hrtime.bigint()) / 1e6);
  }

  get lost(): number {
    return this.#reader.lost + this.#overflow;
  }

  get failure(): string | undefined {
    return this.#failure;
  }

  drain(vouch = true): readonly Sighting[] {
    this.fetch();
    if (vouch && this.#open) this.#owner.alive();
    if (this.#waiting.length === 0) return this.#waiting;
    const all = this.#waiting;
    this.#waiting = [];
    return all;
  }

  /** Takes what is on record into memory, so that the record has room again. */
  fetch(): void {
    if (!this.#open) return;
    let read: readonly Sighting[] | undefined;
    try {
      read = this.#reader.read();
    } catch {
      read = undefined;
    }
    if (read === undefined) {
      this.fail("The tracer's record could not be read, so nothing more can be vouched for. Start the run again.");
      return;
    }
    if (this.#waiting.length === 0 && read.length <= sightingsWaitingMax) {
      this.#waiting = [...read];
      return;
    }
    const room = sightingsWaitingMax - this.#waiting.length;
    for (const sighting of read.slice(0, room)) this.#waiting.push(sighting);
    this.#overflow += Math.max(0, read.length - room);
  }

  fail(reason: string): void {
    this.#failure ??= reason;
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    closeSync(this.#fd);
    this.#owner.closed();
  }
}

/** The gateway's side of a supervisor: starts it, hands it the listeners of launchers, and reads its record. */
import { type ChildProcess, fork } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { err, ok, type Result } from "../../core/result.ts";
import type { Sighting, Tracer } from "../projection/parts.ts";
import { sightingsWaitingMax, supervisorStartMsMax, takeOverMsMax } from "./tracer-limits.ts";
import { Liveness } from "./liveness.ts";
import { RingReader } from "./ring.ts";
import type { SupervisorOrder, SupervisorReport, TraceRequest } from "./supervisor/supervisor-protocol.ts";

export interface Supervisor {
  /** Takes over a listener. Once this resolves with a tracer, the launcher may go on to become another program. */
  trace(request: TraceRequest): Promise<Result<Tracer, string>>;
  /** Process id on the host. */
  readonly pid: number;
  /** Reason why it traces no server any more; undefined while it works. */
  readonly failure: string | undefined;
  close(): void;
}

/** Starts a supervisor. The error is one sentence on why this machine cannot run one. */
export async function startSupervisor(): Promise<Result<Supervisor, string>> {
  const file = fileURLToPath(new URL(`./supervisor/supervisor-main${extname(import.meta.url)}`, import.meta.url));
  const child = fork(file, [], {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    // It holds little data, and should collect garbage before it grows its heap.
    execArgv: ["--disable-warning=ExperimentalWarning", "--max-semi-space-size=1", "--max-old-space-size=64"],
    env: {},
  });
  const supervisor = new RunningSupervisor(child);
  const started = await supervisor.ready;
  if (started.ok) return ok(supervisor);
  supervisor.close();
  return started;
}

const gone = "The process that traces servers has ended, so no more effects are recorded. Start the run again.";

class RunningSupervisor implements Supervisor {
  readonly ready: Promise<Result<void, string>>;
  readonly #child: ChildProcess;
  readonly #tracers = new Map<number, NotifyTracer>();
  readonly #answers = new Map<number, (answer: Result<void, string>) => void>();
  readonly #liveness: Liveness;
  #failure: string | undefined;
  #next = 1;

  constructor(child: ChildProcess) {
    this.#child = child;
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

  async trace(request: TraceRequest): Promise<Result<Tracer, string>> {
    if (this.#failure !== undefined) return err(this.#failure);
    const id = this.#next++;
    this.#send({ kind: "add", id, ...request });
    const answer = await this.#answer(id, takeOverMsMax);
    const tracer = this.#tracers.get(id);
    if (answer.ok && tracer !== undefined) return ok(tracer);
    if (tracer === undefined) this.#remove(id);
    else tracer.close();
    return answer.ok ? err(gone) : answer;
  }

  close(): void {
    this.#end("The tracer was closed.");
    this.#child.kill("SIGKILL");
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
        this.#answers.get(message.id)?.(this.#adopt(message.id, message.record));
        return;
      case "refused":
        this.#answers.get(message.id)?.(err(message.reason));
        return;
      case "filling":
        this.#tracers.get(message.id)?.fetch();
        return;
      case "ended":
        // The server has ended; its recorded acts can still be drained.
        return;
    }
  }

  /**
   * The record is a file without a name: a process that may inspect the supervisor opens it through the supervisor's
   * descriptors.
   */
  #adopt(id: number, record: number): Result<void, string> {
    try {
      const fd = openSync(`/proc/${this.pid}/fd/${record}`, "r+");
      const owner = { alive: () => this.#alive(), closed: () => this.#remove(id) };
      this.#tracers.set(id, new NotifyTracer(fd, owner));
      return ok(undefined);
    } catch {
      return err("The tracer's record could not be opened. The gateway needs /proc with its own processes in it.");
    }
  }

  #remove(id: number): void {
    this.#tracers.delete(id);
    if (this.#failure === undefined) this.#send({ kind: "remove", id });
  }

  /**
   * Checks with the system whether the supervisor has ended, because its `exit` event may arrive after the answer whose
   * trace depends on it.
   */
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

  /** Copies the recorded acts into memory, so that the record has room again. */
  fetch(): void {
    if (!this.#open) return;
    let read: readonly Sighting[] | undefined;
    try {
      read = this.#reader.read();
    } catch {
      read = undefined;
    }
    if (read === undefined) {
      this.fail("The tracer's record could not be read, so no more effects are recorded. Start the run again.");
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

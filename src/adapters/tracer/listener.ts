/**
 * One listener: takes a waiting call, puts it on record, and lets it go on. Recorded first, always: whoever reads what a
 * process said after the call finds the call on record. Nothing is decided by what was read of a process's memory, which
 * may have changed meanwhile; only which call it is cannot change, so that starting programs can be forbidden as a whole.
 */
import { architectureOf, systemCallNames } from "../bpf/system-calls.ts";
import { describe } from "./describe.ts";
import { idsReusedMsMin } from "./limits.ts";
import type { Arena, Native } from "./native.ts";
import type { Notification, Surroundings } from "./notification.ts";
import type { TraceLevel } from "./notify-filter.ts";
import { ProcessMemory, processMemoryBytes } from "./process-memory.ts";
import type { Act } from "./record.ts";
import { Repeats } from "./repeats.ts";
import { RingWriter } from "./ring.ts";
import { ServerFiles, serverFilesBytes } from "./server-files.ts";
import { socketKind } from "./socket-kind.ts";

// linux/seccomp.h: numbers of the requests, which carry the sizes of their structures.
const requests = { receive: 0xc0502100, send: 0xc0182101, valid: 0x40082102, setFlags: 0x40082104 } as const;
/** The waiting process runs on at once on the same processor (since 6.6). */
const syncWakeUp = 1;
const goOn = 1; // SECCOMP_USER_NOTIF_FLAG_CONTINUE

// `struct seccomp_notif` (80 bytes), `struct seccomp_notif_resp` (24) and a spare word.
const notificationBytes = 80;
const answerAt = notificationBytes;
const wordAt: number = answerAt + 24;
const callAt = 16;
const argumentsAt = 32;
const memoryAt = 128;
const filesAt: number = memoryAt + processMemoryBytes + 64;
export const listenerArenaBytes: number = filesAt + serverFilesBytes;

const zeros = new Uint8Array(notificationBytes);
const noEntry = 2;
const notPermitted = 1;

export type Owner = { readonly user: number; readonly group: number };

export type ListenerOptions = {
  readonly fd: number;
  readonly level: TraceLevel;
  /** Programs that are started before the server itself: the sandbox on its way. What they do is ours, not recorded. */
  readonly programsBefore: number;
  /** Once the server runs, nothing starts a program. */
  readonly noPrograms: boolean;
  /** Whose permissions decide on the server's files. */
  readonly owner: Owner;
  readonly file: Arena;
  /** Monotonic ms of the system. */
  readonly now: () => number;
};

export class Listener {
  readonly fd: number;
  readonly owner: Owner;
  readonly writer: RingWriter;
  readonly #native: Native;
  readonly #arena: Arena;
  readonly #around: Surroundings;
  readonly #now: () => number;
  readonly #names = systemCallNames(architectureOf(process.arch) ?? "x64");
  readonly #repeats: Repeats;
  #programsLeft: number;
  readonly #noPrograms: boolean;
  #started = false;

  /** `arena`: at least `listenerArenaBytes` for this listener alone. */
  constructor(native: Native, arena: Arena, options: ListenerOptions) {
    this.fd = options.fd;
    this.owner = options.owner;
    this.#native = native;
    this.#arena = arena;
    this.#now = options.now;
    this.#programsLeft = options.programsBefore;
    this.#noPrograms = options.noPrograms;
    this.writer = new RingWriter(options.file);
    this.#repeats = new Repeats(this.writer);
    this.#around = {
      memory: new ProcessMemory(native, part(arena, memoryAt, processMemoryBytes)),
      files: new ServerFiles(native, part(arena, filesAt, serverFilesBytes)),
      level: options.level,
      socketKind: (owner, descriptor) => socketKind(native, part(arena, wordAt, 16), owner, descriptor),
    };
    // Older kernels do not know the flag and work without it.
    native.ioctl(options.fd, requests.setFlags, syncWakeUp);
  }

  /** Serves one waiting call; to be called when the listener is readable. False once there is nobody left to wait. */
  serve(): boolean {
    const { bytes, view, address } = this.#arena;
    // The kernel insists on an empty structure.
    bytes.set(zeros, 0);
    if (this.#native.ioctl(this.fd, requests.receive, address) !== 0) {
      // The process was killed between the poll and the taking, or all that had the filter are gone.
      return this.#native.errorNumber() === noEntry;
    }
    const at = this.#now();
    // Asked before the call is recorded: the start of the server itself is what ends its freedom.
    const refused = this.#noPrograms && this.#started && this.#startsProgram();
    this.#record(refused, at);
    bytes.copyWithin(answerAt, 0, 8);
    bytes.fill(0, answerAt + 8, answerAt + 16);
    view.setInt32(answerAt + 16, refused ? -notPermitted : 0, true);
    view.setUint32(answerAt + 20, refused ? 0 : goOn, true);
    // The process may have been killed meanwhile; then there is nobody to answer.
    this.#native.ioctl(this.fd, requests.send, address + answerAt);
    // It runs on meanwhile.
    this.#around.files.letGo();
    return true;
  }

  close(): void {
    this.#around.files.leave();
    this.#native.close(this.fd);
  }

  /** By its number alone, which the kernel took from a register: no other thread can change it. */
  #startsProgram(): boolean {
    const call = this.#names.get(this.#arena.view.getInt32(callAt, true));
    return call === "execve" || call === "execveat";
  }

  #record(refused: boolean, at: number): void {
    const seen = this.#notification(at);
    try {
      if (seen === undefined) {
        this.writer.lose();
        return;
      }
      if (!this.#started) {
        // Until the server's own program only programs matter, and the root they are looked up in still changes.
        if (seen.call !== "execve" && seen.call !== "execveat") return;
        this.#around.files.enter(seen.thread);
      }
      const acts = describe(seen, this.#around);
      // While the call still waits, the thread id is still that of the thread whose memory was meant. No id is given
      // again at once, so only a supervisor that was kept waiting itself has to ask.
      const fresh = this.#now() - at < idsReusedMsMin;
      const alive = fresh || this.#native.ioctl(this.fd, requests.valid, this.#arena.address) === 0;
      if (acts === undefined) this.writer.lose();
      else if (alive) for (const act of acts) this.#put(refused ? { ...act, outcome: "denied" } : act, seen);
    } catch {
      // A fault of ours must not leave the server waiting, and must not pass for silence.
      this.writer.lose();
    }
  }

  #put(act: Act, seen: Notification): void {
    if (!this.#started) {
      // A path that names nothing is a search along PATH, not a program.
      if (act.outcome !== "unknown") return;
      this.#programsLeft -= 1;
      if (this.#programsLeft >= 0) return;
      this.#started = true;
    }
    const owner = this.#around.files.place(seen.thread, seen.at).process;
    if (act.action !== "process-spawn" && this.#repeats.has(() => keyOf(act, owner))) return;
    this.writer.put(act, owner, seen.at);
  }

  #notification(at: number): Notification | undefined {
    const view = this.#arena.view;
    const call = this.#names.get(view.getInt32(callAt, true));
    if (call === undefined) return undefined;
    const low = (index: number): number => view.getUint32(argumentsAt + 8 * index, true);
    const high = (index: number): number => view.getUint32(argumentsAt + 8 * index + 4, true);
    return {
      thread: view.getUint32(8, true),
      call,
      low,
      whole: (index) => low(index) + high(index) * 0x1_0000_0000,
      at,
    };
  }
}

function keyOf(act: Act, owner: number): string {
  return `${owner} ${act.action} ${act.outcome} ${act.path}\0${act.target}\0${act.address} ${act.port} ${act.extra}`;
}

function part(arena: Arena, start: number, length: number): Arena {
  const bytes = arena.bytes.subarray(start, start + length);
  return { address: arena.address + start, bytes, view: new DataView(bytes.buffer, bytes.byteOffset, length) };
}

/**
 * One listener: takes a waiting call, records it, and lets it go on. The call is always recorded first: a reader of
 * later output of the process finds the call on record. No decision depends on the memory of a process, which may have
 * changed meanwhile; only the number of the call cannot change, so that starting programs can be forbidden as a whole.
 */
import { architectureOf, systemCallNames } from "../../bpf/system-calls.ts";
import { describe } from "./describe.ts";
import { idsReusedMsMin, actsRememberedMax, repeatsWrittenBytesMax } from "../tracer-limits.ts";
import type { Arena, Native } from "../native.ts";
import type { Notification, Surroundings } from "./notification.ts";
import type { TraceLevel } from "../notify-filter.ts";
import { ProcessMemory, processMemoryBytes } from "./process-memory.ts";
import type { Act } from "../record.ts";
import { RingWriter } from "../ring.ts";
import { ServerFiles, serverFilesBytes } from "./server-files.ts";

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
  /** Number of programs that start before the server itself, such as the sandbox. Their acts are not recorded. */
  readonly programsBefore: number;
  /** True if no program may be started once the server runs. */
  readonly noPrograms: boolean;
  /** User and groups whose permissions apply to the server's files. */
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

  /**
   * Serves one waiting call; to be called when the listener is readable. False once no process with the filter is left.
   */
  serve(): boolean {
    const { bytes, view, address } = this.#arena;
    // The kernel insists on an empty structure.
    bytes.set(zeros, 0);
    if (this.#native.ioctl(this.fd, requests.receive, address) !== 0) {
      // The process was killed between the poll and this request, or all processes with the filter are gone.
      return this.#native.errorNumber() === noEntry;
    }
    const at = this.#now();
    // Checked before the call is recorded: recording the start of the server itself ends the permission to start
    // programs.
    const refused = this.#noPrograms && this.#started && this.#startsProgram();
    this.#record(refused, at);
    bytes.copyWithin(answerAt, 0, 8);
    bytes.fill(0, answerAt + 8, answerAt + 16);
    view.setInt32(answerAt + 16, refused ? -notPermitted : 0, true);
    view.setUint32(answerAt + 20, refused ? 0 : goOn, true);
    // The process may have been killed meanwhile; then the answer fails, which is harmless.
    this.#native.ioctl(this.fd, requests.send, address + answerAt);
    // It runs on meanwhile.
    this.#around.files.letGo();
    return true;
  }

  close(): void {
    this.#around.files.leave();
    this.#native.close(this.fd);
  }

  /**
   * True if the call starts a program. Decided by the call's number alone, which the kernel took from a register: no
   * other thread can change it.
   */
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
      // While the call still waits, the thread id still belongs to the thread whose memory was read. No id is reused at
      // once, so the check is needed only if the supervisor itself was delayed.
      const fresh = this.#now() - at < idsReusedMsMin;
      const alive = fresh || this.#native.ioctl(this.fd, requests.valid, this.#arena.address) === 0;
      if (acts === undefined) this.writer.lose();
      else if (alive) for (const act of acts) this.#put(refused ? { ...act, outcome: "denied" } : act, seen);
    } catch {
      // A fault of the supervisor must not leave the server waiting, and must not look like the absence of an act.
      this.writer.lose();
    }
  }

  #put(act: Act, seen: Notification): void {
    if (!this.#started) {
      // A path that does not exist is a step of a search along PATH, not a program.
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

const socketLevel = 1; // SOL_SOCKET
const socketType = 3; // SO_TYPE
const socketDomain = 39; // SO_DOMAIN
const local = 1; // AF_UNIX
const stream = 1;
const datagram = 2;

/**
 * The kind of a socket of another process, read from a copy of its descriptor. `arena`: 16 bytes. Undefined where the
 * kernel does not give us the descriptor, or the socket is of another kind.
 */
function socketKind(
  native: Native,
  arena: Arena,
  owner: number,
  descriptor: number,
): "tcp" | "udp" | "unix" | undefined {
  const process = native.pidfdOpen(owner);
  if (process < 0) return undefined;
  const socket = native.pidfdGetfd(process, descriptor);
  native.close(process);
  if (socket < 0) return undefined;
  const ask = (option: number): number | undefined => {
    arena.view.setUint32(8, 4, true);
    const answered = native.socketOption(socket, socketLevel, option, arena.address, arena.address + 8) === 0;
    return answered ? arena.view.getUint32(0, true) : undefined;
  };
  const [domain, type] = [ask(socketDomain), ask(socketType)];
  native.close(socket);
  if (domain === local) return "unix";
  return type === stream ? "tcp" : type === datagram ? "udp" : undefined;
}

/**
 * Acts that are on record already, so that a server that repeats one act costs one record between two drains. The first
 * few records after a mark are written as often as they happen, and are not remembered. So the gateway has to
 * mark only those drains that find more, and most find less: a mark costs it more than some records cost us.
 */
export class Repeats {
  readonly #writer: Pick<RingWriter, "drains" | "written">;
  readonly #seen = new Set<string>();
  #drains = 0;
  #markedAt = 0;

  constructor(writer: Pick<RingWriter, "drains" | "written">) {
    this.#writer = writer;
  }

  /** True if what `key` names was written since the last mark; otherwise it is about to be. */
  has(key: () => string): boolean {
    const { drains, written } = this.#writer;
    if (drains !== this.#drains) {
      this.#drains = drains;
      this.#markedAt = written;
      this.#seen.clear();
    }
    if ((written - this.#markedAt) >>> 0 <= repeatsWrittenBytesMax) return false;
    if (this.#seen.size >= actsRememberedMax) this.#seen.clear();
    const own = key();
    if (this.#seen.has(own)) return true;
    this.#seen.add(own);
    return false;
  }
}

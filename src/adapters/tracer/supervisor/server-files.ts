/**
 * Resolves the paths of a traced process and predicts the outcome of its act: looked up in the server's own root, just
 * before the kernel does the same. The answer may be out of date a moment later, so it only separates noise and never
 * excuses an act.
 */
import { readFileSync } from "node:fs";
import type { EffectOutcome } from "../../../core/isolation/effect-trace.ts";
import { pathBytesMax, threadsRememberedMax, threadsRememberedMs } from "../tracer-limits.ts";
import type { Arena, Native } from "../native.ts";

/** `AT_FDCWD`, as the lower half of a register. */
export const workingFolder = 0xffffff9c;

const openPath = 0x200000 | 0x80000; // O_PATH | O_CLOEXEC
const noFollow = process.arch === "arm64" ? 0x8000 : 0x20000; // O_NOFOLLOW
const resolveInRoot = 0x10; // RESOLVE_IN_ROOT
const resolveNoLinks = 0x04; // RESOLVE_NO_SYMLINKS
const emptyPath = 0x1000; // AT_EMPTY_PATH
const effective = 0x200; // AT_EACCESS
const errors = { missing: 2, access: 13, notFolder: 20, readOnly: 30, permission: 1, links: 40 } as const;

export const permission = { read: 4, write: 2, run: 1 } as const;

const howBytes = 24;
/** Ways to open, by whether the last link is followed, and whether any may be met. */
const ways = { follow: 0, keep: howBytes, followNone: 2 * howBytes, keepNone: 3 * howBytes } as const;
const emptyAt = 4 * howBytes;
const nameAt = 128;
const outAt: number = nameAt + 2 * pathBytesMax;
export const serverFilesBytes: number = outAt + pathBytesMax;

export type Found = {
  /**
   * Predicted outcome of the act: `missing` if the name does not exist, `denied` if permissions or the mount forbid it,
   * `unknown` if no obstacle was found.
   */
  readonly outcome: EffectOutcome | "missing";
  /** The path in the view of the process, for the record. */
  readonly shown: string;
  /** Real path after links, if it differs. */
  readonly real?: string;
};

/** The process of a thread, in ids of the host and of its own namespace. */
export type ThreadPlace = { readonly process: number; readonly ownProcess: number; readonly ownThread: number };

export class ServerFiles {
  readonly #native: Native;
  readonly #arena: Arena;
  readonly #threads = new Map<number, ThreadPlace>();
  readonly #done: number[] = [];
  #threadsSince = 0;
  #root: number | undefined;

  /** `arena`: at least `serverFilesBytes` for this object alone. */
  constructor(native: Native, arena: Arena) {
    this.#native = native;
    this.#arena = arena;
    // `struct open_how`: flags, mode, way of resolving.
    for (const [at, flags, resolve] of [
      [ways.follow, openPath, resolveInRoot],
      [ways.keep, openPath | noFollow, resolveInRoot],
      [ways.followNone, openPath, resolveInRoot | resolveNoLinks],
      [ways.keepNone, openPath | noFollow, resolveInRoot | resolveNoLinks],
    ] as const) {
      arena.view.setBigUint64(at, BigInt(flags), true);
      arena.view.setBigUint64(at + 8, 0n, true);
      arena.view.setBigUint64(at + 16, BigInt(resolve), true);
    }
    arena.bytes[emptyAt] = 0;
  }

  /** From now on paths are looked up in the root of this process. */
  enter(process: number): void {
    this.leave();
    const fd = this.#native.open(this.#put(`/proc/${process}/root`), openPath);
    if (fd >= 0) this.#root = fd;
  }

  leave(): void {
    this.letGo();
    if (this.#root !== undefined) this.#native.close(this.#root);
    this.#root = undefined;
  }

  /** Closes the descriptors of past lookups; to be called when no traced process waits. */
  letGo(): void {
    for (let fd = this.#done.pop(); fd !== undefined; fd = this.#done.pop()) this.#native.close(fd);
  }

  /** A path made absolute, otherwise as the process gave it; undefined where its folder is not known. */
  absolute(thread: number, folder: number, path: string): string | undefined {
    if (path.startsWith("/")) return path;
    const base = this.base(thread, folder);
    return base === undefined ? undefined : `${base}/${path}`;
  }

  /** Path of a descriptor, or of `AT_FDCWD`, in the server's view. */
  base(thread: number, folder: number): string | undefined {
    return this.#link(folder === workingFolder ? `/proc/${thread}/cwd` : `/proc/${thread}/fd/${folder}`);
  }

  /**
   * Looks an absolute path up, its last link too if `links` says so.
   */
  look(path: string, wanted: number, links: "follow" | "keep" = "follow"): Found {
    // Names under /proc have another meaning in this process than in the server.
    if (this.#root === undefined || path.startsWith("/proc/")) return { outcome: "unknown", shown: tidy(path) };
    // Without links and `..` a path that is found is its own real path, so the kernel need not be asked for it.
    if (isTidy(path)) {
      const fd = this.#open(path, links === "follow" ? "followNone" : "keepNone");
      if (fd >= 0) return { outcome: this.#permitted(fd, wanted), shown: path };
      if (this.#native.errorNumber() !== errors.links) return this.#absent(path);
    }
    const fd = this.#open(path, links);
    if (fd < 0) return this.#absent(path);
    const outcome = this.#permitted(fd, wanted);
    const real = this.#link(`/proc/self/fd/${fd}`);
    // Only the kernel can resolve `..`: `link/..` is not the folder that contains `link`.
    const shown = climbs(path) ? (real ?? tidy(path)) : tidy(path);
    return real === undefined || real === shown ? { outcome, shown } : { outcome, shown, real };
  }

  #open(path: string, way: keyof typeof ways): number {
    const fd =
      this.#root === undefined ? -1 : this.#native.openIn(this.#root, this.#put(path), this.#arena.address + ways[way]);
    if (fd >= 0) this.#done.push(fd);
    return fd;
  }

  #permitted(fd: number, wanted: number): "denied" | "unknown" {
    if (wanted === 0 || this.#native.access(fd, this.#arena.address + emptyAt, wanted, emptyPath | effective) >= 0)
      return "unknown";
    const number = this.#native.errorNumber();
    return number === errors.access || number === errors.readOnly || number === errors.permission
      ? "denied"
      : "unknown";
  }

  /** Predicts whether the folder of a name permits to create or remove it, and gives the name in its real folder. */
  lookBeside(path: string): Found {
    const end = path.lastIndexOf("/");
    const found = this.look(end <= 0 ? "/" : path.slice(0, end), permission.write);
    const shown = tidy(climbs(path) ? `${found.shown}/${path.slice(end + 1)}` : path);
    return { outcome: found.outcome === "missing" ? "failed" : found.outcome, shown };
  }

  #absent(path: string): Found {
    const number = this.#native.errorNumber();
    const missing = number === errors.missing || number === errors.notFolder;
    return { outcome: missing ? "missing" : number === errors.access ? "denied" : "unknown", shown: tidy(path) };
  }

  #link(path: string): string | undefined {
    const length = this.#native.readLink(this.#put(path), this.#arena.address + outAt, pathBytesMax);
    return length <= 0 ? undefined : this.#arena.bytes.toString("latin1", outAt, outAt + length);
  }

  /** The process that a thread belongs to; remembered briefly, because ids are reused. */
  place(thread: number, at: number): ThreadPlace {
    if (at - this.#threadsSince > threadsRememberedMs || this.#threads.size >= threadsRememberedMax) {
      this.#threads.clear();
      this.#threadsSince = at;
    }
    const known = this.#threads.get(thread);
    if (known !== undefined) return known;
    const found = threadPlace(thread);
    this.#threads.set(thread, found);
    return found;
  }

  #put(path: string): number {
    const length = this.#arena.bytes.write(path.slice(0, 2 * pathBytesMax - 1), nameAt, "latin1");
    this.#arena.bytes[nameAt + length] = 0;
    return this.#arena.address + nameAt;
  }
}

function threadPlace(thread: number): ThreadPlace {
  try {
    const status = readFileSync(`/proc/${thread}/status`, "latin1");
    const last = (name: string): number => Number(new RegExp(`^${name}:.*?(\\d+)$`, "mu").exec(status)?.[1] ?? thread);
    return { process: last("Tgid"), ownProcess: last("NStgid"), ownThread: last("NSpid") };
  } catch {
    return { process: thread, ownProcess: thread, ownThread: thread };
  }
}

function climbs(path: string): boolean {
  return path.includes("/..");
}

/** False wherever `tidy` might change something. */
function isTidy(path: string): boolean {
  return !path.includes("/.") && !path.includes("//") && !path.endsWith("/");
}

/** Takes `.`, `..` and empty parts out of an absolute path, as text: links are not followed. */
export function tidy(path: string): string {
  if (isTidy(path)) return path;
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

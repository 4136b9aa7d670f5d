/**
 * The memory that the local servers of a gateway use together, and whether another one may start. Each HTTP session has
 * servers of its own, and a client that never ends its session leaves them running: their number has no limit but this.
 */
import { totalmem } from "node:os";
import { processTree } from "../projection/session/process-tree.ts";

const mebibyte = 1024 * 1024;

/** What a server counts at least while it starts, and where the system does not say what it uses. */
const startingBytes = 48 * mebibyte;
const startingMs = 10_000;

/** How long a measurement holds. */
const measuredMs = 1_000;

export type ServerMemoryParts = {
  readonly bytesMax: number;
  readonly nowMs: () => number;
  /** Resident bytes of a process and what it started; 0 where that is not known. */
  readonly residentOf?: (leader: number) => number;
};

/** Half of what this machine or this control group has. */
export function defaultServerMemoryBytes(): number {
  const constrained = process.constrainedMemory();
  const has = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.floor(has / 2);
}

export class ServerMemory {
  readonly #parts: ServerMemoryParts;
  readonly #residentOf: (leader: number) => number;
  /** Servers that run, by the leader of their process group; one that is being ended counts no more. */
  readonly #running = new Map<number, { readonly since: number; resident: number }>();
  #measuredAt: number | undefined;

  constructor(parts: ServerMemoryParts) {
    this.#parts = parts;
    this.#residentOf = parts.residentOf ?? ((leader) => processTree(leader).residentBytes);
  }

  /** A server was started; the returned function says that it ends. */
  started(leader: number): () => void {
    const server = { since: this.#parts.nowMs(), resident: 0 };
    this.#running.set(leader, server);
    return () => {
      if (this.#running.get(leader) === server) this.#running.delete(leader);
    };
  }

  get servers(): number {
    return this.#running.size;
  }

  usedBytes(): number {
    const now = this.#parts.nowMs();
    const stale = this.#measuredAt === undefined || now - this.#measuredAt >= measuredMs;
    if (stale) this.#measuredAt = now;
    let used = 0;
    for (const [leader, server] of this.#running) {
      if (stale || server.resident === 0) server.resident = this.#residentOf(leader);
      const least = server.resident === 0 || now - server.since < startingMs ? startingBytes : 0;
      used += Math.max(server.resident, least);
    }
    return used;
  }

  hasRoom(): boolean {
    return this.usedBytes() + startingBytes <= this.#parts.bytesMax;
  }

  /** Why no other server may start, as a sentence; undefined where one may. */
  refusal(): string | undefined {
    if (this.hasRoom()) return undefined;
    const [used, most] = [this.usedBytes(), this.#parts.bytesMax].map((bytes) => Math.ceil(bytes / mebibyte));
    return `No memory is left for it: ${this.servers} servers use ${used} MiB of ${most}. End a session, or raise \`memoryMb\`.`;
  }
}

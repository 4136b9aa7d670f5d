/** What holds for a server of which a policy says nothing more: it works in its workspace, and reaches nothing else. */
import type { LimitScope, NetScope } from "../../core/scope.ts";

const mebibyte = 1_048_576;

/** Mebibytes of writes that may wait for a verdict; they are held in memory. */
export const workspaceQuotaMb = 512;

/** Bytes of one call. More than pages and answers of an API need, less than a disk is worth. */
export const callBytesMax = 32 * mebibyte;

/** Bytes over the life of a server: what many allowed calls may carry off together. */
export const serverBytesMax = 1_024 * mebibyte;

export const netDefaults: NetScope = { mode: "none", allow: [], callBytesMax, serverBytesMax };

export const limitDefaults: LimitScope = {
  /** Resident memory of all processes together; the address space of a runtime is far larger and costs nothing. */
  memoryMb: 1_024,
  /** Threads count too: one Node server has a dozen. */
  processes: 128,
  openFiles: 1_024,
  cpuSeconds: 3_600,
  fileMb: 256,
  /** The paper's limit of one tool call. */
  callTimeoutMs: 120_000,
};

/** The process that works on a change or folder, so that another process does not take it for abandoned. */
import { identify } from "../../daemon/process-identity.ts";

export type ProcessOwner = { readonly pid: number; readonly startedAt: string };

/** Identity of this process. */
export function ownIdentity(): ProcessOwner {
  const { pid, startedAt } = identify(process.pid);
  return { pid, startedAt };
}

/** A pid alone identifies no process: the kernel reuses it after a process ended. */
export function isAlive(owner: ProcessOwner): boolean {
  if (!Number.isSafeInteger(owner.pid) || owner.pid <= 0) return false;
  const now = identify(owner.pid).startedAt;
  if (now !== "") return owner.startedAt === now;
  try {
    process.kill(owner.pid, 0);
    return owner.startedAt === "";
  } catch {
    return false;
  }
}

/** Which process works on something, so that another one does not take it for left behind. */
import { identify } from "../daemon/process-identity.ts";

export type ProcessOwner = { readonly pid: number; readonly startedAt: string };

export function ownIdentity(): ProcessOwner {
  const { pid, startedAt } = identify(process.pid);
  return { pid, startedAt };
}

/** A pid alone is no name: it is given again after a process ended. */
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

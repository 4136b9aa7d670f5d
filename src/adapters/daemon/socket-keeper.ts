/**
 * Keeps the daemon's socket where clients look for it. Cleaners of temporary folders remove sockets; the daemon would go
 * on for the sessions that it has, and every new one would find neither it nor its lock.
 */
import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "../make-folder.ts";
import { connectSocket } from "./connect.ts";
import { socketCheckMs } from "./daemon-limits.ts";

export type SocketKeeper = { readonly stop: () => void };

/** `listen` makes the socket anew. A socket that another daemon has put there and answers on is left alone. */
export function keepSocket(path: string, listen: () => Promise<void>): SocketKeeper {
  let own = identityOf(path);
  let busy = false;
  const look = async (): Promise<void> => {
    const found = identityOf(path);
    if (found !== undefined && found === own) return;
    if (found !== undefined) {
      const other = await connectSocket(path);
      if (other.ok) other.value.destroy();
      if (other.ok) return;
    }
    makeFolder(dirname(path), 0o700);
    await listen();
    own = identityOf(path);
  };
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    // What cannot be made now (a full disk, a folder that another user put there) may be possible at the next look.
    void look()
      .catch(() => undefined)
      .finally(() => (busy = false));
  }, socketCheckMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

function identityOf(path: string): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev} ${found.ino}`;
}

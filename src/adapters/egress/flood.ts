/**
 * Rate limits on the network use of a server. Each question and each connection is work of the gateway, which serves
 * all servers in one thread: without a bound one server could take that thread from the others.
 */

export type FloodLimits = { readonly questions: number; readonly connections: number };

/** For each second; far above what a crawler asks. */
export const floodLimits: FloodLimits = { questions: 5_000, connections: 1_000 };

const secondMs = 1_000;

/**
 * Counts; false from the moment on at which more than `max` came within a second, and `flooded` is called then, once.
 * `now`: monotonic ms.
 */
export function floodGate(max: number, now: () => number, flooded: () => void): () => boolean {
  let begun = now();
  let count = 0;
  let open = true;
  return () => {
    if (!open) return false;
    const at = now();
    if (at - begun >= secondMs) [begun, count] = [at, 0];
    count += 1;
    if (count <= max) return true;
    open = false;
    flooded();
    return false;
  };
}

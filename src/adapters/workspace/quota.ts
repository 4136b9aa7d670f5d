/** The bound on what waits for a verdict, as the workspace would have to hold it. */
import type { Difference } from "./difference.ts";

/**
 * A sentence where it is passed. Room in the layer says nothing of it: a file of holes takes none there, and all of its
 * bytes once it is copied.
 */
export function beyondQuota(found: readonly Difference[], quotaMb: number): string | undefined {
  const bytes = found.reduce((sum, one) => sum + one.bytes, 0);
  if (bytes <= quotaMb * 1024 * 1024) return undefined;
  return `The server wrote more than the ${quotaMb} MB that may wait for a verdict: nothing of it was written into the workspace; raise \`files.workspace.quotaMb\` or restart the server.`;
}

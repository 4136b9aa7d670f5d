/** The quota on changes without a verdict, measured by the space that they would take in the workspace. */
import type { Difference } from "../difference.ts";

/**
 * Returns a sentence if the quota is exceeded. The space used in the layer is no measure: a sparse file takes none
 * there, and all of its bytes once it is copied.
 */
export function beyondQuota(found: readonly Difference[], quotaMb: number): string | undefined {
  const bytes = found.reduce((sum, one) => sum + one.bytes, 0);
  if (bytes <= quotaMb * 1024 * 1024) return undefined;
  return `The server wrote more than the ${quotaMb} MB that may wait for a verdict: nothing of it was written into the workspace; raise \`files.workspace.quotaMb\` or restart the server.`;
}

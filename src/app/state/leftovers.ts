/** Finishes or removes the leftover projections of an ended gateway when the next one starts. */
import { existsSync } from "node:fs";
import { join } from "node:path";

/** Folders of the state folder in which projections leave something; without them no code for it is loaded. */
const traces = ["projections", "changes"];

export async function clearLeftovers(home: string, tell: (text: string) => void): Promise<void> {
  if (!traces.some((name) => existsSync(join(home, name)))) return;
  try {
    const { recover } = await import("../../adapters/workspace/commit/recover.ts");
    for (const { id, committed, waiting } of (await recover(home)).finished) {
      const rest = waiting === 0 ? "" : ` ${waiting} wait for you: see \`sluicegate changes\`.`;
      tell(`Finished writing ${committed} files of change ${id}, which was agreed on before the gateway ended.${rest}`);
    }
  } catch {
    tell("What an earlier gateway left of its projections could not be cleared away. The next start tries again.");
  }
}

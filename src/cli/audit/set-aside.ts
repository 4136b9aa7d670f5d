/**
 * Moves a damaged log away so that the daemon can start again. Nothing is deleted, and a log that is not damaged or
 * that somebody is writing is not touched.
 */
import { existsSync } from "node:fs";
import { stateHome } from "../../adapters/daemon/paths.ts";
import { openSqliteStore } from "../../adapters/store-sqlite.ts";
import { markHistoryLost } from "../lost-history.ts";
import { logPlaces, storeFault } from "../log-reader.ts";
import type { Outcome } from "../output.ts";
import { failure, shortPath } from "../output.ts";

export async function setAsideLog(): Promise<Outcome> {
  const { database } = logPlaces(stateHome(process.env));
  const place = shortPath(database);
  if (!existsSync(database)) return { exitCode: 0, json: { moved: false }, text: `There is no event log at ${place}.` };
  const options = { path: database, durability: "full", wallMs: Date.now } as const;
  const looked = openSqliteStore({ ...options, mode: "read" });
  if (looked.ok) {
    await looked.value.close(false);
    return { exitCode: 0, json: { moved: false }, text: `The event log ${place} is not damaged; nothing was moved.` };
  }
  if (looked.error.kind !== "damaged") {
    const fault = storeFault(looked.error);
    return failure(fault.code, fault.sentence);
  }
  // Opened as owner, so that a running daemon is refused here and no second one can start meanwhile.
  const opened = openSqliteStore({ ...options, onDamage: "set-aside" });
  if (!opened.ok) {
    const fault = storeFault(opened.error);
    return failure(fault.code, fault.sentence);
  }
  const file = opened.value.opening.keptAside ?? "";
  markHistoryLost(stateHome(process.env));
  // Not clean: whoever opens the new log next should not take it for the end of an ordinary one.
  await opened.value.close(false);
  const text = `The damaged log is kept as ${shortPath(file)}. Every run asks now as if it held private data; \`sluicegate runs new\` ends that.`;
  return { exitCode: 0, json: { moved: true, file }, text };
}

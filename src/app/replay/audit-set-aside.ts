/**
 * Moves a log away that is damaged or has lost its keys, so that the daemon can start again. Nothing is deleted, and a
 * log that can go on or that a process is writing is not touched.
 */
import { existsSync } from "node:fs";
import { openKeys } from "../../adapters/keys/sealing.ts";
import { openSqliteStore } from "../../adapters/store/sqlite.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { markHistoryLost } from "../state/lost-history.ts";
import {
  type LogFault,
  type LogName,
  chosenLog,
  logHome,
  logNames,
  logPlaces,
  missingKeys,
  storeFault,
} from "../state/log-files.ts";
import { type Outcome, failure } from "../state/outcome.ts";
import { shortPath } from "../state/sentences.ts";

/** The first of the logs that is damaged; a second one is moved by the next command. */
export async function setAsideLog(options: { readonly log?: string }): Promise<Outcome> {
  const chosen = chosenLog(options);
  if (!chosen.ok) return failure(chosen.error.code, chosen.error.sentence);
  const sentences: string[] = [];
  for (const name of chosen.value === undefined ? logNames : [chosen.value]) {
    const moved = await setAside(name);
    if (!moved.ok) return failure(moved.error.code, moved.error.sentence);
    const { file, sentence } = moved.value;
    if (file !== undefined) return { exitCode: 0, json: { moved: true, log: name, file }, text: sentence };
    sentences.push(sentence);
  }
  return { exitCode: 0, json: { moved: false }, text: sentences.join("\n") };
}

type Moved = { readonly file?: string; readonly sentence: string };

async function setAside(name: LogName): Promise<Result<Moved, LogFault>> {
  const home = logHome(process.env, name);
  const { database, keys } = logPlaces(home);
  const place = shortPath(database);
  if (!existsSync(database)) return ok({ sentence: `There is no ${name} log at ${place}.` });
  const options = { path: database, durability: "full", wallMs: Date.now } as const;
  const looked = openSqliteStore({ ...options, mode: "read" });
  if (looked.ok) await looked.value.close(false);
  else if (looked.error.kind !== "damaged") return err(storeFault(looked.error));
  const withoutKeys = missingKeys(home) !== undefined;
  if (looked.ok && !withoutKeys) return ok({ sentence: `The ${name} log ${place} is not damaged; nothing was moved.` });
  // Opened as owner, so that a running gateway is refused here and no second one can start meanwhile.
  const opened = openSqliteStore({ ...options, setAside: withoutKeys ? "any" : "damaged" });
  if (!opened.ok) return err(storeFault(opened.error));
  // A log that has begun gets no keys any more when a gateway starts.
  const made = openKeys(keys);
  const file = opened.value.opening.keptAside ?? "";
  markHistoryLost(home);
  // Not clean: the next process that opens the new log should not take it for the end of an ordinary one.
  await opened.value.close(false);
  if (!made.ok) return err({ code: "SG-LOG-KEYS", sentence: made.error });
  const sentence = `The ${looked.ok ? "old" : "damaged"} log is kept as ${shortPath(file)}. Every run asks now as if it held private data; \`sluicegate runs new\` ends that.`;
  return ok({ file, sentence });
}

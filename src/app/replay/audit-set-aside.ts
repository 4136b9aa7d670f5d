/**
 * Moves a log away that is damaged, altered or has lost its keys, so that the daemon can go on with a new one; keys
 * whose log is gone are told so. Nothing is deleted, and a log that is intact or that a process is writing is not
 * touched.
 */
import { existsSync } from "node:fs";
import { writeLogMemory } from "../../adapters/keys/log-memory.ts";
import { openKeys } from "../../adapters/keys/sealing.ts";
import { openSqliteStore } from "../../adapters/store/sqlite.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { Finding } from "../../gateway/log/chain-check.ts";
import { verifyLog } from "../../gateway/log/verify.ts";
import type { Store } from "../../gateway/ports/store.ts";
import { missedLog, remembered } from "../state/log-trust.ts";
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
    const { file, accepted, sentence } = moved.value;
    if (accepted === true) return { exitCode: 0, json: { moved: false, accepted, log: name }, text: sentence };
    if (file !== undefined) return { exitCode: 0, json: { moved: true, log: name, file }, text: sentence };
    sentences.push(sentence);
  }
  return { exitCode: 0, json: { moved: false }, text: sentences.join("\n") };
}

type Moved = { readonly file?: string; readonly accepted?: true; readonly sentence: string };

async function setAside(name: LogName): Promise<Result<Moved, LogFault>> {
  const home = logHome(process.env, name);
  const { database, keys } = logPlaces(home);
  const place = shortPath(database);
  if (!existsSync(database)) return acceptLoss(home, missedLog(home), `There is no ${name} log at ${place}.`);
  const options = { path: database, durability: "full", wallMs: Date.now } as const;
  const looked = openSqliteStore({ ...options, mode: "read", steady: true });
  const withoutKeys = missingKeys(home) !== undefined;
  const state = looked.ok && !withoutKeys ? await stateOf(home, looked.value) : "unusable";
  if (looked.ok) await looked.value.close(false);
  else if (looked.error.kind !== "damaged") return err(storeFault(looked.error));
  const intact = `The ${name} log ${place} is intact; nothing was moved.`;
  if (state === "intact") return ok({ sentence: intact });
  if (typeof state === "object") return acceptLoss(home, state.missed, intact);
  // Opened as owner, so that a running gateway is refused here and no second one can start meanwhile.
  const opened = openSqliteStore({ ...options, setAside: looked.ok ? "any" : "damaged" });
  if (!opened.ok) return err(storeFault(opened.error));
  // A log that has begun gets no keys any more when a gateway starts.
  const made = openKeys(keys);
  const file = opened.value.opening.keptAside ?? "";
  markHistoryLost(home);
  // Not clean: the next process that opens the new log should not take it for the end of an ordinary one.
  await opened.value.close(false);
  if (!made.ok) return err({ code: "SG-LOG-KEYS", sentence: made.error });
  const remembered = writeLogMemory(keys, made.value, {});
  if (!remembered.ok) return err({ code: "SG-LOG-KEYS", sentence: remembered.error });
  const sentence = `The ${withoutKeys ? "old" : looked.ok ? "altered" : "damaged"} log is kept as ${shortPath(file)}. Every run asks now as if it held private data; \`sluicegate runs new\` ends that.`;
  return ok({ file, sentence });
}

/** What is wrong with a log that opens: nothing, that its keys miss an earlier one, or its chain. */
async function stateOf(home: string, store: Store): Promise<"intact" | "unusable" | { readonly missed: Finding }> {
  const keys = openKeys(logPlaces(home).keys);
  if (!keys.ok) return "intact";
  const { head, findings } = remembered(home, keys.value);
  const [missed] = findings;
  const verified = await verifyLog(store, keys.value, missed === undefined ? { remembered: head } : {});
  if (verified.ok && !verified.value.valid) return "unusable";
  return missed === undefined ? "intact" : { missed };
}

/** A log that is gone cannot be kept; its keys are told that a user knows, and the runs of it stay restricted. */
async function acceptLoss(
  home: string,
  missed: Finding | undefined,
  otherwise: string,
): Promise<Result<Moved, LogFault>> {
  if (missed === undefined) return ok({ sentence: otherwise });
  const { database, keys: folder } = logPlaces(home);
  // A running daemon would write what it knows over this; it owns the lock of the database.
  const owned = openSqliteStore({ path: database, durability: "full", wallMs: Date.now });
  if (!owned.ok) return err(storeFault(owned.error));
  const keys = openKeys(folder);
  const written = keys.ok ? writeLogMemory(folder, keys.value, {}) : keys;
  markHistoryLost(home);
  await owned.value.close(false);
  if (!written.ok) return err({ code: "SG-LOG-KEYS", sentence: written.error });
  const sentence =
    "The loss of the earlier log is accepted. Every run asks now as if it held private data; `sluicegate runs new` ends that.";
  return ok({ accepted: true, sentence });
}

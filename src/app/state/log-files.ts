/**
 * The event logs of a state folder, opened for reading beside their writer. Nothing here needs a running daemon,
 * makes a file or a key, or waits for a lock.
 */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { stateHome } from "../../adapters/daemon/paths.ts";
import { lastingKeys, openKeys } from "../../adapters/keys/sealing.ts";
import { openSqliteStore } from "../../adapters/store/sqlite.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { LogKeys, Store, StoreFailure } from "../../gateway/ports/store.ts";
import { shortPath } from "./sentences.ts";

/** The owner of a log: the daemon (and `run --solo`), or gateways in the foreground. */
export const logNames = ["daemon", "gateway"] as const;

export type LogName = (typeof logNames)[number];

export type OpenedLog = { readonly store: Store; readonly keys: LogKeys; readonly database: string };

export type NamedLog = OpenedLog & { readonly name: LogName };

export type LogFault = { readonly code: string; readonly sentence: string };

/** Where the log and its keys lie below a state folder. */
export function logPlaces(home: string): { readonly database: string; readonly keys: string } {
  return { database: join(home, "log.db"), keys: join(home, "keys") };
}

/**
 * True if a state folder holds a log. An empty file is none: it was cut to nothing, and SQLite would make a new log of
 * it; beside a write-ahead log it is a damaged one. A write-ahead log alone is none, SQLite drops it.
 */
export function logIsThere(home: string): boolean {
  const { database } = logPlaces(home);
  const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return existsSync(database) && (sizeOf(database) > 0 || sizeOf(`${database}-wal`) > 0);
}

/** A log has one owner, so that of gateways in the foreground lies apart, with keys of its own. */
export function logHome(environment: NodeJS.ProcessEnv, name: LogName): string {
  const home = stateHome(environment);
  return name === "daemon" ? home : join(home, "gateway");
}

export const logOption = { "--log <log>": "only this log: daemon or gateway (in the foreground)" } as const;

type Choosing = { readonly log?: string };

/** The log that `--log` names; undefined without the option, and then every existing log counts. */
export function chosenLog({ log: said }: Choosing): Result<LogName | undefined, LogFault> {
  if (said === undefined) return ok(undefined);
  const name = logNames.find((one) => one === said);
  if (name !== undefined) return ok(name);
  return err({ code: "SG-USAGE", sentence: "`--log` names no log: write `--log daemon` or `--log gateway`." });
}

/** A log that is there and cannot be opened, beside those that can. */
export type ClosedLog = { readonly name: LogName; readonly fault: LogFault };

export type LogsThere = { readonly opened: readonly NamedLog[]; readonly closed: readonly ClosedLog[] };

/** The logs that were ever written, or the one that was chosen, each opened if it can be; `steady` as in `readLogOf`. */
export function eachLog(environment: NodeJS.ProcessEnv, chosen?: LogName, steady = false): LogsThere {
  const opened: NamedLog[] = [];
  const closed: ClosedLog[] = [];
  for (const name of chosen === undefined ? logNames : [chosen]) {
    const log = readLogOf(logHome(environment, name), steady);
    if (!log.ok) closed.push({ name, fault: log.error });
    else if (log.value !== undefined) opened.push({ ...log.value, name });
  }
  return { opened, closed };
}

/** The same for readers of records: one unreadable log fails all, so none is left out in silence. */
export function readLogs(
  environment: NodeJS.ProcessEnv,
  chosen?: LogName,
  steady = false,
): Result<readonly NamedLog[], LogFault> {
  const { opened, closed } = eachLog(environment, chosen, steady);
  const [first] = closed;
  if (first === undefined) return ok(opened);
  for (const { store } of opened) void store.close(false);
  return err(first.fault);
}

/** Whether the keys that a log needs as long as there is one are in the state folder. */
export function haveLastingKeys(home: string): boolean {
  const { keys } = logPlaces(home);
  return lastingKeys.every((name) => existsSync(join(keys, name)));
}

/**
 * Why a log that there is cannot go on; undefined where its keys lie beside it. They are not made anew for it: its
 * signatures would look foreign, and what runs count by digests would begin again.
 */
export function missingKeys(home: string): string | undefined {
  const { database, keys } = logPlaces(home);
  if (!existsSync(database) || haveLastingKeys(home)) return undefined;
  const way = "restore that folder from a backup, or run `sluicegate audit set-aside` to begin a new log";
  return `The keys of the event log are missing in ${shortPath(keys)}: ${way}.`;
}

/** `steady`: every read sees the log as it is now, also while a gateway writes and removes records. */
export function readLogOf(home: string, steady = false): Result<OpenedLog | undefined, LogFault> {
  const places = logPlaces(home);
  if (!existsSync(places.database) || (!logIsThere(home) && missingKeys(home) === undefined)) return ok(undefined);
  const options = { path: places.database, durability: "normal", wallMs: Date.now, mode: "read", steady } as const;
  const store = openSqliteStore(options);
  // Keys do not help with a file that is not our log: to restore them would have no effect.
  if (!store.ok && aboutTheFile.has(store.error.kind)) return err(storeFault(store.error));
  const gone = missingKeys(home);
  const keys = gone === undefined ? openKeys(places.keys) : err(gone);
  if (!keys.ok) {
    if (store.ok) void store.value.close(false);
    return err({ code: "SG-LOG-KEYS", sentence: keys.error });
  }
  if (!store.ok) return err(storeFault(store.error));
  return ok({ store: store.value, keys: keys.value, database: places.database });
}

/** Faults of the file itself, and not of the access to it. */
const aboutTheFile: ReadonlySet<StoreFailure["kind"]> = new Set(["damaged", "foreign", "newer"]);

/** A failure of the store, under the code that docs/errors.md explains. */
export function storeFault(failure: StoreFailure): LogFault {
  const codes: Readonly<Record<StoreFailure["kind"], string>> = {
    full: "SG-LOG-FULL",
    damaged: "SG-LOG-DAMAGED",
    newer: "SG-LOG-NEWER",
    foreign: "SG-LOG-FOREIGN",
    busy: "SG-LOG-BUSY",
    closed: "SG-LOG-CLOSED",
    unreachable: "SG-LOG-UNREACHABLE",
  };
  return { code: codes[failure.kind], sentence: failure.sentence };
}

/**
 * The event log of a state folder, opened for reading beside whoever writes it. Nothing here needs a running daemon,
 * makes a file or a key, or waits for a lock.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { stateHome } from "../adapters/daemon/paths.ts";
import { openKeys } from "../adapters/sealing.ts";
import { openSqliteStore } from "../adapters/store-sqlite.ts";
import type { Result } from "../core/result.ts";
import { err, ok } from "../core/result.ts";
import type { LogKeys, Store, StoredRecord, StoreFailure } from "../gateway/store-port.ts";
import { shortPath } from "./output.ts";

export type OpenedLog = { readonly store: Store; readonly keys: LogKeys; readonly database: string };

export type LogFault = { readonly code: string; readonly sentence: string };

/** Where the log and its keys lie below a state folder. */
export function logPlaces(home: string): { readonly database: string; readonly keys: string } {
  return { database: join(home, "log.db"), keys: join(home, "keys") };
}

/** The log of the state folder that the environment names; undefined where none was ever written. */
export function readLog(environment: NodeJS.ProcessEnv): Result<OpenedLog | undefined, LogFault> {
  return readLogOf(stateHome(environment));
}

export function readLogOf(home: string): Result<OpenedLog | undefined, LogFault> {
  const places = logPlaces(home);
  if (!existsSync(places.database)) return ok(undefined);
  // Keys that are missing must not be made here: a fresh signing key would make every signature look foreign.
  if (!existsSync(join(places.keys, "signing.pem"))) {
    const sentence = `The keys of the event log are missing in ${shortPath(places.keys)}: restore that folder from a backup.`;
    return err({ code: "SG-LOG-KEYS", sentence });
  }
  const keys = openKeys(places.keys);
  if (!keys.ok) return err({ code: "SG-LOG-KEYS", sentence: keys.error });
  const store = openSqliteStore({ path: places.database, durability: "normal", wallMs: Date.now, mode: "read" });
  if (!store.ok) return err(storeFault(store.error));
  return ok({ store: store.value, keys: keys.value, database: places.database });
}

/** What went wrong with the store, under the code that docs/errors.md explains. */
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

/** Records of one page: large enough to be fast, small enough to hold. */
const pageRecords = 500;

/** Every record after a place, oldest first, page by page; the last value tells what went wrong, if anything did. */
export async function* pages(
  store: Store,
  from: { readonly writer: number; readonly seq: number } | undefined,
): AsyncGenerator<readonly StoredRecord[], StoreFailure | undefined> {
  let after = from;
  for (;;) {
    const page = await store.records({
      order: "oldest",
      limit: pageRecords,
      ...(after === undefined ? {} : { after }),
    });
    if (!page.ok) return page.error;
    const last = page.value.at(-1);
    if (last === undefined) return undefined;
    yield page.value;
    after = { writer: last.writer, seq: last.seq };
  }
}

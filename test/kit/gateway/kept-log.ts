/** What a gateway of a test recorded, as a real log: sealed, chained, and read back like any other. */
import { join } from "node:path";
import { openKeys } from "../../../src/adapters/keys/sealing.ts";
import { openMemoryStore } from "../../../src/adapters/store/memory.ts";
import { openEventLog } from "../../../src/gateway/log/event-log.ts";
import type { LogEntry, LogKeys, Store } from "../../../src/gateway/ports/store.ts";
import { temporaryFolder, unwrap } from "./log-records.ts";

export type KeptLog = { readonly store: Store; readonly keys: LogKeys };

export type Keeping = { readonly folder?: string; readonly store?: Store; readonly wallMs?: () => number };

/** Appends entries to a store, one by one, as calls of an idle machine come. */
export async function kept(entries: readonly LogEntry[], keeping: Keeping = {}): Promise<KeptLog> {
  const { folder = temporaryFolder().path, store = openMemoryStore(), wallMs = Date.now } = keeping;
  const keys = unwrap(openKeys(join(folder, "keys")));
  const log = unwrap(await openEventLog({ store, keys, wallMs, chain: "c".repeat(32) }, 0));
  for (const entry of entries) unwrap(await log.append([entry]));
  return { store, keys };
}

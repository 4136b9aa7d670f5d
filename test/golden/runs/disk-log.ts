/** The real event log over a real SQLite file, where tests of the gateway have one in memory. */
import { join } from "node:path";
import { openKeys } from "../../../src/adapters/keys/sealing.ts";
import { openSqliteStore } from "../../../src/adapters/store/sqlite.ts";
import { openEventLog } from "../../../src/gateway/log/event-log.ts";
import type { EventLog } from "../../../src/gateway/ports/store.ts";
import { FakeLog } from "../../kit/gateway/fake-log.ts";
import { unwrap } from "../../kit/gateway/log-records.ts";

/** 14 November 2023, where the clock of the stage begins: all records have the key of one day. */
export const beginWallMs = 1_700_000_000_000;

export class DiskLog extends FakeLog {
  override readonly port: EventLog;
  readonly #pending = new Set<Promise<unknown>>();

  private constructor(log: EventLog) {
    super();
    // Nothing is in the memory of this log, so the law of replay has nothing to look at there.
    this.failed = true;
    this.port = {
      ...log,
      append: (...given) => {
        const appended = log.append(...given);
        this.#pending.add(appended);
        void appended.finally(() => this.#pending.delete(appended));
        return appended;
      },
    };
  }

  /** `wallMs`: the time of the gateway that writes. */
  static async open(home: string, wallMs: () => number): Promise<DiskLog> {
    const keys = unwrap(openKeys(join(home, "keys")));
    const path = join(home, "log.db");
    const store = unwrap(openSqliteStore({ path, durability: "normal", wallMs, bootId: "one" }));
    const at = wallMs() - beginWallMs;
    return new DiskLog(unwrap(await openEventLog({ store, keys, wallMs, chain: "c".repeat(32) }, at)));
  }

  /** Waits for the disk, as a gateway does that has nothing else to do. */
  async settle(): Promise<void> {
    await Promise.all(this.#pending);
    await new Promise((done) => setImmediate(done));
  }

  override approve(id: string): void {
    const decision = { id, verdict: "approved", by: "alice", role: "operator", wallMs: beginWallMs } as const;
    void this.port.store.decideApproval(decision);
  }
}

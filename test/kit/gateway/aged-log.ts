/** A real log whose runs begin, act and end at times that a test chooses, over each kind of store. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openKeys } from "../../../src/adapters/keys/sealing.ts";
import { openMemoryStore } from "../../../src/adapters/store/memory.ts";
import { openSqliteStore } from "../../../src/adapters/store/sqlite.ts";
import { openEventLog } from "../../../src/gateway/log/event-log.ts";
import { verifyLog, type Verified, type VerifyWay } from "../../../src/gateway/log/verify.ts";
import type { EventLog, LogEntry, LogKeys, RunRow, Store } from "../../../src/gateway/ports/store.ts";
import { prune, type RetentionWay, type Swept } from "../../../src/gateway/runs/retention/run-retention.ts";
import { callEntries, temporaryFolder, unwrap } from "./log-records.ts";

export const dayMs = 86_400_000;
export const principal = "os:1";

export type StoreKind = "memory" | "SQLite";

export class AgedLog {
  readonly folder = temporaryFolder();
  readonly keys: LogKeys = unwrap(openKeys(join(this.folder.path, "keys")));
  wallMs = 20_000 * dayMs;
  log!: EventLog;
  readonly #kind: StoreKind;
  readonly #memory: Store | undefined;
  #calls = 0;

  constructor(kind: StoreKind) {
    this.#kind = kind;
    this.#memory = kind === "memory" ? openMemoryStore() : undefined;
  }

  static async of(kind: StoreKind): Promise<AgedLog> {
    const aged = new AgedLog(kind);
    await aged.start();
    return aged;
  }

  get path(): string {
    return join(this.folder.path, "log.db");
  }

  get store(): Store {
    return this.log.store;
  }

  openStore(mode: "own" | "read" = "own", pagesMax?: number): Store {
    const limits = pagesMax === undefined ? {} : { pagesMax };
    const { path, wallMs } = this;
    return (
      this.#memory ??
      unwrap(openSqliteStore({ path, durability: "normal", wallMs: () => wallMs, bootId: "boot", mode, ...limits }))
    );
  }

  /** Starts a gateway on the log; a store in memory has one for its whole life. */
  async start(store = this.openStore()): Promise<void> {
    const chain = "c".repeat(32);
    this.log = unwrap(await openEventLog({ store, keys: this.keys, wallMs: () => this.wallMs, chain }, 0));
  }

  /** Ends the gateway in order and starts the next one. */
  async restart(): Promise<void> {
    if (this.#kind === "memory") return;
    await this.log.close(1);
    await this.start();
  }

  row(key: string, more: Partial<RunRow> = {}): RunRow {
    const { wallMs } = this;
    const base = { key, principal, policyDigest: "policy-1", begunWallMs: wallMs, idleExpiresWallMs: wallMs };
    return { ...base, top: false, resume: {}, ...more };
  }

  async begin(key: string, more: Partial<RunRow> = {}): Promise<void> {
    const begun = { kind: "begun", at: 1, principal } as const;
    const [entry] = callEntries(key, "none", {});
    unwrap(await this.log.append([{ ...entry, events: [begun] }], { runs: [this.row(key, more)] }));
  }

  /** Calls with their outcomes, each entry in a record of its own. */
  async calls(key: string, count: number, text = "hello"): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      this.#calls += 1;
      for (const entry of callEntries(key, `call-${this.#calls}`, { to: "ann@example.org", text })) {
        unwrap(await this.log.append([entry]));
      }
    }
  }

  /** A call without an outcome. */
  async inDoubt(key: string): Promise<void> {
    this.#calls += 1;
    unwrap(await this.log.append([callEntries(key, `call-${this.#calls}`, { to: "ann@example.org" })[0]]));
  }

  async append(...entries: LogEntry[]): Promise<void> {
    for (const entry of entries) unwrap(await this.log.append([entry]));
  }

  async end(key: string, more: Partial<RunRow> = {}): Promise<void> {
    const [entry] = callEntries(key, "none", {});
    const ended = { kind: "ended", at: 9, cause: "closed" } as const;
    const runs = [this.row(key, { endedWallMs: this.wallMs, ...more })];
    unwrap(await this.log.append([{ ...entry, events: [ended] }], { runs }));
  }

  /** A run that began, made calls, and ended, now. */
  async past(key: string, calls: number): Promise<void> {
    await this.begin(key);
    await this.calls(key, calls);
    await this.end(key);
  }

  way(more: Partial<RetentionWay> = {}): RetentionWay {
    const { wallMs } = this;
    const pause = (): Promise<boolean> => Promise.resolve(true);
    return { keepDays: 30, wallMs, atMs: () => 5, isOpen: () => false, pause, ...more };
  }

  async prune(more: Partial<RetentionWay> = {}): Promise<Swept> {
    return unwrap(await prune(this.log, this.way(more)));
  }

  async verified(way: VerifyWay = {}): Promise<Verified> {
    return unwrap(await verifyLog(this.store, this.keys, way));
  }

  /** Numbers of a run's records that are there. */
  async recordsOf(run: string): Promise<number> {
    return unwrap(await this.store.records({ run, order: "oldest", limit: 10_000 })).length;
  }

  /** Changes the database behind the gateway's back. */
  tamper(statement: string, ...values: (string | number | Uint8Array)[]): void {
    const database = new DatabaseSync(this.path);
    database.prepare(statement).run(...values);
    database.close();
  }

  async dispose(): Promise<void> {
    await this.log.close(99);
    this.folder.remove();
  }
}

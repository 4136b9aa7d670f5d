/** An event log in memory for tests, with a switch that makes it fail and another that makes it slow. */
import type { RunEvent } from "../../../src/core/event.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { err, ok } from "../../../src/core/result.ts";
import { WaitingBook } from "../../../src/gateway/log/waiting.ts";
import { merged } from "../../../src/gateway/log/stream-merge.ts";
import type { ManifestRow } from "../../../src/gateway/ports/cached-rows.ts";
import type {
  ApprovalMatch,
  ApprovalRow,
  EventLog,
  LogEntry,
  OpenCall,
  RunRow,
  SharedRow,
  Store,
  StoreFailure,
  Waiting,
} from "../../../src/gateway/ports/store.ts";

const full: StoreFailure = { kind: "full", place: "memory", sentence: "The disk is full." };

export class FakeLog {
  readonly entries: LogEntry[] = [];
  readonly approvals = new Map<string, ApprovalRow>();
  readonly runs = new Map<string, RunRow>();
  readonly shared = new Map<string, SharedRow>();
  readonly manifests = new Map<string, ManifestRow>();
  /** Calls that a writer before left open. */
  readonly inFlight: OpenCall[] = [];
  /** It was failing at some time, so there are entries that it has not. */
  failed = false;
  #failing = false;
  /** Tokens given so far: no gateway over one log gives the same twice. */
  tokens = 0;
  /** Runs cannot be read back. */
  unreadable = false;
  /** While set, appends wait for it. */
  gate: Promise<void> | undefined;

  /** Appends with such an entry fail, and no others. */
  failsAt: (entry: LogEntry, all: readonly LogEntry[]) => boolean = () => false;

  get failing(): boolean {
    return this.#failing;
  }

  set failing(failing: boolean) {
    this.#failing = failing;
    this.failed ||= failing;
  }

  events(run?: string): readonly RunEvent[] {
    return this.entries.filter((entry) => run === undefined || entry.run === run).flatMap((entry) => entry.events);
  }

  kinds(run?: string): readonly string[] {
    return this.events(run).map((event) => event.kind);
  }

  approve(id: string, role = "operator"): void {
    const row = this.approvals.get(id);
    if (row !== undefined) this.approvals.set(id, { ...row, status: "approved", decidedBy: "alice", role });
  }

  readonly port: EventLog = {
    append: async (entries, alongside) => {
      const fails = entries.some((entry) => this.failsAt(entry, entries));
      this.failed ||= fails;
      if (this.failing || fails) return err(full);
      this.entries.push(...entries);
      for (const row of alongside?.runs ?? []) this.runs.set(row.key, row);
      if (alongside?.shared !== undefined) this.shared.set(alongside.shared.owner, alongside.shared);
      if (this.gate !== undefined) await this.gate;
      return ok(undefined);
    },
    replay: async (run, _lattice, { until } = {}) => {
      if (this.unreadable) return err("its labels are not known any more");
      const events: RunEvent[] = [];
      const parts = merged(this.#noted(run, 0), { run, until, stream: (key, { n }) => this.#noted(key, n) });
      for (;;) {
        const next = await parts.next();
        if (next.done === true) {
          return ok({ events, complete: true, policies: [], waiting: this.#waiting(run), member: next.value?.of });
        }
        if (!next.value.ok) return next.value;
        const { note } = next.value.value;
        const isOwnEnd = note !== undefined && "n" in note && until?.of === run && note.n > until.n;
        if (!isOwnEnd) events.push(...next.value.value.events);
      }
    },
    snapshot: async () => undefined,
    keepSnapshot: async () => ok(undefined),
    waiting: async (run) => this.#waiting(run),
    tail: async (_count, run) => {
      const last = this.entries.findLast((entry) => entry.run === run);
      const isStream = last?.stream !== undefined && "n" in last.stream;
      return ok(isStream ? [{ clear: { stream: last.stream } } as never] : []);
    },
    seal: (_run, value) => new TextEncoder().encode(JSON.stringify(value)),
    open: (_run, sealed) => JSON.parse(new TextDecoder().decode(sealed)) as JsonObject,
    checkpoint: async () => ok(undefined),
    prune: async () => ok(false),
    sumUp: () => Promise.resolve(ok(false)),
    health: () => ({ kind: "ok" }),
    recover: async () => ok(undefined),
    close: async () => undefined,
    store: this.#store(),
  } as EventLog;

  async *#noted(run: string, after: number) {
    for (const { run: of, events, stream: note } of this.entries) {
      const isBefore = note !== undefined && "n" in note && note.n <= after;
      if (of === run && !isBefore) yield ok({ events, note });
    }
  }

  /** The events of a run as it folded them, with those of its stream. */
  async whole(run: string): Promise<readonly RunEvent[]> {
    const read = await this.port.replay(run, undefined as never);
    return read.ok ? read.value.events : [];
  }

  #waiting(run: string): readonly Waiting[] {
    const book = new WaitingBook();
    for (const { events, notes, details, context } of this.entries.filter((entry) => entry.run === run)) {
      const kept = context.payload === "digests" ? undefined : details;
      // The members that a book looks at are the same in an event and in its clear text.
      const clear = events as readonly unknown[] as readonly Json[];
      book.read({ events: clear, notes, details: kept, policyDigest: context.policyDigest });
    }
    return book.list();
  }

  #store(): Store {
    const matches = (row: ApprovalRow, match: ApprovalMatch): boolean =>
      row.run === match.run &&
      row.principal === match.principal &&
      row.server === match.server &&
      row.tool === match.tool &&
      row.argumentDigest === match.argumentDigest &&
      row.policyDigest === match.policyDigest;
    const store: Partial<Store> = {
      opening: { writer: 1, previous: undefined, resumeAtTop: false, inFlight: this.inFlight },
      run: async (key) => ok(this.runs.get(key)),
      putRun: async (row) => {
        this.runs.set(row.key, row);
        return ok(undefined);
      },
      idle: () => Promise.resolve(),
      openCalls: async () => ok(this.inFlight),
      openRuns: async () => ok([...this.runs.values()].filter((row) => row.endedWallMs === undefined)),
      runsEnding: async (principal, ending) =>
        ok([...this.runs.values()].filter(({ key }) => key.startsWith(`${principal}/`) && key.endsWith(ending))),
      shared: async (owner) => ok(this.shared.get(owner)),
      sharedRows: async () => ok([...this.shared.values()]),
      putManifest: async (row) => {
        this.manifests.set(row.key, row);
        return ok(undefined);
      },
      manifest: async (key) => ok(this.manifests.get(key)),
      createApproval: async (row) => {
        this.approvals.set(row.id, row);
        return ok(undefined);
      },
      approval: async (id) => ok(this.approvals.get(id)),
      decideApproval: async ({ id, verdict, by, role, wallMs }) => {
        const row = this.approvals.get(id);
        if (row?.status !== "pending") return ok(undefined);
        const decided: ApprovalRow = { ...row, status: verdict, decidedBy: by, role, decidedWallMs: wallMs };
        this.approvals.set(id, decided);
        return ok(decided);
      },
      takeApproval: async (match, wallMs) => {
        for (const row of this.approvals.values()) {
          if (row.status !== "approved" || row.expiresWallMs <= wallMs || !matches(row, match)) continue;
          this.approvals.set(row.id, { ...row, status: "used" });
          return ok(row);
        }
        return ok(undefined);
      },
    };
    return store as Store; // tests of the enforcement point touch only these
  }
}

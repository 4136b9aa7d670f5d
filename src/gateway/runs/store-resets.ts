/**
 * A user states that a store holds again what its policy declares (gateway.md 4). It is the one way in which labels of
 * stores fall, so nothing else may bring them back or rely on them: no run of the owner is open, and the known labels
 * are replaced in the append that names the user.
 */
import type { JsonObject } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { plainKey } from "./cross-run-check.ts";
import type { EventLog, LogEntry, SharedRow } from "../ports/store.ts";
import type { Services } from "../ports/services.ts";
import type { RunRegistry } from "./run-registry.ts";

type Needs = {
  readonly services: Services;
  readonly runs: RunRegistry;
};

/** A store in words: the data that it may hold, its permitted readers, and the readers that get it unasked. */
export type StoreWords = {
  readonly store: string;
  readonly label: string;
  readonly audience: readonly string[];
  readonly open: readonly string[];
};

/** How a stored row is read and lowered; the policy layer knows its shape, the gateway does not. */
export type RowReader = {
  /** Undefined where the row is damaged. */
  readonly inWords: (value: JsonObject) => readonly StoreWords[] | undefined;
  /** Undefined where it knows no such store. */
  readonly without: (value: JsonObject, store: string) => JsonObject | undefined;
  readonly nothing: JsonObject;
};

/** The known state of an owner's stores; `lost` = every store may hold and show everything. */
export type KnownStores = { readonly row: SharedRow; readonly lost: boolean; readonly stores: readonly StoreWords[] };

export type StoreReset = {
  readonly owner: string;
  /** Undefined = all of them. */
  readonly store: string | undefined;
  readonly by: string;
  /** Whether this is what the user was shown; the user did not vouch for changes since then. */
  readonly asShown: (known: KnownStores) => boolean;
};

const logFault = "The event log cannot be read or written, so nothing was reset. Run `sluicegate doctor`.";

/** The known stores of all owners; the error is a sentence. */
export async function knownStores({ runs }: Needs, reader: RowReader): Promise<Result<readonly KnownStores[], string>> {
  const rows = await runs.shared.rows();
  return rows.ok ? ok(rows.value.map((row) => known(row, reader))) : err(rows.error.sentence);
}

/** Lets a store, or all of them, start as declared; the error is a sentence for the user. */
export async function resetStores(needs: Needs, reader: RowReader, reset: StoreReset): Promise<Result<void, string>> {
  const { runs, services } = needs;
  const { owner } = reset;
  const open = await services.log.store.openRuns();
  const read = await runs.shared.row(owner);
  if (!open.ok || !read.ok) return err(logFault);
  // From here to the append nothing waits: a run that begins meanwhile begins after it.
  if (runs.shared.replacing(owner)) return err("Another reset is on its way: repeat the command.");
  const holding = openRun(needs, owner, open.value);
  if (holding !== undefined) return err(holding);
  const row = runs.shared.known(owner);
  if (row === undefined) return err("Nothing is known of stores of that owner: `sluicegate stores` lists what is.");
  const lowered = loweredRow(row, reader, reset);
  if (!lowered.ok) return lowered;
  const entry = entryOf(needs, reset, known(row, reader));
  const write = (): Promise<boolean> => appended(services.log, entry, lowered.value);
  return (await runs.shared.replace(lowered.value, write)) ? ok(undefined) : err(logFault);
}

function known(row: SharedRow, reader: RowReader): KnownStores {
  const stores = reader.inWords(row.value);
  return { row, lost: row.top || stores === undefined, stores: stores ?? [] };
}

function loweredRow(row: SharedRow, reader: RowReader, { store, asShown }: StoreReset): Result<SharedRow, string> {
  const now = known(row, reader);
  if (store !== undefined && now.lost) {
    return err(
      "What the stores hold was lost, so each may hold everything and none can be reset alone: `sluicegate stores reset --all`.",
    );
  }
  const value = store === undefined ? reader.nothing : reader.without(row.value, store);
  if (value === undefined) return err("Nothing is known of a store of that name: `sluicegate stores` lists them.");
  if (!asShown(now)) return err("The stores have changed since you were shown them: repeat the command.");
  return ok({ ...row, top: false, value });
}

/** Why nothing may be forgotten now: a run that is taken up again writes what it held into the stores once more. */
function openRun(
  { runs }: Needs,
  owner: string,
  rows: readonly { readonly key: string; readonly principal: string }[],
): string | undefined {
  const own = ({ principal }: { readonly principal: string }): boolean => principal === owner;
  const live = [...runs.all()].find(own) ?? runs.dormant.all().find(own) ?? runs.waitingStreams().find(own);
  if (live !== undefined) {
    const close = plainKey.test(live.key) ? `runs close ${live.key}` : "runs close ID";
    return `A run of that owner is open and may hold what the store does: end it with \`sluicegate ${close}\`, then repeat (\`sluicegate runs\` lists all).`;
  }
  // Its end never reached the log, or there were too many to look at; a new start finds it.
  if (rows.some(own)) {
    return "The log has a run of that owner that is open: `sluicegate daemon stop`, then close what `sluicegate runs` lists, and repeat.";
  }
  return undefined;
}

/** A record of no run: it must outlive and concern none of them. */
function entryOf({ services }: Needs, { owner, store, by }: StoreReset, { lost, stores }: KnownStores): LogEntry {
  const { clock, policies } = services;
  const policy = policies.select({ principal: owner, client: undefined, tag: undefined });
  const was = stores.filter((one) => store === undefined || one.store === store);
  return {
    run: "",
    at: clock.monotonicMs(),
    kind: "stores-reset",
    events: [],
    context: {
      policyDigest: policy.digest,
      policyText: policy.canonical,
      lattice: policy.lattice,
      payload: policy.settings.payload,
      principal: owner,
    },
    notes: {
      by,
      role: "operator",
      wall: new Date(clock.wallMs()).toISOString(),
      stores: store === undefined ? "all" : store,
      lost,
      was: was.map((one) => ({ ...one, audience: [...one.audience], open: [...one.open] })),
    },
  };
}

/** A throw is a failure like any other: nothing was reset. */
async function appended(log: EventLog, entry: LogEntry, shared: SharedRow): Promise<boolean> {
  try {
    return (await log.append([entry], { shared })).ok;
  } catch {
    return false;
  }
}

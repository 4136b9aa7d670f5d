/**
 * A run while it lives in memory. The only thing that changes it is folding an event, and folding is synchronous: a
 * decision and the event that records it happen in one turn, so decisions of a run are serial without a lock
 * (gateway.md 3), and nothing is held while an oracle is asked, a server works or an approver decides.
 */
import type { RunEvent, TrustedText } from "../../core/event.ts";
import { type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import { describe } from "../../core/label.ts";
import { begin } from "../../core/mechanism.ts";
import type { Run } from "../../core/run.ts";
import { ToldPlaces } from "../../core/isolation/trace-dictionary.ts";
import { runsLiveMax, runsOfOneMax } from "../ports/limits.ts";
import type { LoadedPolicy } from "../ports/policy.ts";
import type { RunKey } from "./run-key.ts";
import type { LogEntry, RunRow } from "../ports/store.ts";

/** Entries that wait for the next append of the runs that they are of, in the order of their folding. */
export type Deferred = {
  readonly entries: LogEntry[];
  /** A clock runs that will put them on record. */
  isTimed: boolean;
  /** The runs that are in their worst state if they cannot be appended. */
  readonly owners: () => Iterable<LiveRun>;
};

/** The stream of the lineage that a run is a member of (`streams/lineage-stream.ts`). */
export interface JoinedStream {
  readonly key: string;
  /** Number of its newest entry. */
  readonly count: number;
  readonly deferred: Deferred;
  /** Folds into a member what the stream has beyond the member's position. */
  catchUp(live: LiveRun): void;
}

export type LiveRun = {
  /** Public identity of the run; also the key its events are logged under. */
  readonly key: string;
  readonly principal: string;
  /** Keys of the runs it is a child of, its parent first; they learn of what restricts it (related-runs.ts). */
  ancestors: readonly string[];
  /** The lineage of the runs that may hold its conversation; undefined where there can be no others. */
  readonly lineage: string | undefined;
  /** Lineages of it and of its ancestors. */
  groups: readonly string[];
  /** It ended with its client process: a later run of that very process begins with what it held. */
  exited: boolean;
  /** Other runs that passed restrictions on to it: what the context label gained by each, in words. */
  readonly sources: Map<string, Set<string>>;
  /** Its conversation was cleared since: later runs of the conversation no longer hold what it holds. */
  spent: boolean;
  /** Events that relatives pass to it while its history is being read; undefined when the history is folded. */
  arrived: Arrival[] | undefined;
  /** It has no history of its own yet, so an event passed to it is only in the log of the sender. */
  begins: boolean;
  /** The client facts that the policy was selected by, so that a new policy can be selected the same way. */
  client: { readonly name: string | undefined; readonly tag: string | undefined };
  policy: LoadedPolicy;
  /** The stream of its lineage; undefined while no other run of the lineage is open. */
  stream: JoinedStream | undefined;
  /** Number of the stream's entry up to which it is folded. */
  seen: number;
  /** Number of the last entry of another run that is folded, and the last one that its own log says, of which stream. */
  heard: number;
  heardLogged: number;
  heardOf: string | undefined;
  /** Something that restricts has happened in it. */
  restricts: boolean;
  /** The run as folded so far: the stream may have more. Only what moves every run alike looks at this. */
  folded: Run;
  /** The run as it is now. To read it is to fold what the stream brought meanwhile, so it is never stale. */
  state: Run;
  /** Monotonic ms of the last message. */
  lastAt: number;
  /** Calls allowed and not yet settled, by call id. */
  readonly inFlight: Set<string>;
  /** Reads that were sent before they were on record (docs/decisions/0008); members of a stream have one for all. */
  deferred: Deferred;
  /** Places of projections that its records have named. */
  readonly places: ToldPlaces;
  ended: boolean;
  /** Set while history is being folded; messages of the run wait for it. */
  ready: Promise<void> | undefined;
  /** Directories and URIs that "inside the workspace" means. */
  workspace: readonly string[];
  /** Ms without a message after which the run ends, where the act that started it set one. */
  idleMs: number | undefined;
  /** The conversation that a hook said this run is. */
  named: Naming | undefined;
  /** Context tokens that shortlists keep out of the lists of this run, by server. */
  readonly tokensSaved: Map<string, number>;
  /** Part of its history is gone for good, so it holds everything until it ends, over every restart. */
  lost: boolean;
  /** Events of it may be missing in the log, and then what they did to stores is missing there, too. */
  storesLost: boolean;
  /** Keys of runs that it holds everything for, since their history cannot be read under its policy. */
  unread: readonly string[];
};

/** What folding the events of a run makes of it. */
export type FoldedRun = Pick<LiveRun, "key" | "policy" | "state" | "sources" | "inFlight" | "ended">;

/** The run that a connection used last, for what belongs to no request. */
export interface CurrentRun {
  current(): LiveRun | undefined;
}

/** The origin of an event: labels have a meaning only under a policy. */
export type Teller = { readonly principal: string; readonly policy: LoadedPolicy };

export type Arrival = { readonly event: RunEvent; readonly from: Teller; readonly logged: boolean };

export type RunRequest = {
  readonly key: RunKey;
  readonly principal: string;
  readonly policy: LoadedPolicy;
  readonly workspace: readonly string[];
  readonly parent?: LiveRun | undefined;
  readonly client?: LiveRun["client"];
  readonly registered?: readonly TrustedText[];
  /** Starts of the keys of guarded ancestors of the client process, nearest first. */
  readonly above?: readonly string[];
  readonly idleMs?: number | undefined;
  /** Its key was made for it just now: nothing of it can have been before. */
  readonly isNew?: true;
};

/** Entries of one run alone. */
export function ownDeferred(live: LiveRun): Deferred {
  return { entries: [], isTimed: false, owners: () => [live] };
}

/** A run of which nothing is folded yet. */
export function newRun(request: RunRequest, at: number): LiveRun {
  const { key, policy, principal, workspace } = request;
  const live: LiveRun = {
    key: key.key,
    principal,
    ancestors: [],
    lineage: key.lineage,
    groups: [],
    spent: false,
    exited: false,
    sources: new Map(),
    arrived: [],
    begins: false,
    client: request.client ?? { name: undefined, tag: undefined },
    policy,
    stream: undefined,
    seen: 0,
    heard: 0,
    heardLogged: 0,
    heardOf: undefined,
    restricts: false,
    folded: begin(policy.engine, key.key, undefined),
    get state() {
      // While its history is read the stream waits, like everything that it receives.
      if (this.stream !== undefined && this.seen < this.stream.count && this.arrived === undefined) {
        this.stream.catchUp(this);
      }
      return this.folded;
    },
    set state(state) {
      this.folded = state;
    },
    lastAt: at,
    inFlight: new Set(),
    deferred: { entries: [], isTimed: false, owners: () => [live] },
    places: new ToldPlaces(),
    ended: false,
    ready: undefined,
    workspace,
    idleMs: request.idleMs,
    named: undefined,
    tokensSaved: new Map(),
    lost: false,
    storesLost: false,
    unread: [],
  };
  return live;
}

/** Why a user may begin no further run beside the live ones; undefined where the user may. */
export function tooManyRuns(
  live: ReadonlyMap<string, Pick<LiveRun, "principal">>,
  principal: string,
): string | undefined {
  if (live.size >= runsLiveMax) return `more than ${runsLiveMax} runs are open: close some`;
  if (live.size < runsOfOneMax) return undefined;
  let own = 0;
  for (const run of live.values()) if (run.principal === principal) own += 1;
  return own < runsOfOneMax ? undefined : `more than ${runsOfOneMax} runs of this user are open: close some`;
}

/** The row of a run in the store, by which the run is found and recognised again. */
export function rowOf(live: LiveRun, wallMs: number): RunRow {
  const [parent] = live.ancestors;
  return {
    key: live.key,
    principal: live.principal,
    ...(parent === undefined ? {} : { parent }),
    policyDigest: live.policy.digest,
    begunWallMs: wallMs,
    idleExpiresWallMs: wallMs + idleMsOf(live),
    top: live.lost && live.storesLost,
    resume: {
      ...live.named,
      ...(live.lost ? { unread: live.unread.slice(0, unreadMax) } : {}),
      client: clientJson(live.client),
      ...(live.idleMs === undefined ? {} : { idleMs: live.idleMs }),
      ...(live.stream === undefined ? {} : { stream: live.stream.key }),
      ...(live.spent ? { spent: true } : {}),
      ...(live.exited ? { exited: true } : {}),
    },
  };
}

/** Ms without a message after which a run ends. A later policy may shorten that time, never lengthen it. */
export function idleMsOf({ idleMs, policy }: Pick<LiveRun, "idleMs" | "policy">): number {
  return Math.min(idleMs ?? Number.POSITIVE_INFINITY, policy.settings.runIdleMs);
}

/** Ms without a message after which the run of a row ends; undefined where only its policy sets them. */
export function idleIn(resume: JsonObject | undefined): number | undefined {
  const idleMs = member(resume, "idleMs");
  return typeof idleMs === "number" ? idleMs : undefined;
}

/** A token is worth nothing once its run has ended, nor with another principal than that of the run. */
export function closedTo({ principal }: LiveRun, row: RunRow | undefined): boolean {
  return row !== undefined && (row.endedWallMs !== undefined || row.principal !== principal);
}

/** Restores the facts of a run that its row holds beside its history. */
export function recognise(live: LiveRun, resume: JsonObject | undefined): void {
  live.named = namedIn(resume);
  live.idleMs = idleIn(resume);
  live.unread = unreadIn(resume);
}

/** The client facts that the policy of the run was selected by; undefined in the row of an older version. */
export function clientIn(resume: JsonObject): LiveRun["client"] | undefined {
  const client = member(resume, "client");
  if (!isObject(client)) return undefined;
  return { name: stringMember(client, "name"), tag: stringMember(client, "tag") };
}

function clientJson({ name, tag }: LiveRun["client"]): JsonObject {
  return { ...(name === undefined ? {} : { name }), ...(tag === undefined ? {} : { tag }) };
}

/** Keys of unreadable runs that a row names: one is enough for a user to find the cause. */
const unreadMax = 8;

/** Whether the run of a row holds everything for as long as it is open: a part of its history is gone or unreadable. */
export function isLostIn({ top, resume }: Pick<RunRow, "top" | "resume">): boolean {
  return top || resume["unread"] !== undefined;
}

/** Keys of the runs that a row names as unreadable, the first cause first. */
export function unreadIn(resume: JsonObject | undefined): readonly string[] {
  const unread = member(resume, "unread");
  return isArray(unread) ? unread.filter((key) => typeof key === "string") : [];
}

/** Key of the stream that the run of a row is a member of, which then has all that restricts it; older rows do not say it. */
export function streamIn({ resume }: Pick<RunRow, "resume">): string | undefined {
  return stringMember(resume, "stream");
}

/** Whether later runs need not read what the run of a row held: it handed that on, or its conversation was cleared. */
export function isSpent({ resume }: RunRow): boolean {
  return resume["spent"] === true;
}

/** Whether the run of a row ended only because its client process was gone. */
export function hasExited({ endedWallMs, resume }: RunRow): boolean {
  return endedWallMs !== undefined && resume["exited"] === true;
}

/** Keeps what the context label of a run gained by an event that another run passed on. */
export function noteSource(live: FoldedRun, event: RunEvent, before: Run["q"]): void {
  if (!("from" in event) || event.from === undefined) return;
  const { policy, state } = live;
  const held = policy.contextLabel(before);
  const holds = policy.contextLabel(state.q);
  if (held === holds) return;
  const known = new Set(describe(policy.lattice, held).split(", "));
  const gained = describe(policy.lattice, holds)
    .split(", ")
    .filter((word) => !known.has(word));
  live.sources.set(event.from, new Set([...(live.sources.get(event.from) ?? []), ...gained]));
}

export function asSpent(row: RunRow): RunRow {
  return { ...row, resume: { ...row.resume, spent: true } };
}

/**
 * The history of a run is lost or unreadable, so it counts as holding everything. Stores are recorded by owner, in the
 * transaction of each change, so they are as they are known; or a run under another policy would open all of them.
 * `unread` are the keys of the runs that it holds everything for.
 */
export function toTop(live: LiveRun, unread: readonly string[] = []): void {
  live.unread = [...new Set([...live.unread, ...unread])];
  const { policy, state, storesLost } = live;
  live.state = { ...state, q: storesLost ? policy.topState() : policy.topState(state.q) };
}

/** Which conversation of which client process (or user) a run is, and since when (ms since 1970). */
export type Naming = { readonly process: string; readonly conversation: string; readonly sinceWallMs: number };

/** The naming in the row of a run, or undefined where no hook spoke. */
export function namedIn(resume: JsonObject | undefined): Naming | undefined {
  const process = stringMember(resume, "process");
  const conversation = stringMember(resume, "conversation");
  const sinceWallMs = member(resume, "sinceWallMs");
  if (process === undefined || conversation === undefined || typeof sinceWallMs !== "number") return undefined;
  return { process, conversation, sinceWallMs };
}

/** Keeps the set of calls in flight, which `ended` and a policy change need. */
export function trackCalls(live: FoldedRun, event: RunEvent): void {
  switch (event.kind) {
    case "dispatched":
      live.inFlight.add(event.call);
      return;
    case "succeeded":
    case "failed":
    case "unknown":
      live.inFlight.delete(event.call);
      return;
    case "ended":
      live.ended = true;
      return;
    case "begun":
    case "registered":
    case "refused":
    case "released":
    case "foreseen":
    case "granted":
      return;
  }
}

/** Labels are bit sets: they may only meet where the bits mean the same. */
export function sameLattice(left: LoadedPolicy, right: LoadedPolicy): boolean {
  if (left.lattice === right.lattice) return true;
  const names = ({ lattice }: LoadedPolicy): string =>
    JSON.stringify([lattice.levels, lattice.categories, lattice.groups]);
  return names(left) === names(right);
}

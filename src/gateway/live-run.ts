/**
 * A run while it lives in memory. The only thing that changes it is folding an event, and folding is synchronous: a
 * decision and the event that records it happen in one turn, so decisions of a run are serial without a lock
 * (gateway.md 3), and nothing is held while somebody is asked, a server works or a person thinks.
 */
import type { RunEvent, TrustedText } from "../core/event.ts";
import type { JsonObject } from "../core/json.ts";
import { isObject, member, stringMember } from "../core/json.ts";
import { begin } from "../core/mechanism.ts";
import type { Run } from "../core/run.ts";
import { ToldPlaces } from "../core/told-places.ts";
import { runsLiveMax, runsOfOneMax } from "./limits.ts";
import type { LoadedPolicy } from "./policy-port.ts";
import type { RunKey } from "./run-keys.ts";
import type { LogEntry, RunRow } from "./store-port.ts";

export type LiveRun<Q> = {
  /** Public identity of the run; also the key its events are logged under. */
  readonly key: string;
  readonly principal: string;
  /** Keys of the runs it is a child of, its parent first; they learn of what restricts it (relatives.ts). */
  ancestors: readonly string[];
  /** What the runs that may hold its conversation have in common; undefined where there can be no others. */
  readonly lineage: string | undefined;
  /** Lineages of it and of its ancestors. */
  groups: readonly string[];
  /** A person cleared its conversation since: what it holds is no longer held by later runs of that. */
  spent: boolean;
  /** What relatives tell it while its history is being read; undefined when that is folded. */
  arrived: Arrival<Q>[] | undefined;
  /** It has no history of its own yet, so what it is told is in no log but the teller's. */
  begins: boolean;
  /** What the policy was selected by, so that a new policy can be selected the same way. */
  client: { readonly name: string | undefined; readonly tag: string | undefined };
  policy: LoadedPolicy<Q>;
  state: Run<Q>;
  /** Monotonic ms of the last message. */
  lastAt: number;
  /** Calls allowed and not yet settled, by call id. */
  readonly inFlight: Set<string>;
  /** Reads that were sent before they were on record (docs/decisions/0008), in the order of their folding. */
  readonly late: LogEntry[];
  /** Places of projections that its records have told. */
  readonly places: ToldPlaces;
  /** A clock runs that will put them there. */
  lateIsTimed: boolean;
  ended: boolean;
  /** Set while history is being folded; messages of the run wait for it. */
  ready: Promise<void> | undefined;
  /** Directories and URIs that "inside the workspace" means. */
  workspace: readonly string[];
  /** Ms without a message after which the run ends, where whoever started it said so. */
  idleMs: number | undefined;
  /** The conversation that a hook said this run is. */
  named: Naming | undefined;
  /** Context tokens that shortlists keep out of the lists of this run, by server. */
  readonly tokensSaved: Map<string, number>;
  /** Part of its history is gone for good, so it holds everything until it ends, over every restart. */
  lost: boolean;
};

/** Whose word an event is: labels mean something under a policy only. */
export type Teller<Q> = { readonly principal: string; readonly policy: LoadedPolicy<Q> };

export type Arrival<Q> = { readonly event: RunEvent; readonly from: Teller<Q>; readonly logged: boolean };

export type RunRequest<Q> = {
  readonly key: RunKey;
  readonly principal: string;
  readonly policy: LoadedPolicy<Q>;
  readonly workspace: readonly string[];
  readonly parent?: LiveRun<Q> | undefined;
  readonly client?: LiveRun<Q>["client"];
  readonly registered?: readonly TrustedText[];
  readonly idleMs?: number | undefined;
  /** Its key was made for it just now: nothing of it can have been before. */
  readonly isNew?: true;
};

/** A run of which nothing is folded yet. */
export function newRun<Q>(request: RunRequest<Q>, at: number): LiveRun<Q> {
  const { key, policy, principal, workspace } = request;
  return {
    key: key.key,
    principal,
    ancestors: [],
    lineage: key.lineage,
    groups: [],
    spent: false,
    arrived: [],
    begins: false,
    client: request.client ?? { name: undefined, tag: undefined },
    policy,
    state: begin(policy.engine, key.key, undefined),
    lastAt: at,
    inFlight: new Set(),
    late: [],
    places: new ToldPlaces(),
    lateIsTimed: false,
    ended: false,
    ready: undefined,
    workspace,
    idleMs: request.idleMs,
    named: undefined,
    tokensSaved: new Map(),
    lost: false,
  };
}

/** Why a user may begin no further run beside those that live; undefined where he may. */
export function tooManyRuns(
  live: ReadonlyMap<string, Pick<LiveRun<never>, "principal">>,
  principal: string,
): string | undefined {
  if (live.size >= runsLiveMax) return `more than ${runsLiveMax} runs are open: close some`;
  if (live.size < runsOfOneMax) return undefined;
  let own = 0;
  for (const run of live.values()) if (run.principal === principal) own += 1;
  return own < runsOfOneMax ? undefined : `more than ${runsOfOneMax} runs of this user are open: close some`;
}

/** What the store keeps of a run, so that it is found and recognised again. */
export function rowOf<Q>(live: LiveRun<Q>, wallMs: number): RunRow {
  const [parent] = live.ancestors;
  return {
    key: live.key,
    principal: live.principal,
    ...(parent === undefined ? {} : { parent }),
    policyDigest: live.policy.digest,
    begunWallMs: wallMs,
    idleExpiresWallMs: wallMs + idleMsOf(live),
    top: live.lost,
    resume: {
      ...live.named,
      client: clientJson(live.client),
      ...(live.idleMs === undefined ? {} : { idleMs: live.idleMs }),
      ...(live.spent ? { spent: true } : {}),
    },
  };
}

/** Ms without a message after which a run ends. A policy that came later may shorten what was agreed, never lengthen it. */
export function idleMsOf<Q>({ idleMs, policy }: Pick<LiveRun<Q>, "idleMs" | "policy">): number {
  return Math.min(idleMs ?? Number.POSITIVE_INFINITY, policy.settings.runIdleMs);
}

/** The same of the row of a run; undefined where only its policy says. */
export function idleIn(resume: JsonObject | undefined): number | undefined {
  const idleMs = member(resume, "idleMs");
  return typeof idleMs === "number" ? idleMs : undefined;
}

/** A token is worth nothing once its run has ended, nor with another principal than that of the run. */
export function closedTo<Q>({ principal }: LiveRun<Q>, row: RunRow | undefined): boolean {
  return row !== undefined && (row.endedWallMs !== undefined || row.principal !== principal);
}

/** Takes up what the row of a run says of it beside its history. */
export function recognise<Q>(live: LiveRun<Q>, resume: JsonObject | undefined): void {
  live.named = namedIn(resume);
  live.idleMs = idleIn(resume);
}

/** What the policy of the run was selected by; undefined in the row of an older version. */
export function clientIn(resume: JsonObject): LiveRun<never>["client"] | undefined {
  const client = member(resume, "client");
  if (!isObject(client)) return undefined;
  return { name: stringMember(client, "name"), tag: stringMember(client, "tag") };
}

function clientJson({ name, tag }: LiveRun<never>["client"]): JsonObject {
  return { ...(name === undefined ? {} : { name }), ...(tag === undefined ? {} : { tag }) };
}

/** Nobody has to ask the run of a row any more what it held: it handed that on, or its conversation was cleared. */
export function isSpent({ resume }: RunRow): boolean {
  return resume["spent"] === true;
}

export function asSpent(row: RunRow): RunRow {
  return { ...row, resume: { ...row.resume, spent: true } };
}

/** The history of a run is lost or unreadable, so it counts as holding everything. */
export function toTop<Q>(live: LiveRun<Q>): void {
  live.state = { ...live.state, q: live.policy.topState() };
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
export function trackCalls<Q>(live: LiveRun<Q>, event: RunEvent): void {
  switch (event.kind) {
    case "allowed":
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
    case "requested":
    case "refused":
    case "sent":
    case "released":
    case "granted":
      return;
  }
}

/** Labels are bit sets: they may only meet where the bits mean the same. */
export function sameLattice<Q>(left: LoadedPolicy<Q>, right: LoadedPolicy<Q>): boolean {
  if (left.lattice === right.lattice) return true;
  const names = ({ lattice }: LoadedPolicy<Q>): string =>
    JSON.stringify([lattice.levels, lattice.categories, lattice.groups]);
  return names(left) === names(right);
}

/**
 * Events on their way into the log. The order is the guarantee (gateway.md 9): a batch is durable before anything that
 * it speaks of is sent or released; the one exception are reads that a crash may forget (docs/decisions/0008). Events
 * are folded first and appended second, so a run is never less restricted
 * than its log; when an append fails the run counts as holding everything.
 */
import type { Decision } from "../core/decision.ts";
import { isQuietRecord } from "../core/effect-record.ts";
import { traceQuestionKind } from "../core/effect-trace.ts";
import type { RunEvent } from "../core/event.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Answers } from "../core/opinion.ts";
import { ToldPlaces } from "../core/told-places.ts";
import type { WrittenJson } from "../wire/message.ts";
import type { LiveRun, Teller } from "./live-run.ts";
import type { Alongside, EventLog, LogEntry, RunRow, SharedRow } from "./store-port.ts";

/** What belongs to a decision and goes into the record of its first run. */
export type Basis = {
  readonly decision?: Decision;
  readonly answers?: Answers;
  readonly manifestDigest?: string | undefined;
  readonly notes?: JsonObject;
  readonly details?: JsonObject;
  readonly written?: WrittenJson | undefined;
  /** When it was decided, for what has no event that says so. */
  readonly at?: number;
};

const nothing: Basis = {};

/** What a run must learn that lives in nobody's memory, or in labels of another policy: told in its log alone. */
type AbsentPart<Q> = { readonly from: Teller<Q>; readonly run: string; readonly events: readonly RunEvent[] };

type Part<Q> = { readonly live: LiveRun<Q>; readonly events: RunEvent[] };
type EntryPart<Q> = {
  readonly live: Teller<Q> & Pick<LiveRun<Q>, "key" | "places">;
  readonly events: readonly RunEvent[];
};

/** Events of one turn, over all runs that they touch. */
export class Batch<Q> {
  readonly parts: Part<Q>[] = [];
  readonly absent: AbsentPart<Q>[] = [];
  shared: SharedRow | undefined;
  runs: RunRow[] | undefined;

  add(live: LiveRun<Q>, event: RunEvent): void {
    for (const part of this.parts) {
      if (part.live === live) {
        part.events.push(event);
        return;
      }
    }
    this.parts.push({ live, events: [event] });
  }

  addAbsent(from: Teller<Q>, run: string, events: readonly RunEvent[]): void {
    this.absent.push({ from, run, events });
  }
}

/** Puts what waits on record now; true when everything of the run up to this moment is durable. */
export function recordLate<Q>(log: EventLog, live: LiveRun<Q>): Promise<boolean> {
  const batch = new Batch<Q>();
  batch.parts.push({ live, events: [] });
  return appendBatch(log, batch);
}

/** Keeps the entry of a read for later: whatever is appended next for its run takes it along, and comes after it. */
export function keepLate<Q>({ parts }: Batch<Q>, basis: Basis): void {
  for (const part of parts) part.live.late.push({ ...entryOf(part, basis), late: true });
}

/** Appends a batch; false when it is not durable, and then every run of the batch is in its worst state. */
export async function appendBatch<Q>(log: EventLog, batch: Batch<Q>, basis: Basis = nothing): Promise<boolean> {
  try {
    if ((await log.append(entriesOf(batch, basis), alongside(batch))).ok) return true;
  } catch {
    // A throw is a failure like any other: the caller waits for a truth value, and nobody may wait for ever.
  }
  for (const { live } of batch.parts) {
    live.state = { ...live.state, q: live.policy.topState() };
    live.places.forget();
  }
  return false;
}

/** What waited, then what is new, each as an entry of its run. */
function entriesOf<Q>(batch: Batch<Q>, basis: Basis): LogEntry[] {
  const entries: LogEntry[] = [];
  for (const [index, part] of batch.parts.entries()) {
    const own = index === 0 ? basis : nothing;
    entries.push(...part.live.late.splice(0));
    if (part.events.length > 0 || own !== nothing) entries.push(entryOf(part, own));
  }
  for (const { from, run, events } of batch.absent) {
    const { policy, principal } = from;
    entries.push(entryOf({ live: { key: run, policy, principal, places: new ToldPlaces() }, events }, nothing));
  }
  return entries;
}

function alongside<Q>({ runs, shared }: Batch<Q>): Alongside | undefined {
  if (runs === undefined && shared === undefined) return undefined;
  return { ...(runs === undefined ? {} : { runs }), ...(shared === undefined ? {} : { shared }) };
}

function entryOf<Q>({ live, events }: EntryPart<Q>, basis: Basis): LogEntry {
  const { policy } = live;
  const { decision, answers, manifestDigest, notes, details, written, at = 0 } = basis;
  return {
    run: live.key,
    at: events[0]?.at ?? at,
    events,
    context: {
      policyDigest: policy.digest,
      policyText: policy.canonical,
      lattice: policy.lattice,
      payload: policy.settings.payload,
      principal: live.principal,
      ...(manifestDigest === undefined ? {} : { manifestDigest }),
    },
    ...(decision === undefined ? {} : { decision }),
    ...(answers === undefined ? {} : answersJson(answers, live.places)),
    ...(notes === undefined ? {} : { notes }),
    ...(details === undefined ? {} : { details }),
    ...(written === undefined ? {} : { written }),
  };
}

function answersJson(answers: Answers, places: ToldPlaces): Pick<LogEntry, "answers" | "plainAnswers"> {
  let sealed: Record<string, Json> | undefined;
  let plain: Record<string, Json> | undefined;
  for (const [key, answer] of answers) {
    if (answer.kind === "unavailable") (sealed ??= {})[key] = { unavailable: answer.cause };
    else if (answer.question.kind !== traceQuestionKind) (sealed ??= {})[key] = { value: answer.value };
    // Most calls do nothing that is on record, and need no payload to say so.
    else if (isQuietRecord(answer.value)) (plain ??= {})[key] = { value: answer.value };
    else (sealed ??= {})[key] = { value: places.brief(answer.value) };
  }
  return {
    ...(sealed === undefined ? {} : { answers: sealed }),
    ...(plain === undefined ? {} : { plainAnswers: plain }),
  };
}

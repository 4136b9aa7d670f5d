/**
 * Events on their way into the log. The order is the guarantee (gateway.md 9): a batch is durable before anything that
 * it speaks of is sent or released; the one exception are reads that a crash may forget (docs/decisions/0008). Events
 * are folded first and appended second, so a run is never less restricted
 * than its log; when an append fails the run counts as holding everything.
 */
import type { Decision } from "../../core/decision.ts";
import { isQuietRecord } from "../../core/isolation/effect-record.ts";
import { traceQuestionKind } from "../../core/isolation/effect-trace.ts";
import type { RunEvent } from "../../core/event.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Answers } from "../../core/opinion.ts";
import { ToldPlaces } from "../../core/isolation/trace-dictionary.ts";
import type { WrittenJson } from "../../wire/message.ts";
import type { LiveRun, Teller } from "./live-run.ts";
import type { Alongside, EventLog, LogEntry, RunRow, SharedRow } from "../ports/store.ts";

/** The parts of a decision that go into the record of its first run. */
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

/** Events for a run that is not in memory, or that has labels of another policy: they go into its log alone. */
type AbsentPart = { readonly from: Teller; readonly run: string; readonly events: readonly RunEvent[] };

type Part = { readonly live: LiveRun; readonly events: RunEvent[] };
type EntryPart = {
  readonly live: Teller & Pick<LiveRun, "key" | "places">;
  readonly events: readonly RunEvent[];
};

/** Events of one turn, over all runs that they touch. */
export class EventBatch {
  readonly parts: Part[] = [];
  readonly absent: AbsentPart[] = [];
  shared: SharedRow | undefined;
  runs: RunRow[] | undefined;

  add(live: LiveRun, event: RunEvent): void {
    for (const part of this.parts) {
      if (part.live === live) {
        part.events.push(event);
        return;
      }
    }
    this.parts.push({ live, events: [event] });
  }

  addAbsent(from: Teller, run: string, events: readonly RunEvent[]): void {
    this.absent.push({ from, run, events });
  }
}

/** Puts what waits on record now; true when everything of the run up to this moment is durable. */
export function flushDeferred(log: EventLog, live: LiveRun): Promise<boolean> {
  const batch = new EventBatch();
  batch.parts.push({ live, events: [] });
  return appendBatch(log, batch);
}

/** Keeps the entry of a read for later: whatever is appended next for its run takes it along, and comes after it. */
export function deferRecord({ parts }: EventBatch, basis: Basis): void {
  for (const part of parts) part.live.deferred.push({ ...entryOf(part, basis), late: true });
}

/** Appends a batch; false when it is not durable, and then every run of the batch is in its worst state. */
export async function appendBatch(log: EventLog, batch: EventBatch, basis: Basis = nothing): Promise<boolean> {
  try {
    if ((await log.append(entriesOf(batch, basis), alongside(batch))).ok) return true;
  } catch {
    // A throw is a failure like any other: the caller waits for a truth value, and no caller may wait for ever.
  }
  for (const { live } of batch.parts) {
    live.state = { ...live.state, q: live.policy.topState() };
    live.places.forget();
  }
  return false;
}

/** Deferred entries, then new ones, each as an entry of its run. */
function entriesOf(batch: EventBatch, basis: Basis): LogEntry[] {
  const entries: LogEntry[] = [];
  for (const [index, part] of batch.parts.entries()) {
    const own = index === 0 ? basis : nothing;
    entries.push(...part.live.deferred.splice(0));
    if (part.events.length > 0 || own !== nothing) entries.push(entryOf(part, own));
  }
  for (const { from, run, events } of batch.absent) {
    const { policy, principal } = from;
    entries.push(entryOf({ live: { key: run, policy, principal, places: new ToldPlaces() }, events }, nothing));
  }
  return entries;
}

function alongside({ runs, shared }: EventBatch): Alongside | undefined {
  if (runs === undefined && shared === undefined) return undefined;
  return { ...(runs === undefined ? {} : { runs }), ...(shared === undefined ? {} : { shared }) };
}

function entryOf({ live, events }: EntryPart, basis: Basis): LogEntry {
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
    // Most calls have no recorded effects, so their evidence needs no payload.
    else if (isQuietRecord(answer.value)) (plain ??= {})[key] = { value: answer.value };
    else (sealed ??= {})[key] = { value: places.brief(answer.value) };
  }
  return {
    ...(sealed === undefined ? {} : { answers: sealed }),
    ...(plain === undefined ? {} : { plainAnswers: plain }),
  };
}

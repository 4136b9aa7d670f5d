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
import type { Deferred, LiveRun, Teller } from "./live-run.ts";
import type { Alongside, EventLog, LogEntry, RunRow, SharedRow } from "../ports/store.ts";
import type { StreamNote } from "../ports/stream-note.ts";

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

type Part = {
  readonly live: LiveRun;
  readonly events: RunEvent[];
  /** What the run held of its stream when the events were folded. */
  place?: Place | undefined;
  /** It says that its run joins or leaves a stream. */
  readonly note?: StreamNote;
};
type Place = { readonly of: string; readonly heard: number };
type EntryPart = {
  readonly live: Teller & Pick<LiveRun, "key" | "places">;
  readonly events: readonly RunEvent[];
  readonly note?: StreamNote | undefined;
};

/** Events of one turn, over all runs that they touch. */
export class EventBatch {
  readonly parts: Part[] = [];
  readonly absent: AbsentPart[] = [];
  /** What waits in them goes into the log first. */
  readonly queues = new Set<Deferred>();
  shared: SharedRow | undefined;
  runs: RunRow[] | undefined;

  /** Events of one run are one entry for as long as nothing of its stream came in between. */
  add(live: LiveRun, event: RunEvent): void {
    const place = live.stream === undefined ? undefined : { of: live.stream.key, heard: live.heard };
    const part = this.parts.findLast((one) => one.live === live);
    const fits = part?.place?.of === place?.of && part?.place?.heard === place?.heard;
    if (part === undefined || part.note !== undefined || (part.events.length > 0 && !fits)) {
      this.parts.push({ live, events: [event], place });
      return;
    }
    part.place = place;
    part.events.push(event);
  }

  /** From here on a run is a member of a stream, or it is none any more. */
  mark(live: LiveRun, note: StreamNote): void {
    this.parts.push({ live, events: [], note });
  }

  addRows(...rows: readonly RunRow[]): void {
    this.runs = [...(this.runs ?? []), ...rows];
  }

  addAbsent(from: Teller, run: string, events: readonly RunEvent[]): void {
    this.absent.push({ from, run, events });
  }
}

/** Puts what waits on record now; true when everything up to this moment of these runs and streams is durable. */
export function flushDeferred(log: EventLog, ...waiting: readonly Pick<LiveRun, "deferred">[]): Promise<boolean> {
  const batch = new EventBatch();
  for (const { deferred } of waiting) batch.queues.add(deferred);
  return appendBatch(log, batch);
}

/** Keeps the entry of a read for later: whatever is appended next for its run takes it along, and comes after it. */
export function deferRecord({ parts }: EventBatch, basis: Basis): void {
  for (const part of parts) part.live.deferred.entries.push({ ...entryOf(noted(part), basis), late: true });
}

/**
 * Appends a batch; false when it is not durable, and then every run of the batch is in its worst state, with all members
 * of their streams: what one of them did is not on record for the others.
 */
export async function appendBatch(log: EventLog, batch: EventBatch, basis: Basis = nothing): Promise<boolean> {
  for (const { live } of batch.parts) batch.queues.add(live.deferred);
  try {
    if ((await log.append(entriesOf(batch, basis), alongside(batch))).ok) return true;
  } catch {
    // A throw is a failure like any other: the caller waits for a truth value, and no caller may wait for ever.
  }
  const concerned = new Set(batch.parts.map(({ live }) => live));
  for (const { owners } of batch.queues) for (const live of owners()) concerned.add(live);
  for (const live of concerned) {
    live.state = { ...live.state, q: live.policy.topState() };
    live.places.forget();
  }
  return false;
}

/** Deferred entries, then new ones, each as an entry of its run; those of streams last, so that runs stay together. */
function entriesOf(batch: EventBatch, basis: Basis): LogEntry[] {
  const entries: LogEntry[] = [];
  for (const { entries: waiting } of batch.queues) entries.push(...waiting.splice(0));
  const [first] = batch.parts;
  const decided = batch.parts.findLast(({ live, note }) => live === first?.live && note === undefined);
  for (const part of batch.parts) {
    const own = part === decided ? basis : nothing;
    if (part.events.length > 0 || own !== nothing || part.note !== undefined) entries.push(entryOf(noted(part), own));
  }
  for (const { from, run, events } of batch.absent) {
    const { policy, principal } = from;
    entries.push(entryOf({ live: { key: run, policy, principal, places: new ToldPlaces() }, events }, nothing));
  }
  if (!entries.some(isOfStream)) return entries;
  return [...entries.filter((entry) => !isOfStream(entry)), ...entries.filter(isOfStream)];
}

function isOfStream({ stream }: LogEntry): boolean {
  return stream !== undefined && "n" in stream;
}

/** A part with what its entry says of a stream: how far the run had heard it, where that is more than its log says. */
function noted(part: Part): EntryPart {
  const { live, place, note } = part;
  if (note !== undefined || place === undefined || place.of !== live.heardOf || place.heard <= live.heardLogged) {
    return part;
  }
  live.heardLogged = place.heard;
  return { ...part, note: place };
}

function alongside({ runs, shared }: EventBatch): Alongside | undefined {
  if (runs === undefined && shared === undefined) return undefined;
  return { ...(runs === undefined ? {} : { runs }), ...(shared === undefined ? {} : { shared }) };
}

/** An entry of a run, or of a stream, with what the decision about it has on record. */
export function entryOf({ live, events, note }: EntryPart, basis: Basis): LogEntry {
  const { policy } = live;
  const { decision, answers, manifestDigest, notes, details, written, at = 0 } = basis;
  return {
    run: live.key,
    at: events[0]?.at ?? at,
    events,
    ...(note === undefined ? {} : { stream: note }),
    ...(note !== undefined && "of" in note && events.length === 0
      ? { kind: note.left === true ? "left" : "joined" }
      : {}),
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

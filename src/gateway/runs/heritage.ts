/**
 * A run takes over what was read for it and becomes a member of its lineage's stream, in one turn: nothing that happens
 * in another run can fall between (docs/decisions/0033).
 */
import type { RunEvent } from "../../core/event.ts";
import type { Result } from "../../core/result.ts";
import { resumeMsMax } from "../ports/limits.ts";
import type { Services } from "../ports/services.ts";
import type { ReplayWay } from "../ports/store.ts";
import type { Inherited } from "./conversation-history.ts";
import type { DormantRuns } from "./dormant-runs.ts";
import { EventBatch } from "./event-batch.ts";
import type { LineageStream } from "./streams/lineage-stream.ts";
import { type LineageStreams, byCall } from "./streams/lineage-streams.ts";
import { type LiveRun, toTop } from "./live-run.ts";
import { foldsPerLook } from "./refold.ts";
import { type RelatedRuns, settleArrived } from "./related-runs.ts";
import { Images, restrictiveImage } from "./restrictive-images.ts";

/** A stream and the number up to which the log was read; later entries are in memory. */
export type StreamPlace = { readonly stream: LineageStream; readonly until: NonNullable<ReplayWay["until"]> };

export type Heritage = {
  /** What was read of the run itself, and whether it was a member of the stream; undefined where it begins. */
  readonly own: { readonly held: readonly RunEvent[]; readonly member: boolean } | undefined;
  /** The stream of its lineage before anything was read. */
  readonly place: StreamPlace | undefined;
  /** What was read of that stream, unless the run was a member. */
  readonly shared: Pick<Inherited, "images" | "whole">;
  /** The stream remembers what a run of this policy holds that begins with it, in this turn. */
  readonly quick?: boolean;
  /** The event with which the run begins; undefined where it is taken up. */
  readonly begun?: RunEvent;
  /** What restricts the other runs that it follows. */
  readonly before: Omit<Inherited, "stopped">;
};

export type HeritageSetup = {
  readonly services: Services;
  readonly streams: LineageStreams;
  readonly dormant: DormantRuns;
  readonly relatives: RelatedRuns;
  readonly find: (key: string) => LiveRun | undefined;
  /** Folds an event received from another run, and passes it on to no run. */
  readonly foldOne: (live: LiveRun, event: RunEvent, batch: EventBatch) => Result<void, string>;
};

/** Folds all of it in the order in which it was read, then what came meanwhile. */
export function takeOver(needs: HeritageSetup, live: LiveRun, heritage: Heritage, batch: EventBatch): void {
  const { own, place, shared, before, begun } = heritage;
  const quick = heritage.quick === true && begun !== undefined;
  const stream = needs.relatives.streamOf(live);
  const sameStream = stream !== undefined && stream === place?.stream;
  const held = own?.held ?? [];
  const known = new Images(held);
  // All of a stream that began meanwhile is in memory. One that has ended meanwhile is a history like any other.
  const inStream = sameStream ? shared.images : (stream?.all() ?? []);
  const fold = new Folding(needs, live);
  // What a run holds as a member is not in its own log as well.
  const aside = new EventBatch();
  const at = sameStream && !quick ? place.until.n : (stream?.count ?? 0);
  if (own === undefined) {
    stream?.join(live, { at, how: "whole" }, batch);
    if (quick) stream?.begin(live, begun);
    else fold.all(inStream, aside, known);
    if (!quick && fold.fits && before.whole && shared.whole) stream?.remember(live, at);
  } else if (own.member && sameStream) stream.join(live, { at, how: "resumed" }, batch);
  else if (stream !== undefined) {
    fold.all(inStream, batch, known);
    stream.join(live, { at, how: "later" }, batch);
  }
  const begins = stream === undefined ? lineageToJoin(needs, live) : undefined;
  const inherited = [...(sameStream ? [] : shared.images), ...before.images];
  // A stream that begins holds it for a run that begins with it.
  const isWhole = begins !== undefined && own === undefined;
  const extra = fold.all(inherited, isWhole ? aside : batch, known);
  batch.shared ??= aside.shared;
  const arrived = settleArrived(live, known.all());
  if (stream !== undefined) for (const images of byCall(extra)) stream.post(live, images, batch);
  live.restricts ||= known.size > 0 || quick;
  if (!fold.fits || !before.whole || !shared.whole) {
    live.lost = true;
    toTop(live, before.unread);
  }
  for (const { event, from, logged } of arrived) {
    if (!logged && !isWhole) batch.addAbsent(from, live.key, [event]);
  }
  if (begins === undefined) return;
  const images = new Images(held.flatMap((event) => restrictiveImage(event, live.key)));
  for (const image of [...inherited, ...arrived.map(({ event }) => event)]) images.add(image);
  const started = beginStream(needs, live, { lineage: begins, held: images.all(), whole: isWhole }, batch);
  if (isWhole && fold.fits && arrived.length === 0) started.remember(live, started.count);
}

/** The lineage whose stream must begin, since the run is not the only open one of it. */
function lineageToJoin({ relatives }: HeritageSetup, { key, lineage, groups }: LiveRun): string | undefined {
  if (lineage === undefined || !groups.includes(lineage)) return undefined;
  return relatives.keysOf(lineage).some((other) => other !== key) ? lineage : undefined;
}

type Beginning = { readonly lineage: string; readonly held: readonly RunEvent[]; readonly whole: boolean };

/** The stream of a lineage with all its runs in memory, which hold all of what it begins with. */
function beginStream(
  { streams, relatives }: HeritageSetup,
  live: LiveRun,
  { lineage, held, whole }: Beginning,
  batch: EventBatch,
): LineageStream {
  const stream = streams.begin(live, lineage, held, batch);
  stream.lost = live.lost || live.unread.length > 0;
  stream.join(live, { at: stream.count, how: whole ? "whole" : "later" }, batch);
  for (const other of relatives.liveOf(lineage)) {
    const settled = other !== live && other.arrived === undefined && !other.ended;
    if (settled && other.stream === undefined) stream.join(other, { at: stream.count, how: "later" }, batch);
  }
  return stream;
}

/** Begins the stream of a run that is about to end, with what it holds: it is to be all that is left of it. */
export function leaveBehind(
  needs: HeritageSetup,
  live: LiveRun,
  { lineage, held }: Omit<Beginning, "whole">,
  batch: EventBatch,
): void {
  beginStream(needs, live, { lineage, held, whole: false }, batch);
}

/** Folds images into one run for as long as the time for that lasts; what does not fit any more goes on record only. */
class Folding {
  readonly #needs: HeritageSetup;
  readonly #live: LiveRun;
  readonly #untilMs: number;
  #folded = 0;
  fits = true;

  constructor(needs: HeritageSetup, live: LiveRun) {
    this.#needs = needs;
    this.#live = live;
    this.#untilMs = needs.services.clock.monotonicMs() + resumeMsMax;
  }

  /** Folds those that are not known, notes them as known, and gives them. */
  all(images: readonly RunEvent[], batch: EventBatch, known: Images): readonly RunEvent[] {
    const fresh = images.filter((image) => !known.has(image));
    for (const image of fresh) {
      const looks = this.#folded % foldsPerLook === 0;
      this.#folded += 1;
      if (looks && this.#needs.services.clock.monotonicMs() > this.#untilMs) this.fits = false;
      known.add(image);
      if (this.fits && this.#needs.foldOne(this.#live, image, batch).ok) continue;
      // It goes on record in any case: a later run may be able to fold an image that this one cannot.
      batch.add(this.#live, image);
      this.fits = false;
    }
    return fresh;
  }
}

/**
 * The streams that are open, by lineage (docs/decisions/0033). One begins when a second run of a lineage opens, or when
 * the first ends though what it held must not; it ends with the last of its runs, or once what ended sessions held has
 * waited for the idle time.
 */
import type { RunEvent } from "../../../core/event.ts";
import { member, stringMember } from "../../../core/json.ts";
import type { Services } from "../../ports/services.ts";
import type { RunRow } from "../../ports/store.ts";
import { appendBatch, EventBatch } from "../event-batch.ts";
import { LineageStream, type StreamSetup } from "./lineage-stream.ts";
import type { LiveRun } from "../live-run.ts";
import { streamPrefix } from "../run-key.ts";

/** Numbers of entries of a stream whose last one cannot be read: greater than all that it can have. */
const unknownCount = 2 ** 40;

export class LineageStreams {
  readonly #services: Services;
  readonly #setup: StreamSetup;
  readonly #open = new Map<string, LineageStream>();

  constructor(services: Services, setup: StreamSetup) {
    this.#services = services;
    this.#setup = setup;
  }

  of(lineage: string): LineageStream | undefined {
    return this.#open.get(lineage);
  }

  all(): Iterable<LineageStream> {
    return this.#open.values();
  }

  /** What stands for the streams where these are folded by themselves. */
  subjects(): readonly LiveRun[] {
    return [...this.#open.values()].flatMap(({ subject, lost }) => (subject === undefined || lost ? [] : [subject]));
  }

  isSubject(live: LiveRun): boolean {
    return this.subjects().includes(live);
  }

  /** Takes up the streams among the open runs of the log; called once, before anything is served. */
  async load(open: readonly RunRow[]): Promise<void> {
    for (const row of open) if (row.key.startsWith(streamPrefix)) await this.#load(row);
  }

  async #load(row: RunRow): Promise<void> {
    const { key, principal, policyDigest, begunWallMs, idleExpiresWallMs, top } = row;
    const lineage = stringMember(row.resume, "lineage");
    if (lineage === undefined) return;
    const last = await this.#services.log.tail(1, key);
    const [newest] = last.ok ? last.value : [];
    const read = newest === undefined ? 0 : member(member(newest.clear, "stream"), "n");
    const count = last.ok && typeof read === "number" ? read : undefined;
    const facts = { key, lineage, principal, policyDigest, begunWallMs, keptUntilWallMs: idleExpiresWallMs };
    const lost = top || count === undefined;
    this.#open.set(lineage, new LineageStream({ ...facts, lost, count: count ?? unknownCount }, this.#setup));
  }

  /** Begins the stream of a run's lineage with what its open runs hold by now. */
  begin(live: LiveRun, lineage: string, held: readonly RunEvent[], batch: EventBatch): LineageStream {
    const { clock, secrets } = this.#services;
    const { principal, policy } = live;
    const key = `${streamPrefix}${secrets.token().slice(0, 24)}`;
    const facts = { key, lineage, principal, policyDigest: policy.digest, begunWallMs: clock.wallMs() };
    const stream = new LineageStream({ ...facts, keptUntilWallMs: 0, lost: false, count: 0 }, this.#setup);
    this.#open.set(lineage, stream);
    for (const images of byCall(held)) stream.post(live, images, batch, "");
    batch.addRows(stream.row());
    return stream;
  }

  /** What came of a stream whose last open run has ended: it waits for later runs, or ends in this very append. */
  settle(stream: LineageStream, batch: EventBatch): void {
    if (stream.keptUntilWallMs > this.#services.clock.wallMs()) batch.addRows(stream.row());
    else this.#end(stream, batch);
  }

  #end(stream: LineageStream, batch: EventBatch): void {
    this.#open.delete(stream.lineage);
    batch.queues.add(stream.deferred);
    batch.addRows(stream.row(this.#services.clock.wallMs()));
  }

  /** Ends a stream that has no open run. */
  async end(stream: LineageStream): Promise<void> {
    const batch = new EventBatch();
    this.#end(stream, batch);
    await appendBatch(this.#services.log, batch);
  }

  /** What was read of them can no longer be believed: who begins with one holds everything. */
  distrust(): void {
    for (const stream of this.#open.values()) stream.lost = true;
  }
}

/** Images, those of one call together: a dispatch is known as received by the outcome beside it. */
export function byCall(images: readonly RunEvent[]): readonly (readonly RunEvent[])[] {
  const found: RunEvent[][] = [];
  for (const image of images) {
    const last = found.at(-1);
    const before = last?.at(-1);
    const belongs = image.kind === "unknown" && before?.kind === "dispatched" && before.call === image.call;
    if (belongs && last !== undefined) last.push(image);
    else found.push([image]);
  }
  return found;
}

/**
 * A server in its projection, as the gateway uses it: windows of calls, the events in each, and the verdict on its
 * writes. The order is essential. Every act of a server before its answer was parsed is drained before the window of
 * the call closes, and no step on that way waits for a timer or a promise.
 *
 * Fails closed: as soon as a part fails, no call begins, every trace reports the failure, and the server is ended.
 */
import {
  type EffectTrace,
  type WorkspaceChange,
  traceChangesMax,
  traceTextCharactersMax,
} from "../../../core/isolation/effect-trace.ts";
import { type Result, err, ok } from "../../../core/result.ts";
import type { CallScope, IsolationOrder, IsolationTier } from "../../../core/isolation/scope.ts";
import type { Conclusion, Projection } from "../../../gateway/ports/projection.ts";
import type { Clock } from "../../../gateway/ports/services.ts";
import { AwaitedVerdicts } from "./awaited-verdicts.ts";
import { BoundedMap } from "../../../core/bounded-map.ts";
import type { CallRecord } from "./call-record.ts";
import { parseCallScope } from "./call-scope.ts";
import { CallTurns } from "./call-turns.ts";
import { EventBag } from "./collapse.ts";
import { Evidence } from "./evidence.ts";
import type { Launched } from "../parts.ts";
import {
  askWaitMsMax,
  idleDrainMs,
  keptCallsMax,
  openCallsMax,
  serverEndWaitMsMax,
  verdictWaitMsMax,
} from "./session-limits.ts";
import { limitText } from "./limit-text.ts";
import { partFailure } from "./sightings.ts";
import { type Look, type WriteVerdict, WorkspaceBook } from "./workspace-book.ts";

/** The projection of a local server, with the notices that its connection sends to it. */
export interface LaunchedProjection extends Projection {
  /** The server has answered the first list of its tools: its start is over. */
  listed(): void;
  /** Reason why the projection ended its server; undefined before that. */
  readonly ending: string | undefined;
  /** Ends the server, keeps its writes without a verdict, and releases all parts. Never rejects. */
  close(): Promise<void>;
}

export type SessionOptions = {
  /** The time of the parts. */
  readonly clock: Pick<Clock, "monotonicMs" | "after">;
  /** Offset in ms from this time to that of the gateway, which traces use. */
  readonly offsetMs?: number;
  /** One line for the operator. */
  readonly diagnostic?: (line: string) => void;
};

/** Joins the parts of a launched server to a projection. */
export function openProjection(launched: Launched, order: IsolationOrder, options: SessionOptions): LaunchedProjection {
  return new Session(launched, order, options);
}

/** Tiers in which a tracer sees every act, unless it falls behind. */
const tracedTiers: readonly IsolationTier[] = ["A", "A-", "B"];

const nothingDone: Conclusion = { committed: [], held: [] };

class Session implements LaunchedProjection {
  readonly tier: IsolationTier;
  readonly notes: readonly string[];
  readonly wanted: Launched["wanted"];
  readonly #launched: Launched;
  readonly #order: IsolationOrder;
  readonly #options: SessionOptions;
  readonly #book: WorkspaceBook | undefined;
  readonly #evidence: Evidence;
  readonly #turns = new CallTurns();
  readonly #open = new Map<string, CallRecord>();
  /** Ended calls whose traces may still be asked for; of too many the oldest are forgotten. */
  readonly #ended: BoundedMap<string, CallRecord>;
  /** Traces of ended calls that were asked for. */
  readonly #told = new BoundedMap<string, Promise<EffectTrace>>(keptCallsMax);
  readonly #verdicts = new AwaitedVerdicts(keptCallsMax);
  readonly #listeners = new Set<() => void>();
  readonly #overdue = new Set<(call: string) => void>();
  #backgroundLost = 0;
  #lastScope: { readonly text: string; readonly parsed: CallScope } | undefined;
  #failure: string | undefined;
  #ending: string | undefined;
  /** True once the server has ended, by itself or by a kill. */
  #over = false;
  #stopIdle: () => void = () => undefined;
  #closing: Promise<void> | undefined;

  constructor(launched: Launched, order: IsolationOrder, options: SessionOptions) {
    this.#launched = launched;
    this.#order = order;
    this.#options = options;
    this.tier = launched.tier;
    this.notes = launched.notes;
    this.wanted = launched.wanted;
    const { workspace, places } = launched;
    const { mode, commit, per } = order.scope.files.workspace;
    const book = { server: order.server, places, commit, per };
    // Elsewhere the server writes into the workspace itself, and no verdict can take anything back.
    if (workspace !== undefined && mode === "overlay") this.#book = new WorkspaceBook({ workspace, ...book });
    this.#evidence = new Evidence(
      launched,
      { monotonicMs: () => options.clock.monotonicMs(), offsetMs: options.offsetMs ?? 0 },
      {
        wrote: (sighting) => this.#book?.noteWrite(sighting),
        background: () => {
          for (const listener of this.#listeners) listener();
        },
      },
    );
    this.#ended = new BoundedMap<string, CallRecord>(keptCallsMax, (record) => this.#release(record, true));
    this.#idle();
    void launched.process.ended.then(() => {
      this.#stop(goneText);
      return this.close();
    });
  }

  get ending(): string | undefined {
    return this.#ending ?? limitText(this.#launched.limits?.fatal, this.#order);
  }

  listed(): void {
    this.#evidence.listed();
  }

  begin(call: string, _tool: string, scope: string): Result<void, string> | Promise<Result<void, string>> {
    const parsed = this.#scopeOf(scope);
    if (!parsed.ok) return parsed;
    this.#drain(false);
    const reason = this.#failure ?? (this.#over ? goneText : undefined);
    if (reason !== undefined) return err(reason);
    if (this.#open.has(call)) return ok(undefined);
    if (this.#open.size >= openCallsMax) return err(crowdedText);
    const alone = parsed.value.serial || this.#order.scope.serial || this.#book?.apart === true;
    const turn = this.#turns.take(call, alone);
    if (turn === undefined) return this.#admit(call, parsed.value);
    if (!("then" in turn)) return turn;
    const stop = this.#after(this.#order.scope.limits.callTimeoutMs, () => this.#turns.abandon(call, waitedText));
    return turn.then((given) => {
      stop();
      if (!given.ok) return given;
      // Events while the call waited are not attributed to it.
      this.#drain(false);
      return this.#failure === undefined ? this.#admit(call, parsed.value) : err(this.#failure);
    });
  }

  end(call: string): void {
    const record = this.#open.get(call);
    if (record === undefined) return void this.#turns.abandon(call, abandonedText);
    this.#drain();
    this.#open.delete(call);
    this.#evidence.end(call);
    record.stopClock();
    if (record.granted) this.#launched.broker?.revoke(call);
    record.lostAfter = this.#lost;
    this.#ended.set(record.call, record);
    // With nothing written there is no verdict to wait for.
    if (this.#book?.apart === true && !this.#over)
      record.stopWaiting = this.#after(askWaitMsMax, () => this.#release(record, true));
    else this.#turns.leave(call);
  }

  trace(call: string | undefined): Promise<EffectTrace> {
    // The trace of an ended call is complete: later events are not attributed to it.
    if (call === undefined || this.#open.has(call)) this.#drain();
    return call === undefined ? this.#backgroundTrace() : this.#callTrace(call);
  }

  async conclude(call: string, how: WriteVerdict): Promise<Result<Conclusion, string>> {
    const book = this.#book;
    if (book === undefined) return ok(nothingDone);
    const overtaken = this.#verdicts.take(call);
    if (overtaken !== undefined) {
      if (how === "discard") this.kill(discardedText);
      return overtaken;
    }
    // If the server has never written, nothing is committed and nothing can be missed.
    if (book.wrote) this.#drain(false);
    const pending = book.pending;
    const concluded = await book.conclude(call, how, { blind: this.#blind });
    this.#turns.leave(call);
    // The server has read its own writes, and would go on from a discarded state.
    if (how === "discard" && (pending || !concluded.ok)) this.kill(discardedText);
    return concluded;
  }

  async flush(): Promise<Result<Conclusion, string>> {
    this.#drain();
    return (await this.#book?.flush(this.#blind)) ?? ok(nothingDone);
  }

  onOverdue(listener: (call: string) => void): void {
    this.#overdue.add(listener);
  }

  onBackground(listener: () => void): void {
    this.#listeners.add(listener);
  }

  kill(reason: string): void {
    if (this.#over) return;
    this.#ending ??= reason;
    this.#stop(reason);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.kill("The connection was closed by the gateway.");
    this.#stopIdle();
    await this.#launched.process.ended;
    this.#drain();
    for (const call of this.#open.keys()) this.end(call);
    this.#evidence.close();
    this.#verdicts.close();
    const kept = await this.#book?.flush(this.#blind);
    if (kept?.ok === false) this.#options.diagnostic?.(kept.error);
    await this.#book?.close().catch(() => this.#options.diagnostic?.(remainsText));
  }

  #stop(reason: string): void {
    if (this.#over) return;
    this.#drain();
    this.#over = true;
    this.#turns.close(reason);
    this.#launched.kill();
  }

  #admit(call: string, scope: CallScope): Result<void, string> {
    // Without destinations too: the quota of a call counts from here.
    this.#launched.broker?.grant(call, scope.allow);
    const granted = this.#launched.broker !== undefined;
    const stopClock = this.#after(this.#order.scope.limits.callTimeoutMs, () => this.#late(call));
    const events = this.#evidence.begin(call);
    const told = new Map<string, WorkspaceChange>();
    const record = { call, events, told, lostBefore: this.#lost, lostAfter: undefined, granted, stopClock };
    this.#open.set(call, { ...record, stopWaiting: () => undefined });
    return ok(undefined);
  }

  #drain(whole = true): void {
    this.#evidence.drain(whole);
    this.#checkParts();
  }

  #checkParts(): void {
    if (this.#failure !== undefined || this.#over) return;
    const failure = partFailure(this.#launched);
    if (failure === undefined) return;
    this.#failure = failure;
    this.#turns.close(failure);
    // A server that ends takes its tracer along; its own end is the better reason, and is reported shortly after.
    this.#after(serverEndWaitMsMax, () => this.kill(failure));
  }

  /** Texts of a call are judged beside its result, so the trace of an ended call is told again. */
  #callTrace(call: string): Promise<EffectTrace> {
    const told = this.#told.get(call);
    if (told !== undefined) return told;
    const ended = this.#ended.get(call);
    this.#ended.delete(call);
    const trace = this.#newTrace(call, this.#open.get(call) ?? ended);
    if (ended !== undefined) this.#told.set(call, trace);
    return trace;
  }

  async #newTrace(call: string, record: CallRecord | undefined): Promise<EffectTrace> {
    if (record === undefined) return this.#traceOf(new EventBag(), false, undefined, untoldText);
    const open = this.#open.get(call);
    record.stopWaiting();
    const whole = (record.lostAfter ?? this.#lost) === record.lostBefore;
    const looking = this.#book?.look(this.#blind, call);
    const look = toldWith(record, looking === undefined ? undefined : await looking);
    const written = look !== undefined && (!look.ok || look.value.changes.length > 0);
    if (open === undefined) {
      if (written)
        this.#verdicts.expect(
          call,
          this.#after(verdictWaitMsMax, () => this.#unjudged(call)),
        );
      else this.#turns.leave(call);
    }
    return this.#traceOf(record.events, whole, look, undefined);
  }

  async #backgroundTrace(): Promise<EffectTrace> {
    const events = this.#evidence.takeBackground();
    const whole = this.#lost === this.#backgroundLost;
    this.#backgroundLost = this.#lost;
    // While calls are under way writes cannot be attributed outside of them: they are reported with the calls.
    const idle = (): boolean => !this.#turns.busy;
    const looking = idle() ? this.#book?.lookBetween(this.#blind, idle) : undefined;
    return this.#traceOf(events, whole, looking === undefined ? undefined : await looking, undefined);
  }

  #traceOf(
    events: EventBag,
    whole: boolean,
    look: Result<Look, string> | undefined,
    untold: string | undefined,
  ): EffectTrace {
    const collapsed = events.collapsed();
    const changes: readonly WorkspaceChange[] = look?.ok === true ? look.value.changes : [];
    const rest = look?.ok === true ? look.value.rest : 0;
    const failed = look?.ok === false ? look.error.slice(0, traceTextCharactersMax) : undefined;
    const failure = untold ?? this.#failure ?? failed;
    const complete = failure === undefined && whole && !this.#blind;
    const { places } = this.#launched;
    const trace = {
      tier: this.tier,
      complete,
      dropped: collapsed.dropped + rest,
      places,
      events: collapsed.events,
      changes,
    };
    return failure === undefined ? trace : { ...trace, failure };
  }

  /** No verdict came: the writes of the call are held for review, and the next call need not wait any longer. */
  #unjudged(call: string): void {
    void this.#verdicts.take(call);
    this.#verdicts.overtake(call, this.conclude(call, "keep"));
  }

  #release(record: CallRecord, unjudged: boolean): void {
    record.stopWaiting();
    if (unjudged) this.#book?.leaveUnjudged();
    this.#turns.leave(record.call);
  }

  #late(call: string): void {
    this.#evidence.add(call, { action: "limit-hit", outcome: "unknown", grade: "kernel", detail: "callTimeoutMs" });
    for (const listener of this.#overdue) listener(call);
  }

  /** True if the absence of events proves nothing. */
  get #blind(): boolean {
    const { tracer, tier } = this.#launched;
    if (tracer === undefined || this.#order.scope.trace === "none") return true;
    return tracer.failure !== undefined || tracer.lost > 0 || !tracedTiers.includes(tier);
  }

  get #lost(): number {
    return this.#launched.tracer?.lost ?? 0;
  }

  /** Parses a call scope; the last one is kept, because a policy gives most calls of a server the same scope. */
  #scopeOf(text: string): Result<CallScope, string> {
    if (this.#lastScope?.text === text) return ok(this.#lastScope.parsed);
    const parsed = parseCallScope(text, this.#order.digest);
    if (parsed.ok) this.#lastScope = { text, parsed: parsed.value };
    return parsed;
  }

  #after(delayMs: number, act: () => void): () => void {
    return this.#options.clock.after(delayMs, act);
  }

  #idle(): void {
    this.#stopIdle = this.#after(idleDrainMs, () => {
      if (this.#closing !== undefined) return;
      this.#drain();
      this.#idle();
    });
  }
}

/** A call whose trace is requested before its end is judged once more at its end, and then on all of its changes. */
function toldWith({ told }: CallRecord, look: Result<Look, string> | undefined): Result<Look, string> | undefined {
  if (look?.ok === false) return look;
  for (const change of look?.value.changes ?? []) told.set(change.path, change);
  if (told.size === 0) return look;
  const changes = [...told.values()];
  const rest = (look?.value.rest ?? 0) + Math.max(0, changes.length - traceChangesMax);
  return ok({ changes: changes.slice(0, traceChangesMax), rest });
}

const goneText = "Not executed: the server has ended. Restart the session to use it again.";
const crowdedText =
  "Not executed: too many calls of this server are under way. Wait for their answers, then try again.";
const waitedText =
  "Not executed: the server was busy with another call for too long. Try again, or restart the session.";
const abandonedText = "Not executed: the call was given up while it waited for its turn.";
const untoldText = "The effects of the call are no longer known: too many calls have ended since.";
const remainsText = "What is left of a projection could not be cleared away; the next start tries again.";
const discardedText = "What the server wrote was rejected, so it was ended. Restart the session to use it again.";

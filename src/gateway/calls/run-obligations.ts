/**
 * Duties of the gateway towards a run besides its calls: it judges the outbox again after every success, looks back at
 * the run's behaviour, and at the end of the run reports to the operator the calls that were never sent and the
 * obligations that are still owed (formal.md 4.3, M4).
 */
import { appendBatch, EventBatch } from "../runs/event-batch.ts";
import type { LiveRun } from "../runs/live-run.ts";
import { outboxMoment } from "../log/waiting.ts";
import { type CallName, type Dropped, type Held, type LostCause, Outbox, resumedCall } from "./outbox.ts";
import { type Occasion, type ReflectNeeds, Reflections } from "./reflections.ts";
import type { OwedCall } from "../ports/policy.ts";
import type { Waiting } from "../ports/store.ts";
import { isObserved } from "../decision/call.ts";
import type { RunServers } from "./unattended-calls.ts";
import { notice } from "../decision/notice.ts";
import type { Performed } from "../ports/conversation.ts";

type Needs = ReflectNeeds;

/** Something that a run still owed when it ended. */
export type Left = { readonly run: string; readonly sentence: string };

/** What is kept of that, for `status`. */
const leftMax = 16;

type Failed = OwedCall & { readonly cause: string };

export class RunObligations {
  readonly #needs: Needs;
  readonly #outbox: Outbox;
  readonly #reflections = new Reflections();
  readonly #servers: RunServers;
  #left: readonly Left[] = [];
  /** Sentences about calls that a restart lost, which the end of their run repeats. */
  readonly #lost = new WeakMap<LiveRun, readonly string[]>();

  constructor(needs: Needs, servers: RunServers) {
    this.#needs = needs;
    this.#servers = servers;
    this.#outbox = new Outbox(servers);
  }

  /** Keeps a call until its rule lets it go; false when the run holds too many already. */
  hold(held: Held): boolean {
    return this.#outbox.hold(held);
  }

  /** Takes a held call back before its client was informed of it. */
  unhold(held: Pick<Held, "live" | "id">): void {
    this.#outbox.forget(held);
  }

  /** Resumes a run: each call that the log shows as waiting is held again, or given up on record and reported. */
  resumed(live: LiveRun, waiting: readonly Waiting[]): void {
    const { secrets } = this.#needs.services;
    const given: Given[] = [];
    const sentences: string[] = [];
    for (const one of waiting.filter(({ what }) => what === "call")) {
      const resumed = resumedCall(live, one, secrets.hash);
      if (resumed.kind === "held") {
        this.#outbox.hold(resumed.held);
        continue;
      }
      sentences.push(sentenceOf(resumed.name, resumed.cause));
      if (resumed.kind === "lost") given.push(resumed);
    }
    if (sentences.length > 0) this.#lost.set(live, sentences);
    if (given.length > 0) this.#tell(live, "lost", given);
  }

  /** An outcome of a call: a success may free what the outbox holds, at whatever server. */
  settled(live: LiveRun, server: string, succeeded: boolean): void {
    this.#reflections.settled(this.#needs, live, server);
    if (succeeded && this.#outbox.holds(live)) void this.#flush(live, false);
  }

  /** Looks back at a run; undefined where nothing had to be asked, so that the caller need not wait. */
  look(live: LiveRun, occasion: Occasion): Promise<unknown> | undefined {
    const looked = this.#reflections.look(this.#needs, live, occasion);
    return looked instanceof Promise ? looked : undefined;
  }

  periodic(): void {
    this.#reflections.periodic(this.#needs);
  }

  /**
   * Judges the outbox a last time and makes the calls that make up for others, then gives one sentence for each obligation
   * that is still owed.
   */
  async ending(live: LiveRun): Promise<readonly string[]> {
    const dropped = await this.#flush(live, true);
    const failed = await this.#compensate(live);
    const owed = await this.#reflections.look(this.#needs, live, { cause: "end", server: undefined });
    const left = [...(this.#lost.get(live) ?? []), ...dropped, ...failed, ...owed];
    this.#left = [...this.#left, ...left.map((sentence) => ({ run: live.key, sentence }))].slice(-leftMax);
    return left;
  }

  /** Obligations with which runs have ended, the latest last. */
  left(): readonly Left[] {
    return this.#left;
  }

  /** Makes the calls that the rules of a run want at its end; gives a sentence for each that did not succeed for certain. */
  async #compensate(live: LiveRun): Promise<readonly string[]> {
    const failed: Failed[] = [];
    for (const { rule, ...call } of live.policy.owedCalls(live.state.q)) {
      const cause = await this.#compensation(live, call);
      if (cause !== undefined) failed.push({ rule, ...call, cause });
    }
    if (failed.length === 0) return [];
    const { log, human } = this.#needs.services;
    const batch = new EventBatch();
    batch.parts.push({ live, events: [] });
    const calls = failed.map(({ rule, server, tool, cause }) => `${rule} ${server}.${tool}: ${cause}`);
    void appendBatch(log, batch, { notes: { moment: "compensation", failed: calls } });
    const sentences = failed.map(
      ({ rule, server, tool, cause }) =>
        `\`${tool}\` of \`${server}\`, which rule ${rule} wants at the end, did not verifiably succeed: ${cause}. Check before you make it.`,
    );
    for (const sentence of sentences) human.notify(notice(`Run ${live.key}: ${sentence}`));
    return sentences;
  }

  /** The cause for which a compensating call was not made; undefined where it succeeded. */
  async #compensation(live: LiveRun, { server, tool, arguments: given }: Omit<OwedCall, "rule">) {
    // Observing stops nothing, and does nothing of its own.
    if (isObserved(live, server)) return "the policy only observes";
    if (given === undefined) return "its arguments are not known";
    try {
      const done = await this.#servers.perform(live, { server, tool, arguments: given }, "compensation");
      if (done.kind === "succeeded") return undefined;
      return done.kind === "failed" ? done.cause : unperformed[done.kind];
    } catch {
      return "the gateway failed, and it may have been sent";
    }
  }

  /** Gives a sentence for each call that will never be sent; all of them are on record and reported to the operator. */
  async #flush(live: LiveRun, last: boolean): Promise<readonly string[]> {
    const dropped = await this.#outbox.flush(live, last);
    const given = dropped.map(({ held, cause }) => ({ call: held.id, name: held, cause }));
    return given.length === 0 ? [] : this.#tell(live, "dropped", given);
  }

  /** `lost`: calls that the end of the run has yet to report. */
  #tell(live: LiveRun, how: "dropped" | "lost", given: readonly Given[]): readonly string[] {
    const { log, human } = this.#needs.services;
    const batch = new EventBatch();
    batch.parts.push({ live, events: [] });
    const calls = given.map(({ call, cause }) => `${call} ${cause}`);
    void appendBatch(log, batch, { notes: { moment: outboxMoment, [how]: calls } });
    const sentences = given.map(({ name, cause }) => sentenceOf(name, cause));
    for (const sentence of sentences) human.notify(notice(`Run ${live.key}: ${sentence}`));
    return sentences;
  }
}

const unperformed: Readonly<Record<Exclude<Performed["kind"], "succeeded" | "failed">, string>> = {
  unlisted: "its server does not list that tool now",
  quarantined: "its server is not admitted",
  changed: "its server changed that tool, which is not accepted yet",
};

type Cause = Dropped["cause"] | LostCause;
type Given = { readonly call: string; readonly name: CallName; readonly cause: Cause };

const causes: Readonly<Record<Cause, string>> = {
  held: "what its rule waits for did not happen",
  refused: "the policy does not permit it any more",
  doubtful: "the same call may have been made already",
  unreachable: "its server is not connected any more",
  unadmitted: "its server is not admitted any more",
  changed: "its server lists another tool under that name now",
  failed: "the gateway failed, and it may have left",
  unreadable: "its arguments were not kept over a restart of the gateway",
  policy: "the policy has changed since, over a restart of the gateway",
  repeated: "the same call was made since, before a restart of the gateway",
};

function sentenceOf({ server, tool }: CallName, cause: Cause): string {
  const never = cause === "failed" ? "was held and not seen to be sent" : "was held and never sent";
  const way = cause === "failed" ? "Check, before it is made again." : "Make the call again if it is still wanted.";
  return `\`${tool}\` of \`${server}\` ${never}: ${causes[cause]}. ${way}`;
}

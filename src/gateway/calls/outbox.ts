/**
 * The outbox (must by run end, M4): a call that a rule holds is kept and judged again, after every success of its run
 * and at the run's end. It belongs to the run, not to the connection: the event that it waits for may happen at another
 * server, and a modern client's connection ends with each request. A call that is then allowed without being held is
 * sent; its result is not released, since no client waits for it any more. A call that is still held at the end is
 * dropped and reported.
 */
import { type JsonObject, isObject, member, stringMember } from "../../core/json.ts";
import { heldCallsMax } from "../ports/limits.ts";
import type { LiveRun } from "../runs/live-run.ts";
import { type DoubtSettled, callDigest } from "../decision/call.ts";
import type { Secrets } from "../ports/services.ts";
import type { Waiting } from "../ports/store.ts";

/** A call that waits, in the form in which it will be made: of a call from before a restart only this is left. */
export type Held = {
  /** Id of the call that was held; the call that leaves the outbox names it. */
  readonly id: string;
  /** Where in the history of its run it began to wait (`Obligation`). */
  readonly since: number;
  readonly live: LiveRun;
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly digest: string;
  /** Digest of the tool as its server listed it then: another tool under that name is not the tool that was held. */
  readonly toolDigest: string | undefined;
  /** The consent to a repeat that it was given; undefined where no approver was asked about a repeat. */
  readonly settled: DoubtSettled | undefined;
};

/**
 * `unreachable`: nothing connects the run to the call's server now. `unadmitted`: that server is in quarantine.
 * `doubtful`: the same call may have been made already.
 */
export type Flushed = "sent" | "held" | "refused" | "doubtful" | "unreachable" | "unadmitted" | "changed";

/** Makes held calls. */
export interface HeldCalls {
  /** Judges a held call again and sends it if its rules now permit it. */
  flush(held: Held): Promise<Flushed>;
}

/** A call that was never sent, and the cause. `failed`: an internal error; it is unknown how far the call had come. */
export type Dropped = { readonly held: Held; readonly cause: Exclude<Flushed, "sent"> | "failed" };

/** Causes with which a call goes on waiting unless the run ends. */
const waits: ReadonlySet<Dropped["cause"]> = new Set(["held", "unreachable", "unadmitted"]);

export class Outbox {
  readonly #byRun = new Map<LiveRun, Held[]>();
  readonly #flushing = new Map<LiveRun, Promise<unknown>>();
  /** Runs in which something has succeeded while their calls were being judged. */
  readonly #again = new Set<LiveRun>();
  readonly #calls: HeldCalls;

  constructor(calls: HeldCalls) {
    this.#calls = calls;
  }

  /** False when the run holds too many calls already. */
  hold(call: Held): boolean {
    const held = this.#byRun.get(call.live) ?? [];
    if (held.length >= heldCallsMax) return false;
    held.push(call);
    this.#byRun.set(call.live, held);
    return true;
  }

  /** Takes a call out without a report: its client was not informed that it waits. */
  forget({ live, id }: Pick<Held, "live" | "id">): void {
    const left = this.#byRun.get(live)?.filter((held) => held.id !== id) ?? [];
    if (left.length > 0) this.#byRun.set(live, left);
    else this.#byRun.delete(live);
  }

  /** Whether anything of the run waits. */
  holds(live: LiveRun): boolean {
    return this.#byRun.has(live) || this.#flushing.has(live);
  }

  /**
   * Judges the held calls again, in the order in which they came, and gives those that will never be sent. `last` = the
   * run ends: calls that are still held then are dropped as well.
   */
  async flush(live: LiveRun, last: boolean): Promise<readonly Dropped[]> {
    for (let before = this.#flushing.get(live); before !== undefined; before = this.#flushing.get(live)) {
      if (!last) {
        this.#again.add(live);
        return [];
      }
      // The end waits for what is on its way, or what that keeps would be kept for ever.
      await before;
    }
    const flushing = this.#turns(live, last);
    this.#flushing.set(live, flushing);
    try {
      return await flushing;
    } finally {
      this.#flushing.delete(live);
    }
  }

  async #turns(live: LiveRun, last: boolean): Promise<readonly Dropped[]> {
    const dropped: Dropped[] = [];
    do {
      this.#again.delete(live);
      dropped.push(...(await this.#turn(live, last)));
    } while (this.#again.has(live) && this.#byRun.has(live));
    this.#again.delete(live);
    return dropped;
  }

  async #turn(live: LiveRun, last: boolean): Promise<readonly Dropped[]> {
    const taken = this.#byRun.get(live) ?? [];
    // Taken out first: a call that is being flushed must not be flushed twice by two successes.
    this.#byRun.delete(live);
    const kept: Held[] = [];
    const dropped: Dropped[] = [];
    for (const held of taken) {
      const cause = await this.#calls.flush(held).catch(() => "failed" as const);
      if (cause === "sent") continue;
      if (last || !waits.has(cause)) dropped.push({ held, cause });
      else kept.push(held);
    }
    if (kept.length > 0) this.#byRun.set(live, [...kept, ...(this.#byRun.get(live) ?? [])]);
    return dropped;
  }
}

// The outbox of a resumed run. An agent that was informed that a call waits will not repeat it, so a restart must not
// lose the call: a call that the log still has whole is held again, and judged again before it is sent; each other call
// is reported with the cause for which it is never sent.

/** Why a call that waited before a restart is not held again. */
export type LostCause = "unreadable" | "policy" | "repeated" | "refused";

export type Resumed =
  | { readonly kind: "held"; readonly held: Held }
  | { readonly kind: "lost"; readonly call: string; readonly name: CallName; readonly cause: LostCause }
  /** On record as lost before this restart: only the end of the run still has to report it. */
  | { readonly kind: "told"; readonly name: CallName; readonly cause: LostCause };

export type CallName = { readonly server: string; readonly tool: string };

/** A call that the log shows as waiting: as it is held again, or with the cause for which it is lost. */
export function resumedCall(live: LiveRun, waiting: Waiting, hash: Secrets["hash"]): Resumed {
  const { call, digest, notes, details, lost } = waiting;
  const name = { server: stringMember(notes, "server") ?? "?", tool: stringMember(notes, "tool") ?? "?" };
  if (lost !== undefined) return { kind: "told", name, cause: causeOf(lost) };
  if (waiting.repeated === true) return { kind: "lost", call, name, cause: "repeated" };
  if (waiting.policyDigest !== live.policy.digest) return { kind: "lost", call, name, cause: "policy" };
  const method = stringMember(details, "method");
  const given = member(details, "arguments");
  // Without its payload, or with a secret taken out of it, it is another call than the one that was held.
  if (method === undefined || !isObject(given)) return { kind: "lost", call, name, cause: "unreadable" };
  const kept = given as JsonObject; // narrowed; the compiler keeps RawNumber in the union
  if (callDigest(name, method, kept, hash) !== digest) return { kind: "lost", call, name, cause: "unreadable" };
  const toolDigest = stringMember(notes, "toolDigest");
  const settled = settledIn(notes);
  const since = sinceIn(notes);
  return { kind: "held", held: { id: call, since, live, ...name, arguments: kept, digest, toolDigest, settled } };
}

/** Records of older versions have none: the call goes with the first success that its rule waits for, as it did then. */
function sinceIn(notes: JsonObject): number {
  const since = member(notes, "since");
  return typeof since === "number" && since > 0 ? since : 0;
}

/** The consent to a repeat in the notes of a held call; absent in older records, and where no approver was asked. */
function settledIn(notes: JsonObject): DoubtSettled | undefined {
  const settled = member(notes, "doubtSettled");
  const approval = stringMember(settled, "approval");
  const wallMs = member(settled, "wallMs");
  return approval === undefined || typeof wallMs !== "number" ? undefined : { approval, wallMs };
}

const lostCauses: readonly LostCause[] = ["unreadable", "policy", "repeated", "refused"];

function causeOf(text: string): LostCause {
  return lostCauses.find((cause) => cause === text) ?? "unreadable";
}

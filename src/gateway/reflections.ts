/**
 * Looking back (the moment `reflect` of DESIGN 3): at every start of a server, before every list, after every few
 * calls, from time to time, and when a run ends. What mechanisms then say is logged and told to the operator; a deny
 * about a server takes its admission back. Nothing that already happened can be refused, so a run ends all the same.
 */
import type { Decision } from "../core/decision.ts";
import type { ReflectMoment } from "../core/moment.ts";
import type { Reason } from "../core/opinion.ts";
import { notesOf } from "./call.ts";
import { appendBatch, Batch } from "./journal.ts";
import { judge } from "./judge.ts";
import type { Judged } from "./judge.ts";
import { reflectCallsMax, reflectMsMax } from "./limits.ts";
import type { LiveRun } from "./live-run.ts";
import type { Shared } from "./scene.ts";
import type { Background } from "./windows.ts";
import { backgroundOf } from "./windows.ts";

export type Occasion = Pick<ReflectMoment, "cause" | "server">;

/** Longest line for the operator. */
const noticeCharactersMax = 240;

type Memory = {
  /** What was said last about each occasion, so that an unchanged finding is told once. */
  readonly said: Map<string, string>;
  /** Outcomes of each server since its behaviour was looked at. */
  readonly outcomes: Map<string, number>;
  lastAt: number;
};

export class Reflections<Q> {
  readonly #memories = new WeakMap<LiveRun<Q>, Memory>();

  /** Judges a moment of looking back; the answer is what was found, one sentence for each reason. */
  look(shared: Shared<Q>, live: LiveRun<Q>, occasion: Occasion): Judged<readonly string[]> {
    const { server } = occasion;
    const evidence =
      server === undefined
        ? undefined
        : backgroundOf(shared.projections.usedBy(live, server), server, shared.services.ownFiles);
    if (evidence === undefined) return this.#judged(shared, live, { occasion });
    return evidence.then((background) => this.#judged(shared, live, { occasion, background }));
  }

  #judged(
    shared: Shared<Q>,
    live: LiveRun<Q>,
    { occasion, background }: { readonly occasion: Occasion; readonly background?: Background },
  ): Judged<readonly string[]> {
    const { clock, oracle } = shared.services;
    const at = clock.monotonicMs();
    const memory = this.#memory(live, at);
    memory.lastAt = at;
    const bench = { oracle, known: background?.known };
    return judge(live, bench, { kind: "reflect", at, ...occasion }, (decision, answers) => {
      const found = decision.reasons.map(sentenceOf);
      const key = `${occasion.cause === "end" ? "end" : "open"} ${occasion.server ?? ""}`;
      const text = found.join("\n");
      const news = memory.said.get(key) !== text && (found.length > 0 || memory.said.has(key));
      if (!news && background?.eventful !== true) return found;
      if (news) {
        memory.said.set(key, text);
        this.#tell(shared, live, { occasion, decision, found });
      }
      const id = shared.nextId();
      const batch = new Batch<Q>();
      batch.parts.push({ live, events: [] });
      const server = occasion.server === undefined ? {} : { server: occasion.server };
      const notes = { ...notesOf(id, decision, false), moment: "reflect", cause: occasion.cause, ...server };
      void appendBatch(shared.services.log, batch, { decision, answers, notes, at });
      if (decision.verdict === "deny" && occasion.server !== undefined) {
        revoke(shared, live, { server: occasion.server, decision, id });
      }
      return found;
    });
  }

  /** An outcome of a server's call: after `reflectCallsMax` of them its behaviour is looked at. */
  settled(shared: Shared<Q>, live: LiveRun<Q>, server: string): void {
    const { outcomes } = this.#memory(live, shared.services.clock.monotonicMs());
    const count = (outcomes.get(server) ?? 0) + 1;
    outcomes.set(server, count % reflectCallsMax);
    if (count === reflectCallsMax) void this.look(shared, live, { cause: "periodic", server });
  }

  /** Runs that nobody looked at for `reflectMsMax`: what is owed in an idle run is told while it can still be met. */
  periodic(shared: Shared<Q>): void {
    const now = shared.services.clock.monotonicMs();
    for (const live of shared.runs.all()) {
      if (live.ready !== undefined || now - this.#memory(live, now).lastAt < reflectMsMax) continue;
      void this.look(shared, live, { cause: "periodic", server: undefined });
    }
  }

  #memory(live: LiveRun<Q>, at: number): Memory {
    let memory = this.#memories.get(live);
    if (memory === undefined) {
      memory = { said: new Map(), outcomes: new Map(), lastAt: at };
      this.#memories.set(live, memory);
    }
    return memory;
  }

  #tell(
    shared: Shared<Q>,
    live: LiveRun<Q>,
    { occasion, decision, found }: { occasion: Occasion; decision: Decision; found: readonly string[] },
  ): void {
    const where = occasion.server === undefined ? "" : `, server \`${occasion.server}\``;
    const when = occasion.cause === "end" ? " ended" : "";
    const revoked = decision.verdict === "deny" && occasion.server !== undefined ? " Its tools are hidden now." : "";
    for (const sentence of found) {
      const text = `Run ${live.key}${when}${where}: ${sentence}${revoked}`;
      shared.services.human.notify(text.slice(0, noticeCharactersMax));
    }
  }
}

/** Takes a server's admission back; where its policy says so its processes end as well. */
function revoke<Q>(
  shared: Shared<Q>,
  live: LiveRun<Q>,
  { server, decision, id }: { readonly server: string; readonly decision: Decision; readonly id: string },
): void {
  shared.admissions.revoke(server, id);
  const ends = decision.obligations.some((obligation) => obligation.kind === "revoke" && obligation.end);
  if (ends)
    for (const projection of shared.projections.usedBy(live, server)) projection.kill("it went out of its scope");
}

/** One reason in words: its rule, the operator's own sentence, and the way on. */
function sentenceOf(reason: Reason): string {
  const rule = reason.rule === undefined ? "" : ` (rule ${reason.rule})`;
  const words = reason.why === undefined || reason.why === "" ? happened(reason) : reason.why;
  const why = words === undefined ? "" : `: ${words}`;
  const way = reason.way === undefined ? "" : `; ${reason.way}`;
  return `${reason.code}${rule}${why}${way}.`;
}

/** What was seen, where the reason is a fact and no rule. */
function happened({ facts: { what, actions } }: Reason): string | undefined {
  if (typeof what !== "string") return undefined;
  return Array.isArray(actions) ? `${what} (${actions.join(", ")})` : what;
}

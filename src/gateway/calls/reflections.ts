/**
 * Looking back (the moment `reflect` of system.md 3): at every start of a server, before every list, after every few
 * calls, from time to time, and when a run ends. The findings of the mechanisms are logged and reported to the
 * operator; a deny about a server takes its admission back, unless it is only observed. Nothing that already happened
 * can be refused, so a run ends all the same.
 */
import type { Decision } from "../../core/decision.ts";
import type { ReflectMoment } from "../../core/moment.ts";
import type { Reason } from "../../core/opinion.ts";
import { isObserved, notesOf } from "../decision/call.ts";
import { appendBatch, EventBatch } from "../runs/event-batch.ts";
import { decide, type MaybePromise } from "../decision/ask-loop.ts";
import { reflectCallsMax, reflectMsMax } from "../ports/limits.ts";
import type { LiveRun } from "../runs/live-run.ts";
import { type Background, backgroundOf } from "../decision/effect-window.ts";
import type { Services } from "../ports/services.ts";
import type { RunRegistry } from "../runs/run-registry.ts";
import type { Projections } from "../upstream/projection-registry.ts";
import type { Admissions } from "../decision/admissions.ts";
import type { IdSource } from "../ports/ids.ts";
import { notice } from "../decision/notice.ts";

export type ReflectNeeds = {
  readonly services: Services;
  readonly runs: RunRegistry;
  readonly projections: Projections;
  readonly admissions: Admissions;
  readonly ids: IdSource;
};

export type Occasion = Pick<ReflectMoment, "cause" | "server">;

type Memory = {
  /** The last finding about each occasion, so that an unchanged one is reported once. */
  readonly said: Map<string, string>;
  /** Outcomes of each server since its behaviour was looked at. */
  readonly outcomes: Map<string, number>;
  lastAt: number;
};

export class Reflections {
  readonly #memories = new WeakMap<LiveRun, Memory>();

  /** Judges a `reflect` moment and gives the findings, one sentence for each reason. */
  look(needs: ReflectNeeds, live: LiveRun, occasion: Occasion): MaybePromise<readonly string[]> {
    const { server } = occasion;
    const evidence =
      server === undefined
        ? undefined
        : backgroundOf(needs.projections.usedBy(live, server), server, needs.services.selfProtection);
    if (evidence === undefined) return this.#judged(needs, live, { occasion });
    return evidence.then((background) => this.#judged(needs, live, { occasion, background }));
  }

  #judged(
    needs: ReflectNeeds,
    live: LiveRun,
    { occasion, background }: { readonly occasion: Occasion; readonly background?: Background },
  ): MaybePromise<readonly string[]> {
    const { clock, oracle } = needs.services;
    const at = clock.monotonicMs();
    const memory = this.#memory(live, at);
    memory.lastAt = at;
    const bench = { oracle, known: background?.known };
    return decide(live, bench, { kind: "reflect", at, ...occasion }, (decision, answers) => {
      const found = decision.reasons.map(sentenceOf);
      const key = `${occasion.cause === "end" ? "end" : "open"} ${occasion.server ?? ""}`;
      const text = found.join("\n");
      const news = memory.said.get(key) !== text && (found.length > 0 || memory.said.has(key));
      if (!news && background?.eventful !== true) return found;
      if (news) {
        memory.said.set(key, text);
        this.#tell(needs, live, { occasion, decision, found });
      }
      const id = needs.ids.next();
      const batch = new EventBatch();
      batch.parts.push({ live, events: [] });
      const server = occasion.server === undefined ? {} : { server: occasion.server };
      const notes = { ...notesOf(id, decision, false), moment: "reflect", cause: occasion.cause, ...server };
      void appendBatch(needs.services.log, batch, { decision, answers, notes, at });
      if (decision.verdict === "deny" && occasion.server !== undefined && !isObserved(live, occasion.server)) {
        revoke(needs, live, { server: occasion.server, decision, id });
      }
      return found;
    });
  }

  /** An outcome of a server's call: after `reflectCallsMax` of them its behaviour is looked at. */
  settled(needs: ReflectNeeds, live: LiveRun, server: string): void {
    const { outcomes } = this.#memory(live, needs.services.clock.monotonicMs());
    const count = (outcomes.get(server) ?? 0) + 1;
    outcomes.set(server, count % reflectCallsMax);
    if (count === reflectCallsMax) void this.look(needs, live, { cause: "periodic", server });
  }

  /**
   * Looks back at runs after `reflectMsMax` without a look: an idle run's obligations are reported while they can be
   * met.
   */
  periodic(needs: ReflectNeeds): void {
    const now = needs.services.clock.monotonicMs();
    for (const live of needs.runs.all()) {
      if (live.ready !== undefined || now - this.#memory(live, now).lastAt < reflectMsMax) continue;
      void this.look(needs, live, { cause: "periodic", server: undefined });
    }
  }

  #memory(live: LiveRun, at: number): Memory {
    let memory = this.#memories.get(live);
    if (memory === undefined) {
      memory = { said: new Map(), outcomes: new Map(), lastAt: at };
      this.#memories.set(live, memory);
    }
    return memory;
  }

  #tell(
    needs: ReflectNeeds,
    live: LiveRun,
    { occasion, decision, found }: { occasion: Occasion; decision: Decision; found: readonly string[] },
  ): void {
    const where = occasion.server === undefined ? "" : `, server \`${occasion.server}\``;
    const when = occasion.cause === "end" ? " ended" : "";
    const { server } = occasion;
    const hidden = decision.verdict === "deny" && server !== undefined && !isObserved(live, server);
    const revoked = hidden ? " Its tools are hidden now." : "";
    for (const sentence of found) {
      const text = `Run ${live.key}${when}${where}: ${sentence}${revoked}`;
      needs.services.human.notify(notice(text));
    }
  }
}

/** Takes a server's admission back; where its policy says so its processes end as well. */
function revoke(
  needs: ReflectNeeds,
  live: LiveRun,
  { server, decision, id }: { readonly server: string; readonly decision: Decision; readonly id: string },
): void {
  needs.admissions.revoke(server, id);
  needs.services.cards?.flagged(server, `its behaviour changed (decision ${id})`);
  const ends = decision.obligations.some((obligation) => obligation.kind === "revoke" && obligation.end);
  if (ends)
    for (const projection of needs.projections.usedBy(live, server)) projection.kill("it went out of its scope");
}

/** One reason in words: its rule, the operator's own sentence, and the way on. */
function sentenceOf(reason: Reason): string {
  const rule = reason.rule === undefined ? "" : ` (rule ${reason.rule})`;
  const words = reason.why === undefined || reason.why === "" ? happened(reason) : reason.why;
  const why = words === undefined ? "" : `: ${words}`;
  const way = reason.way === undefined ? "" : `; ${reason.way}`;
  return `${reason.code}${rule}${why}${way}.`;
}

/** The observed fact in words, where the reason is a fact instead of a rule; undefined otherwise. */
function happened({ facts: { what, actions } }: Reason): string | undefined {
  if (typeof what !== "string") return undefined;
  return Array.isArray(actions) ? `${what} (${actions.join(", ")})` : what;
}

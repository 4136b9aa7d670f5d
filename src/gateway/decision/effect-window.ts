/**
 * A call in the projection of its server (lifecycle.md 2): its window opens before anything is sent and closes with the
 * answer, what happened in between is evidence for the release, and the verdict on the release is the verdict on what
 * the call wrote. A call that must be isolated and cannot be is not sent.
 */
import { traceKey, traceQuestion, type EffectTrace } from "../../core/isolation/effect-trace.ts";
import { tracesJson } from "../../core/isolation/effect-record.ts";
import type { Decision } from "../../core/decision.ts";
import type { Answers } from "../../core/opinion.ts";
import { type Result, ok } from "../../core/result.ts";
import type { Call } from "./call.ts";
import { appendBatch, EventBatch } from "../runs/event-batch.ts";
import type { Conclusion, Projection } from "../ports/projection.ts";
import { withOwnGuarded } from "./self-protection.ts";
import type { LiveRun } from "../runs/live-run.ts";
import type { SelfProtection, Services } from "../ports/services.ts";
import type { Projections } from "../upstream/projection-registry.ts";
import type { Admissions } from "./admissions.ts";
import type { LinkSeat } from "../upstream/link-seat.ts";
import type { RunEvent } from "../../core/event.ts";
import { notice } from "./notice.ts";

export type EffectNeeds = {
  readonly services: Services;
  readonly projections: Projections;
  readonly admissions: Admissions;
  readonly server: string;
  readonly link: LinkSeat;
};

/** Paths that a warning names. */
const pathsNamedMax = 5;

/** The facts of a call that matter to its projection. A task outlives its call and is windowed like it. */
export type Windowed = Pick<Call, "id" | "live" | "contract" | "scope">;

/** Opens the window of a call that is about to be sent; undefined where there is nothing to wait for. */
export function openTraceWindow(needs: EffectNeeds, call: Call): Result<void, string> | Promise<Result<void, string>> {
  const projection = call.scope === undefined ? undefined : needs.link.projection;
  // A call that goes on after its questions were answered is still in its window.
  if (call.scope === undefined || projection === undefined || call.windowed) return ok(undefined);
  call.windowed = true;
  const begun = projection.begin(call.id, call.contract.tool, call.scope);
  if (!(begun instanceof Promise)) return shown(needs, call, projection, begun);
  return begun.then((result) => shown(needs, call, projection, result));
}

/**
 * Records with the first call how the server of a run is isolated, and reports to the operator what the isolation
 * lacks.
 */
function shown(
  { services, server, projections }: EffectNeeds,
  { live }: Windowed,
  projection: Projection,
  begun: Result<void, string>,
): Result<void, string> {
  if (!begun.ok || !projections.firstUse(projection, live.key)) return begun;
  const { tier, notes } = projection;
  const batch = new EventBatch();
  batch.parts.push({ live, events: [] });
  void appendBatch(services.log, batch, { notes: { moment: "projection", server, tier, missing: [...notes] } });
  for (const note of notes) services.human.notify(notice(`Server \`${server}\` runs in tier ${tier}: ${note}`));
  return begun;
}

/** Closes the window of a call: its answer has arrived, or none will come. */
export function closeTraceWindow(needs: EffectNeeds, call: Windowed): void {
  if (call.scope !== undefined) needs.link.projection?.end(call.id);
}

/** The effects of a call, as an answer that needs no question; undefined where it ran in no projection. */
export function evidenceOf(needs: EffectNeeds, call: Windowed): Promise<Answers> | undefined {
  const projection = call.scope === undefined ? undefined : needs.link.projection;
  return projection === undefined ? undefined : evidence(needs, projection, call.id);
}

/** The effects of a server outside of calls since the last query; undefined where none of its processes is watched. */
export function backgroundOf(
  projections: readonly Projection[],
  server: string,
  own?: SelfProtection,
): Promise<Background> | undefined {
  if (projections.length === 0) return undefined;
  return Promise.all(projections.map((projection) => projection.trace(undefined))).then((told) => {
    const traces = told.map((trace) => withOwnGuarded(own, trace));
    const eventful = traces.some(({ events, changes }) => events.length > 0 || changes.length > 0);
    return { known: answerOf(server, undefined, traces), eventful };
  });
}

/** `eventful`: something was seen, so it goes on record even where no mechanism objects to it. */
export type Background = { readonly known: Answers; readonly eventful: boolean };

async function evidence(
  { services, server }: Pick<EffectNeeds, "services" | "server">,
  projection: Projection,
  call: string,
): Promise<Answers> {
  return answerOf(server, call, [withOwnGuarded(services.selfProtection, await projection.trace(call))]);
}

/** Several processes of one server stay apart: each has folders of its own, and none may crowd out another. */
function answerOf(server: string, call: string | undefined, traces: readonly EffectTrace[]): Answers {
  const question = traceQuestion("gateway", server, call);
  return new Map([[traceKey(server, call), { kind: "known", question, value: tracesJson(traces) }]]);
}

/** The verdict on what a call did, and the decision behind it. */
export type EffectVerdict = {
  readonly how: Extract<RunEvent, { kind: "released" }>["how"];
  readonly decision: Decision;
};

/** The outcome for the writes of a call. */
export type Concluded =
  /** They stand as the verdict says; `note`: some wait for an approver, as the policy requires. */
  | {
      readonly kind: "done";
      readonly note?: string;
      /** Other writes of the run that are not there any more, as a sentence for the agent. */
      readonly loss?: string;
    }
  /** Some did not reach the workspace against the verdict: the agent would build on writes that are not there. */
  | { readonly kind: "apart"; readonly sentence: string };

/**
 * Applies the verdict to the writes of the call. Nothing is lost: writes that cannot be applied are kept for an
 * approver.
 */
export async function concludeWrites(
  needs: EffectNeeds,
  call: Windowed,
  how: EffectVerdict["how"],
): Promise<Concluded> {
  const projection = call.scope === undefined ? undefined : needs.link.projection;
  if (projection === undefined) return { kind: "done" };
  const verdict = how === "pass" ? "commit" : how === "withhold" ? "keep" : "discard";
  const result = await projection.conclude(call.id, verdict);
  const rejected = verdict === "discard";
  const concluded = result.ok ? (rejected ? spared(result.value) : concludedOf(result.value)) : apart(result.error);
  record(needs, call, result.ok ? result.value : undefined, concluded);
  return concluded;
}

function concludedOf({ held }: Conclusion): Concluded {
  if (held.length === 0) return { kind: "done" };
  const named = held
    .slice(0, pathsNamedMax)
    .map(({ path }) => path)
    .join(", ");
  const paths = held.length > pathsNamedMax ? `${named} and ${held.length - pathsNamedMax} more` : named;
  const failed = held.find(({ reason }) => reason !== undefined)?.reason;
  if (failed !== undefined) return apart(`${paths}: ${failed}`);
  return { kind: "done", note: `what it wrote to ${paths} waits for review (\`sluicegate changes\`)` };
}

/** After a rejection: writes of earlier calls, which their clients were told of, are not thrown away with the rest. */
function spared({ held }: Conclusion): Concluded {
  return held.length === 0 ? { kind: "done" } : { kind: "done", loss: sparedText };
}

const sparedText =
  "What earlier calls of this run wrote was not taken over either: it waits for review (`sluicegate changes`).";

function apart(why: string): Concluded {
  const sentence = `The call ran, but what it wrote was not taken over (${why}). It is kept: the user sees it with \`sluicegate changes\`. Do not repeat the call.`;
  return { kind: "apart", sentence };
}

function record(
  { services, server }: EffectNeeds,
  call: Windowed,
  conclusion: Conclusion | undefined,
  concluded: Concluded,
): void {
  const committed = conclusion?.committed.length ?? 0;
  const text = concluded.kind === "apart" ? concluded.sentence : (concluded.note ?? concluded.loss);
  if (committed === 0 && text === undefined) return;
  const batch = new EventBatch();
  batch.parts.push({ live: call.live, events: [] });
  const held = conclusion?.held.map(({ path }) => path) ?? [];
  const notes = { decision: call.id, moment: "workspace", committed, held, ...(text === undefined ? {} : { text }) };
  void appendBatch(services.log, batch, { notes });
  if (text !== undefined) services.human.notify(notice(`${server}.${call.contract.tool}: ${text}`));
}

/** Applies the verdict on writes that waited for the end of their run, and records the outcome. */
export async function flushWrites(
  { services }: Pick<EffectNeeds, "services">,
  live: LiveRun,
  projection: Projection,
): Promise<void> {
  const flushed = await projection.flush?.();
  if (flushed === undefined) return;
  const committed = flushed.ok ? flushed.value.committed.length : 0;
  const held = flushed.ok ? flushed.value.held.map(({ path }) => path) : [];
  const failed = flushed.ok ? undefined : flushed.error;
  if (committed === 0 && held.length === 0 && failed === undefined) return;
  const batch = new EventBatch();
  batch.parts.push({ live, events: [] });
  const text = failed ?? (held.length === 0 ? undefined : "some writes wait for review (`sluicegate changes`)");
  const notes = { moment: "workspace", committed, held, ...(text === undefined ? {} : { text }) };
  void appendBatch(services.log, batch, { notes });
  if (text !== undefined) services.human.notify(notice(`Run ${live.key}: ${text}.`));
}

/** The agent reads a constant text; the operator is informed of the effects. */
function tellRejection({ services, server }: EffectNeeds, call: Windowed, { reasons }: Decision): void {
  const reason = reasons.find(
    ({ verdict, observed, facts }) => verdict === "deny" && observed !== true && "what" in facts,
  );
  const what = reason?.facts["what"];
  if (reason === undefined || typeof what !== "string") return;
  const way = reason.way === undefined ? "" : ` ${reason.way}.`;
  const tail = ` (${reason.code}, decision ${call.id}).${way}`;
  services.human.notify(notice(`Server \`${server}\`, a result was rejected: ${what}`, tail));
}

/** The cost of a rejected call for its server: it loses its trust, and where the policy says so it is ended. */
export function revokeTrust(needs: EffectNeeds, call: Windowed, ruling: EffectVerdict): void {
  if (ruling.how === "reject") tellRejection(needs, call, ruling.decision);
  for (const obligation of ruling.decision.obligations) {
    if (obligation.kind !== "revoke" || ruling.how === "pass") continue;
    needs.admissions.revoke(obligation.server, call.id);
    needs.services.cards?.flagged(
      obligation.server,
      `it went out of its scope (${obligation.rule}, decision ${call.id})`,
    );
    const text = `Server \`${obligation.server}\` went out of its scope (${obligation.rule}): its tools are hidden.`;
    needs.services.human.notify(notice(text, ` See decision ${call.id}.`));
    if (obligation.end) needs.link.projection?.kill("it went out of its scope");
  }
}

/**
 * A call in the projection of its server (lifecycle.md 2): its window opens before anything is sent and closes with the
 * answer, what happened in between is evidence for the release, and the verdict on the release is the verdict on what
 * the call wrote. A call that must be isolated and cannot be is not sent.
 */
import { traceKey, traceQuestion } from "../core/effect-trace.ts";
import type { EffectTrace } from "../core/effect-trace.ts";
import { tracesJson } from "../core/effect-record.ts";
import type { Decision } from "../core/decision.ts";
import type { Answers, Obligation } from "../core/opinion.ts";
import type { Result } from "../core/result.ts";
import { ok } from "../core/result.ts";
import type { Call } from "./call.ts";
import { appendBatch, Batch } from "./journal.ts";
import type { Conclusion, Projection } from "./projection-port.ts";
import { withOwnGuarded } from "./own-files.ts";
import type { Ruling } from "./releases.ts";
import type { LiveRun } from "./live-run.ts";
import type { Scene, Shared } from "./scene.ts";
import type { OwnFiles } from "./services-port.ts";

/** Longest line for the operator. */
const noticeCharactersMax = 240;

/** Paths that a warning names. */
const pathsNamedMax = 5;

/** What of a call matters to its projection. A task outlives its call and is windowed like it. */
export type Windowed<Q> = Pick<Call<Q>, "id" | "live" | "contract" | "scope">;

/** The scope that a call must run in; undefined where nothing isolates it. */
export function scopeOf(obligations: readonly Obligation[]): string | undefined {
  for (const obligation of obligations) if (obligation.kind === "isolate") return obligation.scope;
  return undefined;
}

/** Opens the window of a call that is about to be sent; undefined where there is nothing to wait for. */
export function openWindow<Q>(scene: Scene<Q>, call: Call<Q>): Result<void, string> | Promise<Result<void, string>> {
  const projection = call.scope === undefined ? undefined : scene.projection();
  // A call that goes on after its questions were answered is still in its window.
  if (call.scope === undefined || projection === undefined || call.windowed) return ok(undefined);
  call.windowed = true;
  const begun = projection.begin(call.id, call.contract.tool, call.scope);
  if (!(begun instanceof Promise)) return shown(scene, call, projection, begun);
  return begun.then((result) => shown(scene, call, projection, result));
}

/** How the server of a run is isolated goes on record with the first call; what is missing is told to the operator. */
function shown<Q>(
  { services, server, projections }: Scene<Q>,
  { live }: Windowed<Q>,
  projection: Projection,
  begun: Result<void, string>,
): Result<void, string> {
  if (!begun.ok || !projections.firstUse(projection, live.key)) return begun;
  const { tier, notes } = projection;
  const batch = new Batch<Q>();
  batch.parts.push({ live, events: [] });
  void appendBatch(services.log, batch, { notes: { moment: "projection", server, tier, missing: [...notes] } });
  for (const note of notes) services.human.notify(`Server \`${server}\` runs in tier ${tier}: ${note}`.slice(0, 240));
  return begun;
}

/** The answer is here, or none will come. */
export function closeWindow<Q>(scene: Scene<Q>, call: Windowed<Q>): void {
  if (call.scope !== undefined) scene.projection()?.end(call.id);
}

/** What a call did, as an answer that needs no question; undefined where it ran in no projection. */
export function evidenceOf<Q>(scene: Scene<Q>, call: Windowed<Q>): Promise<Answers> | undefined {
  const projection = call.scope === undefined ? undefined : scene.projection();
  return projection === undefined ? undefined : evidence(scene, projection, call.id);
}

/** What a server did outside of calls since that was asked last; undefined where none of its processes is watched. */
export function backgroundOf(
  projections: readonly Projection[],
  server: string,
  own?: OwnFiles,
): Promise<Background> | undefined {
  if (projections.length === 0) return undefined;
  return Promise.all(projections.map((projection) => projection.trace(undefined))).then((told) => {
    const traces = told.map((trace) => withOwnGuarded(own, trace));
    const eventful = traces.some(({ events, changes }) => events.length > 0 || changes.length > 0);
    return { known: answerOf(server, undefined, traces), eventful };
  });
}

/** `eventful`: something was seen, so it goes on record even where nobody objects to it. */
export type Background = { readonly known: Answers; readonly eventful: boolean };

async function evidence<Q>(
  { services, server }: Pick<Scene<Q>, "services" | "server">,
  projection: Projection,
  call: string,
): Promise<Answers> {
  return answerOf(server, call, [withOwnGuarded(services.ownFiles, await projection.trace(call))]);
}

/** Several processes of one server stay apart: each has folders of its own, and none may crowd out another. */
function answerOf(server: string, call: string | undefined, traces: readonly EffectTrace[]): Answers {
  const question = traceQuestion("gateway", server, call);
  return new Map([[traceKey(server, call), { kind: "known", question, value: tracesJson(traces) }]]);
}

/** What became of the writes of a call. */
export type Concluded =
  /** They stand as the verdict says; `note`: some wait for a person, as the policy wants. */
  | { readonly kind: "done"; readonly note?: string }
  /** Some did not reach the workspace although the verdict says so: the agent would build on what is not there. */
  | { readonly kind: "apart"; readonly sentence: string };

/** Carries the verdict out on what the call wrote. Nothing is lost: what could not be written is kept for a person. */
export async function concludeWrites<Q>(scene: Scene<Q>, call: Windowed<Q>, how: Ruling["how"]): Promise<Concluded> {
  const projection = call.scope === undefined ? undefined : scene.projection();
  if (projection === undefined) return { kind: "done" };
  const verdict = how === "pass" ? "commit" : how === "withhold" ? "keep" : "discard";
  const result = await projection.conclude(call.id, verdict);
  const concluded = result.ok ? concludedOf(result.value) : apart(result.error);
  record(scene, call, result.ok ? result.value : undefined, concluded);
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
  return { kind: "done", note: `what it wrote to ${paths} waits for a person (\`sluicegate changes\`)` };
}

function apart(why: string): Concluded {
  const sentence = `The call ran, but what it wrote was not taken over (${why}). It is kept: the user sees it with \`sluicegate changes\`. Do not repeat the call.`;
  return { kind: "apart", sentence };
}

function record<Q>(
  { services, server }: Scene<Q>,
  call: Windowed<Q>,
  conclusion: Conclusion | undefined,
  concluded: Concluded,
): void {
  const committed = conclusion?.committed.length ?? 0;
  const text = concluded.kind === "apart" ? concluded.sentence : concluded.note;
  if (committed === 0 && text === undefined) return;
  const batch = new Batch<Q>();
  batch.parts.push({ live: call.live, events: [] });
  const held = conclusion?.held.map(({ path }) => path) ?? [];
  const notes = { decision: call.id, moment: "workspace", committed, held, ...(text === undefined ? {} : { text }) };
  void appendBatch(services.log, batch, { notes });
  if (text !== undefined) services.human.notify(`${server}.${call.contract.tool}: ${text}`.slice(0, 240));
}

/** The run is over: the verdict on writes that waited for its end. */
export async function flushWrites<Q>(
  { services }: Pick<Shared<Q>, "services">,
  live: LiveRun<Q>,
  projection: Projection,
): Promise<void> {
  const flushed = await projection.flush?.();
  if (flushed === undefined) return;
  const committed = flushed.ok ? flushed.value.committed.length : 0;
  const held = flushed.ok ? flushed.value.held.map(({ path }) => path) : [];
  const failed = flushed.ok ? undefined : flushed.error;
  if (committed === 0 && held.length === 0 && failed === undefined) return;
  const batch = new Batch<Q>();
  batch.parts.push({ live, events: [] });
  const text = failed ?? (held.length === 0 ? undefined : "some writes wait for a person (`sluicegate changes`)");
  const notes = { moment: "workspace", committed, held, ...(text === undefined ? {} : { text }) };
  void appendBatch(services.log, batch, { notes });
  if (text !== undefined) services.human.notify(`Run ${live.key}: ${text}.`.slice(0, 240));
}

/** The agent reads a constant text; the person is told what was done. */
function tellRejection<Q>({ services, server }: Scene<Q>, call: Windowed<Q>, { reasons }: Decision): void {
  const reason = reasons.find(
    ({ verdict, observed, facts }) => verdict === "deny" && observed !== true && "what" in facts,
  );
  const what = reason?.facts["what"];
  if (reason === undefined || typeof what !== "string") return;
  // Who reads on needs the decision, so what was done is cut before it, and the way on comes last.
  const tail = ` (${reason.code}, decision ${call.id}).`;
  const head = `Server \`${server}\`, a result was rejected: ${what}`.slice(0, noticeCharactersMax - tail.length);
  const way = reason.way === undefined ? "" : ` ${reason.way}.`;
  services.human.notify(`${head}${tail}${way}`.slice(0, noticeCharactersMax));
}

/** What a rejected call costs its server: trust, and where the policy says so its life. */
export function revokeTrust<Q>(scene: Scene<Q>, call: Windowed<Q>, ruling: Pick<Ruling, "how" | "decision">): void {
  if (ruling.how === "reject") tellRejection(scene, call, ruling.decision);
  for (const obligation of ruling.decision.obligations) {
    if (obligation.kind !== "revoke" || ruling.how === "pass") continue;
    scene.admissions.revoke(obligation.server, call.id);
    const text = `Server \`${obligation.server}\` went out of its scope (${obligation.rule}): its tools are hidden. See decision ${call.id}.`;
    scene.services.human.notify(text.slice(0, 240));
    if (obligation.end) scene.projection()?.kill("it went out of its scope");
  }
}

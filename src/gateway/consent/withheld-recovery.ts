/**
 * Withheld results over a restart (gateway.md 3). The agent was informed that repeating the same call brings the stored
 * result, so it will repeat it: the log keeps the whole result as payload, and a resumed run has it again. A result
 * that the log does not have whole is lost: its call is not executed again without the consent of an approver.
 */
import type { RunEvent } from "../../core/event.ts";
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import type { Answer, Answers } from "../../core/opinion.ts";
import type { ErrorMessage, ResponseMessage } from "../../wire/message.ts";
import { errorMessage } from "../../wire/errors.ts";
import { approvalMatch } from "./approvals.ts";
import type { Call } from "../decision/call.ts";
import { appendBatch, EventBatch } from "../runs/event-batch.ts";
import { scopeOf } from "../decision/release-label.ts";
import type { LiveRun } from "../runs/live-run.ts";
import { withheldMoment } from "../log/waiting.ts";
import type { Secrets, Services } from "../ports/services.ts";
import type { Waiting } from "../ports/store.ts";
import type { Withheld, WithheldResults } from "../decision/withheld-results.ts";

type Needs = {
  readonly services: Services;
  readonly withheld: WithheldResults;
};

/** Puts a result on record that waits for consent. Resolves once it is durable, or never will be. */
export function recordWithheld(needs: Needs, call: Call, withheld: Withheld): Promise<boolean> {
  const { log, secrets } = needs.services;
  const batch = new EventBatch();
  batch.parts.push({ live: call.live, events: [] });
  const notes = { decision: call.id, moment: withheldMoment, approval: withheld.approval, digest: call.digest };
  const body = { message: bare(withheld.message), known: [...(withheld.known?.values() ?? [])] };
  const mac = macOf(secrets, { run: call.live.key, call: call.id }, body);
  return appendBatch(log, batch, { notes, details: { ...body, mac } });
}

/** Resumes a run: keeps the results that waited again, and notes the others as lost. */
export function resumeResults(
  needs: Needs,
  live: LiveRun,
  history: readonly RunEvent[],
  waiting: readonly Waiting[],
): void {
  const kept = new Map(waiting.filter(({ what }) => what === "result").map((one) => [one.call, one]));
  const executed = withheldIn(history);
  for (const [digest, { dispatched, released }] of executed) {
    const { call, option } = dispatched;
    const read = readKept(needs.services.secrets, { run: live.key, call }, kept.get(call)?.details);
    const label = { range: released.label, fields: released.fields, ...scopeOf(released) };
    const known = { call, contract: option.contract, option, label, decision: undefined };
    const approval = stringMember(kept.get(call)?.notes, "approval") ?? "";
    if (read !== undefined && needs.withheld.keep(live.key, digest, { ...known, approval, ...read })) continue;
    // Consent to show a result that is gone must not show another one.
    const { clock, log } = needs.services;
    const match = approvalMatch({ live, digest, contract: option.contract }, "release");
    void log.store.takeApproval(match, clock.wallMs());
    // Another read has no new effect; for any other repetition an approver has to consent.
    if (option.contract.consequential) needs.withheld.lose(live.key, digest, { wallMs: dispatched.at });
  }
  // A history that cannot be read says nothing of these calls, not even whether they only read.
  for (const { digest } of kept.values()) {
    if (!executed.has(digest)) needs.withheld.lose(live.key, digest, { wallMs: undefined });
  }
}

type Of<K extends RunEvent["kind"]> = Extract<RunEvent, { kind: K }>;
type Executed = { readonly dispatched: Of<"dispatched">; readonly released: Of<"released"> };

/** Calls whose result was withheld and neither shown nor superseded since, by digest. */
function withheldIn(events: readonly RunEvent[]): ReadonlyMap<string, Executed> {
  const calls = new Map<string, Of<"dispatched">>();
  const open = new Map<string, Executed>();
  for (const event of events) {
    if (event.kind === "dispatched") {
      calls.set(event.call, event);
      open.delete(event.digest);
    } else if (event.kind === "released") {
      const dispatched = event.call === undefined ? undefined : calls.get(event.call);
      if (dispatched === undefined) continue;
      if (event.how === "withhold") open.set(dispatched.digest, { dispatched, released: event });
      else if (open.get(dispatched.digest)?.dispatched === dispatched) open.delete(dispatched.digest);
    }
  }
  return open;
}

type Place = { readonly run: string; readonly call: string };

/**
 * The log takes out what looks like a secret, and a result without it is not the result that was judged: the MAC shows
 * that.
 */
function macOf(secrets: Pick<Secrets, "mac">, { run, call }: Place, body: JsonObject): string {
  return secrets.mac(`withheld\n${run}\n${call}\n${JSON.stringify(body)}`);
}

type Read = Pick<Withheld, "message" | "known" | "characters">;

function readKept(secrets: Pick<Secrets, "mac">, place: Place, details: JsonObject | undefined): Read | undefined {
  const message = member(details, "message");
  const known = member(details, "known");
  if (message === undefined || !isArray(known)) return undefined;
  if (macOf(secrets, place, { message, known }) !== stringMember(details, "mac")) return undefined;
  const whole = wholeOf(message);
  if (whole === undefined) return undefined;
  return { message: whole, known: answersIn(known), characters: JSON.stringify(message).length };
}

/** A message without its id: the call that will be answered by it has one of its own. */
function bare(message: Withheld["message"]): JsonObject {
  if (message.kind === "response") return { result: message.result };
  const { code, message: text, data } = message.error;
  return { error: { code, message: text, ...(data === undefined ? {} : { data }) } };
}

function wholeOf(kept: Json): ResponseMessage | ErrorMessage | undefined {
  const result = member(kept, "result");
  // Narrowed; the compiler keeps RawNumber in the union.
  if (isObject(result)) return { kind: "response", id: "", result: result as JsonObject };
  const error = member(kept, "error");
  const code = member(error, "code");
  const text = stringMember(error, "message");
  if (typeof code !== "number" || text === undefined) return undefined;
  return errorMessage("", code, text, member(error, "data"));
}

/** The answers that were known when the call was judged. The list is our own: its MAC has been checked. */
function answersIn(known: readonly Json[]): Answers | undefined {
  if (known.length === 0) return undefined;
  const answers = known as readonly unknown[] as readonly Answer[];
  return new Map(answers.map((answer) => [answer.question.key, answer]));
}

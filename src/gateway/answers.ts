/**
 * Answers of the client to questions of a server: data that is sent to that server, so each is decided as a call of
 * its own (gateway.md 2). Nothing comes back for it, so on record it is a dispatch without outcome.
 */
import type { ToolContract } from "../core/contract.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { isObject } from "../core/json.ts";
import { isObserved, callDigest, notesOf } from "./call.ts";
import { appendBatch, Batch } from "./journal.ts";
import { judge } from "./judge.ts";
import type { LiveRun } from "./live-run.ts";
import type { Shared } from "./scene.ts";
import { decidingCodes } from "../core/render.ts";

export type AnswerQuery<Q> = {
  readonly live: LiveRun<Q>;
  readonly contract: ToolContract;
  /** Method of the question. */
  readonly method: string;
  readonly value: Json;
};

/** True when the answer may go to the server: allowed, and on record. There is no one to ask, so confirm is a no. */
export async function mayAnswer<Q>(shared: Shared<Q>, query: AnswerQuery<Q>): Promise<boolean> {
  const { live, contract, method } = query;
  const { clock, oracle, secrets, log } = shared.services;
  const given: JsonObject = isObject(query.value) ? query.value : { value: query.value };
  const digest = callDigest(contract, method, given, secrets.hash);
  const call = shared.nextId();
  const at = clock.monotonicMs();
  const { workspace } = live;
  const moment = { kind: "call", at, call, method, contract, arguments: given, workspace, digest } as const;
  const judged = judge(live, { oracle }, moment, (decision, answers) => {
    const batch = new Batch<Q>();
    const { server, tool } = contract;
    const observed = isObserved(live, server);
    const { option } = decision;
    shared.runs.fold(live, { kind: "requested", at, call, server, tool, digest }, batch);
    let allowed =
      option !== undefined &&
      (observed ||
        (decision.verdict === "allow" &&
          !hasDuty(decision.obligations, shared.projections.usedBy(live, server).length > 0)));
    if (allowed && option !== undefined) {
      const event = { kind: "allowed", at, call, method, option, arguments: given, digest } as const;
      allowed = shared.runs.fold(live, event, batch).ok;
    }
    if (allowed) {
      shared.runs.fold(live, { kind: "sent", at, call }, batch);
      shared.runs.fold(live, { kind: "unknown", at, call, cause: "an answer has no outcome" }, batch);
    } else shared.runs.fold(live, { kind: "refused", at, call, codes: decidingCodes(decision) }, batch);
    const durable = appendBatch(log, batch, { decision, answers, notes: notesOf(call, decision, observed) });
    return { allowed, durable };
  });
  const { allowed, durable } = judged instanceof Promise ? await judged : judged;
  return (await durable) && allowed;
}

/** An obligation other than a notice cannot be met for an answer; who gets it runs in its projection, or does not. */
function hasDuty(obligations: readonly { readonly kind: string }[], isolated: boolean): boolean {
  return obligations.some(({ kind }) => kind !== "notify" && kind !== "label" && !(kind === "isolate" && isolated));
}

/**
 * Events that a client's hook reports (gateway.md 4): prompts are the run's registered instruction, sessions begin and
 * end runs, and the client's built-in tools are decided and labelled like any server's, under the server id
 * `host:CLIENT`. The adapter of each client turns its hook format into these events and the reply back.
 */
import { BoundedMap } from "../../core/bounded-map.ts";
import type { ToolContract } from "../../core/contract.ts";
import type { Decision } from "../../core/decision.ts";
import type { RunEvent } from "../../core/event.ts";
import { causeOf } from "../../core/explain/cause.ts";
import { riskInWords } from "../../core/explain/regulation-cause.ts";
import { risksIn, sentenceCharactersMax, sentenceForModel } from "../../core/explain/render.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isUntrusted } from "../../core/label.ts";
import { denial } from "../decision/ask-loop.ts";
import { type Call, newCall } from "../decision/call.ts";
import { logFailureText } from "../decision/client-answer.ts";
import {
  type CommitNeeds,
  type Executed,
  type Recorded,
  commitCall,
  recordExecuted,
  recordRefusal,
} from "../decision/commit.ts";
import { escapeForDisplay } from "../decision/display-text.ts";
import { judgeRelease } from "../decision/release.ts";
import type { IdSource } from "../ports/ids.ts";
import { appendBatch, EventBatch } from "../runs/event-batch.ts";
import type { LiveRun } from "../runs/live-run.ts";
import { instructionCharactersMax } from "../runs/run-control.ts";
import type { RunObligations } from "./run-obligations.ts";
import { canonicalJson } from "../../wire/canonical.ts";
import { callsInFlightMax } from "../../core/limits.ts";

export type HostEvent =
  | { readonly kind: "prompt"; readonly text: string }
  | { readonly kind: "session-start" }
  | { readonly kind: "session-clear" }
  | { readonly kind: "session-end" }
  | { readonly kind: "before-tool"; readonly use?: string; readonly tool: string; readonly arguments: JsonObject }
  | {
      readonly kind: "after-tool";
      readonly use?: string;
      readonly tool: string;
      readonly arguments: JsonObject;
      readonly result: Json;
      readonly failed: boolean;
    };

/** `ask`: the client asks its user. After a tool, anything but `allow` asks the client to keep the result back. */
export type HostReply = {
  readonly verdict: "allow" | "ask" | "deny";
  readonly sentence: string;
  readonly decision: string | undefined;
};

const endedText = "The run has ended, so nothing is done in it any more. Start a new one with `sluicegate runs new`.";

const allowed: HostReply = { verdict: "allow", sentence: "", decision: undefined };

export type HookNeeds = {
  readonly state: CommitNeeds & { readonly ids: IdSource; readonly runObligations: RunObligations };
  readonly uses: HostUses;
  readonly client: string;
  readonly live: LiveRun;
};

/** Handles one event of a client's hook in its run. */
export async function hostEvent(scene: HookNeeds, event: HostEvent): Promise<HostReply> {
  const { live, state } = scene;
  if (live.ready !== undefined) await live.ready;
  if (live.ended && event.kind === "before-tool") return { verdict: "deny", sentence: endedText, decision: undefined };
  switch (event.kind) {
    case "session-start":
      return allowed;
    case "session-clear":
    case "session-end":
      // A session that ends may be resumed, with all that the client kept of it; one that is cleared has nothing left.
      await state.runs.end(live, "closed", event.kind === "session-clear" && !demandsProof(live));
      return allowed;
    case "prompt":
      return register(scene, event.text);
    case "before-tool":
      return before(scene, event);
    case "after-tool":
      return after(scene, event);
  }
}

/**
 * Whether consent takes a proof in this run. Any process may start a hook, and a hook proves nothing: then it begins no
 * clean run, and gives no instruction to an agent that what it has read may have turned.
 */
function demandsProof({ policy }: LiveRun): boolean {
  return policy.settings.approvals.factor !== undefined;
}

function holdsUntrusted({ policy, state }: LiveRun): boolean {
  return isUntrusted(policy.lattice, policy.contextLabel(state.q));
}

async function register({ state, live }: HookNeeds, text: string): Promise<HostReply> {
  if (demandsProof(live) && holdsUntrusted(live)) return allowed;
  if (text.length > instructionCharactersMax) return allowed; // not registered: provenance then knows less, never more
  const batch = new EventBatch();
  const at = state.services.clock.monotonicMs();
  state.runs.fold(live, { kind: "registered", at, text: { source: "instruction", value: text } }, batch);
  await appendBatch(state.services.log, batch);
  return allowed;
}

type Use = { readonly use?: string; readonly tool: string; readonly arguments: JsonObject };

async function before(scene: HookNeeds, event: Use): Promise<HostReply> {
  const { state, live, client, uses } = scene;
  const call = callOf(scene, event, live.policy.contractOfHostTool(client, event.tool));
  const committing = commitCall(state, call, "hook");
  const committed = committing instanceof Promise ? await committing : committing;
  switch (committed.kind) {
    case "dispatched": {
      uses.note(live, event, { call, asked: undefined });
      if (!(await committed.durable)) return { verdict: "deny", sentence: logFailureText, decision: call.id };
      return { ...allowed, decision: call.id };
    }
    case "confirm": {
      const question = questionFor(event.tool, call.id, committed.decision);
      // The client's question is one sentence: where it cannot name every risk, the user is not asked to accept them.
      if (question === undefined && risksIn(committed.decision).length > 0) {
        return refused(call.id, recordRefusal(state, call, committed).decision);
      }
      // The client asks its user, and runs the tool only after consent: the use goes on record when the tool has run.
      uses.note(live, event, { call, asked: committed });
      const sentence = question ?? sentenceForModel(committed.decision, call.id, { kind: "refused" });
      return { verdict: "ask", sentence, decision: call.id };
    }
    case "refused":
      return refused(call.id, committed.decision);
    // No row of the table lets a hook's call wait or require other calls first, and no client cancels it.
    case "held":
    case "perform":
    case "dropped":
      return refused(call.id, denial("SG-INTERNAL"));
  }
}

function refused(call: string, decision: Decision): HostReply {
  return { verdict: "deny", sentence: sentenceForModel(decision, call, { kind: "refused" }), decision: call };
}

/** A use as a call, which the client executes where no projection of the gateway is. */
function callOf({ state, live }: HookNeeds, { arguments: given }: Use, contract: ToolContract): Call {
  return newCall(state, { live, method: "host/tool", contract, arguments: given, isolated: () => false });
}

/**
 * The client's question with its reason: the data, the sink and the rule. A long reason is shortened step by step, a
 * risk never: undefined where one sentence has no room for all risks that the user would accept.
 */
function questionFor(tool: string, call: string, decision: Decision): string | undefined {
  const [risk, ...more] = risksIn(decision);
  if (more.length > 0) return undefined;
  const causes = (["whole", "named", "bare"] as const).map((length) => causeOf(decision, length));
  const named = causes.flatMap((cause) => cause ?? []);
  const told = risk === undefined ? undefined : riskInWords(risk);
  const reasons =
    told === undefined
      ? [...named, "the policy requires the user to decide"]
      : [...named.map((cause) => `${cause}; ${told}`), told];
  const head = `Sluicegate asks before \`${escapeForDisplay(tool).slice(0, 40)}\` runs`;
  const questions = reasons.map((reason) => `${head}: ${escapeForDisplay(reason)} (decision ${call}).`);
  return questions.find((question) => question.length <= sentenceCharactersMax);
}

async function after(
  scene: HookNeeds,
  event: Use & { readonly result: Json; readonly failed: boolean },
): Promise<HostReply> {
  const { state, live, client, uses } = scene;
  const known = uses.take(live, event);
  const call = known?.call ?? callOf(scene, event, live.policy.contractOfHostTool(client, event.tool));
  const { id, contract, option } = call;
  const batch = new EventBatch();
  let executed: Recorded | undefined;
  if (known !== undefined) {
    // The tool ran although the gateway only asked: the user consented in the client.
    const consent = { approval: "in the client", by: live.principal };
    executed = known.asked === undefined ? undefined : recordExecuted(state, call, { ...known.asked, ...consent });
    const at = state.services.clock.monotonicMs();
    const outcome: RunEvent = event.failed
      ? { kind: "failed", at, call: id, noEffect: false }
      : { kind: "succeeded", at, call: id };
    if (executed?.kind !== "refused") state.runs.fold(live, outcome, batch);
  }
  const query = {
    live,
    id,
    call: known === undefined ? undefined : id,
    contract,
    option,
    outcome: event.failed ? "failed" : "succeeded",
    value: event.result,
  } as const;
  const ruled = judgeRelease(state, query, batch);
  const ruling = ruled instanceof Promise ? await ruled : ruled;
  // The result is passed on only where the use that brought it is on record, too.
  const durable = (await ruling.durable) && (executed === undefined || (await executed.durable));
  if (known !== undefined) state.runObligations.settled(live, contract.server, !event.failed);
  if (durable && ruling.how === "pass") return { ...allowed, decision: id };
  const sentence = `The result of \`${event.tool}\` was stopped by policy and must not be used (decision ${id}).`;
  return { verdict: "deny", sentence: sentence.slice(0, 240), decision: id };
}

// Uses of a client's built-in tools between the hook before and the hook after.

export type OpenUse = {
  readonly call: Call;
  /** Decision and answers of a use that the client asks its user about; undefined where it was dispatched. */
  readonly asked: Pick<Executed, "decision" | "answers"> | undefined;
};

type Named = { readonly use?: string; readonly tool: string; readonly arguments: JsonObject };

export class HostUses {
  readonly #open = new Map<LiveRun, BoundedMap<string, OpenUse>>();

  note(live: LiveRun, named: Named, use: OpenUse): void {
    const open = this.#open.get(live) ?? new BoundedMap<string, OpenUse>(callsInFlightMax);
    this.#open.set(live, open.set(keyOf(named), use));
  }

  take(live: LiveRun, named: Named): OpenUse | undefined {
    const open = this.#open.get(live);
    const key = keyOf(named);
    const found = open?.get(key);
    open?.delete(key);
    if (open?.size === 0) this.#open.delete(live);
    return found;
  }

  forget(live: LiveRun): void {
    this.#open.delete(live);
  }
}

/** The client's own id of the use, else what was used with which arguments. */
function keyOf({ use, tool, arguments: given }: Named): string {
  return use === undefined ? `${tool} ${canonicalJson(given)}` : `id ${use}`;
}

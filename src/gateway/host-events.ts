/**
 * What a client's hook reports (gateway.md 4): prompts are the run's registered instruction, sessions begin and end
 * runs, and the client's built-in tools are decided and labelled like any server's, under the server id `host:CLIENT`.
 * The adapter of each client turns its hook format into these events and the reply back.
 */
import type { ToolContract } from "../core/contract.ts";
import type { RunEvent } from "../core/event.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { CallOption } from "../core/moment.ts";
import type { Decision } from "../core/decision.ts";
import { causeOf } from "../core/cause.ts";
import { riskInWords } from "../core/regulation-cause.ts";
import { risksIn, sentenceCharactersMax, sentenceForModel, warningsIn } from "../core/render.ts";
import { callDigest, isObserved, notesOf } from "./call.ts";
import { visible } from "./card-text.ts";
import { endingDecision, endsRun, foldRisks, forAllRuns, othersReady } from "./commitment.ts";
import { recordRefusal } from "./dispatch.ts";
import { appendBatch, Batch } from "./journal.ts";
import { judge } from "./judge.ts";
import type { LiveRun } from "./live-run.ts";
import { unmetObligation } from "./obligations.ts";
import { guardingOwn } from "./own-files.ts";
import { orderedUse } from "./host-uses.ts";
import type { HostUses } from "./host-uses.ts";
import { judgeRelease } from "./releases.ts";
import { instructionCharactersMax } from "./run-control.ts";
import { logFailureText } from "./refusals.ts";
import type { Shared } from "./scene.ts";

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

/** `ask`: the client asks its person. After a tool, anything but `allow` asks the client to keep the result back. */
export type HostReply = {
  readonly verdict: "allow" | "ask" | "deny";
  readonly sentence: string;
  readonly decision: string | undefined;
};

const endedText = "The run has ended, so nothing is done in it any more. Start a new one with `sluicegate runs new`.";

const allowed: HostReply = { verdict: "allow", sentence: "", decision: undefined };

export type HostScene<Q> = {
  readonly shared: Shared<Q>;
  readonly uses: HostUses<Q>;
  readonly client: string;
  readonly live: LiveRun<Q>;
};

/** Handles one event of a client's hook in its run. */
export async function hostEvent<Q>(scene: HostScene<Q>, event: HostEvent): Promise<HostReply> {
  const { live, shared } = scene;
  if (live.ready !== undefined) await live.ready;
  if (live.ended && event.kind === "before-tool") return { verdict: "deny", sentence: endedText, decision: undefined };
  switch (event.kind) {
    case "session-start":
      return allowed;
    case "session-clear":
    case "session-end":
      // A session that ends may be resumed, with all that the client kept of it; one that is cleared has nothing left.
      await shared.runs.end(live, "closed", event.kind === "session-clear");
      return allowed;
    case "prompt":
      return register(scene, event.text);
    case "before-tool":
      return before(scene, event);
    case "after-tool":
      return after(scene, event);
  }
}

async function register<Q>({ shared, live }: HostScene<Q>, text: string): Promise<HostReply> {
  if (text.length > instructionCharactersMax) return allowed; // not registered: provenance then knows less, never more
  const batch = new Batch<Q>();
  const at = shared.services.clock.monotonicMs();
  shared.runs.fold(live, { kind: "registered", at, text: { source: "instruction", value: text } }, batch);
  await appendBatch(shared.services.log, batch);
  return allowed;
}

type Use = { readonly use?: string; readonly tool: string; readonly arguments: JsonObject };

async function before<Q>(scene: HostScene<Q>, event: Use): Promise<HostReply> {
  const { shared, live, client, uses } = scene;
  const { clock, human, oracle, secrets, log } = shared.services;
  const contract = live.policy.contractOfHostTool(client, event.tool);
  const digest = callDigest(contract, "host/tool", event.arguments, secrets.hash);
  const call = shared.nextId();
  const others = othersReady(shared, live, contract);
  if (others !== undefined) await others;
  const at = clock.monotonicMs();
  const moment = {
    kind: "call",
    at,
    call,
    method: "host/tool",
    contract,
    arguments: event.arguments,
    workspace: live.workspace,
    digest,
  } as const;
  const judged = judge(live, { oracle }, moment, (first, answers) => {
    const observed = isObserved(live, contract.server);
    const use = { live, id: call, method: "host/tool", arguments: event.arguments, digest };
    const tested = forAllRuns(shared, use, guardingOwn(shared, use, first));
    const decision = !observed && endsRun(tested) ? endingDecision(tested) : tested;
    const { option } = decision;
    const duty =
      unmetObligation(decision.obligations) ??
      decision.obligations.find(({ kind }) => kind === "perform" || kind === "hold")?.kind;
    // The client's question holds one sentence: who could not be told of every risk is not asked to accept them.
    const untold = risksIn(decision).length > 0 && questionFor(event.tool, call, decision) === undefined;
    const verdict = observed ? "allow" : duty !== undefined || untold ? "deny" : decision.verdict;
    if (verdict === "deny" || option === undefined) {
      recordRefusal(
        shared,
        orderedUse(live, { contract, call, digest, arguments: event.arguments }),
        decision,
        answers,
      );
      return { verdict: "deny", decision, durable: Promise.resolve(true) } as const;
    }
    uses.note(live, event, { call, contract, option, decision, recorded: verdict === "allow" });
    // The client asks its person, and runs the tool only then: it goes on record when the tool has run.
    if (verdict === "confirm") return { verdict, decision, durable: Promise.resolve(true) } as const;
    const batch = new Batch<Q>();
    const done = dispatched(
      { shared, live, contract, call, digest },
      { option, arguments: event.arguments, at },
      batch,
    );
    for (const text of warningsIn(decision)) human.notify(`${event.tool}: ${text}.`.slice(0, 240));
    const notes = notesOf(call, decision, observed);
    const durable = appendBatch(log, batch, { decision, answers, notes });
    return { verdict: done ? ("allow" as const) : ("deny" as const), decision, durable };
  });
  const { verdict, decision, durable } = judged instanceof Promise ? await judged : judged;
  if (!(await durable)) return { verdict: "deny", sentence: logFailureText, decision: call };
  if (verdict === "allow") return { ...allowed, decision: call };
  const sentence = sentenceForModel(decision, call, { kind: "refused" });
  if (verdict === "deny") return { verdict, sentence, decision: call };
  return { verdict: "ask", sentence: questionFor(event.tool, call, decision) ?? sentence, decision: call };
}

/**
 * The client's question, with its reason: which data, which sink, which rule. A long reason gives way by and by, a risk
 * never: undefined where one sentence has no room for what is accepted, since half a risk is not told.
 */
function questionFor(tool: string, call: string, decision: Decision): string | undefined {
  const [risk, ...more] = risksIn(decision);
  if (more.length > 0) return undefined;
  const causes = (["whole", "named", "bare"] as const).map((length) => causeOf(decision, length));
  const named = causes.flatMap((cause) => cause ?? []);
  const told = risk === undefined ? undefined : riskInWords(risk);
  const reasons =
    told === undefined
      ? [...named, "the policy wants a person to decide"]
      : [...named.map((cause) => `${cause}; ${told}`), told];
  const head = `Sluicegate asks before \`${visible(tool).slice(0, 40)}\` runs`;
  const questions = reasons.map((reason) => `${head}: ${visible(reason)} (decision ${call}).`);
  return questions.find((question) => question.length <= sentenceCharactersMax);
}

type Subject<Q> = {
  readonly shared: Shared<Q>;
  readonly live: LiveRun<Q>;
  readonly contract: ToolContract;
  readonly call: string;
  readonly digest: string;
};

function dispatched<Q>(
  { shared, live, contract, call, digest }: Subject<Q>,
  { option, arguments: given, at }: { option: CallOption; arguments: JsonObject; at: number },
  batch: Batch<Q>,
): boolean {
  const { server, tool } = contract;
  shared.runs.fold(live, { kind: "requested", at, call, server, tool, digest }, batch);
  const event = { kind: "allowed", at, call, method: "host/tool", option, arguments: given, digest } as const;
  if (!shared.runs.fold(live, event, batch).ok) return false;
  shared.runs.fold(live, { kind: "sent", at, call }, batch);
  return true;
}

async function after<Q>(
  scene: HostScene<Q>,
  event: Use & { readonly result: Json; readonly failed: boolean },
): Promise<HostReply> {
  const { shared, live, client, uses } = scene;
  const { clock, secrets } = shared.services;
  const known = uses.take(live, event);
  const contract = known?.contract ?? live.policy.contractOfHostTool(client, event.tool);
  const call = known?.call ?? shared.nextId();
  const at = clock.monotonicMs();
  const batch = new Batch<Q>();
  if (known !== undefined) {
    // It ran although we only asked: its person consented in the client.
    const digest = callDigest(contract, "host/tool", event.arguments, secrets.hash);
    const subject = { shared, live, contract, call, digest };
    const use = { live, id: call, method: "host/tool", arguments: event.arguments, digest };
    const consent = { approval: "in the client", by: live.principal };
    if (!known.recorded) foldRisks(shared, { use, decision: known.decision, consent }, batch);
    const recorded =
      known.recorded || dispatched(subject, { option: known.option, arguments: event.arguments, at }, batch);
    const outcome: RunEvent = event.failed
      ? { kind: "failed", at, call, noEffect: false }
      : { kind: "succeeded", at, call };
    if (recorded) shared.runs.fold(live, outcome, batch);
  }
  const query = {
    live,
    id: call,
    call: known === undefined ? undefined : call,
    contract,
    option: known?.option,
    outcome: event.failed ? "failed" : "succeeded",
    value: event.result,
  } as const;
  const ruled = judgeRelease(shared, query, batch);
  const ruling = ruled instanceof Promise ? await ruled : ruled;
  const durable = await ruling.durable;
  if (known !== undefined) shared.duties.settled(live, contract.server, !event.failed);
  if (durable && ruling.how === "pass") return { ...allowed, decision: call };
  const sentence = `The result of \`${event.tool}\` was stopped by policy and must not be used (decision ${call}).`;
  return { verdict: "deny", sentence: sentence.slice(0, 240), decision: call };
}

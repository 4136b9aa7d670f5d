/** One call on its way through the gateway, and the places where everything about it is known. */
import type { ToolContract } from "../../core/contract.ts";
import type { Decision } from "../../core/decision.ts";
import { type Json, type JsonObject, setOwn } from "../../core/json.ts";
import type { CallMoment, CallOption } from "../../core/moment.ts";
import { digest } from "../../wire/canonical.ts";
import { knownChannel } from "../../wire/channels.ts";
import type { NotificationMessage, RequestMessage } from "../../wire/message.ts";
import type { IdSource } from "../ports/ids.ts";
import type { Services } from "../ports/services.ts";
import type { Exchange } from "../ports/transport.ts";
import type { LiveRun } from "../runs/live-run.ts";

export type Consent = {
  readonly kind: "granted";
  readonly approval: string;
  readonly by: string;
  /** Risks that the card named, each `HAZARD MOVE`: the consent accepts these and no others. */
  readonly risks: readonly string[];
};

/** A consent to a call that may have been made already: it settles each doubt about the call that is no newer. */
export type DoubtSettled = { readonly approval: string; readonly wallMs: number };

/** A call of the outbox: the id under which it waits, and the place in the run's history where it began to. */
export type Waited = { readonly id: string; readonly since: number };

export type Call = {
  /** Unique over all runs and restarts; also the id of the decision. */
  readonly id: string;
  readonly live: LiveRun;
  readonly exchange: Exchange;
  readonly request: RequestMessage;
  readonly method: string;
  readonly contract: ToolContract;
  readonly arguments: JsonObject;
  readonly digest: string;
  readonly manifestDigest: string | undefined;
  /** The members that a modern client sent when it repeated the call: our sealed question and its answers. */
  readonly retry: { readonly state: string; readonly responses: Json | undefined } | undefined;
  /** How it waited in the outbox, where it comes from there. */
  readonly held: Waited | undefined;
  /**
   * Whether the place where it is executed is a projection, so that the obligation `isolate` can be met. Read in the
   * turn of its commit, since a projection may end while the call waits for answers.
   */
  readonly isolated: () => boolean;
  /** The consent that it has; `commitCall` uses it where it covers the decision. */
  consent: Consent | undefined;
  /** The consent to a repeat with which it is held, or left the outbox; no other call of its digest may use it. */
  settled: DoubtSettled | undefined;
  /** The client gave up on it; while it is being decided that means that it is never sent. */
  cancelled: boolean;
  /** The call's outcome is already on record as unknown; a late result is only released. */
  lost: boolean;
  option: CallOption | undefined;
  /** Rules whose injected call has already succeeded for this one. */
  performed: Set<string> | undefined;
  /** Its scope, where it runs in a projection: text of the obligation `isolate`. */
  scope: string | undefined;
  /** Its window in the projection was opened. */
  windowed: boolean;
  /** Costs of the call although it was allowed, in words; shown with its result. */
  warnings: readonly string[];
};

type Given = "live" | "method" | "contract" | "arguments" | "isolated";

/** Facts of a call before it is decided; without an exchange no client waits for its answer. */
export type CallFacts = Pick<Call, Given> &
  Partial<Pick<Call, "exchange" | "manifestDigest" | "retry" | "held" | "settled">>;

type CallNeeds = { readonly ids: IdSource; readonly services: Pick<Services, "secrets"> };

/** Makes the record of a call; `digest` binds consents to exactly this call. */
export function newCall({ ids, services }: CallNeeds, facts: CallFacts): Call {
  const { method, contract, arguments: given, manifestDigest, retry, held } = facts;
  const exchange = facts.exchange ?? deafExchange(facts);
  return {
    id: ids.next(),
    live: facts.live,
    exchange,
    request: exchange.request,
    method,
    contract,
    arguments: given,
    digest: callDigest(contract, method, given, services.secrets.hash),
    manifestDigest,
    retry,
    held,
    isolated: facts.isolated,
    consent: undefined,
    settled: facts.settled,
    cancelled: false,
    lost: false,
    option: undefined,
    performed: undefined,
    scope: undefined,
    windowed: false,
    warnings: [],
  };
}

/** An exchange without a client: its messages and its answer are dropped. */
function deafExchange({ method, contract, arguments: given }: CallFacts): Exchange {
  return {
    request: { kind: "request", id: "unattended", method, params: { name: contract.tool, arguments: given } },
    send: () => undefined,
    respond: () => undefined,
    onAbandoned: () => undefined,
  };
}
/** Members of params that are not part of the judged arguments: protocol mechanics, judged or cleaned on their own. */
const mechanics = new Set(["_meta", "inputResponses", "requestState", "task"]);

/** The arguments of a method: a tool's own, otherwise the params without mechanics. */
export function argumentsOf(method: string, params: JsonObject | undefined): JsonObject {
  return withUnknownName({ kind: "request", method }, ownArguments(method, params));
}

/**
 * The arguments with the name of a method that no revision has: it is chosen like any argument, and reaches the server
 * like one.
 */
export function withUnknownName(
  { kind, method }: Pick<RequestMessage | NotificationMessage, "kind" | "method">,
  given: JsonObject,
): JsonObject {
  if (knownChannel({ method, kind, direction: "to-server" }) !== undefined) return given;
  let name = "$method";
  while (Object.hasOwn(given, name)) name = `$${name}`;
  return { ...given, [name]: method };
}

function ownArguments(method: string, params: JsonObject | undefined): JsonObject {
  if (params === undefined) return {};
  if (method === "tools/call") {
    const given = params["arguments"];
    return typeof given === "object" && given !== null && !Array.isArray(given) ? (given as JsonObject) : {}; // narrowed
  }
  const names = Object.keys(params);
  if (!names.some((name) => mechanics.has(name))) return params;
  const kept: Record<string, Json> = {};
  for (const name of names) {
    const value = params[name];
    if (mechanics.has(name) || value === undefined) continue;
    setOwn(kept, name, value);
  }
  return kept;
}

/** Digest that a consent is bound to: of server, method, tool and canonical arguments. */
export function callDigest(
  contract: Pick<ToolContract, "server" | "tool">,
  method: string,
  given: JsonObject,
  hash: (text: string) => string,
): string {
  return digest({ server: contract.server, method, tool: contract.tool, arguments: given }, hash);
}

export function callMoment(call: Call, at: number): CallMoment {
  return {
    kind: "call",
    at,
    call: call.id,
    method: call.method,
    contract: call.contract,
    arguments: call.arguments,
    workspace: call.live.workspace,
    digest: call.digest,
    ...(call.held === undefined ? {} : { heldSince: call.held.since }),
  };
}

/**
 * Whether a server is only observed in this run: in observe mode everything passes, and the true verdict is only
 * logged.
 */
export function isObserved(live: LiveRun, server: string): boolean {
  return live.policy.settings.mode === "observe" || live.policy.server(server).mode === "observe";
}

export function notesOf(call: string, decision: Decision, observed: boolean): JsonObject {
  const stopped = observed ? decision.verdict !== "allow" : decision.enforcedVerdict !== decision.verdict;
  return stopped ? { decision: call, wouldHaveBeenStopped: decision.enforcedVerdict } : { decision: call };
}

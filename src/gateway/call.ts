/** One call on its way through the gateway, and the places where everything about it is known. */
import type { ToolContract } from "../core/contract.ts";
import { covers } from "../core/effect.ts";
import type { JsonObject } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import type { CallMoment, CallOption } from "../core/moment.ts";
import type { Decision } from "../core/decision.ts";
import { digest } from "../wire/canonical.ts";
import type { RequestId, RequestMessage } from "../wire/message.ts";
import type { LiveRun } from "./live-run.ts";
import type { Exchange } from "./ports.ts";
import type { Services } from "./services-port.ts";

export type Call<Q> = {
  /** Unique over all runs and restarts; also the id of the decision. */
  readonly id: string;
  readonly live: LiveRun<Q>;
  readonly exchange: Exchange;
  readonly request: RequestMessage;
  readonly method: string;
  readonly contract: ToolContract;
  readonly arguments: JsonObject;
  readonly digest: string;
  readonly manifestDigest: string | undefined;
  /** What a modern client sent along when it repeated the call: our sealed question and its answers. */
  readonly retry: { readonly state: string; readonly responses: Json | undefined } | undefined;
  /** Id under which it waited in the outbox. */
  readonly held?: string | undefined;
  /** The client gave up on it; while it is being decided that means that it is never sent. */
  cancelled: boolean;
  /** The call's outcome is already on record as unknown; a late result is only released. */
  lost: boolean;
  option: CallOption | undefined;
  /** Rules whose injected call has already succeeded for this one. */
  performed: Set<string> | undefined;
  /** What it may touch, where it runs in a projection: text of the obligation `isolate`. */
  scope: string | undefined;
  /** Its window in the projection was opened. */
  windowed: boolean;
  /** What the call costs although it was allowed, in words; shown with its result. */
  warnings: readonly string[];
};

/** What must not be part of the arguments that are judged: it is mechanics, and judged or cleaned on its own. */
const mechanics = new Set(["_meta", "inputResponses", "requestState", "task"]);

/** The arguments of a method: a tool's own, otherwise the params without mechanics. */
export function argumentsOf(method: string, params: JsonObject | undefined): JsonObject {
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
    Object.defineProperty(kept, name, { value, enumerable: true, writable: true, configurable: true });
  }
  return kept;
}

/** What a consent is bound to: server, method, tool and canonical arguments. */
export function callDigest(
  contract: Pick<ToolContract, "server" | "tool">,
  method: string,
  given: JsonObject,
  hash: (text: string) => string,
): string {
  return digest({ server: contract.server, method, tool: contract.tool, arguments: given }, hash);
}

export function callMoment<Q>(call: Call<Q>, at: number): CallMoment {
  return {
    kind: "call",
    at,
    call: call.id,
    method: call.method,
    contract: call.contract,
    arguments: call.arguments,
    workspace: call.live.workspace,
    digest: call.digest,
  };
}

/** True if doing the call twice could do harm: reading again is no reason to ask (gateway.md 9, non-idempotent calls). */
export function harmsTwice({ consequential, effects, cases }: ToolContract): boolean {
  if (!consequential) return false;
  const ranges = [effects, ...cases.flatMap((one) => one.effects ?? [])];
  return ranges.some(({ may }) => may.some((effect) => !covers("read", effect)));
}

/** Verdict that is acted on: in observe mode everything passes, and the true verdict is only logged. */
export function isObserved<Q>(live: LiveRun<Q>, server: string): boolean {
  return live.policy.settings.mode === "observe" || live.policy.server(server).mode === "observe";
}

export function notesOf(call: string, decision: Decision, observed: boolean): JsonObject {
  const stopped = observed ? decision.verdict !== "allow" : decision.unobserved !== decision.verdict;
  return stopped ? { decision: call, wouldHaveBeenStopped: decision.unobserved } : { decision: call };
}

/** Ids that are unique over restarts without asking for randomness each time. */
export function idSource<Q>(services: Services<Q>): () => string {
  const boot = services.secrets.token().slice(0, 8);
  let count = 0;
  return () => {
    count += 1;
    return `${boot}-${count.toString(36)}`;
  };
}

/** Ids of our own requests; a client or server that uses the prefix is refused, so they never collide. */
export const ownIdPrefix = "sluicegate:";

/** Ids that no client may use for its requests: ours, and those of the translation between eras. */
export function isReservedId(id: RequestId): boolean {
  return typeof id === "string" && id.startsWith("sluicegate");
}

export function isOwnId(id: RequestId): boolean {
  return typeof id === "string" && id.startsWith(ownIdPrefix);
}

/**
 * Shapes of revision 2026-07-28 that `@modelcontextprotocol/core` does not have (it reads `input_required` as an empty
 * success). Readers return undefined for a value of another shape; they never repair.
 */
import { isArray, isObject, member, stringMember, type Json, type JsonObject } from "../core/json.ts";
import { metaKeys } from "./meta.ts";
import type { RequestId } from "./message.ts";
import { findMethod } from "./registry.ts";

/** Questions that one result may carry; each becomes a prompt for the user. */
export const inputRequestsMax = 32;

/** Characters of `requestState`; clients send it back with every retry. */
export const requestStateLengthMax = 64 * 1024;

export type ResultType = "complete" | "input_required" | "task" | "unknown";

/**
 * The type of a result; callers check it before they read anything else from it. Legacy results have no `resultType`
 * and are complete. A type that the protocol does not define is `unknown`, never complete: its text could sit anywhere.
 */
export function resultTypeOf(result: Json): ResultType {
  const type = member(result, "resultType");
  if (type === undefined) return "complete";
  return type === "complete" || type === "input_required" || type === "task" ? type : "unknown";
}

/** A question of a server, under the key that the answer must carry. */
export type InputRequest = { readonly key: string; readonly method: string; readonly params: JsonObject | undefined };

export type InputRequired = { readonly requests: readonly InputRequest[]; readonly requestState: string | undefined };

/** Reads an `input_required` result (SEP-2322). It must ask something or carry state, or both. */
export function readInputRequired(result: Json): InputRequired | undefined {
  if (resultTypeOf(result) !== "input_required") return undefined;
  const requestState = member(result, "requestState");
  if (requestState !== undefined && typeof requestState !== "string") return undefined;
  if ((requestState?.length ?? 0) > requestStateLengthMax) return undefined;
  const asked = member(result, "inputRequests");
  if (asked === undefined) return requestState === undefined ? undefined : { requests: [], requestState };
  const requests = readInputRequests(asked);
  return requests && { requests, requestState };
}

/** Reads a map of questions; each must be a request that this revision lets a server embed. */
export function readInputRequests(asked: Json): readonly InputRequest[] | undefined {
  if (!isObject(asked) || Object.keys(asked).length > inputRequestsMax) return undefined;
  const requests: InputRequest[] = [];
  for (const key of Object.keys(asked)) {
    const request = member(asked, key);
    const method = stringMember(request, "method");
    const params = member(request, "params");
    if (method === undefined || (params !== undefined && !isObject(params))) return undefined;
    const query = { method, kind: "request", direction: "to-client", form: "embedded" } as const;
    if (findMethod("2026-07-28", query) === undefined) return undefined;
    requests.push({ key, method, params });
  }
  return requests;
}

/** Builds an `input_required` result. */
export function inputRequiredResult(required: InputRequired): JsonObject {
  const { requests, requestState } = required;
  const asked = requests.map(({ key, method, params }) => [
    key,
    params === undefined ? { method } : { method, params },
  ]);
  return {
    resultType: "input_required",
    ...(asked.length > 0 ? { inputRequests: Object.fromEntries(asked) } : {}),
    ...(requestState === undefined ? {} : { requestState }),
  };
}

/** The answers that a retried request or `tasks/update` carries, by key; undefined if malformed, empty if none. */
export function readInputResponses(params: JsonObject | undefined): ReadonlyMap<string, JsonObject> | undefined {
  const given = member(params, "inputResponses");
  const answers = new Map<string, JsonObject>();
  if (given === undefined) return answers;
  if (!isObject(given) || Object.keys(given).length > inputRequestsMax) return undefined;
  for (const key of Object.keys(given)) {
    const answer = member(given, key);
    if (!isObject(answer)) return undefined;
    answers.set(key, answer);
  }
  return answers;
}

/** Per-request metadata of a modern request, as far as it has the right types. */
export type RequestMeta = {
  readonly protocolVersion: string | undefined;
  readonly clientInfo: JsonObject | undefined;
  readonly clientCapabilities: JsonObject | undefined;
  readonly logLevel: string | undefined;
  readonly progressToken: RequestId | undefined;
};

export function readRequestMeta(params: JsonObject | undefined): RequestMeta {
  const meta = member(params, "_meta");
  const clientInfo = member(meta, metaKeys.clientInfo);
  const clientCapabilities = member(meta, metaKeys.clientCapabilities);
  return {
    protocolVersion: stringMember(meta, metaKeys.protocolVersion),
    clientInfo: isObject(clientInfo) ? clientInfo : undefined,
    clientCapabilities: isObject(clientCapabilities) ? clientCapabilities : undefined,
    logLevel: stringMember(meta, metaKeys.logLevel),
    progressToken: readId(member(meta, metaKeys.progressToken)),
  };
}

/** An id or token: text, or a whole number that every reader holds exactly. */
export function readId(value: Json | undefined): RequestId | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
}

export type CacheScope = "public" | "private";

/** Cache hints that modern lists and reads must carry (SEP-2549). Ours vary by run, hence private and stale at once. */
export const runCache: { readonly ttlMs: number; readonly cacheScope: CacheScope } = {
  ttlMs: 0,
  cacheScope: "private",
};

/** Methods whose modern result must carry cache hints. */
export const cacheableMethods: ReadonlySet<string> = new Set([
  "server/discover",
  "tools/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "prompts/list",
]);

/** The subscriptions that a `subscriptions/listen` request asks for. */
export type SubscriptionFilter = {
  readonly toolsListChanged: boolean;
  readonly promptsListChanged: boolean;
  readonly resourcesListChanged: boolean;
  readonly resourceSubscriptions: readonly string[];
  readonly taskIds: readonly string[];
};

/** Resources or tasks in one filter. */
export const subscriptionsMax = 1_000;

/** Reads the `notifications` member of a listen request or of its acknowledgement. */
export function readFilter(params: JsonObject | undefined): SubscriptionFilter | undefined {
  const filter = member(params, "notifications");
  if (!isObject(filter)) return undefined;
  const resourceSubscriptions = readTexts(member(filter, "resourceSubscriptions"));
  const taskIds = readTexts(member(filter, "taskIds"));
  if (resourceSubscriptions === undefined || taskIds === undefined) return undefined;
  return {
    toolsListChanged: member(filter, "toolsListChanged") === true,
    promptsListChanged: member(filter, "promptsListChanged") === true,
    resourcesListChanged: member(filter, "resourcesListChanged") === true,
    resourceSubscriptions,
    taskIds,
  };
}

function readTexts(value: Json | undefined): readonly string[] | undefined {
  if (value === undefined) return [];
  if (!isArray(value) || value.length > subscriptionsMax) return undefined;
  const texts = value.filter((element) => typeof element === "string");
  return texts.length === value.length ? texts : undefined;
}

/** The `notifications` member for a filter; what is not wanted is left out. */
export function filterJson(filter: SubscriptionFilter): JsonObject {
  return {
    ...(filter.toolsListChanged ? { toolsListChanged: true } : {}),
    ...(filter.promptsListChanged ? { promptsListChanged: true } : {}),
    ...(filter.resourcesListChanged ? { resourcesListChanged: true } : {}),
    ...(filter.resourceSubscriptions.length > 0 ? { resourceSubscriptions: filter.resourceSubscriptions } : {}),
    ...(filter.taskIds.length > 0 ? { taskIds: filter.taskIds } : {}),
  };
}

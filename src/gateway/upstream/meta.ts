/**
 * A client's message as its server may see it. What is judged of a request are the arguments of its method; everything
 * beside them would be a channel that no rule sees, so only members that the protocol knows go on, and of these nothing
 * that is free text. Trace context is such a channel too: its ids are replaced by keyed digests (a server can still
 * join its own spans), and nothing of ours reaches a server.
 */
import { type Json, type JsonObject, isObject, setOwn, stringMember } from "../../core/json.ts";
import type { Message } from "../../wire/message.ts";
import { metaKeys, ownMetaPrefix } from "../../wire/meta.ts";

/** Members of the params of methods that are not judged as a whole; other methods are, and keep what they have. */
const passed: Readonly<Record<string, readonly string[]>> = {
  initialize: ["protocolVersion", "capabilities", "clientInfo"],
  "server/discover": [],
  ping: [],
  "tools/list": ["cursor"],
  "prompts/list": ["cursor"],
  "resources/list": ["cursor"],
  "resources/templates/list": ["cursor"],
  "tools/call": ["name", "arguments", "task", "requestState", "inputResponses"],
  "logging/setLevel": ["level"],
  "tasks/get": ["taskId"],
  "tasks/result": ["taskId"],
  "tasks/cancel": ["taskId"],
  "tasks/update": ["taskId", "inputResponses"],
  "tasks/list": ["cursor"],
  "notifications/initialized": [],
  "notifications/roots/list_changed": [],
  "notifications/cancelled": ["requestId", "reason"],
};

/** Members of `_meta` that go on; all are mechanics of the protocol. */
const passedMeta: ReadonlySet<string> = new Set([
  metaKeys.protocolVersion,
  metaKeys.clientInfo,
  metaKeys.clientCapabilities,
  metaKeys.logLevel,
  metaKeys.subscriptionId,
  metaKeys.relatedTask,
  metaKeys.progressToken,
  metaKeys.traceparent,
]);

/** Severities of RFC 5424, as the protocol names them. */
const levels = new Set(["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]);

/** Characters of each text in which a client says what it is. */
const clientTextMax = 64;

/** Characters of an id or token that may be a client's own: it says no more than a number of the protocol can. */
const ownTokenMax = 8;

/** Whether a text that a client chose as an id or a token is longer than a number could be, so that it is replaced. */
export function isWordy(id: Json | undefined): boolean {
  return typeof id === "string" && id.length > ownTokenMax;
}

function isLevel(value: Json): boolean {
  return typeof value === "string" && levels.has(value);
}

/** Params as the server may see them: the same object when there is nothing to clean. */
function cleanParams(
  way: { readonly method: string; readonly judged: boolean },
  params: JsonObject | undefined,
  mac: (text: string) => string,
): JsonObject | undefined {
  const { method, judged } = way;
  if (params === undefined) return undefined;
  const known = Object.hasOwn(passed, method) ? passed[method] : undefined;
  const cleaned: Record<string, Json> = {};
  let changed = false;
  for (const [name, value] of Object.entries(params)) {
    const kept = name === "_meta" ? cleanMeta(value, judged, mac) : keptMember(known, name, value);
    if (kept !== value) changed = true;
    if (kept !== undefined) setOwn(cleaned, name, kept);
  }
  if (!changed) return params;
  return Object.keys(cleaned).length > 0 ? cleaned : undefined;
}

function keptMember(known: readonly string[] | undefined, name: string, value: Json): Json | undefined {
  if (known !== undefined && !known.includes(name)) return undefined;
  if (name === "clientInfo") return clientInfo(value);
  // Whatever a server of the protocol may learn of a task that is wanted is a number.
  if (name === "task") return isObject(value) ? onlyNumbers(value) : undefined;
  if (name === "level" && known !== undefined) return isLevel(value) ? value : undefined;
  return value;
}

/** A message as the server may see it: the same object when there is nothing to clean. */
export function cleanMessage(message: Message, mac: (text: string) => string): Message {
  switch (message.kind) {
    case "request": {
      const { id, method } = message;
      const params = cleanParams({ method, judged: false }, message.params, mac);
      return params === message.params ? message : { kind: "request", id, method, params };
    }
    case "notification": {
      const { method } = message;
      // A notification that is none of the table's is judged with all that it has.
      const params = cleanParams({ method, judged: !Object.hasOwn(passed, method) }, message.params, mac);
      return params === message.params ? message : { kind: "notification", method, params };
    }
    case "response": {
      if (!isObject(message.result)) return message;
      const result = cleanParams({ method: "", judged: true }, message.result, mac);
      return result === message.result ? message : { kind: "response", id: message.id, result: result ?? {} };
    }
    case "error":
      return message;
  }
}

/** Undefined where nothing is left; the same value where nothing is to be cleaned. */
function cleanMeta(meta: Json, judged: boolean, mac: (text: string) => string): Json | undefined {
  if (!isObject(meta)) return undefined;
  const cleaned: Record<string, Json> = {};
  let changed = false;
  for (const [name, value] of Object.entries(meta)) {
    const kept = passedMeta.has(name) ? keptMeta(name, value, mac) : judged && !isChannel(name) ? value : undefined;
    if (kept !== value) changed = true;
    if (kept !== undefined) setOwn(cleaned, name, kept);
  }
  if (!changed) return meta;
  return Object.keys(cleaned).length > 0 ? cleaned : undefined;
}

/** Members that no server gets, judged or not. */
function isChannel(name: string): boolean {
  return name === metaKeys.tracestate || name === metaKeys.baggage || name.startsWith(ownMetaPrefix);
}

function keptMeta(name: string, value: Json, mac: (text: string) => string): Json | undefined {
  switch (name) {
    case metaKeys.traceparent:
      return typeof value === "string" ? rewriteTraceparent(value, mac) : undefined;
    case metaKeys.clientInfo:
      return clientInfo(value);
    case metaKeys.logLevel:
      return isLevel(value) ? value : undefined;
    case metaKeys.relatedTask: {
      const taskId = stringMember(value, "taskId");
      return taskId === undefined || (isObject(value) && Object.keys(value).length === 1) ? value : { taskId };
    }
    default:
      return value;
  }
}

/** Name, title and version of the client program; no prose. */
export function clientInfo(value: Json): Json | undefined {
  if (!isObject(value)) return undefined;
  const names = ["name", "title", "version"];
  const fits = ([name, text]: [string, Json]): boolean =>
    names.includes(name) && typeof text === "string" && text.length <= clientTextMax;
  if (Object.entries(value).every(fits)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, text]) =>
      names.includes(name) && typeof text === "string" ? [[name, text.slice(0, clientTextMax)]] : [],
    ),
  );
}

function onlyNumbers(value: JsonObject): JsonObject {
  const entries = Object.entries(value);
  const kept = entries.filter(([name, one]) => typeof one === "number" && /^[a-zA-Z]{1,16}$/.test(name));
  return kept.length === entries.length ? value : Object.fromEntries(kept);
}

/** W3C trace context, version 00; anything else is dropped. */
function rewriteTraceparent(text: string, mac: (text: string) => string): string | undefined {
  const parts = /^00-([0-9a-f]{32})-([0-9a-f]{16})-0([01])$/.exec(text);
  if (parts === null) return undefined;
  return `00-${mac(`trace ${parts[1]}`).slice(0, 32)}-${mac(`span ${parts[2]}`).slice(0, 16)}-0${parts[3]}`;
}

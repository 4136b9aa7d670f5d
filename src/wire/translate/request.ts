/**
 * Requests of a client, across the eras.
 *
 * | legacy client | modern server | modern client | legacy server |
 * |---|---|---|---|
 * | `initialize`, `ping` | answered by the gateway | `server/discover` | answered from the session |
 * | `logging/setLevel` | kept, sent as `_meta` log level | `_meta` log level | `logging/setLevel` when it changes |
 * | `resources/subscribe`, `unsubscribe` | one `subscriptions/listen` | `subscriptions/listen` | `resources/subscribe` |
 * | `params.task`, answers and state of a round trip | removed | the same | removed |
 * | `tasks/*` | no such method | the same | no such method |
 * | anything else of both eras | the same with per-request `_meta` | the same | the same without it |
 */
import { isObject, member, stringMember, type JsonObject } from "../../core/json.ts";
import { metaKeys, ownMetaPrefix, perRequestKeys } from "../meta.ts";
import type { RequestMessage, Revision } from "../message.ts";
import { readFilter, readRequestMeta, type SubscriptionFilter } from "../modern.ts";
import { isEmpty, withMeta, without } from "../object.ts";
import { findMethod } from "../registry.ts";
import { perRequestMeta, type LegacyClient } from "./handshake.ts";

/** The gateway's action for a request; the stateful part of each is the gateway's own. */
export type RequestTranslation =
  | { readonly kind: "send"; readonly message: RequestMessage; readonly logLevel: string | undefined }
  /** The gateway answers from what it knows: handshake, discovery or ping. */
  | { readonly kind: "local"; readonly method: "initialize" | "server/discover" | "ping" }
  | { readonly kind: "log-level"; readonly level: string }
  | { readonly kind: "subscribe"; readonly uri: string }
  | { readonly kind: "unsubscribe"; readonly uri: string }
  | { readonly kind: "listen"; readonly filter: SubscriptionFilter }
  /** The receiver's era has no such method: answered with "method not found". */
  | { readonly kind: "absent" }
  | { readonly kind: "malformed" };

/** A legacy client's request for a modern server. */
export function requestToModern(message: RequestMessage, client: LegacyClient): RequestTranslation {
  const { method, params } = message;
  switch (method) {
    case "initialize":
    case "ping":
      return { kind: "local", method };
    case "logging/setLevel": {
      const level = stringMember(params, "level");
      return level === undefined ? { kind: "malformed" } : { kind: "log-level", level };
    }
    case "resources/subscribe":
    case "resources/unsubscribe": {
      const uri = stringMember(params, "uri");
      if (uri === undefined) return { kind: "malformed" };
      return { kind: method === "resources/subscribe" ? "subscribe" : "unsubscribe", uri };
    }
  }
  // Legacy tasks have other shapes; a legacy client polls tasks that the gateway holds, never a modern server's own.
  if (method.startsWith("tasks/") || !exists("2026-07-28", method)) return { kind: "absent" };
  const next = withMeta(withoutRounds(params), { ...cleanMeta(params), ...perRequestMeta(client) });
  return { kind: "send", message: changed(message, next), logLevel: undefined };
}

/** A modern client's request for a legacy server of some revision. */
export function requestToLegacy(message: RequestMessage, revision: Revision): RequestTranslation {
  const { method, params } = message;
  if (method === "server/discover") return { kind: "local", method };
  if (method === "subscriptions/listen") {
    const filter = readFilter(params);
    return filter === undefined ? { kind: "malformed" } : { kind: "listen", filter };
  }
  if (method.startsWith("tasks/") || !exists(revision, method)) return { kind: "absent" };
  // Translation does not admit a message that is not legal in the sender's era.
  if (!exists("2026-07-28", method)) return { kind: "absent" };
  const next = withMeta(withoutRounds(params), cleanMeta(params));
  return {
    kind: "send",
    message: changed(message, isEmpty(next) ? undefined : next),
    logLevel: readRequestMeta(params).logLevel,
  };
}

/**
 * Answers and state of a round trip are the gateway's, which puts the questions of the other era's server to the client.
 * Tasks are not offered across the eras, so none is asked for.
 */
function withoutRounds(params: JsonObject | undefined): JsonObject {
  return without(params ?? {}, ["task", "inputResponses", "requestState"]);
}

/** `_meta` without what belongs to one era or to us alone. */
export function cleanMeta(params: JsonObject | undefined): JsonObject {
  const meta = member(params, "_meta");
  if (!isObject(meta)) return {};
  const own = Object.keys(meta).filter((name) => name.startsWith(ownMetaPrefix));
  return without(meta, [...perRequestKeys, metaKeys.relatedTask, metaKeys.subscriptionId, ...own]);
}

function exists(revision: Revision, method: string): boolean {
  return findMethod(revision, { method, kind: "request", direction: "to-server" }) !== undefined;
}

function changed(message: RequestMessage, params: JsonObject | undefined): RequestMessage {
  return { kind: "request", id: message.id, method: message.method, params };
}

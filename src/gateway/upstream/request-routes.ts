/** Requests whose ids at the server are the gateway's own: whose they are, and what the client calls them. */
import { type Json, isObject, member } from "../../core/json.ts";
import type { NotificationMessage, RequestId } from "../../wire/message.ts";
import { metaKeys } from "../../wire/meta.ts";

/** What the client calls a request: its id, and the token of its progress. */
export type ClientNames = { readonly id: RequestId; readonly token: Json | undefined };

/** The id that a value is; undefined for what is none. */
export function asId(value: Json | undefined): RequestId | undefined {
  return typeof value === "string" || typeof value === "number" ? value : undefined;
}

/** Puts the client's own token and subscription id back. */
export function readdressed(message: NotificationMessage, route: ClientNames): NotificationMessage {
  const { params } = message;
  if (params === undefined) return message;
  const changed: Record<string, Json> = { ...params };
  if (params["progressToken"] !== undefined && route.token !== undefined) changed["progressToken"] = route.token;
  const meta = params["_meta"];
  if (isObject(meta) && member(meta, metaKeys.subscriptionId) !== undefined) {
    changed["_meta"] = { ...meta, [metaKeys.subscriptionId]: route.id };
  }
  return { kind: "notification", method: message.method, params: changed };
}

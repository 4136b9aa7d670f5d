/**
 * The client's `_meta` on its way to a server: trace context is a channel that the agent's client fills, so the ids
 * are replaced by keyed digests (a server can still join its own spans), `baggage` and `tracestate` are dropped, and
 * nothing of ours reaches a server.
 */
import { type Json, type JsonObject, isObject, setOwn } from "../../core/json.ts";
import type { Message } from "../../wire/message.ts";
import { ownMetaPrefix } from "../../wire/meta.ts";

/** Params as the server may see them: the same object when there is nothing to clean. */
function cleanParams(params: JsonObject | undefined, mac: (text: string) => string): JsonObject | undefined {
  if (params === undefined) return undefined;
  const meta = params["_meta"];
  if (!isObject(meta) || !needsCleaning(meta)) return params;
  const cleaned = cleanMeta(meta, mac);
  if (Object.keys(cleaned).length > 0) return { ...params, _meta: cleaned };
  const { _meta: _dropped, ...rest } = params;
  return rest;
}

/** A message as the server may see it: the same object when there is nothing to clean. */
export function cleanMessage(message: Message, mac: (text: string) => string): Message {
  switch (message.kind) {
    case "request": {
      const { id, method } = message;
      const params = cleanParams(message.params, mac);
      return params === message.params ? message : { kind: "request", id, method, params };
    }
    case "notification": {
      const params = cleanParams(message.params, mac);
      return params === message.params ? message : { kind: "notification", method: message.method, params };
    }
    case "response": {
      if (!isObject(message.result)) return message;
      const result = cleanParams(message.result, mac);
      return result === message.result ? message : { kind: "response", id: message.id, result: result ?? {} };
    }
    case "error":
      return message;
  }
}

function needsCleaning(meta: JsonObject): boolean {
  for (const name of Object.keys(meta)) {
    if (name === "traceparent" || name === "tracestate" || name === "baggage" || name.startsWith(ownMetaPrefix)) {
      return true;
    }
  }
  return false;
}

function cleanMeta(meta: JsonObject, mac: (text: string) => string): JsonObject {
  const cleaned: Record<string, Json> = {};
  for (const [name, value] of Object.entries(meta)) {
    if (name === "tracestate" || name === "baggage" || name.startsWith(ownMetaPrefix)) continue;
    if (name !== "traceparent") {
      setOwn(cleaned, name, value);
      continue;
    }
    const rewritten = typeof value === "string" ? rewriteTraceparent(value, mac) : undefined;
    if (rewritten !== undefined) cleaned["traceparent"] = rewritten;
  }
  return cleaned;
}

/** W3C trace context, version 00; anything else is dropped. */
function rewriteTraceparent(text: string, mac: (text: string) => string): string | undefined {
  const parts = /^00-([0-9a-f]{32})-([0-9a-f]{16})-0([01])$/.exec(text);
  if (parts === null) return undefined;
  return `00-${mac(`trace ${parts[1]}`).slice(0, 32)}-${mac(`span ${parts[2]}`).slice(0, 16)}-0${parts[3]}`;
}

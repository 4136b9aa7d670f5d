import type { Json, JsonObject } from "../../../src/core/json.ts";

/** A JSON-RPC message as it lies on the wire; members are absent, not undefined. */
export type RpcMessage = {
  readonly jsonrpc: "2.0";
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: Json;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Json };
};

export type RpcId = string | number;

/** Takes a message towards the client; which stream it travels on is the transport's business. */
export type Outlet = {
  /** `status` is the HTTP status of an error answer, where the transport has one. */
  readonly send: (message: RpcMessage, status?: number) => void;
  /** Ends the stream of this request before its answer (SEP-1699); only a resumable transport can. */
  readonly interrupt?: () => void;
};

/** An answer that is a JSON-RPC error. `status` is the HTTP status that the modern era demands for it. */
export class RpcFailure extends Error {
  readonly code: number;
  readonly data: Json | undefined;
  readonly status: number;

  constructor(code: number, message: string, more: { data?: Json; status?: number } = {}) {
    super(message);
    this.code = code;
    this.data = more.data;
    this.status = more.status ?? 200;
  }
}

export const codes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  legacyResourceNotFound: -32002,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const;

/**
 * Parses JSON so that every number that a double would change keeps its lexeme. Echo tools show with it whether
 * something between client and server rounded a value.
 */
export function parseExact(text: string): Json {
  const keep = (_key: string, value: unknown, context: { source?: string }): unknown =>
    typeof value === "number" && context.source !== undefined && JSON.stringify(value) !== context.source
      ? JSON.rawJSON(context.source)
      : value;
  // The reviver saw nothing but JSON, so the result is JSON.
  return JSON.parse(text, keep) as Json;
}

export function request(id: RpcId, method: string, params: JsonObject): RpcMessage {
  return { jsonrpc: "2.0", id, method, params };
}

export function notification(method: string, params?: JsonObject): RpcMessage {
  return params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params };
}

export function failure(id: RpcId | null, cause: RpcFailure): RpcMessage {
  const error = { code: cause.code, message: cause.message, ...(cause.data === undefined ? {} : { data: cause.data }) };
  return { jsonrpc: "2.0", id, error };
}

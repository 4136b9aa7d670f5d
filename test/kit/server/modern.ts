import { isObject, member, stringMember, type Json, type JsonObject } from "../../../src/core/json.ts";
import { honouredFilter, matches, type Board, type Listener } from "./board.ts";
import { capabilityOf, InputRequired, openState, roundAnswers, type Call } from "./call.ts";
import type { Settings } from "./conversation.ts";
import { codes, failure, notification, RpcFailure, type Outlet, type RpcId, type RpcMessage } from "./json-rpc.ts";
import { instructions, serverInfo, sharedMethods } from "./methods.ts";

export const modernRevision = "2026-07-28";
const versionKey = "io.modelcontextprotocol/protocolVersion";
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
const logLevelKey = "io.modelcontextprotocol/logLevel";

/** Results that carry caching hints (SEP-2549). */
const cacheable = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
]);

const discovered: JsonObject = {
  supportedVersions: [modernRevision],
  capabilities: {
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    completions: {},
    logging: {},
  },
  instructions,
};

/** True when the request says in its own `_meta` which revision it follows (SEP-2575). */
export function isModern(method: string | undefined, params: JsonObject): boolean {
  return (
    method === "server/discover" || method === "subscriptions/listen" || member(meta(params), versionKey) !== undefined
  );
}

function meta(params: JsonObject): Json | undefined {
  return member(params, "_meta");
}

/** Refuses a request without the metadata that every modern request must carry. */
function checkMeta(params: JsonObject): void {
  const version = member(meta(params), versionKey);
  if (typeof version !== "string" || !isObject(member(meta(params), capabilitiesKey))) {
    throw new RpcFailure(codes.invalidParams, `_meta must carry ${versionKey} and ${capabilitiesKey}`, { status: 400 });
  }
  if (version !== modernRevision) {
    throw new RpcFailure(codes.unsupportedVersion, "Unsupported protocol version", {
      data: { supported: [modernRevision], requested: version },
      status: 400,
    });
  }
}

type Running = { readonly controller: AbortController; readonly end?: () => void };

function openCall(params: JsonObject, outlet: Outlet, signal: AbortSignal, known: JsonObject) {
  const capabilities = member(meta(params), capabilitiesKey);
  const token = member(meta(params), "progressToken");
  const wantsLog = member(meta(params), logLevelKey) !== undefined;
  return (_name: string, args: JsonObject): Call => ({
    era: "modern",
    arguments: args,
    capabilities: isObject(capabilities) ? capabilities : {},
    signal,
    log: (level, data) => {
      if (wantsLog) outlet.send(notification("notifications/message", { level, logger: "fixture", data }));
    },
    progress: (progress, total, message) => {
      if (token === undefined) return;
      const more = message === undefined ? {} : { message };
      outlet.send(notification("notifications/progress", { progressToken: token, progress, total, ...more }));
    },
    ask: async (inquiries) => {
      const open = Object.entries(inquiries).filter(([key]) => known[key] === undefined);
      for (const [, inquiry] of open) {
        const name = capabilityOf[inquiry.method] ?? "";
        if (member(capabilities, name) !== undefined) continue;
        const data = { requiredCapabilities: { [name]: {} } };
        throw new RpcFailure(codes.missingCapability, `The client did not declare ${name}`, { data, status: 400 });
      }
      if (open.length > 0) throw new InputRequired(Object.fromEntries(open));
      return Object.fromEntries(Object.keys(inquiries).map((key) => [key, known[key] ?? null]));
    },
    interrupt: () => outlet.interrupt?.(),
  });
}

function finished(method: string, result: JsonObject): JsonObject {
  const named = { resultType: "complete", ...result, _meta: { "io.modelcontextprotocol/serverInfo": serverInfo } };
  return cacheable.has(method) ? { ...named, ttlMs: 0, cacheScope: "private" } : named;
}

/** The modern era: no handshake, every request stands alone. */
export function createModern(settings: Settings, board: Board) {
  const running = new Map<RpcId, Running>();

  /** Opens a subscription; it lives until cancelled or until its stream closes. */
  function listen(id: RpcId, params: JsonObject, outlet: Outlet): Promise<void> {
    const filter = honouredFilter(member(params, "notifications"));
    const listener: Listener = {
      wants: (method, uri) => matches(filter, method, uri),
      send: outlet.send,
      subscriptionId: id,
    };
    outlet.send(
      notification("notifications/subscriptions/acknowledged", {
        notifications: filter,
        _meta: { "io.modelcontextprotocol/subscriptionId": id },
      }),
    );
    board.listeners.add(listener);
    return new Promise((resolve) => {
      const end = () => {
        board.listeners.delete(listener);
        resolve();
      };
      running.set(id, { controller: new AbortController(), end });
    });
  }

  async function answer(id: RpcId, method: string, params: JsonObject, outlet: Outlet): Promise<void> {
    checkMeta(params);
    if (method === "subscriptions/listen") return await listen(id, params, outlet);
    const handler = method === "server/discover" ? () => discovered : sharedMethods[method];
    if (handler === undefined)
      throw new RpcFailure(codes.methodNotFound, `Method not found: ${method}`, { status: 404 });
    const controller = new AbortController();
    running.set(id, { controller });
    const name = stringMember(params, "name") ?? "";
    const known = { ...openState(name, member(params, "requestState")), ...roundAnswers(params) };
    const open = openCall(params, outlet, controller.signal, known);
    const facts = { board, pageSize: settings.pageSize, params, open, answers: () => known, modern: true };
    const result = await handler(facts);
    if (!controller.signal.aborted) outlet.send({ jsonrpc: "2.0", id, result: finished(method, result) });
  }

  async function receive(message: RpcMessage, outlet: Outlet): Promise<void> {
    const { id, method } = message;
    if (id === undefined || id === null || method === undefined) return;
    try {
      await answer(id, method, message.params ?? {}, outlet);
    } catch (cause) {
      const known =
        cause instanceof RpcFailure ? cause : new RpcFailure(codes.internal, String(cause), { status: 500 });
      outlet.send(failure(id, known), known.status);
    } finally {
      running.delete(id);
    }
  }

  function stop(call: Running | undefined): void {
    call?.controller.abort();
    call?.end?.();
  }

  return {
    receive,
    cancel: (params: JsonObject) => {
      const id = member(params, "requestId");
      if (typeof id === "string" || typeof id === "number") stop(running.get(id));
    },
    close: () => {
      for (const call of running.values()) stop(call);
    },
  };
}

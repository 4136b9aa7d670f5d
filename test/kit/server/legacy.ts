import { isObject, member, stringMember, type Json, type JsonObject } from "../../../src/core/json.ts";
import type { Board, Listener } from "./board.ts";
import { capabilityOf, type Call, type Inquiry } from "./call.ts";
import type { Settings } from "./conversation.ts";
import {
  codes,
  failure,
  notification,
  request,
  RpcFailure,
  type Outlet,
  type RpcId,
  type RpcMessage,
} from "./json-rpc.ts";
import { instructions, serverInfo, sharedMethods } from "./methods.ts";

const revisions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const newestRevision = "2025-11-25";
const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

const capabilities: JsonObject = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
  logging: {},
};

type Waiting = { readonly resolve: (result: Json) => void; readonly reject: (cause: RpcFailure) => void };

/** The legacy era: handshake, session state, requests from server to client. */
export function createLegacy(settings: Settings, board: Board, unsolicited: Outlet) {
  const waiting = new Map<RpcId, Waiting>();
  const running = new Map<RpcId, AbortController>();
  const subscribed = new Set<string>();
  let clientCapabilities: JsonObject = {};
  let levelMin = 0;
  let lastId = 0;
  let revision: string | undefined;

  const listener: Listener = {
    wants: (method, uri) => method !== "notifications/resources/updated" || (uri !== undefined && subscribed.has(uri)),
    send: unsolicited.send,
    subscriptionId: undefined,
  };

  function inquire(inquiry: Inquiry, outlet: Outlet): Promise<Json> {
    const name = capabilityOf[inquiry.method] ?? "";
    if (clientCapabilities[name] === undefined) {
      return Promise.reject(new RpcFailure(codes.internal, `The client does not support ${name}`));
    }
    lastId += 1;
    const id = `ask-${lastId}`;
    outlet.send(request(id, inquiry.method, inquiry.params));
    return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
  }

  function open(params: JsonObject, outlet: Outlet, signal: AbortSignal) {
    const token = member(member(params, "_meta"), "progressToken");
    return (_name: string, args: JsonObject): Call => ({
      era: "legacy",
      arguments: args,
      capabilities: clientCapabilities,
      signal,
      log: (level, data) => {
        if (levels.indexOf(level) < levelMin) return;
        outlet.send(notification("notifications/message", { level, logger: "fixture", data }));
      },
      progress: (progress, total, message) => {
        if (token === undefined) return;
        // The text came with revision 2025-03-26.
        const more = message === undefined || revision === "2024-11-05" ? {} : { message };
        outlet.send(notification("notifications/progress", { progressToken: token, progress, total, ...more }));
      },
      ask: async (inquiries) => {
        const answers: Record<string, Json> = {};
        for (const [key, inquiry] of Object.entries(inquiries)) answers[key] = await inquire(inquiry, outlet);
        return answers;
      },
      interrupt: () => outlet.interrupt?.(),
    });
  }

  function initialize(params: JsonObject): JsonObject {
    const asked = stringMember(params, "protocolVersion") ?? "";
    revision = revisions.includes(asked) ? asked : newestRevision;
    const declared = member(params, "capabilities");
    clientCapabilities = isObject(declared) ? declared : {};
    board.listeners.add(listener);
    return { protocolVersion: revision, capabilities, serverInfo, instructions };
  }

  function setLevel(params: JsonObject): JsonObject {
    const index = levels.indexOf(stringMember(params, "level") ?? "");
    if (index < 0) throw new RpcFailure(codes.invalidParams, "Unknown log level");
    levelMin = index;
    return {};
  }

  const ownMethods: Readonly<Record<string, (params: JsonObject) => JsonObject>> = {
    initialize,
    ping: () => ({}),
    "logging/setLevel": setLevel,
    "resources/subscribe": (params) => {
      subscribed.add(stringMember(params, "uri") ?? "");
      return {};
    },
    "resources/unsubscribe": (params) => {
      subscribed.delete(stringMember(params, "uri") ?? "");
      return {};
    },
  };

  async function answer(id: RpcId, method: string, params: JsonObject, outlet: Outlet): Promise<JsonObject> {
    const own = ownMethods[method];
    if (own !== undefined) return own(params);
    const shared = sharedMethods[method];
    if (shared === undefined) throw new RpcFailure(codes.methodNotFound, `Method not found: ${method}`);
    const controller = new AbortController();
    running.set(id, controller);
    const opener = open(params, outlet, controller.signal);
    return await shared({
      board,
      pageSize: settings.pageSize,
      params,
      open: opener,
      answers: () => ({}),
      modern: false,
    });
  }

  async function receiveRequest(id: RpcId, method: string, message: RpcMessage, outlet: Outlet): Promise<void> {
    try {
      const result = await answer(id, method, message.params ?? {}, outlet);
      // A cancelled request gets no answer (2025-11-25, cancellation).
      if (running.get(id)?.signal.aborted !== true) outlet.send({ jsonrpc: "2.0", id, result });
    } catch (cause) {
      const known = cause instanceof RpcFailure ? cause : new RpcFailure(codes.internal, String(cause));
      outlet.send(failure(id, known));
    } finally {
      running.delete(id);
    }
  }

  function receiveAnswer(id: RpcId, message: RpcMessage): void {
    const asked = waiting.get(id);
    waiting.delete(id);
    if (message.error === undefined) asked?.resolve(message.result ?? null);
    else asked?.reject(new RpcFailure(codes.internal, `The client refused: ${message.error.message}`));
  }

  return {
    receive: async (message: RpcMessage, outlet: Outlet): Promise<void> => {
      const { id, method } = message;
      if (id === undefined || id === null) return;
      if (method === undefined) receiveAnswer(id, message);
      else await receiveRequest(id, method, message, outlet);
    },
    cancel: (params: JsonObject) => {
      const id = member(params, "requestId");
      if (typeof id === "string" || typeof id === "number") running.get(id)?.abort();
    },
    close: () => {
      board.listeners.delete(listener);
      for (const controller of running.values()) controller.abort();
      for (const asked of waiting.values()) asked.reject(new RpcFailure(codes.internal, "The client left"));
    },
    revision: () => revision,
  };
}

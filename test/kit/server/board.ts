import { isArray, member, type Json, type JsonObject } from "../../../src/core/json.ts";
import { type RpcMessage, notification } from "./json-rpc.ts";

/** A long-lived wish of a client to hear of changes. */
export type Listener = {
  readonly wants: (method: string, uri: string | undefined) => boolean;
  readonly send: (message: RpcMessage) => void;
  /** Written into `_meta` of everything sent, in the modern era. */
  readonly subscriptionId: string | number | undefined;
};

/** State shared by all clients of one fixture process, and who hears of its changes. */
export type Board = {
  readonly listeners: Set<Listener>;
  dynamicTool: boolean;
  dynamicPrompt: boolean;
  watchedVersion: number;
  cancelledCalls: number;
};

export function createBoard(): Board {
  return {
    listeners: new Set(),
    dynamicTool: false,
    dynamicPrompt: false,
    watchedVersion: 1,
    cancelledCalls: 0,
  };
}

/** Tells every listener that wants to know. */
export function announce(board: Board, method: string, uri?: string): void {
  for (const listener of board.listeners) {
    if (!listener.wants(method, uri)) continue;
    const meta =
      listener.subscriptionId === undefined
        ? {}
        : { _meta: { "io.modelcontextprotocol/subscriptionId": listener.subscriptionId } };
    const params: JsonObject = uri === undefined ? meta : { uri, ...meta };
    listener.send(Object.keys(params).length === 0 ? notification(method) : notification(method, params));
  }
}

const flagOf: Readonly<Record<string, string>> = {
  "notifications/tools/list_changed": "toolsListChanged",
  "notifications/prompts/list_changed": "promptsListChanged",
  "notifications/resources/list_changed": "resourcesListChanged",
};

/** Filter of a `subscriptions/listen` request, narrowed to what this server can honour. */
export function honouredFilter(asked: Json | undefined): JsonObject {
  const flags = Object.values(flagOf).filter((flag) => member(asked, flag) === true);
  const uris = member(asked, "resourceSubscriptions");
  return {
    ...Object.fromEntries(flags.map((flag) => [flag, true])),
    ...(isArray(uris) ? { resourceSubscriptions: uris } : {}),
  };
}

export function matches(filter: JsonObject, method: string, uri: string | undefined): boolean {
  if (method !== "notifications/resources/updated") return member(filter, flagOf[method] ?? "") === true;
  const uris = member(filter, "resourceSubscriptions");
  return isArray(uris) && uris.some((wanted) => wanted === uri);
}

/**
 * Methods of revision 2026-07-28: no handshake, no ping, no request from the server on its own (SEP-2575, SEP-2260).
 * What a server wants to ask sits inside a result (SEP-2322), hence the embedded entries. Tasks are the extension of
 * SEP-2663; its methods exist only where `io.modelcontextprotocol/tasks` was declared.
 */
import type { MethodEntry } from "./registry.ts";

export const tasksExtension = "io.modelcontextprotocol/tasks";

function entry(
  method: string,
  kind: MethodEntry["kind"],
  direction: MethodEntry["direction"],
  extension?: string,
): MethodEntry {
  return { method, kind, direction, form: "message", extension };
}

const embedded = (method: string): MethodEntry => ({ ...entry(method, "request", "to-client"), form: "embedded" });

export const modernMethods: readonly MethodEntry[] = [
  entry("server/discover", "request", "to-server"),
  entry("tools/list", "request", "to-server"),
  entry("tools/call", "request", "to-server"),
  entry("resources/list", "request", "to-server"),
  entry("resources/templates/list", "request", "to-server"),
  entry("resources/read", "request", "to-server"),
  entry("prompts/list", "request", "to-server"),
  entry("prompts/get", "request", "to-server"),
  entry("completion/complete", "request", "to-server"),
  entry("subscriptions/listen", "request", "to-server"),
  entry("notifications/cancelled", "notification", "to-server"),
  entry("notifications/cancelled", "notification", "to-client"),
  entry("notifications/progress", "notification", "to-client"),
  entry("notifications/message", "notification", "to-client"),
  entry("notifications/resources/updated", "notification", "to-client"),
  entry("notifications/resources/list_changed", "notification", "to-client"),
  entry("notifications/tools/list_changed", "notification", "to-client"),
  entry("notifications/prompts/list_changed", "notification", "to-client"),
  entry("notifications/subscriptions/acknowledged", "notification", "to-client"),
  embedded("elicitation/create"),
  embedded("sampling/createMessage"),
  embedded("roots/list"),
  entry("tasks/get", "request", "to-server", tasksExtension),
  entry("tasks/update", "request", "to-server", tasksExtension),
  entry("tasks/cancel", "request", "to-server", tasksExtension),
  entry("notifications/tasks", "notification", "to-client", tasksExtension),
];

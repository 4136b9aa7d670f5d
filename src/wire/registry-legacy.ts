/** Methods of the revisions with a handshake; each revision is the one before it and what it added. */
import type { Revision } from "./message.ts";
import type { Direction, MethodEntry } from "./registry.ts";

function entries(kind: MethodEntry["kind"], direction: Direction, methods: readonly string[]): readonly MethodEntry[] {
  return methods.map((method) => ({ method, kind, direction, form: "message", extension: undefined }));
}

const first: readonly MethodEntry[] = [
  ...entries("request", "to-server", [
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
  ]),
  ...entries("request", "to-client", ["ping", "sampling/createMessage", "roots/list"]),
  ...entries("notification", "to-server", [
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/roots/list_changed",
  ]),
  ...entries("notification", "to-client", [
    "notifications/cancelled",
    "notifications/progress",
    "notifications/message",
    "notifications/resources/updated",
    "notifications/resources/list_changed",
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
  ]),
];

const withElicitation: readonly MethodEntry[] = [...first, ...entries("request", "to-client", ["elicitation/create"])];

const taskRequests = ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel"];

/** Tasks of 2025-11-25 run on both sides: a server may host a task, and so may a client (for sampling, elicitation). */
const withTasks: readonly MethodEntry[] = [
  ...withElicitation,
  ...entries("request", "to-server", taskRequests),
  ...entries("request", "to-client", taskRequests),
  ...entries("notification", "to-server", ["notifications/tasks/status"]),
  ...entries("notification", "to-client", ["notifications/tasks/status", "notifications/elicitation/complete"]),
];

export const legacyMethods: Readonly<Record<Exclude<Revision, "2026-07-28">, readonly MethodEntry[]>> = {
  "2024-11-05": first,
  "2025-03-26": first,
  "2025-06-18": withElicitation,
  "2025-11-25": withTasks,
};

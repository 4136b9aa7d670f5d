/**
 * The methods of each revision. An unlisted method is refused by its absence: no `if` anywhere has to remember it. So a newer
 * method cannot be smuggled to a side that negotiated an older revision, where no check would look at it.
 */
import type { Revision } from "./message.ts";

/** Way that a message travels: from the client to the server or back. */
export type Direction = "to-server" | "to-client";

/** One method of a revision. */
export type MethodEntry = {
  readonly method: string;
  readonly kind: "request" | "notification";
  readonly direction: Direction;
  /** `embedded` requests never travel alone: in the modern era they sit in `inputRequests` of a result. */
  readonly form: "message" | "embedded";
  /** Extension that must be negotiated for the method to exist, if it is not core protocol. */
  readonly extension: string | undefined;
};

const tasksExtension = "io.modelcontextprotocol/tasks";

function entry(
  method: string,
  kind: MethodEntry["kind"],
  direction: MethodEntry["direction"],
  extension?: string,
): MethodEntry {
  return { method, kind, direction, form: "message", extension };
}

const embedded = (method: string): MethodEntry => ({ ...entry(method, "request", "to-client"), form: "embedded" });

/** Notifications of a server in every revision. */
const serverNotices = [
  "notifications/cancelled",
  "notifications/progress",
  "notifications/message",
  "notifications/resources/updated",
  "notifications/resources/list_changed",
  "notifications/tools/list_changed",
  "notifications/prompts/list_changed",
];

/**
 * Methods of revision 2026-07-28: no handshake, no ping, no request from the server on its own (SEP-2575, SEP-2260).
 * Questions of a server sit inside a result (SEP-2322), hence the embedded entries. Tasks are the extension of SEP-2663;
 * its methods exist only where `io.modelcontextprotocol/tasks` was declared.
 */
const modernMethods: readonly MethodEntry[] = [
  ...entries("request", "to-server", [
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "subscriptions/listen",
  ]),
  ...entries("notification", "to-server", ["notifications/cancelled"]),
  ...entries("notification", "to-client", [...serverNotices, "notifications/subscriptions/acknowledged"]),
  ...["elicitation/create", "sampling/createMessage", "roots/list"].map(embedded),
  ...["tasks/get", "tasks/update", "tasks/cancel"].map((method) =>
    entry(method, "request", "to-server", tasksExtension),
  ),
  entry("notifications/tasks", "notification", "to-client", tasksExtension),
];

function entries(kind: MethodEntry["kind"], direction: Direction, methods: readonly string[]): readonly MethodEntry[] {
  return methods.map((method) => entry(method, kind, direction));
}

/** Methods of 2024-11-05, the first revision with a handshake; later ones add to those before them. */
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
  ...entries("notification", "to-client", serverNotices),
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

const legacyMethods: Readonly<Record<Exclude<Revision, "2026-07-28">, readonly MethodEntry[]>> = {
  "2024-11-05": first,
  "2025-03-26": first,
  "2025-06-18": withElicitation,
  "2025-11-25": withTasks,
};

export type MethodQuery = Pick<MethodEntry, "method" | "kind" | "direction"> & { readonly form?: MethodEntry["form"] };

export function registryOf(revision: Revision): readonly MethodEntry[] {
  switch (revision) {
    case "2024-11-05":
    case "2025-03-26":
    case "2025-06-18":
    case "2025-11-25":
      return legacyMethods[revision];
    case "2026-07-28":
      return modernMethods;
  }
}

const keyOf = (entry: MethodQuery): string =>
  `${entry.direction} ${entry.kind} ${entry.form ?? "message"} ${entry.method}`;

const indexes = new Map<Revision, ReadonlyMap<string, MethodEntry>>();

/** The entry for a method as it travels, or undefined where the revision does not have it. */
export function findMethod(revision: Revision, query: MethodQuery): MethodEntry | undefined {
  let index = indexes.get(revision);
  if (index === undefined) {
    index = new Map(registryOf(revision).map((entry) => [keyOf(entry), entry]));
    indexes.set(revision, index);
  }
  return index.get(keyOf(query));
}

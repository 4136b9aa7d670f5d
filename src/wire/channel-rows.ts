/** The rows of the channel table, grouped as in the gateway's design; `channels.ts` says how to read them. */
import type { ChannelRow, Passage, Place, PlaceRole, Treatment } from "./channels.ts";
import type { MethodEntry } from "./registry.ts";

const meta: Place = { at: "/_meta/**", is: "meta" };

function places(pairs: readonly (readonly [string, PlaceRole])[], rest: PlaceRole): readonly Place[] {
  return [...pairs.map(([at, is]) => ({ at, is })), meta, { at: "/**", is: rest }];
}

/** Sent to a server: everything not named otherwise is data. */
const call = (treated: Treatment, ...pairs: (readonly [string, PlaceRole])[]): Passage => ({
  moment: "call",
  treated,
  places: places(pairs, "data"),
});

/** Read by a model or user: everything not named otherwise is text. */
const release = (treated: Treatment, ...pairs: (readonly [string, PlaceRole])[]): Passage => ({
  moment: "release",
  treated,
  places: places(pairs, "text"),
});

const admit = (treated: Treatment, ...pairs: (readonly [string, PlaceRole])[]): Passage => ({
  ...release(treated, ...pairs),
  moment: "admit",
});

const expose = (entries: string): Passage => ({
  ...release("list", [entries, "entries"], ["/nextCursor", "token"], ["/cacheScope", "token"]),
  moment: "expose",
});

const pass = (...pairs: (readonly [string, PlaceRole])[]): Passage => ({
  moment: "pass",
  treated: "control",
  places: places(pairs, "constant"),
});

const trigger = (...pairs: (readonly [string, PlaceRole])[]): Passage => ({
  ...release("list-changed", ...pairs),
  moment: "trigger",
});

type Way = Pick<MethodEntry, "kind" | "direction">;
const asked: Way = { kind: "request", direction: "to-server" };
const asking: Way = { kind: "request", direction: "to-client" };
const told: Way = { kind: "notification", direction: "to-server" };
const telling: Way = { kind: "notification", direction: "to-client" };

const row = (way: Way, method: string, params: Passage, result?: Passage): ChannelRow => ({
  ...way,
  method,
  params,
  result,
});

const state: readonly (readonly [string, PlaceRole])[] = [
  ["/requestState", "token"],
  ["/inputResponses/**", "data"],
];
const cursor = pass(["/cursor", "token"]);
const content = release("result", ["/requestState", "token"], ["/resultType", "token"]);
/** An acknowledgement should be empty; whatever a server puts in all the same is text. */
const empty = release("control", ["/resultType", "token"]);
const taskId = pass(["/taskId", "token"]);
const taskState = release("task", ["/taskId", "token"], ["/status", "token"], ["/resultType", "token"]);
const reason = pass(["/requestId", "token"], ["/reason", "constant"]);
const progress = release("progress", ["/progressToken", "token"], ["/progress", "token"], ["/total", "token"]);

export const channelRows: readonly ChannelRow[] = [
  // What a server says of itself and its lists.
  row(
    asked,
    "initialize",
    pass(["/protocolVersion", "token"], ["/**", "data"]),
    admit("manifest", ["/protocolVersion", "token"]),
  ),
  row(asked, "server/discover", pass(), admit("manifest", ["/supportedVersions/*", "token"])),
  row(asked, "tools/list", cursor, expose("/tools/**")),
  row(asked, "resources/list", cursor, expose("/resources/**")),
  row(asked, "resources/templates/list", cursor, expose("/resourceTemplates/**")),
  row(asked, "prompts/list", cursor, expose("/prompts/**")),

  // Calls.
  row(asked, "tools/call", call("invocation", ["/name", "name"], ["/arguments/**", "data"], ...state), content),
  row(asked, "resources/read", call("invocation", ["/uri", "destination"], ...state), content),
  row(asked, "prompts/get", call("invocation", ["/name", "name"], ["/arguments/**", "data"], ...state), content),
  row(asked, "resources/subscribe", call("invocation", ["/uri", "destination"]), empty),
  row(asked, "resources/unsubscribe", call("invocation", ["/uri", "destination"]), empty),
  row(
    asked,
    "subscriptions/listen",
    call(
      "invocation",
      ["/notifications/resourceSubscriptions/*", "destination"],
      ["/notifications/taskIds/*", "token"],
    ),
    empty,
  ),
  row(
    asked,
    "completion/complete",
    call(
      "completion",
      ["/ref/uri", "destination"],
      ["/ref/name", "name"],
      ["/argument/name", "name"],
      ["/argument/value", "data"],
      ["/context/arguments/**", "data"],
    ),
    release("result", ["/completion/values/*", "text"]),
  ),

  // What a server asks, and the answers, which are sends to it.
  row(
    asking,
    "elicitation/create",
    release("question", ["/url", "destination"], ["/elicitationId", "token"]),
    call("answer"),
  ),
  row(asking, "sampling/createMessage", release("question"), call("answer")),
  row(asking, "roots/list", release("question"), call("answer", ["/roots/*/uri", "destination"])),

  // Text beside the answer.
  row(telling, "notifications/progress", progress),
  row(telling, "notifications/message", release("log", ["/level", "token"], ["/logger", "text"], ["/data/**", "text"])),
  row(told, "notifications/progress", {
    ...progress,
    moment: "call",
    places: places([["/progressToken", "token"]], "data"),
  }),

  // Changes that make us look again.
  row(telling, "notifications/tools/list_changed", trigger()),
  row(telling, "notifications/resources/list_changed", trigger()),
  row(telling, "notifications/prompts/list_changed", trigger()),
  row(telling, "notifications/resources/updated", trigger(["/uri", "destination"])),
  row(
    telling,
    "notifications/subscriptions/acknowledged",
    trigger(["/notifications/resourceSubscriptions/*", "destination"]),
  ),
  row(told, "notifications/roots/list_changed", pass()),

  // Tasks: decided as the call that made them; a result inside a task is a release like any other.
  row(asked, "tasks/get", taskId, taskState),
  row(asked, "tasks/result", taskId, content),
  row(asked, "tasks/list", cursor, { ...expose("/tasks/**"), treated: "task" }),
  row(asked, "tasks/cancel", taskId, taskState),
  row(asked, "tasks/update", call("answer", ["/taskId", "token"], ["/inputResponses/**", "data"]), empty),
  row(telling, "notifications/tasks/status", taskState),
  row(telling, "notifications/tasks", taskState),
  // The same the other way round, for tasks that a client hosts: their state and results are answers to the server.
  row(asking, "tasks/get", taskId, call("answer", ["/taskId", "token"])),
  row(asking, "tasks/result", taskId, call("answer")),
  row(asking, "tasks/list", cursor, call("answer")),
  row(asking, "tasks/cancel", taskId, call("answer", ["/taskId", "token"])),
  row(told, "notifications/tasks/status", call("answer", ["/taskId", "token"])),

  // Mechanics.
  row(asked, "ping", pass(), empty),
  row(asking, "ping", pass(), pass()),
  row(asked, "logging/setLevel", pass(["/level", "token"]), empty),
  row(told, "notifications/initialized", pass()),
  row(told, "notifications/cancelled", reason),
  row(telling, "notifications/cancelled", reason),
  row(telling, "notifications/elicitation/complete", pass(["/elicitationId", "token"])),
];

/** The rows of the channel table and their types, grouped as in the gateway's design; `channels.ts` says how to read them. */
import type { Direction, MethodEntry } from "./registry.ts";

/** When something is decided; `pass` is forwarded after cleaning, `trigger` starts an admission or a new list. */
export type ChannelMoment = "admit" | "expose" | "call" | "release" | "pass" | "trigger";

export type Treatment =
  /** Identity, capabilities and instructions of a server: strings a model may read. */
  | "manifest"
  /** A list of entries: strings are admitted, entries are exposed or hidden. */
  | "list"
  /** Arguments that a tool, prompt or resource handler acts on. */
  | "invocation"
  /** A value typed so far, sent for completion; a refusal is an empty completion. */
  | "completion"
  /** The result of a call; labelled by the call. */
  | "result"
  /** Progress: the text joins the call in flight, numbers pass. */
  | "progress"
  /** Log text of a server: joins the call in flight, else the run. */
  | "log"
  /** A question of the server to user or model. */
  | "question"
  /** The answer to a question: data sent to that server. */
  | "answer"
  | "list-changed"
  /** State of a task: bound to the run of the call that made it. */
  | "task"
  /** Protocol mechanics; free text in it is replaced by a constant. */
  | "control"
  | "unknown";

/** The kind of data at a place. */
export type PlaceRole =
  /** Text that reaches a model or user. */
  | "text"
  /** Data that reaches a server. */
  | "data"
  /** A URI that says where something goes or comes from. */
  | "destination"
  /** Names the tool, prompt, argument or log source that is meant. */
  | "name"
  /** Opaque to us and bounded: cursors, tokens, task ids, sealed state. */
  | "token"
  /** A list whose elements are exposed or hidden one by one. */
  | "entries"
  /** Per-request or per-result metadata: known keys are rewritten, the rest counts as text or data. */
  | "meta"
  /** Free text that is replaced by a constant. */
  | "constant";

export type Place = { readonly at: string; readonly is: PlaceRole };

/** One way through the gateway: the params of a message or its result. */
export type Passage = {
  readonly moment: ChannelMoment;
  readonly treated: Treatment;
  readonly places: readonly Place[];
};

export type ChannelRow = {
  readonly method: string;
  readonly kind: MethodEntry["kind"];
  readonly direction: Direction;
  /** The `params` on their way. */
  readonly params: Passage;
  /** The `result`, going the other way; undefined for notifications. An error is always a release of text. */
  readonly result: Passage | undefined;
};

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
  // Statements of a server about itself, and its lists.
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

  // Questions of a server, and the answers, which are sends to it.
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

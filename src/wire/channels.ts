/**
 * The channel table: for every message of every revision, at which moment it is decided, how it is treated, and where
 * in it text for the model and data for a server sit. Precedence inside a message: the first place that matches wins;
 * every list of places ends in a catch-all, so text in an unknown member is never overlooked.
 *
 * A message without a row gets the worst-case row. That is a net for methods we do not know, never an excuse for a
 * known one: a test walks all registries and fails on a method without a row of its own.
 */
import { channelRows } from "./channel-rows.ts";
import { matchesPattern } from "./pointer.ts";
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
  /** What a call gave back; labelled by the call. */
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

/** What sits at a place. */
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

const index = new Map<string, ChannelRow>(channelRows.map((row) => [keyOf(row), row]));

function keyOf(row: Pick<ChannelRow, "method" | "kind" | "direction">): string {
  return `${row.direction} ${row.kind} ${row.method}`;
}

/** The row of a method, or undefined: only the test that guards completeness should need this form. */
export function knownChannel(query: Pick<ChannelRow, "method" | "kind" | "direction">): ChannelRow | undefined {
  return index.get(keyOf(query));
}

/** The row of a method; methods that nobody knows are treated as a call and a release of the worst kind. */
export function channelOf(query: Pick<ChannelRow, "method" | "kind" | "direction">): ChannelRow {
  return knownChannel(query) ?? worstChannel(query);
}

function worstChannel(query: Pick<ChannelRow, "method" | "kind" | "direction">): ChannelRow {
  const outward: Passage = { moment: "call", treated: "unknown", places: [{ at: "/**", is: "data" }] };
  const inward: Passage = { moment: "release", treated: "unknown", places: [{ at: "/**", is: "text" }] };
  const [params, result] = query.direction === "to-server" ? [outward, inward] : [inward, outward];
  const { method, kind, direction } = query;
  return { method, kind, direction, params, result: kind === "request" ? result : undefined };
}

/** An error of any request: `message` and `data` are text of its author. */
export const errorPassage: Passage = {
  moment: "release",
  treated: "result",
  places: [
    { at: "/message", is: "text" },
    { at: "/**", is: "text" },
  ],
};

/** What sits at a pointer of a passage; every passage of the table ends in a catch-all, others fall back to text. */
export function roleAt(passage: Passage, pointer: string): PlaceRole {
  return passage.places.find((place) => matchesPattern(place.at, pointer))?.is ?? "text";
}

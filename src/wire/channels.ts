/**
 * The channel table: for every message of every revision, at which moment it is decided, how it is treated, and where
 * in it text for the model and data for a server sit. Precedence inside a message: the first place that matches wins;
 * every list of places ends in a catch-all, so text in an unknown member is never overlooked.
 *
 * A message without a row gets the worst-case row. That is a net for methods we do not know, never an excuse for a
 * known one: a test walks all registries and fails on a method without a row of its own.
 */
import { channelRows, type ChannelRow, type Passage, type PlaceRole } from "./channel-rows.ts";
import { matchesPattern } from "../core/pointer.ts";

const index = new Map<string, ChannelRow>(channelRows.map((row) => [keyOf(row), row]));

function keyOf(row: Pick<ChannelRow, "method" | "kind" | "direction">): string {
  return `${row.direction} ${row.kind} ${row.method}`;
}

/** The row of a method, or undefined: only the test that guards completeness should need this form. */
export function knownChannel(query: Pick<ChannelRow, "method" | "kind" | "direction">): ChannelRow | undefined {
  return index.get(keyOf(query));
}

/** The row of a method; unknown methods are treated as a call and a release of the worst kind. */
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

/** The kind of data at a pointer of a passage; every passage of the table ends in a catch-all, others are text. */
export function roleAt(passage: Passage, pointer: string): PlaceRole {
  return passage.places.find((place) => matchesPattern(place.at, pointer))?.is ?? "text";
}

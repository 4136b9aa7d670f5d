/**
 * Events without what their entry says already. The events of an entry nearly always speak of the same call at the same
 * instant; written out for each of them, that would be half of the log. A member that is missing is the entry's own; a
 * `null` in its place says that the event has none.
 */
import type { Json, JsonObject } from "../../core/json.ts";
import { isArray, isObject, member } from "../../core/json.ts";
import type { CleanText } from "./clean-text.ts";
import type { EntryHead, ReadEntry } from "./record.ts";

const shared = ["at", "call", "server", "tool"] as const;

/** Members that each kind of event has in common with its entry; kinds that are not named have the instant only. */
const instantOnly: readonly (typeof shared)[number][] = ["at"];
const instantAndCall: typeof instantOnly = ["at", "call"];

/** Members that a kind of event has in common with its entry; kinds that are not named have the instant only. */
const named: ReadonlyMap<string, typeof instantOnly> = new Map([
  ["requested", shared],
  ["released", shared],
  ["allowed", instantAndCall],
  ["refused", instantAndCall],
  ["sent", instantAndCall],
  ["succeeded", instantAndCall],
  ["failed", instantAndCall],
  ["unknown", instantAndCall],
]);

/** What an event must say of itself, given what its entry says, as the beginning of a JSON object. */
export function differing(event: EntryHead, entry: EntryHead, text: CleanText): string {
  let said = `{"kind":"${event.kind}"`;
  for (const name of named.get(event.kind) ?? instantOnly) {
    const value = event[name];
    if (value === entry[name]) continue;
    said += `,"${name}":${typeof value === "string" ? text.json(value) : (value ?? null)}`;
  }
  return said;
}

/** The events of an entry with everything that they left to it; an empty object where it has none. */
export function wholeEvents(entry: ReadEntry): JsonObject {
  const events = member(entry.clear, "events");
  return isArray(events) ? { events: eventsOf(entry) } : {};
}

/** The same as a list. The digest of what was allowed is that of the request before it. */
export function eventsOf(entry: ReadEntry): readonly Json[] {
  const events = member(entry.clear, "events");
  let digest: Json | undefined;
  return (isArray(events) ? events : []).map((given) => {
    if (!isObject(given)) return given;
    const short = given as JsonObject; // narrowed; the compiler keeps RawNumber in the union
    const kind = member(short, "kind");
    const whole: Record<string, Json> = {};
    for (const name of (typeof kind === "string" ? named.get(kind) : undefined) ?? instantOnly) {
      const own = short[name];
      const value = own === undefined ? entry[name] : own;
      if (value !== undefined && value !== null) whole[name] = value;
    }
    if (kind === "allowed" && digest !== undefined) whole["digest"] = digest;
    // The names are those of our own codec; what somebody else put there fails to read as an event.
    for (const [name, value] of Object.entries(short)) if (value !== null) whole[name] = value;
    const option = whole["option"];
    if (isObject(option)) whole["option"] = { ...subjectOf(entry), ...option };
    digest = kind === "requested" ? whole["digest"] : digest;
    return whole;
  });
}

function subjectOf({ server, tool }: EntryHead): JsonObject {
  return { ...(server === undefined ? {} : { server }), ...(tool === undefined ? {} : { tool }) };
}

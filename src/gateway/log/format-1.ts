/**
 * Records of log format 1, read as entries of today. That format wrote `requested`, `allowed` and `sent` of a call,
 * which were folded in one turn, and `requested` before a `refused`; they are one `dispatched`, or one `refused`, here.
 * Nothing writes it any more. Its fingerprints, checkpoints and payloads are those of format 2, so one chain may hold
 * both.
 */
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import type { EntryHead } from "./json-text.ts";

/** Version that the body of a record of this format carries. */
export const format1Version = 2;

export type EarlierEvents = {
  readonly kind: string;
  readonly events: readonly Json[];
  /** For each event the place of its payload among those of the entry. */
  readonly places: readonly number[];
};

const ofRun = ["at"] as const;
const ofCall = ["at", "call"] as const;
const ofTool = ["at", "call", "server", "tool"] as const;

/** The kinds of this format, each with the members that it leaves to its entry. */
const left: ReadonlyMap<string, readonly (keyof EntryHead)[]> = new Map<string, readonly (keyof EntryHead)[]>([
  ["begun", ofRun],
  ["registered", ofRun],
  ["requested", ofTool],
  ["allowed", ofCall],
  ["refused", ofCall],
  ["sent", ofCall],
  ["succeeded", ofCall],
  ["failed", ofCall],
  ["unknown", ofCall],
  ["released", ofTool],
  ["granted", ofRun],
  ["ended", ofRun],
]);

/** Members, all of them text, of the kinds that are no event of their own today. */
const fused: ReadonlyMap<string, readonly string[]> = new Map([
  ["requested", ["call", "server", "tool", "digest"]],
  ["sent", ["call"]],
]);

/**
 * The events of an entry with all their members, and in the kinds of today. A kind that this format does not
 * have, and a fused event that lacks a member, become what no event of today is: the record reads as damaged.
 */
export function earlierEvents(head: EntryHead, listed: readonly Json[]): EarlierEvents {
  const requests = new Map<string, JsonObject>();
  const events: Json[] = [];
  const places: number[] = [];
  let digest: Json | undefined;
  for (const [place, given] of listed.entries()) {
    const whole = isObject(given) ? wholeEvent(head, given as JsonObject) : undefined; // narrowed; RawNumber stays in the union
    const kind = stringMember(whole, "kind") ?? "";
    const call = stringMember(whole, "call") ?? "";
    if (kind === "requested" && whole !== undefined) {
      requests.set(call, whole);
      digest = whole["digest"];
    }
    if (isWhole(kind, whole)) continue;
    if (whole === undefined) events.push(given);
    else events.push(left.has(kind) ? inTodaysKinds(head, whole, requests.get(call), digest) : null);
    places.push(place);
  }
  return { kind: head.kind === "sent" || head.kind === "allowed" ? "dispatched" : head.kind, events, places };
}

/** Whether the event is one of those that are fused, with each of its members. */
function isWhole(kind: string, event: JsonObject | undefined): boolean {
  const members = fused.get(kind);
  if (members === undefined || typeof event?.["at"] !== "number") return false;
  return members.every((name) => stringMember(event, name) !== undefined);
}

/** The event with what it left to its entry; `null` says that it has no such member. */
function wholeEvent(head: EntryHead, short: JsonObject): JsonObject {
  const whole: Record<string, Json> = {};
  const kind = stringMember(short, "kind") ?? "";
  for (const name of left.get(kind) ?? ofRun) {
    const own = short[name];
    const value = own === undefined ? head[name] : own;
    if (value !== undefined && value !== null) whole[name] = value;
  }
  for (const [name, value] of Object.entries(short)) if (value !== null) whole[name] = value;
  return whole;
}

function inTodaysKinds(
  { server, tool }: EntryHead,
  event: JsonObject,
  request: JsonObject | undefined,
  digest: Json | undefined,
): JsonObject {
  const kind = stringMember(event, "kind");
  if (kind === "refused") {
    const { server: asked = null, tool: named = null, digest: of = null } = request ?? {};
    return { server: asked, tool: named, digest: of, ...event };
  }
  if (kind !== "allowed") return event;
  const option = member(event, "option");
  const subject = { ...(server === undefined ? {} : { server }), ...(tool === undefined ? {} : { tool }) };
  return {
    ...(digest === undefined ? {} : { digest }),
    ...event,
    kind: "dispatched",
    ...(isObject(option) ? { option: { ...subject, ...option } } : {}),
  };
}

/** The payload of an entry with that of each event where the event is now. */
export function earlierPayload(payload: Json | undefined, places: readonly number[]): Json | undefined {
  const hidden = member(payload, "events");
  if (!isObject(payload) || !isArray(hidden)) return payload;
  return { ...(payload as JsonObject), events: places.map((place) => hidden[place] ?? null) };
}

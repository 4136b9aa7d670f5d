/**
 * Run events as JSON in two parts (`Split`): labels, digests and codes in clear; arguments, results, instructions and
 * whatever is made of them as payload. A field that is missing here is a field that a replay would not see, so the
 * switch is exhaustive and a property test compares every event with what comes back.
 */
import type { RunEvent } from "../../core/event.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { LabelRange } from "../../core/label.ts";
import { splitOption, type NameContract, type Split } from "./option-codec.ts";
import type { EntryHead } from "./record.ts";
import { differing } from "./short-events.ts";

const nothing: JsonObject = {};

export function pairOf(range: LabelRange): Json {
  return [range.lo, range.hi];
}

type Of<K extends RunEvent["kind"]> = Extract<RunEvent, { kind: K }>;

/** What an event of an entry may leave to it: its head, and the digest of the request that came last. */
export type About = { readonly entry: EntryHead; readonly digest: string | undefined };

function splitGrant(event: Of<"granted">, said: Record<string, Json>): Split {
  const { grant } = event;
  if (grant.kind === "consent" || grant.kind === "accept") return { clear: { ...said, grant }, payload: nothing };
  const { from, to, ...rest } = grant;
  return { clear: { ...said, grant: { ...rest, from: pairOf(from), to: pairOf(to) } }, payload: nothing };
}

function splitReleased(event: Of<"released">, said: Record<string, Json>): Split {
  const { how, label, fields, value } = event;
  said["how"] = how;
  said["label"] = pairOf(label);
  if (event.codes !== undefined) said["codes"] = event.codes;
  if (fields.length === 0) return { clear: said, payload: value === undefined ? nothing : { value } };
  said["fields"] = fields.map((field) => pairOf(field.range));
  const pointers = fields.map((field) => field.pointer);
  return { clear: said, payload: value === undefined ? { pointers } : { pointers, value } };
}

function splitAllowed(event: Of<"allowed">, said: Record<string, Json>, name: NameContract, about: About): Split {
  const option = splitOption(event.option, name, about.entry);
  said["method"] = event.method;
  if (event.digest !== about.digest) said["digest"] = event.digest;
  if (event.consent !== undefined) said["consent"] = event.consent;
  said["option"] = option.clear;
  // A model has seen the arguments, so what it expects of them is as secret as they are.
  const expected = event.forecast === undefined ? {} : { forecast: event.forecast };
  return { clear: said, payload: { arguments: event.arguments, ...expected, ...option.payload } };
}

/** One event in its two parts. `name` gives the digest under which a contract is kept. */
export function splitEvent(event: RunEvent, name: NameContract, about: About): Split {
  const said = differing(event, about.entry);
  switch (event.kind) {
    case "registered":
      said["source"] = event.text.source;
      return { clear: said, payload: { value: event.text.value } };
    case "allowed":
      return splitAllowed(event, said, name, about);
    case "released":
      return splitReleased(event, said);
    case "granted":
      return splitGrant(event, said);
    case "requested":
      said["digest"] = event.digest;
      return { clear: said, payload: nothing };
    case "refused":
      said["codes"] = event.codes;
      return { clear: said, payload: nothing };
    case "failed":
      said["noEffect"] = event.noEffect;
      return { clear: said, payload: nothing };
    case "unknown":
    case "ended":
      said["cause"] = event.cause;
      return { clear: said, payload: nothing };
    case "begun":
      said["principal"] = event.principal;
      if (event.parent !== undefined) said["parent"] = event.parent;
      return { clear: said, payload: nothing };
    case "sent":
    case "succeeded":
      return { clear: said, payload: nothing };
  }
}

/** The events of one entry in their two parts; the payload is undefined if there is nothing to hide. */
export function splitEvents(
  events: readonly RunEvent[],
  name: NameContract,
  entry: EntryHead,
): { readonly clear: readonly Json[]; readonly payload: readonly Json[] | undefined } {
  const clear: Json[] = [];
  const payload: Json[] = [];
  let hides = false;
  let digest: string | undefined;
  for (const event of events) {
    const split = splitEvent(event, name, { entry, digest });
    if (event.kind === "requested") digest = event.digest;
    clear.push(split.clear);
    payload.push(split.payload === nothing ? null : split.payload);
    hides ||= split.payload !== nothing;
  }
  return { clear, payload: hides ? payload : undefined };
}

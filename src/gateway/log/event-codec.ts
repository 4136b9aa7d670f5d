/**
 * Run events as JSON in two parts (`Split`): labels, digests and codes in clear; arguments, results, instructions and
 * whatever is made of them as payload. A field that is missing here is a field that a replay would not see, so the
 * switch is exhaustive and a property test compares every event with what comes back.
 */
import type { RunEvent } from "../../core/event.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { LabelRange } from "../../core/label.ts";
import { splitOption, type NameContract, type Split } from "./option-codec.ts";

const nothing: JsonObject = {};

export function pairOf(range: LabelRange): Json {
  return [range.lo, range.hi];
}

function splitGrant(event: Extract<RunEvent, { kind: "granted" }>): Split {
  const { grant } = event;
  const head = { kind: event.kind, at: event.at };
  if (grant.kind === "consent" || grant.kind === "accept") return { clear: { ...head, grant }, payload: nothing };
  const { from, to, ...rest } = grant;
  return { clear: { ...head, grant: { ...rest, from: pairOf(from), to: pairOf(to) } }, payload: nothing };
}

function splitReleased(event: Extract<RunEvent, { kind: "released" }>): Split {
  return {
    clear: {
      kind: event.kind,
      at: event.at,
      ...(event.call === undefined ? {} : { call: event.call }),
      server: event.server,
      tool: event.tool,
      how: event.how,
      label: pairOf(event.label),
      fields: event.fields.map((field) => pairOf(field.range)),
    },
    payload: {
      pointers: event.fields.map((field) => field.pointer),
      ...(event.value === undefined ? {} : { value: event.value }),
    },
  };
}

/** One event in its two parts. `name` gives the digest under which a contract is kept. */
export function splitEvent(event: RunEvent, name: NameContract): Split {
  switch (event.kind) {
    case "registered":
      return {
        clear: { kind: event.kind, at: event.at, source: event.text.source },
        payload: { value: event.text.value },
      };
    case "allowed": {
      const option = splitOption(event.option, name);
      return {
        clear: {
          kind: event.kind,
          at: event.at,
          call: event.call,
          method: event.method,
          digest: event.digest,
          ...(event.consent === undefined ? {} : { consent: event.consent }),
          option: option.clear,
        },
        payload: { arguments: event.arguments, option: option.payload },
      };
    }
    case "released":
      return splitReleased(event);
    case "granted":
      return splitGrant(event);
    case "begun":
    case "requested":
    case "refused":
    case "sent":
    case "succeeded":
    case "failed":
    case "unknown":
    case "ended":
      return { clear: { ...event }, payload: nothing };
  }
}

/** The events of one record in their two parts; the payload is undefined if there is nothing to hide. */
export function splitEvents(events: readonly RunEvent[], name: NameContract): { clear: Json[]; payload: Json[] } {
  const clear: Json[] = [];
  const payload: Json[] = [];
  for (const event of events) {
    const split = splitEvent(event, name);
    clear.push(split.clear);
    payload.push(split.payload);
  }
  return { clear, payload };
}

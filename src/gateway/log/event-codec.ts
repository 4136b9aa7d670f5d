/**
 * Run events as JSON text in two parts: labels, digests and codes in clear; arguments, results, instructions and
 * whatever is made of them as payload. A field that is missing here is a field that a replay would not see, so the
 * switches are exhaustive and a property test compares every event with what comes back.
 */
import type { RunEvent } from "../../core/event.ts";
import type { LabelRange } from "../../core/label.ts";
import type { CleanText, Pen } from "./clean-text.ts";
import { hiddenOption, optionText } from "./option-codec.ts";
import type { EntryHead } from "./record.ts";
import { differing } from "./short-events.ts";

type Of<K extends RunEvent["kind"]> = Extract<RunEvent, { kind: K }>;

/** What an event of an entry may leave to it: its head, and the digest of the request that came last. */
export type About = { readonly entry: EntryHead; readonly digest: string | undefined };

export function rangeText(range: LabelRange): string {
  return `[${range.lo},${range.hi}]`;
}

function grantText({ grant }: Of<"granted">, text: CleanText): string {
  if (grant.kind === "consent" || grant.kind === "accept") return text.json(grant);
  const { from, to, ...rest } = grant;
  return text.json({ ...rest, from: [from.lo, from.hi], to: [to.lo, to.hi] });
}

function releasedText(event: Of<"released">, text: CleanText): string {
  const { how, label, fields, codes } = event;
  const refused = codes === undefined ? "" : `,"codes":${text.json(codes)}`;
  const ranges = fields.length === 0 ? "" : `,"fields":[${fields.map(({ range }) => rangeText(range)).join(",")}]`;
  return `,"how":"${how}","label":${rangeText(label)}${refused}${ranges}}`;
}

function allowedText(event: Of<"allowed">, pen: Pen, about: About): string {
  const { method, digest, consent, option } = event;
  const own = digest === about.digest ? "" : `,"digest":${JSON.stringify(digest)}`;
  const consented = consent === undefined ? "" : `,"consent":${pen.json(consent)}`;
  return `,"method":${pen.name(method)}${own}${consented},"option":${optionText(option, pen, about.entry)}}`;
}

/** The clear part of one event. */
export function eventText(event: RunEvent, pen: Pen, about: About): string {
  const said = differing(event, about.entry, pen);
  switch (event.kind) {
    case "requested":
      return `${said},"digest":${JSON.stringify(event.digest)}}`;
    case "allowed":
      return said + allowedText(event, pen, about);
    case "sent":
    case "succeeded":
      return `${said}}`;
    case "released":
      return said + releasedText(event, pen);
    case "registered":
      return `${said},"source":"${event.text.source}"}`;
    case "granted":
      return `${said},"grant":${grantText(event, pen)}}`;
    case "refused":
      return `${said},"codes":${pen.json(event.codes)}}`;
    case "failed":
      return `${said},"noEffect":${event.noEffect}}`;
    case "unknown":
    case "ended":
      return `${said},"cause":${pen.json(event.cause)}}`;
    case "begun": {
      const parent = event.parent === undefined ? "" : `,"parent":${pen.json(event.parent)}`;
      return `${said},"principal":${pen.json(event.principal)}${parent}}`;
    }
  }
}

/** The payload of one event; undefined if it hides nothing. */
export function hiddenEvent(event: RunEvent, text: CleanText): string | undefined {
  switch (event.kind) {
    case "registered":
      return `{"value":${text.json(event.text.value)}}`;
    case "allowed": {
      // A model has seen the arguments, so what it expects of them is as secret as they are.
      const expected = event.forecast === undefined ? "" : `,"forecast":${text.json(event.forecast)}`;
      return `{"arguments":${text.json(event.arguments)}${expected}${hiddenOption(event.option, text)}}`;
    }
    case "released": {
      const { fields, value } = event;
      const pointers = fields.length === 0 ? undefined : text.json(fields.map(({ pointer }) => pointer));
      if (value === undefined) return pointers === undefined ? undefined : `{"pointers":${pointers}}`;
      return `{${pointers === undefined ? "" : `"pointers":${pointers},`}"value":${text.json(value)}}`;
    }
    case "begun":
    case "requested":
    case "refused":
    case "sent":
    case "succeeded":
    case "failed":
    case "unknown":
    case "granted":
    case "ended":
      return undefined;
  }
}

/** The clear parts of the events of one entry. */
export function eventsText(events: readonly RunEvent[], pen: Pen, entry: EntryHead): string {
  let list = "";
  let digest: string | undefined;
  for (const event of events) {
    list += `${list === "" ? "" : ","}${eventText(event, pen, { entry, digest })}`;
    if (event.kind === "requested") digest = event.digest;
  }
  return `[${list}]`;
}

/** Their payloads, `null` for one that hides nothing; undefined if none does. */
export function hiddenEvents(events: readonly RunEvent[], text: CleanText): string | undefined {
  let list = "";
  let hides = false;
  for (const event of events) {
    const hidden = hiddenEvent(event, text);
    list += `${list === "" ? "" : ","}${hidden ?? "null"}`;
    hides ||= hidden !== undefined;
  }
  return hides ? `[${list}]` : undefined;
}

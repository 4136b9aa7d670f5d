/**
 * Events back from their two parts. Whatever does not read as we wrote it gives undefined, and the run then resumes at
 * the top label: a guess about what happened would be a guess about what is secret.
 */
import { roles } from "../../core/contract.ts";
import type { Grant, RunEvent } from "../../core/event.ts";
import { endCauses } from "../../core/event.ts";
import type { Json } from "../../core/json.ts";
import { isArray, isObject, member, stringMember } from "../../core/json.ts";
import { join, type LabelRange } from "../../core/label.ts";
import type { FieldLabel } from "../../core/opinion.ts";
import { readForecast } from "../../core/prediction.ts";
import { readRange } from "./label-reading.ts";
import { joinOption, type ReadContext } from "./option-codec.ts";

type Kind = RunEvent["kind"];
type Of<K extends Kind> = Extract<RunEvent, { kind: K }>;

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function oneOf<T extends string>(text: string | undefined, allowed: readonly T[]): T | undefined {
  return allowed.find((entry) => entry === text);
}

function readAllowed(at: number, clear: Json, payload: Json | undefined, context: ReadContext): RunEvent | undefined {
  const call = stringMember(clear, "call");
  const method = stringMember(clear, "method");
  const digest = stringMember(clear, "digest");
  const consent = stringMember(clear, "consent");
  const option = joinOption(member(clear, "option"), payload, context);
  const given = member(payload, "arguments");
  if (call === undefined || method === undefined || digest === undefined || option === undefined) return undefined;
  const head = { at, kind: "allowed" as const, call, method, option, digest };
  // `isObject` was asked; the compiler keeps RawNumber in the union.
  const values = isObject(given) ? (given as Of<"allowed">["arguments"]) : {};
  const forecast = readForecast(member(payload, "forecast"));
  return {
    ...head,
    arguments: values,
    ...(consent === undefined ? {} : { consent }),
    ...(forecast === undefined ? {} : { forecast }),
  };
}

/** Fields with their pointers. Without the payload no field is known apart, so the whole takes the join of all. */
function readFields(
  label: LabelRange,
  ranges: readonly LabelRange[],
  pointers: Json | undefined,
): { label: LabelRange; fields: readonly FieldLabel[] } {
  if (!isArray(pointers)) {
    return { label: { lo: label.lo, hi: ranges.reduce((hi, range) => join(hi, range.hi), label.hi) }, fields: [] };
  }
  // A pointer that is no text becomes the one of the whole value, which is never narrower.
  const fields = ranges.map((range, index) => ({ pointer: textOf(pointers[index]), range }));
  return { label, fields };
}

function readReleased(at: number, clear: Json, payload: Json | undefined, context: ReadContext): RunEvent | undefined {
  const server = stringMember(clear, "server");
  const tool = stringMember(clear, "tool");
  const how = oneOf(stringMember(clear, "how"), ["pass", "withhold", "reject"] as const);
  const label = readRange(member(clear, "label"), context.read);
  const listed = member(clear, "fields") ?? [];
  if (server === undefined || tool === undefined || how === undefined || label === undefined || !isArray(listed))
    return undefined;
  const ranges = listed.map((range) => readRange(range, context.read)).filter((range) => range !== undefined);
  if (ranges.length !== listed.length) return undefined;
  const held = readFields(label, ranges, member(payload, "pointers"));
  const value = member(payload, "value");
  const codes = member(clear, "codes");
  if (codes !== undefined && !(isArray(codes) && codes.every((code) => typeof code === "string"))) return undefined;
  const refused = codes === undefined ? {} : { codes };
  const call = stringMember(clear, "call");
  const head = { at, kind: "released" as const, call, server, tool, how, ...held, ...refused };
  return value === undefined ? head : { ...head, value };
}

function readGrant(grant: Json | undefined, context: ReadContext): Grant | undefined {
  const kind = oneOf(stringMember(grant, "kind"), ["endorse", "declassify", "consent", "accept"] as const);
  const digest = stringMember(grant, "digest");
  const purpose = stringMember(grant, "purpose");
  const principal = stringMember(grant, "principal");
  const expiresAt = member(grant, "expiresAt");
  if (purpose === undefined || principal === undefined || typeof expiresAt !== "number") return undefined;
  const common = { purpose, principal, expiresAt };
  if (kind === "accept") {
    const hazard = stringMember(grant, "hazard");
    const move = stringMember(grant, "move");
    return hazard === undefined || move === undefined ? undefined : { kind, hazard, move, ...common };
  }
  if (kind === undefined || digest === undefined) return undefined;
  if (kind === "consent") return { kind, digest, ...common };
  const role = oneOf(stringMember(grant, "role"), roles);
  const from = readRange(member(grant, "from"), context.read);
  const to = readRange(member(grant, "to"), context.read);
  if (role === undefined || from === undefined || to === undefined) return undefined;
  return { kind, digest, role, from, to, ...common };
}

function readRequested(at: number, clear: Json): RunEvent | undefined {
  const call = stringMember(clear, "call");
  const server = stringMember(clear, "server");
  const tool = stringMember(clear, "tool");
  const digest = stringMember(clear, "digest");
  if (call === undefined || server === undefined || tool === undefined || digest === undefined) return undefined;
  return { at, kind: "requested", call, server, tool, digest };
}

function readBegun(at: number, clear: Json): RunEvent | undefined {
  const principal = stringMember(clear, "principal");
  const parent = stringMember(clear, "parent");
  if (principal === undefined) return undefined;
  return parent === undefined ? { at, kind: "begun", principal } : { at, kind: "begun", principal, parent };
}

function readStep(
  at: number,
  kind: "refused" | "sent" | "succeeded" | "failed" | "unknown",
  clear: Json,
): RunEvent | undefined {
  const call = stringMember(clear, "call");
  if (call === undefined) return undefined;
  switch (kind) {
    case "sent":
      return { at, kind, call };
    case "succeeded":
      return { at, kind, call };
    case "failed":
      return { at, kind, call, noEffect: member(clear, "noEffect") === true };
    case "unknown":
      return { at, kind, call, cause: stringMember(clear, "cause") ?? "" };
    case "refused": {
      const codes = member(clear, "codes");
      return { at, kind, call, codes: isArray(codes) ? codes.filter((code) => typeof code === "string") : [] };
    }
  }
}

const kinds: Readonly<Record<Kind, Kind>> = {
  begun: "begun",
  registered: "registered",
  requested: "requested",
  refused: "refused",
  allowed: "allowed",
  sent: "sent",
  succeeded: "succeeded",
  failed: "failed",
  unknown: "unknown",
  released: "released",
  granted: "granted",
  ended: "ended",
};

/**
 * One event back; `payload` undefined gives what labels and digests alone tell. Undefined if it cannot be read. An
 * instruction without its payload is left out by the caller, who finds `registered` with a null value.
 */
export function joinEvent(clear: Json, payload: Json | undefined, context: ReadContext): RunEvent | undefined {
  const kind = oneOf(stringMember(clear, "kind"), Object.values(kinds));
  const at = member(clear, "at");
  if (typeof at !== "number" || kind === undefined) return undefined;
  switch (kind) {
    case "begun":
      return readBegun(at, clear);
    case "registered": {
      const source = oneOf(stringMember(clear, "source"), ["instruction", "operator"] as const);
      const value = member(payload, "value") ?? null;
      return source === undefined ? undefined : { at, kind, text: { source, value } };
    }
    case "requested":
      return readRequested(at, clear);
    case "allowed":
      return readAllowed(at, clear, payload, context);
    case "released":
      return readReleased(at, clear, payload, context);
    case "granted": {
      const grant = readGrant(member(clear, "grant"), context);
      return grant === undefined ? undefined : { at, kind, grant };
    }
    case "ended": {
      const cause = oneOf(stringMember(clear, "cause"), endCauses);
      return cause === undefined ? undefined : { at, kind, cause };
    }
    case "refused":
    case "sent":
    case "succeeded":
    case "failed":
    case "unknown":
      return readStep(at, kind, clear);
  }
}

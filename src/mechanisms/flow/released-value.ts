/**
 * A released message as labelled leaves. Field labels speak of the structured result: `structuredContent`, else the
 * only text content where that is JSON, else the value itself where it has no MCP shape. Everything else in the message
 * has the label of the whole.
 */
import { isArray, isObject, member, stringMember, type Json } from "../../core/json.ts";
import type { FieldContract } from "../../core/contract.ts";
import { joinRanges, type LabelRange } from "../../core/label.ts";
import type { FieldLabel } from "../../core/opinion.ts";
import { canonicalNumber } from "../../policy/values/decimal.ts";
import { pointerOf } from "../../core/pointer.ts";
import { covers, leavesOf, segmentsOf, type Leaf } from "./leaves.ts";
import { jsonTextUnitsMax } from "./limits.ts";

export type LabelledLeaf = {
  readonly value: Json;
  readonly pointer: string;
  readonly range: LabelRange;
  /** Its path in the structured result, of which declarations of fields speak. */
  readonly place?: readonly string[];
};

export type ReleasedLeaves = {
  /** Leaves of the structured result, each with the label of its field. */
  readonly structured: readonly LabelledLeaf[];
  /** All other leaves, with the label of the whole. */
  readonly other: readonly LabelledLeaf[];
};

/** Undefined for a value that is too deep or too large to be looked at. */
export function releasedLeaves(
  value: Json,
  label: LabelRange,
  fields: readonly FieldLabel[],
): ReleasedLeaves | undefined {
  const found = structuredOf(value);
  const rest = leavesOf(found.rest);
  const inner = found.structured === undefined ? [] : leavesOf(found.structured);
  if (rest === undefined || inner === undefined) return undefined;
  const patterns = fields.map((field) => ({ segments: segmentsOf(field.pointer), range: field.range }));
  return {
    structured: inner.map((leaf) => ({
      value: leaf.value,
      pointer: found.at + pointerOf(leaf.path),
      place: leaf.path,
      // A field speaks of a member's value; its name is part of the object around it.
      range: rangeAt(leaf.name === true ? leaf.path.slice(0, -1) : leaf.path, patterns) ?? label,
    })),
    other: rest
      .filter((leaf) => !isShape(leaf))
      .map((leaf) => ({ value: leaf.value, pointer: pointerOf(leaf.path), range: label })),
  };
}

/** The declared fields that a value has, and whether it has data outside of its structured part. */
export type Presence = { readonly fields: readonly FieldContract[]; readonly beside: boolean };

/** The part of a result that a declaration of fields covers; an unreadable value may have every field. */
export function presenceOf(value: Json, fields: readonly FieldContract[]): Presence {
  const found = structuredOf(value);
  const rest = leavesOf(found.rest);
  const inner = found.structured === undefined ? [] : leavesOf(found.structured);
  if (rest === undefined || inner === undefined) return { fields, beside: true };
  return {
    fields: fields.filter(({ pointer }) => {
      const segments = segmentsOf(pointer);
      return inner.some((leaf) => covers(segments, leaf.path));
    }),
    beside: rest.some((leaf) => !isShape(leaf) && !isEnvelope(leaf)),
  };
}

type Field = { readonly segments: readonly string[]; readonly range: LabelRange };

/** The most specific field decides; equally specific ones join. Undefined: undeclared, so the whole range. */
function rangeAt(path: readonly string[], fields: readonly Field[]): LabelRange | undefined {
  let best: Field | undefined;
  for (const field of fields) {
    if (!covers(field.segments, path)) continue;
    if (best === undefined || field.segments.length > best.segments.length) best = field;
    else if (field.segments.length === best.segments.length) {
      best = { segments: best.segments, range: joinRanges(best.range, field.range) };
    }
  }
  return best?.range;
}

type Found = { readonly structured: Json | undefined; readonly at: string; readonly rest: Json };

function structuredOf(value: Json): Found {
  const ofTask = taskResult(value);
  if (ofTask !== undefined && isObject(value)) {
    const found = structuredOf(ofTask);
    return { structured: found.structured, at: `/result${found.at}`, rest: { ...value, result: found.rest } };
  }
  const structured = member(value, "structuredContent");
  if (isObject(value) && structured !== undefined) {
    const rest = omit(value, "structuredContent");
    const text = onlyText(rest);
    // The text repeats the structured content as JSON for older clients: it says nothing of its own.
    const repeated = text !== undefined && sameLeaves(jsonOf(text), structured);
    return { structured, at: "/structuredContent", rest: repeated ? withoutText(rest) : rest };
  }
  const text = onlyText(value);
  if (text !== undefined) {
    const parsed = jsonOf(text);
    return parsed === undefined
      ? { structured: undefined, at: "", rest: value }
      : { structured: parsed, at: "", rest: withoutText(value) };
  }
  const shaped = ["content", "contents", "messages"].some((name) => isArray(member(value, name)));
  return shaped ? { structured: undefined, at: "", rest: value } : { structured: value, at: "", rest: {} };
}

/** The result of a call inside of the state of its task, as 2026-07-28 brings it. */
function taskResult(value: Json): Json | undefined {
  if (stringMember(value, "taskId") === undefined || stringMember(value, "status") === undefined) return undefined;
  const result = member(value, "result");
  return isObject(result) ? result : undefined;
}

/** Everything of a result but one member; `_meta` may reach the agent, too. */
function omit(value: Json, name: string): Json {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).filter(([member]) => member !== name));
}

/** The result without the text of its only block; what stands beside that text (annotations, `_meta`) is kept. */
function withoutText(value: Json): Json {
  const content = member(value, "content");
  const block = isArray(content) ? (content[0] ?? null) : null;
  return isObject(value) ? { ...value, content: [omit(block, "text")] } : {};
}

function onlyText(value: Json): string | undefined {
  const content = member(value, "content");
  if (!isArray(content) || content.length !== 1) return undefined;
  return stringMember(content[0], "type") === "text" ? stringMember(content[0], "text") : undefined;
}

/**
 * Objects and lists only: a bare number or word is text. Numbers keep the digits that a double would lose. Text that
 * gives an object the same name twice stays text: what the first one says is read by the agent, and no parser shows it.
 */
export function jsonOf(text: string): Json | undefined {
  if (text.length > jsonTextUnitsMax || !/^\s*[[{]/.test(text)) return undefined;
  try {
    let members = 0;
    const parsed = JSON.parse(text, (_, value: unknown, { source }) => {
      if (typeof value === "number" && source !== undefined && String(value) !== source) return JSON.rawJSON(source);
      if (typeof value === "object" && value !== null && !Array.isArray(value)) members += Object.keys(value).length;
      return value;
    });
    return members === membersIn(text) ? (parsed as Json) : undefined; // JSON.parse with raw numbers yields exactly the type Json
  } catch {
    return undefined;
  }
}

/** Members of all objects of a JSON text: outside of strings each has one colon. */
function membersIn(json: string): number {
  return json.replace(/"(?:[^"\\]+|\\.)*"/g, "").split(":").length - 1;
}

/** Words of the protocol itself; a server could put anything else under their names. */
const shapeWords: Readonly<Record<string, RegExp>> = {
  type: /^(?:text|image|audio|video|resource|resource_link|tool_use|tool_result)$/,
  role: /^(?:user|assistant)$/,
  mimeType: /^(?:text|image|audio|video|application|font)\/[a-z][a-z.+-]{1,40}$/,
};

/** The same of a result and of the state of a task. */
const stateWords: Readonly<Record<string, RegExp>> = {
  resultType: /^(?:complete|input_required|task)$/,
  status: /^(?:working|input_required|completed|failed|cancelled)$/,
};

/** Words of the protocol: not chosen by the server, and nothing that an argument is made of. */
function isShape({ path, value }: Leaf): boolean {
  const last = path.at(-1) ?? "";
  const first = path[0] === "result" ? path[1] : path[0];
  const inBlock = first === "content" || first === "contents" || first === "messages";
  const words = inBlock ? shapeWords : path.length === 1 ? stateWords : {};
  return typeof value === "string" && Object.hasOwn(words, last) && words[last]?.test(value) === true;
}

/** Ids, times and numbers that the protocol wants around a result. They have its label, and say nothing of its fields. */
function isEnvelope({ path, value }: Leaf): boolean {
  if (path.length !== 1 || !envelope.has(path[0] ?? "")) return false;
  return typeof value !== "string" || /^[\w.:~+/=-]{1,128}$/.test(value);
}

const envelope = new Set([
  "resultType",
  "taskId",
  "status",
  "createdAt",
  "lastUpdatedAt",
  "ttl",
  "ttlMs",
  "pollInterval",
  "pollIntervalMs",
]);

/** Equal whatever the order of members and the spelling of numbers. */
function sameLeaves(left: Json | undefined, right: Json): boolean {
  const first = left === undefined ? undefined : leavesOf(left)?.map(spelled).sort();
  const second = leavesOf(right)?.map(spelled).sort();
  return first !== undefined && second !== undefined && JSON.stringify(first) === JSON.stringify(second);
}

function spelled(leaf: Leaf): string {
  return `${pointerOf(leaf.path)} ${canonicalNumber(leaf.value) ?? JSON.stringify(leaf.value)}`;
}

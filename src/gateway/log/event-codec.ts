/**
 * Run events as JSON in two parts, from one table: labels, digests and codes in the clear; arguments, results,
 * instructions and whatever is made of them as payload. The compiler holds the table to the events: a member without a
 * column does not compile. Writers and readers are made of it once, at the start.
 *
 * Members that an event shares with its entry (instant, call, server, tool) are left to the entry; `null` in the place
 * of such a member says that the event has none. An event that has nothing else is its kind alone.
 */
import { type ResultScope, argumentRoles } from "../../core/contract.ts";
import { type Grant, type RunEvent, endCauses } from "../../core/event.ts";
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import { join, type LabelRange } from "../../core/label.ts";
import type { CallOption } from "../../core/moment.ts";
import type { FieldLabel } from "../../core/opinion.ts";
import { type ForeseenFilter, readFilter, readForecast } from "../../core/questions/prediction.ts";
import type { EntryHead, Pen } from "./json-text.ts";
import { readRange } from "./label-codec.ts";
import { hiddenOption, joinOption, optionText, rangeText, type ReadContext } from "./option-codec.ts";

type Kind = RunEvent["kind"];
type Of<K extends Kind> = Extract<RunEvent, { kind: K }>;

/** The value of a column for a member that does not read as the log writes it. */
const damaged = Symbol("damaged");

/** The two parts of a stored event. Without the second one values are missing, and labels and digests are there. */
type Parts = { readonly clear: JsonObject; readonly payload: Json | undefined; readonly context: ReadContext };

/** A member of an event in both parts: texts are members of a JSON object, each with the comma before it. */
type Column<T> = {
  readonly clear?: (value: T, pen: Pen, entry: EntryHead) => string;
  readonly hidden?: (value: T, pen: Pen) => string;
  /** Left to the entry where it says the same. */
  readonly shared?: true;
  /** It may be missing; any other member must be there. */
  readonly optional?: true;
  readonly read: (parts: Parts) => T | undefined | typeof damaged;
};

/** A column under the name of its member. */
type Make<T> = (name: string) => Column<T>;
type Optional<T> = (name: string) => Column<T> & { readonly optional: true };

const clear =
  <T>(
    text: (value: T, pen: Pen, entry: EntryHead) => string,
    read: (value: Json, parts: Parts) => T | undefined,
  ): Make<T> =>
  (name) => ({
    clear: (value, pen, entry) => `,"${name}":${text(value, pen, entry)}`,
    read: (parts) => {
      const value = member(parts.clear, name);
      return value === undefined ? undefined : orDamaged(read(value, parts));
    },
  });

/**
 * A member in the payload. Once the key of its day is destroyed it cannot be read, so it must be optional or have a
 * fallback: an event that misses a required member makes its whole record unreadable.
 */
const hidden =
  <T>(text: (value: T, pen: Pen) => string, read: (value: Json) => T | undefined): Make<T> =>
  (name) => ({
    hidden: (value, pen) => `,"${name}":${text(value, pen)}`,
    read: ({ payload }) => {
      const value = member(payload, name);
      return value === undefined ? undefined : orDamaged(read(value));
    },
  });

function orDamaged<T>(value: T | undefined): T | typeof damaged {
  return value === undefined ? damaged : value;
}

const optional =
  <T>(make: Make<T>): Optional<T> =>
  (of) => ({ ...make(of), optional: true });

const textIn = (value: Json | undefined): string | undefined => (typeof value === "string" ? value : undefined);

/** Text of others, such as the cause of a failure. */
const words = clear<string>((value, pen) => pen.json(value), textIn);
/** Text that comes again and again, such as the name of a tool. */
const name = clear<string>((value, pen) => pen.name(value), textIn);
/** Text that is ours alone. */
const digest = clear<string>((value) => JSON.stringify(value), textIn);
const flag = clear<boolean>(String, (value) => (typeof value === "boolean" ? value : undefined));
const texts = clear<readonly string[]>(
  (value, pen) => pen.json(value),
  (value) => (isArray(value) && value.every((one) => typeof one === "string") ? value : undefined),
);
/** Names of tools that the policy has. They must outlast the payload: a run that forgets one would be less restricted. */
const filter = clear<ForeseenFilter>((value, pen) => pen.json(value), readFilter);
const oneOf = <T extends string>(known: readonly T[]): Make<T> =>
  clear<T>(
    (value) => `"${value}"`,
    (value) => known.find((one) => one === value),
  );

/** A member that the entry may hold for its events. */
const ofEntry: Make<string> = (of) => ({ ...words(of), shared: true });

/** The same where the event may have none. */
const ofEntryIfAny: Make<string | undefined> = (of) => ({
  shared: true,
  optional: true,
  clear: (value, pen) => `,"${of}":${value === undefined ? "null" : pen.json(value)}`,
  read: (parts) => stringMember(parts.clear, of),
});

const source = oneOf(["instruction", "operator"] as const)("source");
/** An instruction: whose it is in the clear, and nothing of what it says. */
const trustedText: Make<Of<"registered">["text"]> = () => ({
  clear: (text, pen, entry) => source.clear?.(text.source, pen, entry) ?? "",
  hidden: ({ value }, pen) => `,"value":${pen.json(value)}`,
  read: (parts) => {
    const said = source.read(parts);
    return said === damaged || said === undefined
      ? damaged
      : { source: said, value: member(parts.payload, "value") ?? null };
  },
});

const option: Make<CallOption> = (of) => ({
  clear: (value, pen, entry) => `,"${of}":${optionText(value, pen, entry)}`,
  hidden: hiddenOption,
  read: ({ clear: event, payload, context }) => joinOption(member(event, of), payload, context) ?? damaged,
});

const given: Make<JsonObject> = (of) => ({
  hidden: (value, pen) => `,"${of}":${pen.json(value)}`,
  read: ({ payload }) => {
    const value = member(payload, of);
    return isObject(value) ? (value as JsonObject) : {}; // narrowed; the compiler keeps RawNumber in the union
  },
});

/** The label of a release. Without the payload no field is known apart, so the whole takes the join of all. */
const releaseLabel: Make<LabelRange> = (of) => ({
  clear: (value) => `,"${of}":${rangeText(value)}`,
  read: ({ clear: event, payload, context }) => {
    const label = readRange(member(event, of), context.read);
    const ranges = rangesIn(event, context);
    if (label === undefined || ranges === undefined) return damaged;
    if (isArray(member(payload, "pointers"))) return label;
    return { lo: label.lo, hi: ranges.reduce((hi, range) => join(hi, range.hi), label.hi) };
  },
});

/** Labels of fields in the clear; where the fields are is made of the data itself. */
const fields: Make<readonly FieldLabel[]> = (of) => ({
  clear: (value) => (value.length === 0 ? "" : `,"${of}":[${value.map(({ range }) => rangeText(range)).join(",")}]`),
  hidden: (value, pen) => (value.length === 0 ? "" : `,"pointers":${pen.json(value.map(({ pointer }) => pointer))}`),
  read: ({ clear: event, payload, context }) => {
    const ranges = rangesIn(event, context);
    const pointers = member(payload, "pointers");
    if (ranges === undefined) return damaged;
    // A pointer that is not text becomes the one of the whole value, which is never narrower.
    return isArray(pointers) ? ranges.map((range, index) => ({ pointer: textIn(pointers[index]) ?? "", range })) : [];
  },
});

/** Records of before have none: a name in their results is then one of the tool itself. */
const resultScope = hidden<ResultScope>(
  ({ stores, types }, pen) =>
    pen.json({ stores: [...stores], types: types.map(({ pointer, type }) => [pointer, type]) }),
  (value) => {
    const stores = member(value, "stores");
    const types = member(value, "types");
    if (!isArray(stores) || !isArray(types)) return undefined;
    return {
      stores: stores.filter((store) => typeof store === "string"),
      types: types.flatMap((one) => {
        const [pointer, type] = isArray(one) ? one : [];
        return typeof pointer === "string" && typeof type === "string" ? [{ pointer, type }] : [];
      }),
    };
  },
);

function rangesIn(event: JsonObject, { read }: ReadContext): readonly LabelRange[] | undefined {
  const listed = member(event, "fields") ?? [];
  if (!isArray(listed)) return undefined;
  const ranges = listed.map((range) => readRange(range, read)).filter((range) => range !== undefined);
  return ranges.length === listed.length ? ranges : undefined;
}

function grantText(grant: Grant, pen: Pen): string {
  if (grant.kind === "consent" || grant.kind === "accept") return pen.json(grant);
  const { from, to, ...rest } = grant;
  return pen.json({ ...rest, from: [from.lo, from.hi], to: [to.lo, to.hi] });
}

function readGrant(grant: Json | undefined, { context }: Parts): Grant | undefined {
  const kind = (["endorse", "declassify", "consent", "accept"] as const).find((one) => one === member(grant, "kind"));
  const of = stringMember(grant, "digest");
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
  if (kind === undefined || of === undefined) return undefined;
  if (kind === "consent") return { kind, digest: of, ...common };
  const role = argumentRoles.find((one) => one === member(grant, "role"));
  const from = readRange(member(grant, "from"), context.read);
  const to = readRange(member(grant, "to"), context.read);
  if (role === undefined || from === undefined || to === undefined) return undefined;
  return { kind, digest: of, role, from, to, ...common };
}

/** Members of an event but kind and instant. */
type Members<K extends Kind> = Omit<Of<K>, "kind" | "at">;

/** A column for each of them, which knows whether it may be missing. */
type Row<K extends Kind> = {
  readonly [M in keyof Members<K>]-?: object extends Pick<Members<K>, M>
    ? Optional<Required<Members<K>>[M]>
    : Make<Members<K>[M]>;
};

/** Log format 2. `docs/storage.md` says the same in words, and a test compares the two. */
export const eventTable: { readonly [K in Kind]: Row<K> } = {
  begun: { principal: words, parent: optional(words) },
  registered: { text: trustedText },
  refused: { call: ofEntry, server: ofEntry, tool: ofEntry, digest, codes: texts },
  dispatched: {
    call: ofEntry,
    method: name,
    digest,
    consent: optional(words),
    from: optional(words),
    option,
    arguments: given,
    // A model has seen the arguments, so what it expects of them is as secret as they are.
    forecast: optional(hidden((value, pen) => pen.json(value), readForecast)),
    filter: optional(filter),
  },
  succeeded: { call: ofEntry },
  failed: { call: ofEntry, noEffect: flag },
  unknown: { call: ofEntry, cause: words },
  released: {
    call: ofEntryIfAny,
    server: ofEntry,
    tool: ofEntry,
    how: oneOf(["pass", "withhold", "reject"] as const),
    label: releaseLabel,
    codes: optional(texts),
    from: optional(words),
    fields,
    scope: optional(resultScope),
    value: optional(
      hidden(
        (value, pen) => pen.json(value),
        (value) => value,
      ),
    ),
  },
  foreseen: { filter },
  granted: { grant: clear(grantText, readGrant) },
  ended: { cause: oneOf(endCauses) },
};

type Written = { readonly [member: string]: unknown };

/** The codec of one kind of event, made of its columns. */
type Codec = {
  readonly clear: (event: RunEvent, pen: Pen, entry: EntryHead) => string;
  readonly hidden: (event: RunEvent, pen: Pen) => string;
  /** Members that the entry may say for the event. */
  readonly shared: readonly (keyof EntryHead)[];
  readonly read: (at: number, parts: Parts) => RunEvent | undefined;
};

function codecOf(kind: Kind): Codec {
  // The type of the table ties each column to the type of its member; here they are only gone through by name.
  const rows = Object.entries(eventTable[kind]) as readonly (readonly [string, Make<unknown>])[];
  const columns = rows.map(([of, make]) => ({ of, ...make(of) }));
  const clears = columns.flatMap(({ of, clear: write, shared }) => {
    if (write === undefined) return [];
    if (shared === true) {
      const ofHead = of as keyof EntryHead; // shared columns are those that a head has as well
      return [
        (event: Written, pen: Pen, entry: EntryHead) =>
          event[of] === entry[ofHead] ? "" : write(event[of], pen, entry),
      ];
    }
    return [
      (event: Written, pen: Pen, entry: EntryHead) => (event[of] === undefined ? "" : write(event[of], pen, entry)),
    ];
  });
  const hiddens = columns.flatMap(({ of, hidden: write }) =>
    write === undefined ? [] : [(event: Written, pen: Pen) => (event[of] === undefined ? "" : write(event[of], pen))],
  );
  return {
    clear: (event, pen, entry) => {
      let text = event.at === entry.at ? "" : `,"at":${event.at}`;
      for (const write of clears) text += write(event, pen, entry);
      return text === "" ? `"${kind}"` : `{"kind":"${kind}"${text}}`;
    },
    hidden: (event, pen) => {
      let text = "";
      for (const write of hiddens) text += write(event, pen);
      return text;
    },
    shared: ["at", ...columns.filter(({ shared }) => shared === true).map(({ of }) => of as keyof EntryHead)],
    read: (at, parts) => {
      const event: Record<string, unknown> = { at, kind };
      for (const { of, optional: may, read } of columns) {
        const value = read(parts);
        if (value === damaged || (value === undefined && may !== true)) return undefined;
        if (value !== undefined) event[of] = value;
      }
      return event as RunEvent; // each member was read by the column that the table has for it
    },
  };
}

// The keys of the table are the kinds of events, each once.
const codecs = new Map((Object.keys(eventTable) as Kind[]).map((kind) => [kind, codecOf(kind)] as const));

function codec(kind: string): Codec | undefined {
  return codecs.get(kind as Kind); // any other text has none
}

/** The clear part of one event. */
export function eventText(event: RunEvent, pen: Pen, entry: EntryHead): string {
  return codec(event.kind)?.clear(event, pen, entry) ?? "null";
}

/** The clear parts of the events of one entry. */
export function eventsText(events: readonly RunEvent[], pen: Pen, entry: EntryHead): string {
  let list = "";
  for (const event of events) list += list === "" ? eventText(event, pen, entry) : `,${eventText(event, pen, entry)}`;
  return `[${list}]`;
}

/** The payload of one event; undefined if it hides nothing. */
export function hiddenEvent(event: RunEvent, pen: Pen): string | undefined {
  const text = codec(event.kind)?.hidden(event, pen) ?? "";
  return text === "" ? undefined : `{${text.slice(1)}}`;
}

/** Their payloads, `null` for one that hides nothing; undefined if none does. */
export function hiddenEvents(events: readonly RunEvent[], pen: Pen): string | undefined {
  let list = "";
  let hides = false;
  for (const event of events) {
    const text = hiddenEvent(event, pen);
    if (list !== "") list += ",";
    list += text ?? "null";
    hides ||= text !== undefined;
  }
  return hides ? `[${list}]` : undefined;
}

/** The events of an entry with everything that they left to it. */
export function wholeEvents(entry: EntryHead, events: readonly Json[]): readonly Json[] {
  return events.map((given) => {
    const short: Json = typeof given === "string" ? { kind: given } : given;
    if (!isObject(short)) return given;
    const members = short as JsonObject; // narrowed; the compiler keeps RawNumber in the union
    const whole: Record<string, Json> = {};
    for (const of of codec(stringMember(members, "kind") ?? "")?.shared ?? ["at" as const]) {
      const own = member(members, of);
      const value = own === undefined ? entry[of] : own;
      if (value !== undefined) whole[of] = value;
    }
    for (const [of, value] of Object.entries(members)) {
      const { server, tool } = entry;
      const left = { ...(server === undefined ? {} : { server }), ...(tool === undefined ? {} : { tool }) };
      // The names are those of the table; a value of any other writer fails to read as an event.
      whole[of] = of === "option" && isObject(value) ? { ...left, ...value } : value;
    }
    for (const of of Object.keys(whole)) if (whole[of] === null) delete whole[of];
    return whole;
  });
}

/**
 * One event back; a payload that is gone leaves what labels and digests alone tell. Undefined if it does not read as we
 * wrote it: a guess about what happened would be a guess about what is secret. An instruction without its payload has a
 * null value; the caller leaves it out.
 */
export function joinEvent(whole: Json, payload: Json | undefined, context: ReadContext): RunEvent | undefined {
  const at = member(whole, "at");
  if (typeof at !== "number" || !isObject(whole)) return undefined;
  const parts = { clear: whole as JsonObject, payload, context }; // narrowed; the compiler keeps RawNumber in the union
  return codec(stringMember(whole, "kind") ?? "")?.read(at, parts);
}

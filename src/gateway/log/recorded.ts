/**
 * What a run did and how it was decided, out of its records: events with the decisions, answers and notes that came with
 * them, in log order. It is read to be decided again, so what cannot be read is said and never left out.
 */
import type { RunEvent } from "../../core/event.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isArray, isObject, member, stringMember } from "../../core/json.ts";
import type { Lattice } from "../../core/label.ts";
import type { CallOption } from "../../core/moment.ts";
import type { Reason } from "../../core/opinion.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { PlacesRead } from "../../core/told-places.ts";
import type { Verdict } from "../../core/verdict.ts";
import type { LogKeys, Store, StoredRecord } from "../store-port.ts";
import { makeLoader, openRecord, type Loader, type OpenedEntry, type OpenedRecord } from "./open-record.ts";
import { joinOption } from "./option-codec.ts";
import { boundTo, type PayloadNote } from "./record.ts";
import { recordPages } from "./record-pages.ts";
import { replayRecordsMax } from "./replay.ts";

/** A decision as it stands in the log. */
export type RecordedDecision = {
  readonly verdict: Verdict;
  readonly unobserved: Verdict;
  readonly reasons: readonly Reason[];
  /** Kinds of its obligations. */
  readonly obligations: readonly string[];
  /** The option that was judged, where no event of the entry has it. */
  readonly option: CallOption | undefined;
};

function isVerdict(text: string | undefined): text is Verdict {
  return text === "allow" || text === "confirm" || text === "deny";
}

/** What an oracle said; undefined = it was asked and gave nothing. */
export type RecordedAnswers = ReadonlyMap<string, Json | undefined>;

export type RecordedEntry = {
  readonly run: string;
  readonly wallTime: string;
  readonly at: number;
  readonly kind: string;
  readonly call: string | undefined;
  readonly server: string | undefined;
  readonly tool: string | undefined;
  /** Digest of the policy that it was decided under. */
  readonly policy: string | undefined;
  readonly principal: string | undefined;
  readonly events: readonly RunEvent[];
  readonly decision: RecordedDecision | undefined;
  readonly answers: RecordedAnswers;
  readonly notes: Json | undefined;
  readonly details: Json | undefined;
  /** Texts that looked like secrets were replaced before it was written. */
  readonly masked: boolean;
  /** Why its payload cannot be read; undefined where it can, or where it has none. */
  readonly unread: Unread | undefined;
};

/** `digests`: the policy kept no payloads. `too-large`: this one was not kept. `forgotten`: the key of its day is gone. */
export type Unread = "digests" | "too-large" | "forgotten" | "damaged";

export type RecordedQuery = {
  readonly run: string;
  /** Also what other runs did meanwhile and before; a record of theirs that cannot be read is left out. */
  readonly others: boolean;
  /** Labels are read into this one. */
  readonly lattice: Lattice;
};

/** The entries of a run, oldest first; an error where one of its own records cannot be read. */
export async function recordedEntries(
  store: Store,
  keys: LogKeys,
  { run, others, lattice }: RecordedQuery,
): Promise<Result<readonly RecordedEntry[], string>> {
  const loader = makeLoader(store, keys, lattice);
  const told = new PlacesRead();
  const found: RecordedEntry[] = [];
  let count = 0;
  for await (const page of recordPages(store, others ? {} : { run })) {
    if (!page.ok) return err(page.error.sentence);
    if (count >= replayRecordsMax) return err(`there are more than ${replayRecordsMax} records`);
    for (const record of page.value) {
      const opened = await openRecord(loader, record);
      if (!opened.ok && record.run === run) return opened;
      if (opened.ok) found.push(...entriesOf(loader, { record, opened: opened.value, run, told }));
    }
    count += page.value.length;
  }
  return ok(found);
}

type Read = {
  readonly record: StoredRecord;
  readonly opened: OpenedRecord;
  readonly run: string;
  readonly told: PlacesRead;
};

function entriesOf(loader: Loader, { record, opened, run, told }: Read): readonly RecordedEntry[] {
  const { head, context, payload: note } = opened.body;
  const unread = opened.complete ? undefined : whyUnread(loader.keys, record, note);
  return opened.entries.map((entry) => {
    const { at, kind, call, server, tool, clear } = entry.head;
    return {
      run: head.run,
      wallTime: head.wallTime,
      at,
      kind,
      call,
      server,
      tool,
      policy: stringMember(context, "policy"),
      principal: stringMember(context, "principal"),
      events: entry.events,
      decision: decisionOf(entry, opened),
      answers: head.run === run ? answersOf(entry, told) : new Map<string, Json>(),
      notes: member(clear, "notes"),
      details: member(entry.payload, "details"),
      masked: isMasked(entry.payload),
      unread,
    };
  });
}

function whyUnread(keys: LogKeys, record: StoredRecord, note: PayloadNote | undefined): Unread {
  if (note?.tooLarge === true) return "too-large";
  if (note?.how === "digests") return "digests";
  if (note?.how !== "sealed" || record.payload === undefined) return "damaged";
  const opened = keys.open(record.run, record.payload, boundTo(record.writer, record.seq));
  return !opened.ok && opened.error === "missing-key" ? "forgotten" : "damaged";
}

/** What `maskSecrets` puts in the place of a secret. */
const maskPattern = /\[secret [a-z-]+ /;

function isMasked(payload: Json | undefined): boolean {
  return payload !== undefined && payload !== null && maskPattern.test(JSON.stringify(payload));
}

function answersOf({ head, payload }: OpenedEntry, told: PlacesRead): RecordedAnswers {
  const answers = new Map<string, Json | undefined>();
  for (const listed of [member(head.clear, "answers"), member(payload, "answers")]) {
    if (!isObject(listed)) continue;
    for (const key of Object.keys(listed)) {
      const value = member(member(listed, key), "value");
      answers.set(key, value === undefined ? undefined : told.whole(value));
    }
  }
  return answers;
}

function decisionOf({ head, payload }: OpenedEntry, { context }: OpenedRecord): RecordedDecision | undefined {
  const clear = member(head.clear, "decision");
  const verdict = stringMember(clear, "verdict");
  if (!isVerdict(verdict)) return undefined;
  const unobserved = stringMember(clear, "unobserved") ?? verdict;
  const hidden = member(payload, "decision");
  const said = member(clear, "option");
  const subject = { server: head.server ?? "", tool: head.tool ?? "" };
  const option =
    isObject(said) && context !== undefined
      ? joinOption({ ...subject, ...(said as JsonObject) }, member(hidden, "option"), context) // narrowed
      : undefined;
  const obligations = member(clear, "obligations");
  return {
    verdict,
    unobserved: isVerdict(unobserved) ? unobserved : verdict,
    reasons: reasonsOf(member(clear, "reasons"), member(hidden, "reasons")),
    obligations: (isArray(obligations) ? obligations : []).flatMap((one) => stringMember(one, "kind") ?? []),
    option,
  };
}

/** Reasons with their facts; what a person would read of them is all that they are for. */
function reasonsOf(clear: Json | undefined, hidden: Json | undefined): readonly Reason[] {
  if (!isArray(clear)) return [];
  return clear.flatMap((said, index): readonly Reason[] => {
    const mechanism = stringMember(said, "mechanism");
    const code = stringMember(said, "code");
    const verdict = stringMember(said, "verdict");
    if (mechanism === undefined || code === undefined || !isVerdict(verdict)) return [];
    const more = isArray(hidden) ? hidden[index] : undefined;
    const facts = member(more, "facts");
    const rule = stringMember(said, "rule");
    const why = stringMember(said, "why");
    const way = stringMember(more, "way");
    return [
      {
        mechanism,
        code,
        verdict,
        facts: isObject(facts) ? factsOf(facts as JsonObject) : {}, // narrowed
        ...(rule === undefined ? {} : { rule }),
        ...(why === undefined ? {} : { why }),
        ...(way === undefined ? {} : { way }),
        ...(member(said, "observed") === true ? { observed: true as const } : {}),
      },
    ];
  });
}

function factsOf(facts: JsonObject): Reason["facts"] {
  const kept: Record<string, string | number | readonly string[]> = {};
  for (const [name, fact] of Object.entries(facts)) {
    if (typeof fact === "string" || typeof fact === "number") kept[name] = fact;
    else if (isArray(fact)) kept[name] = fact.filter((one) => typeof one === "string");
  }
  return kept;
}

/** A log entry as the texts that its record is made of. */
import type { Lattice } from "../../core/label.ts";
import type { CallOption } from "../../core/moment.ts";
import type { LogContext } from "../ports/log-context.ts";
import type { LogEntry, LogKeys, StoredDocument } from "../ports/store.ts";
import { cleanText, holdsSecret, type EntryHead, type Pen } from "./json-text.ts";
import { contractText } from "./contract-codec.ts";
import { decisionText, hiddenDecision } from "./decision-codec.ts";
import { eventsText, hiddenEvents } from "./event-codec.ts";
import { latticeText } from "./label-codec.ts";

/** Names contracts, lattices and policies by digest, and hands out each document once for storing. */
export type Documents = {
  readonly contract: Pen["contract"];
  readonly lattice: (lattice: Lattice) => string;
  /** Keeps a policy under its digest, unless something in it looks like a secret, which could not be masked later. */
  readonly policy: (digest: string, text: string) => void;
  /** Documents named since the last call that are not stored yet. */
  readonly take: () => readonly StoredDocument[];
  /** Forgets what was stored: after a failed append every document is written again. */
  readonly reset: () => void;
};

export function makeDocuments(keys: Pick<LogKeys, "hash" | "keyedDigest">): Documents {
  const digests = new WeakMap<object, { digest: string; body: string }>();
  let written = new Set<string>();
  let fresh: StoredDocument[] = [];
  const named = (subject: object, text: () => string): string => {
    let document = digests.get(subject);
    if (document === undefined) {
      const body = text();
      document = { digest: keys.hash(body), body };
      digests.set(subject, document);
    }
    if (!written.has(document.digest)) {
      written.add(document.digest);
      fresh.push(document);
    }
    return document.digest;
  };
  return {
    contract: (contract) => named(contract, () => contractText(contract)),
    lattice: (lattice) => named(lattice, () => latticeText(lattice)),
    policy: (digest, body) => {
      if (written.has(digest)) return;
      written.add(digest);
      if (!holdsSecret(body, keys)) fresh.push({ digest, body });
    },
    take: () => {
      const taken = fresh;
      fresh = [];
      return taken;
    },
    reset: () => {
      written = new Set();
      fresh = [];
    },
  };
}

/** Makes the texts of entries. They are made once; they are what is sealed, hashed and stored. */
export type EntryWriter = {
  readonly texts: (entries: readonly LogEntry[]) => readonly EntryTexts[];
  /** The context that all entries of a record have in common. */
  readonly context: (context: LogContext) => string;
};

export type EntryTexts = {
  readonly kind: string;
  readonly clear: string;
  /** Undefined if the entry has nothing to hide. */
  readonly hidden: string | undefined;
};

export function entryWriter(keys: Pick<LogKeys, "keyedDigest">, documents: Documents): EntryWriter {
  const text = cleanText(keys, documents.contract);
  /** The last one: it is that of nearly all entries. */
  let last: { readonly policy: string; readonly lattice: string; readonly principal: string | undefined } | undefined;
  let lastText = "";
  return {
    texts: (entries) => {
      const texts = entries.map((entry) => {
        if (entry.written !== undefined) text.expect(entry.written);
        return text.clean((pen) => textsOf(entry, pen));
      });
      text.release();
      return texts;
    },
    context: ({ policyDigest: policy, policyText, lattice: subject, principal }) => {
      const lattice = documents.lattice(subject);
      documents.policy(policy, policyText);
      if (last?.policy === policy && last.lattice === lattice && last.principal === principal) return lastText;
      last = { policy, lattice, principal };
      const said = { policy, lattice, ...(principal === undefined ? {} : { principal }) };
      lastText = text.clean((pen) => pen.json(said));
      return lastText;
    },
  };
}

function textsOf(entry: LogEntry, pen: Pen): EntryTexts {
  const head = headOf(entry);
  const dispatched = dispatchedOption(entry);
  return {
    kind: head.kind,
    clear: clearText(entry, { head, dispatched }, pen),
    hidden: hiddenText(entry, dispatched, pen),
  };
}

type About = { readonly head: EntryHead; readonly dispatched: CallOption | undefined };

function headOf({ kind, at, events }: LogEntry): EntryHead {
  let call: string | undefined;
  let server: string | undefined;
  let tool: string | undefined;
  for (const event of events) {
    if ("call" in event) call ??= event.call;
    if (event.kind === "refused" || event.kind === "released") ({ server, tool } = event);
    if (event.kind === "dispatched") ({ server, tool } = event.option.class);
  }
  return { at, kind: kind ?? events.at(-1)?.kind ?? "note", call, server, tool };
}

/** The option that a call of the entry was dispatched with. */
function dispatchedOption({ events }: LogEntry): CallOption | undefined {
  for (const event of events) if (event.kind === "dispatched") return event.option;
  return undefined;
}

function clearText(entry: LogEntry, { head, dispatched }: About, pen: Pen): string {
  const { events, decision, plainAnswers } = entry;
  const { manifestDigest } = entry.context;
  let text = `{"at":${head.at}`;
  // The kind of an entry is that of its last event; only another one is written.
  if (events.at(-1)?.kind !== head.kind) text += `,"kind":${pen.name(head.kind)}`;
  if (head.call !== undefined) text += `,"call":${JSON.stringify(head.call)}`;
  if (head.server !== undefined) text += `,"server":${pen.name(head.server)}`;
  if (head.tool !== undefined) text += `,"tool":${pen.name(head.tool)}`;
  if (manifestDigest !== undefined) text += `,"manifest":${pen.name(manifestDigest)}`;
  if (events.length > 0) text += `,"events":${eventsText(events, pen, head)}`;
  if (decision !== undefined) text += `,"decision":${decisionText(decision, dispatched, pen, head)}`;
  text += notesText(entry, head, pen);
  if (entry.stream !== undefined) text += `,"stream":${pen.json(entry.stream)}`;
  if (plainAnswers !== undefined) text += `,"answers":${pen.json(plainAnswers)}`;
  return `${text}}`;
}

/** The notes of a decision nearly always name its call and nothing else: then they are left out, and `null` is none. */
function notesText({ decision, notes }: LogEntry, { call }: EntryHead, pen: Pen): string {
  const usual = decision !== undefined && call !== undefined;
  if (notes === undefined) return usual ? `,"notes":null` : "";
  for (const name in notes) if (name !== "decision" || notes[name] !== call) return `,"notes":${pen.json(notes)}`;
  return usual && "decision" in notes ? "" : `,"notes":${pen.json(notes)}`;
}

function hiddenText(entry: LogEntry, dispatched: CallOption | undefined, pen: Pen): string | undefined {
  const { decision, answers, details } = entry;
  const events = hiddenEvents(entry.events, pen);
  const decided = decision === undefined ? undefined : hiddenDecision(decision, dispatched, pen);
  let text = "";
  if (events !== undefined) text += `,"events":${events}`;
  if (decided !== undefined) text += `,"decision":${decided}`;
  if (answers !== undefined) text += `,"answers":${pen.json(answers)}`;
  if (details !== undefined) text += `,"details":${pen.json(details)}`;
  return text === "" ? undefined : `{${text.slice(1)}}`;
}

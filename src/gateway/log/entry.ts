/** A log entry as the texts that its record is made of. */
import type { Lattice } from "../../core/label.ts";
import type { CallOption } from "../../core/moment.ts";
import type { LogContext, LogEntry, LogKeys, StoredDocument } from "../store-port.ts";
import { cleanText, holdsSecret, type Pen } from "./clean-text.ts";
import { contractText } from "./contract-document.ts";
import { decisionText, hiddenDecision } from "./decision-codec.ts";
import { eventsText, hiddenEvents } from "./event-codec.ts";
import { latticeText } from "./label-reading.ts";
import type { EntryHead } from "./record.ts";

/** Names contracts, lattices and policies by digest, and hands out each document once for storing. */
export type Documents = {
  readonly contract: Pen["contract"];
  readonly lattice: (lattice: Lattice) => string;
  /** Keeps a policy under its digest, unless something in it looks like a secret: nobody could mask that later. */
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
  /** What all entries of a record have in common. */
  readonly context: (context: LogContext) => string;
};

export type EntryTexts = {
  readonly kind: string;
  readonly clear: string;
  /** Undefined if the entry has nothing to hide. */
  readonly hidden: string | undefined;
};

export function entryWriter(keys: Pick<LogKeys, "keyedDigest">, documents: Documents): EntryWriter {
  const pen: Pen = { ...cleanText(keys), contract: documents.contract };
  /** The last one: it is that of nearly all entries. */
  let last: { readonly policy: string; readonly lattice: string; readonly principal: string | undefined } | undefined;
  let lastText = "";
  return {
    texts: (entries) => {
      const texts = entries.map((entry) => {
        if (entry.written !== undefined) pen.expect(entry.written);
        const head = headOf(entry);
        return { kind: head.kind, clear: clearText(entry, head, pen), hidden: hiddenText(entry, pen) };
      });
      pen.release();
      return texts;
    },
    context: ({ policyDigest: policy, policyText, lattice: subject, principal }) => {
      const lattice = documents.lattice(subject);
      documents.policy(policy, policyText);
      if (last?.policy === policy && last.lattice === lattice && last.principal === principal) return lastText;
      last = { policy, lattice, principal };
      lastText = pen.json({ policy, lattice, ...(principal === undefined ? {} : { principal }) });
      return lastText;
    },
  };
}

function headOf({ kind, at, events }: LogEntry): EntryHead {
  let call: string | undefined;
  let server: string | undefined;
  let tool: string | undefined;
  for (const event of events) {
    if ("call" in event) call ??= event.call;
    if (event.kind === "requested" || event.kind === "released") ({ server, tool } = event);
    if (event.kind === "allowed") ({ server, tool } = event.option.class);
  }
  return { at, kind: kind ?? events.at(-1)?.kind ?? "note", call, server, tool };
}

/** The option that a call of the entry was allowed with. */
function allowedOption({ events }: LogEntry): CallOption | undefined {
  for (const event of events) if (event.kind === "allowed") return event.option;
  return undefined;
}

function clearText(entry: LogEntry, head: EntryHead, pen: Pen): string {
  const { events, decision, notes, plainAnswers } = entry;
  const { manifestDigest } = entry.context;
  let text = `{"at":${head.at},"kind":${pen.name(head.kind)}`;
  if (head.call !== undefined) text += `,"call":${JSON.stringify(head.call)}`;
  if (head.server !== undefined) text += `,"server":${pen.name(head.server)}`;
  if (head.tool !== undefined) text += `,"tool":${pen.name(head.tool)}`;
  if (manifestDigest !== undefined) text += `,"manifest":${pen.name(manifestDigest)}`;
  if (events.length > 0) text += `,"events":${eventsText(events, pen, head)}`;
  if (decision !== undefined) text += `,"decision":${decisionText(decision, allowedOption(entry), pen, head)}`;
  if (notes !== undefined) text += `,"notes":${pen.json(notes)}`;
  if (plainAnswers !== undefined) text += `,"answers":${pen.json(plainAnswers)}`;
  return `${text}}`;
}

function hiddenText(entry: LogEntry, pen: Pen): string | undefined {
  const { decision, answers, details } = entry;
  const members: string[] = [];
  const events = hiddenEvents(entry.events, pen);
  if (events !== undefined) members.push(`"events":${events}`);
  const decided = decision === undefined ? undefined : hiddenDecision(decision, allowedOption(entry), pen);
  if (decided !== undefined) members.push(`"decision":${decided}`);
  if (answers !== undefined) members.push(`"answers":${pen.json(answers)}`);
  if (details !== undefined) members.push(`"details":${pen.json(details)}`);
  return members.length === 0 ? undefined : `{${members.join(",")}}`;
}

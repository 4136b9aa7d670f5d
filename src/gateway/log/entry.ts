/** A log entry in its two parts. Whatever looks like a secret is taken out of both before anything is kept. */
import type { ToolContract } from "../../core/contract.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Lattice } from "../../core/label.ts";
import { maskSecrets, maySecret } from "../../core/secret.ts";
import type { LogContext, LogEntry, LogKeys, OpenCall, StoredDocument } from "../store-port.ts";
import { contractText } from "./contract-document.ts";
import { splitDecision } from "./decision-codec.ts";
import { splitEvents } from "./event-codec.ts";
import { latticeText } from "./label-reading.ts";
import type { NameContract } from "./option-codec.ts";
import type { EntryHead } from "./record.ts";

/** Names contracts and lattices by digest, and hands out each document once for storing. */
export type Documents = {
  readonly contract: NameContract;
  readonly lattice: (lattice: Lattice) => string;
  /** Documents named since the last call that are not stored yet. */
  readonly take: () => readonly StoredDocument[];
  /** Forgets what was stored: after a failed append every document is written again. */
  readonly reset: () => void;
};

export function makeDocuments(keys: Pick<LogKeys, "hash">): Documents {
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
    contract: (contract: ToolContract) => named(contract, () => contractText(contract)),
    lattice: (lattice) => named(lattice, () => latticeText(lattice)),
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

/** What all entries of a record have in common, as JSON text. */
export function contextText(context: LogContext, documents: Documents): string {
  const { policyDigest: policy, principal } = context;
  return JSON.stringify({ policy, lattice: documents.lattice(context.lattice), principal });
}

/** An entry as the texts that its record is made of. */
export type EntryTexts = {
  readonly kind: string;
  readonly clear: string;
  /** Undefined if the entry has nothing to hide. */
  readonly payload: string | undefined;
};

function headOf(entry: LogEntry): EntryHead {
  let call: string | undefined;
  let server: string | undefined;
  let tool: string | undefined;
  for (const event of entry.events) {
    if ("call" in event) call ??= event.call;
    if (event.kind === "requested" || event.kind === "released") ({ server, tool } = event);
    if (event.kind === "allowed") ({ server, tool } = event.option.class);
  }
  const kind = entry.kind ?? entry.events.at(-1)?.kind ?? "note";
  return { at: entry.at, kind, call, server, tool };
}

/** The object with its secrets replaced by kind and digest. */
export function withoutSecrets(value: JsonObject, keys: Pick<LogKeys, "keyedDigest">): JsonObject {
  // An object stays an object; the mask only replaces texts inside it.
  return maskSecrets(value, keys.keyedDigest).value as JsonObject;
}

/** JSON text of an object without anything that looks like a secret. Nearly always its text is clean as it is. */
function cleanText(value: JsonObject, keys: Pick<LogKeys, "keyedDigest">): string {
  const text = JSON.stringify(value);
  return maySecret(text) ? JSON.stringify(withoutSecrets(value, keys)) : text;
}

/** Splits an entry. Its texts are made once, here; they are what is searched, sealed, hashed and stored. */
export function splitEntry(entry: LogEntry, keys: Pick<LogKeys, "keyedDigest">, documents: Documents): EntryTexts {
  const { decision, notes, answers, plainAnswers, details } = entry;
  const head = headOf(entry);
  const events = splitEvents(entry.events, documents.contract, head);
  const allowed = entry.events.find((event) => event.kind === "allowed");
  const known = { option: allowed?.option, entry: head };
  const split = decision === undefined ? undefined : splitDecision(decision, known, documents.contract);
  const clear: Record<string, Json> = { at: head.at, kind: head.kind };
  if (head.call !== undefined) clear["call"] = head.call;
  if (head.server !== undefined) clear["server"] = head.server;
  if (head.tool !== undefined) clear["tool"] = head.tool;
  if (entry.context.manifestDigest !== undefined) clear["manifest"] = entry.context.manifestDigest;
  if (events.clear.length > 0) clear["events"] = events.clear;
  if (split !== undefined) clear["decision"] = split.clear;
  if (notes !== undefined) clear["notes"] = notes;
  if (plainAnswers !== undefined) clear["answers"] = plainAnswers;
  const payload: Record<string, Json> = {};
  if (events.payload !== undefined) payload["events"] = events.payload;
  if (split?.payload !== undefined) payload["decision"] = split.payload;
  if (answers !== undefined) payload["answers"] = answers;
  if (details !== undefined) payload["details"] = details;
  const hides = Object.keys(payload).length > 0;
  return { kind: head.kind, clear: cleanText(clear, keys), payload: hides ? cleanText(payload, keys) : undefined };
}

/** Calls that an entry leaves without an outcome, and those whose outcome it brings. */
export type EntryCalls = {
  readonly opened: readonly OpenCall[];
  readonly settled: readonly { readonly run: string; readonly call: string }[];
  /** Calls without an outcome that need not be listed. */
  readonly unlisted: readonly string[];
};

export function callsOf({ events, run, late }: Pick<LogEntry, "events" | "run" | "late">, wallMs: number): EntryCalls {
  const opened = new Map<string, OpenCall>();
  const settled: { run: string; call: string }[] = [];
  for (const event of events) {
    if (event.kind === "allowed") {
      const { server, tool } = event.option.class;
      opened.set(event.call, { run, call: event.call, server, tool, digest: event.digest, wallMs });
    } else if (event.kind === "succeeded" || event.kind === "failed" || event.kind === "unknown") {
      // Allowed and settled in one entry: nothing to remember.
      if (!opened.delete(event.call)) settled.push({ run, call: event.call });
    }
  }
  if (late === true) return { opened: [], settled, unlisted: [...opened.keys()] };
  return { opened: [...opened.values()], settled, unlisted: [] };
}

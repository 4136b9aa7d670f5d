/** A log entry in its two parts. Whatever looks like a secret is taken out of both before anything is kept. */
import type { ToolContract } from "../../core/contract.ts";
import type { RunEvent } from "../../core/event.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Lattice } from "../../core/label.ts";
import { maskSecrets, maySecret } from "../../core/secret.ts";
import type { LogEntry, LogKeys, OpenCall, StoredDocument } from "../store-port.ts";
import { contractText } from "./contract-document.ts";
import { splitDecision } from "./decision-codec.ts";
import { splitEvents } from "./event-codec.ts";
import { latticeText } from "./label-reading.ts";
import type { NameContract } from "./option-codec.ts";

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

export type EntryParts = {
  readonly kind: string;
  readonly call: string | undefined;
  readonly server: string | undefined;
  readonly tool: string | undefined;
  readonly clear: JsonObject;
  /** Undefined if the entry has nothing to hide. */
  readonly payloadText: string | undefined;
};

function subjectOf(events: readonly RunEvent[]): Pick<EntryParts, "call" | "server" | "tool"> {
  let call: string | undefined;
  let server: string | undefined;
  let tool: string | undefined;
  for (const event of events) {
    if ("call" in event) call ??= event.call;
    if (event.kind === "requested" || event.kind === "released") ({ server, tool } = event);
    if (event.kind === "allowed") ({ server, tool } = event.option.class);
  }
  return { call, server, tool };
}

/** The object with its secrets replaced by kind and digest. */
export function withoutSecrets(value: JsonObject, keys: Pick<LogKeys, "keyedDigest">): JsonObject {
  // An object stays an object; the mask only replaces texts inside it.
  return maskSecrets(value, keys.keyedDigest).value as JsonObject;
}

/** Splits an entry. The text of the payload is made once, here; it is what is searched, sealed and digested. */
export function splitEntry(entry: LogEntry, keys: Pick<LogKeys, "keyedDigest">, documents: Documents): EntryParts {
  const { context, decision } = entry;
  const events = splitEvents(entry.events, documents.contract);
  const allowed = entry.events.find((event) => event.kind === "allowed");
  const split = decision === undefined ? undefined : splitDecision(decision, allowed?.option, documents.contract);
  const subject = subjectOf(entry.events);
  const clear: JsonObject = {
    policy: context.policyDigest,
    lattice: documents.lattice(context.lattice),
    ...(context.manifestDigest === undefined ? {} : { manifest: context.manifestDigest }),
    ...(context.principal === undefined ? {} : { principal: context.principal }),
    ...(events.clear.length === 0 ? {} : { events: events.clear }),
    ...(split === undefined ? {} : { decision: split.clear }),
    ...(entry.notes === undefined ? {} : { notes: entry.notes }),
  };
  const hides = events.payload.some((part) => Object.keys(part ?? {}).length > 0);
  let payloadText: string | undefined;
  if (hides || split !== undefined || entry.answers !== undefined || entry.details !== undefined) {
    const payload: JsonObject = {
      ...(hides ? { events: events.payload } : {}),
      ...(split === undefined ? {} : { decision: split.payload }),
      ...(entry.answers === undefined ? {} : { answers: entry.answers }),
      ...(entry.details === undefined ? {} : { details: entry.details }),
    };
    payloadText = JSON.stringify(payload);
    if (maySecret(payloadText)) payloadText = JSON.stringify(withoutSecrets(payload, keys));
  }
  return { kind: entry.kind ?? entry.events.at(-1)?.kind ?? "note", ...subject, clear, payloadText };
}

/** Calls that this entry leaves without an outcome, and those whose outcome it brings. */
export function callsOf(
  events: readonly RunEvent[],
  run: string,
  wallMs: number,
): { readonly opened: readonly OpenCall[]; readonly settled: readonly { run: string; call: string }[] } {
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
  return { opened: [...opened.values()], settled };
}

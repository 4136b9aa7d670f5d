/**
 * Determines the era of a message. Pure, total, never throws. Precedence, strictest first:
 *
 * 1. A version in `params._meta` makes a request modern, whatever else is there, `initialize` included: its sender has
 *    declared per-request metadata. A version there that is not a string, or a legacy one, is invalid or unsupported.
 * 2. Over HTTP the `MCP-Protocol-Version` header must agree with it; a difference is refused (-32020), because
 *    something in front of us may have routed by the header.
 * 3. `initialize` without that metadata is legacy, and its `protocolVersion` says which revision is asked for.
 * 4. A modern header without metadata in the body is invalid for a request; a notification or answer may follow it.
 * 5. Anything else is legacy traffic: of the announced revision, or of 2025-03-26 over HTTP where none is announced
 *    (the header came with 2025-06-18), or of whatever the stdio connection negotiated.
 */
import { isObject, member, type Json } from "../core/json.ts";
import { metaKeys } from "./meta.ts";
import type { Message, Revision } from "./message.ts";
import { eraOf, isRevision, latestLegacyRevision, legacyRevisions } from "./revision.ts";

export type Classified =
  | { readonly kind: "modern"; readonly revision: Revision }
  | { readonly kind: "modern-unsupported"; readonly requested: string }
  | { readonly kind: "initialize"; readonly requested: string; readonly revision: Revision }
  | { readonly kind: "legacy"; readonly revision: Revision | undefined }
  | { readonly kind: "invalid"; readonly code: -32600 | -32602 | -32020; readonly reason: InvalidReason };

export type InvalidReason =
  | "version-not-text"
  | "header-differs-from-body"
  | "modern-header-without-metadata"
  | "capabilities-missing"
  | "initialize-without-version"
  | "unknown-version-header";

export type Surroundings = {
  readonly transport: "stdio" | "http";
  /** Value of the `MCP-Protocol-Version` header, if any. */
  readonly header?: string | undefined;
  /** Revision that this connection or session negotiated, if any. */
  readonly negotiated?: Revision | undefined;
};

export function classify(message: Message, around: Surroundings): Classified {
  if (message.kind !== "request") return classifyFollower(around);
  const version = member(member(message.params, "_meta"), metaKeys.protocolVersion);
  if (version !== undefined) return classifyModern(version, message.params, around);
  if (message.method === "initialize") return classifyInitialize(message.params);
  // The header announces an era whose params must carry metadata, so the params are what is wrong (SEP-2575).
  if (isModernHeader(around.header)) return invalid(-32602, "modern-header-without-metadata");
  return classifyFollower(around);
}

function classifyModern(version: Json, params: Json | undefined, around: Surroundings): Classified {
  if (typeof version !== "string") return invalid(-32602, "version-not-text");
  if (around.transport === "http" && around.header !== version) return invalid(-32020, "header-differs-from-body");
  if (!isRevision(version) || eraOf(version) !== "modern") return { kind: "modern-unsupported", requested: version };
  const capabilities = member(member(params, "_meta"), metaKeys.clientCapabilities);
  if (!isObject(capabilities)) return invalid(-32602, "capabilities-missing");
  return { kind: "modern", revision: version };
}

function classifyInitialize(params: Json | undefined): Classified {
  const requested = member(params, "protocolVersion");
  if (typeof requested !== "string") return invalid(-32602, "initialize-without-version");
  return { kind: "initialize", requested, revision: negotiateLegacy(requested, legacyRevisions) };
}

/** Messages that name no version themselves. */
function classifyFollower(around: Surroundings): Classified {
  const { header, negotiated, transport } = around;
  if (header === undefined) {
    if (negotiated !== undefined) return sameEra(negotiated);
    return { kind: "legacy", revision: transport === "http" ? "2025-03-26" : undefined };
  }
  if (!isRevision(header)) return invalid(-32600, "unknown-version-header");
  // After a handshake the header repeats its outcome; another value means two parties disagree about the session.
  if (negotiated !== undefined && negotiated !== header) return invalid(-32600, "header-differs-from-body");
  return sameEra(header);
}

function sameEra(revision: Revision): Classified {
  return eraOf(revision) === "modern" ? { kind: "modern", revision } : { kind: "legacy", revision };
}

function isModernHeader(header: string | undefined): boolean {
  return isRevision(header) && eraOf(header) === "modern";
}

function invalid(code: -32600 | -32602 | -32020, reason: InvalidReason): Classified {
  return { kind: "invalid", code, reason };
}

/**
 * The revision a legacy `initialize` gets: the requested one if it is offered, else the newest that is offered and not
 * newer than requested, else the newest offered; the client may then go away (lifecycle, version negotiation). An
 * empty offer falls back to the newest legacy revision.
 */
export function negotiateLegacy(requested: string, offered: readonly Revision[]): Revision {
  const legacy = legacyRevisions.filter((revision) => offered.includes(revision));
  const exact = legacy.find((revision) => revision === requested);
  if (exact !== undefined) return exact;
  // Revisions are dates: a client from between two of ours is served best by the older one.
  const older = /^\d{4}-\d{2}-\d{2}$/.test(requested) ? legacy.filter((revision) => revision < requested) : [];
  return older.at(-1) ?? legacy.at(-1) ?? latestLegacyRevision;
}

const invalidSentences: Readonly<Record<InvalidReason, string>> = {
  "version-not-text": "The protocol version in `_meta` must be a string. Send a supported revision such as 2026-07-28.",
  "header-differs-from-body":
    "The MCP-Protocol-Version header differs from the version in use. Send the same value in both.",
  "modern-header-without-metadata":
    "Send the protocol version and the client capabilities in `params._meta`: this revision needs them on every request.",
  "capabilities-missing": "`params._meta` lacks the client capabilities. Send an object, empty if there are none.",
  "initialize-without-version": "`initialize` needs a `protocolVersion`. Send the newest revision you support.",
  "unknown-version-header": "The MCP-Protocol-Version header names no known revision. Send the negotiated one.",
};

export function invalidSentence(reason: InvalidReason): string {
  return invalidSentences[reason];
}

import type { Era, Revision } from "../wire/message.ts";

/** Revisions of the handshake era, oldest first. */
export const legacyRevisions: readonly Revision[] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/** Revisions without a handshake. */
export const modernRevisions: readonly Revision[] = ["2026-07-28"];

/** The revision that a text names, or undefined when no era of ours has it. */
export function knownRevision(text: string | undefined): Revision | undefined {
  return [...legacyRevisions, ...modernRevisions].find((revision) => revision === text);
}

export function legacyRevision(text: string | undefined): Revision | undefined {
  return legacyRevisions.find((revision) => revision === text);
}

export function eraOf(revision: Revision): Era {
  return modernRevisions.includes(revision) ? "modern" : "legacy";
}

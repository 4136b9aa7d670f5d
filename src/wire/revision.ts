import type { Era, Revision } from "./message.ts";

/** Every revision we speak, oldest first. */
export const revisions: readonly Revision[] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

export const legacyRevisions: readonly Revision[] = revisions.slice(0, 4);

export const modernRevisions: readonly Revision[] = revisions.slice(4);

export const latestLegacyRevision: Revision = "2025-11-25";

export const modernRevision: Revision = "2026-07-28";

export function isRevision(text: unknown): text is Revision {
  return revisions.some((revision) => revision === text);
}

export function eraOf(revision: Revision): Era {
  return modernRevisions.includes(revision) ? "modern" : "legacy";
}

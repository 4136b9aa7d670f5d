/** What a record of the log was decided under, and how its payload is kept. */
import type { Lattice } from "../../core/label.ts";

/**
 * The policy, lattice and manifest that a batch of events was decided under. Their digests go into the clear part of
 * every record.
 */
export type LogContext = {
  readonly policyDigest: string;
  /** The canonical policy JSON, kept once under that digest. */
  readonly policyText: string;
  readonly lattice: Lattice;
  /** Digest of the manifest of the server concerned, where there is one. */
  readonly manifestDigest?: string;
  readonly principal?: string;
  /** `audit.payload` of the policy. */
  readonly payload: PayloadMode;
};

/** How arguments, results and instructions are kept: encrypted per run, as a keyed digest only, or readable. */
export type PayloadMode = "sealed" | "digests" | "clear";

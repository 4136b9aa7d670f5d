/** The section `regulation` as it is written (foresight.md 1-3). */
import type { Words } from "./document.ts";

/** A tool, or several together, for a number of calls or a time after the run began, whichever ends first. */
export type LeaseText = { readonly tool: Words; readonly calls?: number; readonly for?: string };

export type PowerText = {
  /** Power that one run may gather without a question. */
  readonly budget?: number;
  /** Weight of an effect, and of everything below it, in place of the built-in one. */
  readonly weights?: { readonly [effect: string]: number };
};

/** World models that are asked beside the game; they only tighten. */
export type ModelsText = { readonly embedded?: boolean; readonly judge?: string };

export type RegulationSection = {
  /** Said by policies that rely on it. Regulation always runs, so there is nothing left to decide here. */
  readonly required?: boolean;
  readonly filter?: { readonly mode: "replace" | "accumulate" | "lease"; readonly ttl?: string };
  readonly onUnsafe?: "block-call" | "confirm" | "end-run";
  readonly epsilon?: number;
  readonly surpriseMax?: number;
  readonly power?: PowerText;
  readonly leases?: readonly LeaseText[];
  readonly shortlist?: number;
  readonly models?: ModelsText;
};

/**
 * What a policy says about regulation (foresight.md): how a list follows the state, what an unsafe prediction does, which
 * tools are leased, how much power one run may gather, and which tools must stay usable. The compiler makes it from the
 * sections `regulation` and `keep`; the mechanism `regulate` reads it.
 */
import type { Effect } from "../core/effect.ts";
import type { ToolSelector } from "./ir.ts";

/** How a list follows from one prediction to the next: `replace` lets tools come back, `accumulate` never within a run. */
export type FilterMode =
  | { readonly kind: "replace" }
  | { readonly kind: "accumulate" }
  | { readonly kind: "lease"; readonly ttlMs: number };

/** A tool that is only there for a number of calls or a time after the run began, whichever ends first. */
export type Lease = {
  readonly tools: readonly ToolSelector[];
  readonly callsMax?: number;
  readonly forMs?: number;
};

/** Tools that must stay usable one after the other; `firm` makes it a goal of the game, else losing one is warned about. */
export type Keep = { readonly firm: boolean; readonly tools: readonly ToolSelector[] };

export type Regulation = {
  readonly filter: FilterMode;
  /** What the verdict "unsafe" of a world model does to a call; where labels decide, the game refuses whatever this says. */
  readonly onUnsafe: "block-call" | "confirm" | "end-run";
  /** Probability of an unsafe future above which a model's prediction counts as unsafe, 0 to 1. */
  readonly epsilon: number;
  /** Share of wrong predictions, 0 to 1, above which the next sink asks. */
  readonly surpriseMax: number;
  /** Power that one run may gather without a question, in the units of `weights`; undefined = no budget. */
  readonly power: { readonly budget: number | undefined; readonly weights: ReadonlyMap<Effect, number> };
  readonly leases: readonly Lease[];
  /** Tools that a list shows to a run with a registered instruction; undefined = all. Never a security decision. */
  readonly shortlistMax: number | undefined;
  /** Which models are asked beside the game: the embedded head, and a judge by its name in `judges`. */
  readonly models: { readonly embedded: boolean; readonly judge: string | undefined };
  readonly keeps: readonly Keep[];
};

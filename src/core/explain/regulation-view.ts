/** Regulation state for display: run safety, hidden tools, power, shortlists. Plain data. */
import type { StateClass } from "../questions/prediction.ts";

/** Regulation of one run (formal.md 4.5, foresight.md 3): names, never a value. */
export type RegulationView = {
  /** Power that the run has gathered, in the units of the policy; it never falls. */
  readonly power: number;
  /** Power up to which nothing is asked; undefined = no budget. */
  readonly budget: number | undefined;
  readonly state: StateClass;
  /** Hidden tools, each with a sentence: the reason, and when the tool comes back. */
  readonly hidden: readonly { readonly tool: string; readonly why: string }[];
  /** Risks that an approver accepted for the rest of the run, each `HAZARD MOVE`. */
  readonly risks: readonly string[];
};

/** An entry of a tool list for the shortlist. Texts are the server's; `bytes` is the size of the entry as JSON. */
export type ListedTool = {
  readonly server: string;
  readonly name: string;
  readonly description: string;
  readonly bytes: number;
};

/** The entries of a list that a run with an instruction sees. */
export type Shortlist = {
  /** Indices of the entries that are shown. */
  readonly shown: ReadonlySet<number>;
  /** Context tokens that the others would have cost (bytes / 4). */
  readonly tokensSaved: number;
};

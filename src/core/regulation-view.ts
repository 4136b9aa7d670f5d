/** What regulation shows to people and of lists: plain data that a mechanism makes and the gateway passes on. */
import type { StateClass } from "./prediction.ts";

/** What regulation says of a run (formal.md 4.5, foresight.md 3), for people: names only, never a value. */
export type RegulationView = {
  /** Monotone measure of what the run can still reach, in the units of the policy. */
  readonly power: number;
  /** Power up to which nothing is asked; undefined = no budget. */
  readonly budget: number | undefined;
  readonly state: StateClass;
  /** Tools, of those given, that the run is not shown now, each with a sentence why and when it comes back. */
  readonly hidden: readonly { readonly tool: string; readonly why: string }[];
  /** Risks that a person accepted for the rest of the run, each `HAZARD MOVE`. */
  readonly risks: readonly string[];
};

/** An entry of a tool list as the shortlist sees it; text is the server's, `bytes` is the size of the entry as JSON. */
export type ListedTool = {
  readonly server: string;
  readonly name: string;
  readonly description: string;
  readonly bytes: number;
};

export type Shortlist = {
  /** Indices of the entries that are shown. */
  readonly shown: ReadonlySet<number>;
  /** Context tokens that the others would have cost (bytes / 4). */
  readonly tokensSaved: number;
};

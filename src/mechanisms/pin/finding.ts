import type { Family, RuleId } from "./rules.ts";

/** One rule that found something in what a server says of itself. */
export type Finding = {
  readonly rule: RuleId;
  readonly family: Family;
  /** Place in the entry (JSON Pointer). */
  readonly pointer: string;
  /** Beginning of the sentence or name, with invisible characters removed; data of the server, shown as text only. */
  readonly excerpt: string;
};

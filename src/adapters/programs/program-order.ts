/** Messages between the gateway, the process that runs the programs of rules, and its worker thread. */
import { programMsMax } from "./program-limits.ts";

export type ProgramOrder = {
  readonly id: number;
  /** SHA-256 of `source`. */
  readonly program: string;
  readonly source: string;
  readonly name: string;
  /** The call as JSON text; absent where the program is only to be loaded. */
  readonly call?: string;
};

/**
 * `said`: true if the call is refused. `cause`: why there is no answer; it may quote the error that the program threw.
 */
export type ProgramReply =
  | { readonly id: number; readonly said: boolean }
  | { readonly id: number; readonly cause: string };

export const lateCause = `it did not answer within ${programMsMax} ms`;

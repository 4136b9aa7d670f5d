/** What goes between the gateway, the process that programs of rules run in, and the thread that runs them there. */
import { programMsMax } from "./limits.ts";

export type ProgramOrder = {
  readonly id: number;
  /** SHA-256 of `source`. */
  readonly program: string;
  readonly source: string;
  readonly name: string;
  /** The call as JSON text; absent where the program is only to be loaded. */
  readonly call?: string;
};

/** `said`: the call is refused. `cause`: why there is no answer, in words that may hold what the program threw. */
export type ProgramReply =
  | { readonly id: number; readonly said: boolean }
  | { readonly id: number; readonly cause: string };

export const lateCause = `it did not answer within ${programMsMax} ms`;

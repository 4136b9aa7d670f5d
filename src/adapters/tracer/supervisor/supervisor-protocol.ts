/** Messages between the gateway and a supervisor, and between the two threads of a supervisor. */
import type { Owner } from "./listener.ts";
import type { TraceLevel } from "../notify-filter.ts";

export type TraceRequest = {
  /** Process id on the host of the launcher that called `installNotifyFilter`; `fd` is the result of that call. */
  readonly pid: number;
  readonly fd: number;
  readonly level: TraceLevel;
  /**
   * Programs that start before the server does: 1 for a sandbox that then starts it, 0 for a launcher that becomes it.
   */
  readonly programsBefore: number;
  /** True if no process of the server may start a program once it runs: every such call fails with EPERM. */
  readonly noPrograms?: boolean;
};

export type SupervisorOrder =
  | ({ readonly kind: "add"; readonly id: number } & TraceRequest)
  | { readonly kind: "remove"; readonly id: number };

export type SupervisorReport =
  | { readonly kind: "ready" }
  /** The supervisor cannot trace on this machine; `reason` is one sentence. */
  | { readonly kind: "unable"; readonly reason: string }
  /** `record`: descriptor of the server's record in the supervisor, open until `remove`. */
  | { readonly kind: "added"; readonly id: number; readonly record: number }
  | { readonly kind: "refused"; readonly id: number; readonly reason: string }
  /** Every process that had the filter is gone. */
  | { readonly kind: "ended"; readonly id: number }
  /** The record of a server is half full: time to fetch it. */
  | { readonly kind: "filling"; readonly id: number };

/** Orders to the serving thread; descriptors are those of the supervisor. */
export type ServingOrder =
  | {
      readonly kind: "serve";
      readonly id: number;
      readonly fd: number;
      readonly level: TraceLevel;
      readonly owner: Owner;
      /** Descriptor of the record. */
      readonly record: number;
      readonly programsBefore: number;
      readonly noPrograms: boolean;
    }
  | { readonly kind: "remove"; readonly id: number };

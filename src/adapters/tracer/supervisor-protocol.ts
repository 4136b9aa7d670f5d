/** What the gateway and a supervisor, and in the supervisor its two threads, say to each other. */
import type { Owner } from "./listener.ts";
import type { TraceLevel } from "./notify-filter.ts";

export type SupervisorOrder =
  | {
      readonly kind: "add";
      readonly id: number;
      /** Process that installed the filter, and its descriptor of the listener. */
      readonly pid: number;
      readonly fd: number;
      readonly level: TraceLevel;
      readonly programsBefore: number;
      readonly noPrograms?: boolean;
    }
  | { readonly kind: "remove"; readonly id: number };

export type SupervisorReport =
  | { readonly kind: "ready" }
  /** Why nothing can be traced here, in one sentence. */
  | { readonly kind: "unable"; readonly reason: string }
  /** `record`: descriptor of the server's record in the supervisor, open until `remove`. */
  | { readonly kind: "added"; readonly id: number; readonly record: number }
  | { readonly kind: "refused"; readonly id: number; readonly reason: string }
  /** Every process that had the filter is gone. */
  | { readonly kind: "ended"; readonly id: number }
  /** The record of a server is half full: time to fetch it. */
  | { readonly kind: "filling"; readonly id: number };

/** What the serving thread is told; descriptors are those of the supervisor. */
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

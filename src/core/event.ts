/**
 * The events of a run (formal.md 4.1). The event log is the list of them: folding it rebuilds every run exactly, and
 * nothing else changes a run. `at` is milliseconds of the clock of moments.
 */
import type { LabelRange } from "./label.ts";
import type { CallOption } from "./moment.ts";
import type { FieldLabel } from "./opinion.ts";
import type { Forecast, ForeseenFilter } from "./questions/prediction.ts";
import type { Json, JsonObject } from "./json.ts";
import type { ResultScope, ArgumentRole } from "./contract.ts";

/**
 * A permission of an approver: trust for one value (`endorse`), readers for one value (`declassify`), one call
 * (`consent`), or a risk (`accept`). It is bound to a purpose and an expiry, and all but a risk to the digest of the
 * value or call.
 */
export type Grant =
  | {
      readonly kind: "endorse" | "declassify";
      readonly digest: string;
      readonly role: ArgumentRole;
      readonly from: LabelRange;
      readonly to: LabelRange;
      readonly purpose: string;
      readonly principal: string;
      /** Milliseconds as `at`; the grant has ended at this instant. */
      readonly expiresAt: number;
    }
  | {
      readonly kind: "consent";
      readonly digest: string;
      readonly purpose: string;
      readonly principal: string;
      readonly expiresAt: number;
    }
  | {
      /** A risk `HAZARD MOVE` that an approver accepts for the rest of the run. */
      readonly kind: "accept";
      readonly hazard: string;
      readonly move: string;
      readonly purpose: string;
      readonly principal: string;
      readonly expiresAt: number;
    };

/** Text from which control arguments may be drawn (positive provenance, formal.md 4.2). */
export type TrustedText = { readonly source: "instruction" | "operator"; readonly value: Json };

/** Causes of the end of a run. `unsafe`: the policy ended it because no next call would be safe. */
export const endCauses = ["closed", "expired", "operator", "unsafe"] as const;
export type EndCause = (typeof endCauses)[number];

export type RunEvent = { readonly at: number } & (
  | { readonly kind: "begun"; readonly principal: string; readonly parent?: string }
  | { readonly kind: "registered"; readonly text: TrustedText }
  | {
      readonly kind: "refused";
      readonly call: string;
      readonly server: string;
      readonly tool: string;
      /** Digest of server, tool and arguments. */
      readonly digest: string;
      readonly codes: readonly string[];
    }
  /** A call was allowed and goes to its server. Without one of the outcomes below it is in doubt. */
  | {
      readonly kind: "dispatched";
      readonly call: string;
      readonly method: string;
      readonly option: CallOption;
      readonly arguments: JsonObject;
      /** Digest of server, tool and arguments. */
      readonly digest: string;
      /** The consent that was used up by this call, if any. */
      readonly consent?: string;
      /** The forecast of a world model, to be compared with the result. */
      readonly forecast?: Forecast;
      /** The filter that a world model predicts for the list after the call. */
      readonly filter?: ForeseenFilter;
      /** Key of the run that made the call, where another run passed it on. */
      readonly from?: string;
    }
  | { readonly kind: "succeeded"; readonly call: string }
  | { readonly kind: "failed"; readonly call: string; readonly noEffect: boolean }
  /** Crash, time-out, cancel or lost stream: restricts like success, unlocks nothing. */
  | { readonly kind: "unknown"; readonly call: string; readonly cause: string }
  | {
      readonly kind: "released";
      readonly call: string | undefined;
      readonly server: string;
      readonly tool: string;
      readonly how: "pass" | "withhold" | "reject";
      readonly label: LabelRange;
      readonly fields: readonly FieldLabel[];
      /** Where the names in the value mean something; absent where nothing but the tool itself says so. */
      readonly scope?: ResultScope;
      /** The value that the agent now holds; absent when it was withheld or rejected. */
      readonly value?: Json;
      /** Codes of the reasons for which it did not pass, so that the run remembers the acts of a server. */
      readonly codes?: readonly string[];
      /** Key of the run that received the value, where another run passed it on. */
      readonly from?: string;
    }
  /** A world model predicted which tools the agent must not have in the present state. */
  | { readonly kind: "foreseen"; readonly filter: ForeseenFilter }
  | { readonly kind: "granted"; readonly grant: Grant }
  | { readonly kind: "ended"; readonly cause: EndCause }
);

/**
 * What has happened in a run, in the words of formal.md 4.1. The event log is the list of these; folding it rebuilds
 * every run exactly, and nothing else changes a run.
 */
import type { LabelRange } from "./label.ts";
import type { CallOption } from "./moment.ts";
import type { FieldLabel } from "./opinion.ts";
import type { Forecast } from "./prediction.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Role } from "./contract.ts";

/** A person raised or lowered one value, or consented; always bound to a digest, a purpose and an expiry. */
export type Grant =
  | {
      readonly kind: "endorse" | "declassify";
      readonly digest: string;
      readonly role: Role;
      readonly from: LabelRange;
      readonly to: LabelRange;
      readonly purpose: string;
      readonly principal: string;
      /** Monotonic ms; the grant has ended at this instant. */
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
      /** A named uncontrollable risk that a person accepts for the rest of the run. */
      readonly kind: "accept";
      readonly hazard: string;
      readonly move: string;
      readonly purpose: string;
      readonly principal: string;
      readonly expiresAt: number;
    };

/** Text that positive provenance may draw control arguments from. */
export type TrustedText = { readonly source: "instruction" | "operator"; readonly value: Json };

/** `unsafe`: the policy ends a run whose next call could not be made safe. */
export const endCauses = ["closed", "expired", "operator", "unsafe"] as const;
export type EndCause = (typeof endCauses)[number];

export type RunEvent = { readonly at: number } & (
  | { readonly kind: "begun"; readonly principal: string; readonly parent?: string }
  | { readonly kind: "registered"; readonly text: TrustedText }
  | {
      readonly kind: "requested";
      readonly call: string;
      readonly server: string;
      readonly tool: string;
      readonly digest: string;
    }
  | { readonly kind: "refused"; readonly call: string; readonly codes: readonly string[] }
  | {
      readonly kind: "allowed";
      readonly call: string;
      readonly method: string;
      readonly option: CallOption;
      readonly arguments: JsonObject;
      readonly digest: string;
      /** The consent that was used up by this call, if any. */
      readonly consent?: string;
      /** What a world model expected of it, to be compared with what comes. */
      readonly forecast?: Forecast;
    }
  | { readonly kind: "sent"; readonly call: string }
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
      /** What the agent now holds; absent when it was withheld or rejected. */
      readonly value?: Json;
      /** Codes of the reasons for which it did not pass, so that what a server did is remembered of it in the run. */
      readonly codes?: readonly string[];
    }
  | { readonly kind: "granted"; readonly grant: Grant }
  | { readonly kind: "ended"; readonly cause: EndCause }
);

/**
 * The STPA document (policy.md 3): from whom a system serves, over what they could lose, to what the gateway must do.
 * Ids are the keys of maps and unique in the whole document, because `loss:` and `serves:` of a policy may name any.
 */
import type { HazardText, LatticeSection, RuleText, Words } from "../document.ts";
import type { Tier } from "../ir.ts";

/** The four ways in which a control action can be unsafe (STPA Handbook, step 3). */
export const ucaForms = [
  "not-provided",
  "provided",
  "wrong-time-or-order",
  "stopped-too-soon-or-applied-too-long",
] as const;
export type UcaForm = (typeof ucaForms)[number];

export type Stakeholder = {
  /** `direct`: uses the system. `indirect`: is affected by it. */
  readonly kind: "direct" | "indirect";
  readonly who?: string;
  /** Value id to what they care about. */
  readonly values: { readonly [id: string]: string };
};

export type Loss = { readonly says: string; readonly harms: Words };
export type StpaHazard = { readonly says: string; readonly losses: Words };

export type Controller = { readonly kind: "agent" | "gateway" | "person"; readonly does?: string };
export type Process = {
  /** `tools`: a server. `store`: where data comes to rest. */
  readonly kind: "tools" | "store";
  readonly does?: string;
  /** Name of the store in the policy; absent = the id. */
  readonly store?: string;
};
export type ControlAction = {
  readonly by: string;
  /** A process, or a controller that is told something. */
  readonly on: string;
  readonly tools?: Words;
  readonly does: string;
};
export type Feedback = {
  readonly from: string;
  readonly to: string;
  readonly tools?: Words;
  readonly says: string;
};

export type UnsafeControlAction = {
  readonly controller: string;
  readonly action: string;
  readonly form: UcaForm;
  readonly hazards: Words;
  /** When exactly it is unsafe. */
  readonly context: string;
};
export type LossScenario = { readonly ucas: Words; readonly cause: string };

/** A hazard of the policy language; `id` is its name in the policy. */
export type Property = Pick<HazardText, "consent" | "why" | "never"> & { readonly id?: string };
/** A rule of the policy language; what is not said comes from the requirement. */
export type RuleSkeleton = Omit<RuleText, "id" | "tier" | "why" | "serves"> &
  Partial<Pick<RuleText, "id" | "tier" | "why">>;

export type Requirement = {
  readonly says: string;
  readonly ucas?: Words;
  readonly hazards?: Words;
  /** A wider requirement that this one makes precise. */
  readonly refines?: Words;
  readonly tier: Tier;
  /** Why this tier and no other. */
  readonly reason: string;
  readonly property?: Property;
  readonly rules?: readonly RuleSkeleton[];
};

type Entries<T> = { readonly [id: string]: T };

export type StpaDocument = {
  readonly version: 1;
  readonly system?: string;
  /** As in the policy, where the properties use more than the built-in labels. */
  readonly lattice?: LatticeSection;
  readonly stakeholders: Entries<Stakeholder>;
  readonly losses: Entries<Loss>;
  readonly hazards: Entries<StpaHazard>;
  readonly control: {
    readonly controllers: Entries<Controller>;
    readonly processes?: Entries<Process>;
    readonly actions: Entries<ControlAction>;
    readonly feedback?: Entries<Feedback>;
  };
  readonly ucas?: Entries<UnsafeControlAction>;
  readonly scenarios?: Entries<LossScenario>;
  readonly requirements?: Entries<Requirement>;
};

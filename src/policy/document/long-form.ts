/**
 * The one long form of the parts of a policy: what the canonical JSON holds and the compiler reads. Each type is a
 * narrower case of its namesake as written (`shapes-*.ts`).
 */
import type { Role } from "../../core/contract.ts";
import type { IsolationTier, Scope } from "../../core/isolation/scope.ts";
import type { ReadingLanguage } from "../../core/reading.ts";
import type { EffectsJudgeText, ScopeText, ServerIsolationText } from "./shapes-isolation.ts";
import type {
  ArgumentObject,
  FlagText,
  KeyForm,
  LabelObject,
  LatticeSection,
  ModeText,
  Scalar,
} from "./shapes-labels.ts";
import type { BudgetText, PredicateObject, Tier } from "./shapes-rules.ts";

export type LabelForm = Omit<LabelObject, "trust_level">;
export type BoundForm = { readonly confidentiality: string; readonly categories: readonly string[] };
export type FieldForm = LabelForm & { readonly from?: readonly string[]; readonly type?: string };
export type OutputForm = LabelForm & { readonly fields?: { readonly [pointer: string]: FieldForm } };
export type EffectsForm = { readonly must: readonly string[]; readonly may: readonly string[] };
export type ArgumentForm = Omit<ArgumentObject, "bound" | "audience"> & {
  readonly bound?: BoundForm;
  readonly audience?: readonly string[];
};
export type OpenForm = { readonly store: string; readonly audience: readonly string[] };
export type CaseForm = {
  readonly when: { readonly arg: { readonly [argument: string]: TestForm } };
  readonly output?: OutputForm;
  readonly effects?: EffectsForm;
};
export type ToolLabelsForm = {
  readonly effects?: EffectsForm;
  readonly flags?: readonly FlagText[];
  readonly args?: { readonly [argument: string]: ArgumentForm };
  readonly rest?: ArgumentForm;
  readonly output?: OutputForm;
  readonly cases?: readonly CaseForm[];
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  readonly opens?: readonly OpenForm[];
};

/** Exactly one key is present. */
export type TestForm = {
  readonly present?: boolean;
  readonly equals?: readonly Scalar[];
  readonly glob?: readonly string[];
  readonly domain?: readonly string[];
  readonly path?: readonly string[];
  readonly cidr?: readonly string[];
  readonly regex?: string;
  readonly range?: { readonly min?: string; readonly max?: string };
  readonly schema?: unknown;
  readonly reads?: ReadingLanguage;
  readonly not?: TestForm;
  readonly all?: readonly TestForm[];
  readonly any?: readonly TestForm[];
  readonly label?: LabelForm;
};

export type DataForm = LabelForm & {
  readonly roles?: readonly Role[];
  readonly args?: readonly string[];
  readonly audience?: readonly string[];
};
export type StoreForm = { readonly name: string; readonly label?: LabelForm; readonly audience?: readonly string[] };
export type PatternForm = {
  readonly tool?: readonly string[];
  readonly effect?: readonly string[];
  readonly flags?: readonly FlagText[];
  readonly arg?: { readonly [argument: string]: TestForm };
  readonly data?: readonly DataForm[];
  readonly held?: LabelForm;
  readonly store?: readonly StoreForm[];
  readonly workspace?: boolean;
};
export type KeyFormObject = { readonly argument: string; readonly form: KeyForm; readonly exact?: boolean };

export type GatewayCallForm = { readonly tool: string; readonly arguments: { readonly [name: string]: unknown } };

export type RuleForm = {
  readonly id: string;
  readonly tier: Tier;
  readonly why: string;
  readonly serves: readonly string[];
  readonly mode: ModeText;
  readonly when?: PatternForm;
  readonly predicate?: PredicateObject;
  readonly gate?: {
    readonly before: PatternForm;
    readonly need: PatternForm;
    readonly unless?: PatternForm;
    readonly within?: string;
    readonly key?: KeyFormObject;
  };
  readonly absence?: {
    readonly after: PatternForm;
    readonly never: PatternForm;
    readonly until?: PatternForm;
    readonly within?: string;
    readonly key?: KeyFormObject;
  };
  readonly atMost?: {
    readonly of: PatternForm;
    readonly count: number;
    readonly within?: string;
    readonly key?: KeyFormObject;
  };
  readonly exactlyOnce?: { readonly of: PatternForm; readonly after?: PatternForm; readonly key?: KeyFormObject };
  readonly immediately?: { readonly before: PatternForm; readonly need: PatternForm };
  readonly budget?: Omit<BudgetText, "of" | "limit" | "key"> & {
    readonly of: PatternForm;
    readonly limit: string;
    readonly key?: KeyFormObject;
  };
  readonly owed?: {
    readonly after: PatternForm;
    readonly owe: PatternForm;
    readonly within?: number;
    readonly before?: PatternForm;
  };
  readonly inject?: {
    readonly before: PatternForm;
    readonly call: GatewayCallForm;
  };
  readonly byEnd?: {
    readonly after: PatternForm;
    readonly by: PatternForm;
    readonly action: "hold" | "compensate" | "report";
    readonly key?: KeyFormObject;
    readonly call?: GatewayCallForm;
  };
};

export type NeverForm = {
  readonly flow?: { readonly from: DataForm; readonly to: PatternForm };
  readonly call?: PatternForm;
  readonly sequence?: NonNullable<RuleForm["absence"]>;
  readonly unless?: {
    readonly call: PatternForm;
    readonly need: PatternForm;
    readonly within?: string;
    readonly key?: KeyFormObject;
  };
  readonly atMost?: NonNullable<RuleForm["atMost"]>;
};
export type HazardForm = {
  readonly loss: string;
  readonly consent: "never" | "may";
  readonly why: string;
  readonly mode: ModeText;
  readonly never: NeverForm;
};

export type LatticeForm = Required<Omit<LatticeSection, "clearance">> & {
  readonly clearance: { readonly [group: string]: BoundForm };
};
/** A whole scope: the values that hold where no nearer scope sets them. */
export type DefaultScopeForm = Required<Omit<ScopeText, "files" | "net" | "exec" | "env" | "limits">> &
  Pick<Scope, "files" | "net" | "exec" | "limits"> & { readonly env: Scope["environment"] };
export type ServerIsolationForm = Omit<ServerIsolationText, "require"> & { readonly require?: IsolationTier };
/** `strict` became a tier, the paper's keys became defaults, and the built-in scope is written out. */
export type IsolationForm = {
  readonly backend: "auto" | "where-possible" | "off";
  readonly require: IsolationTier;
  /** Only `false` is written: `true` is the default. */
  readonly exec_trace_whitelisted?: boolean;
  readonly judge?: Required<EffectsJudgeText>;
  readonly defaults: DefaultScopeForm;
  readonly servers: { readonly [server: string]: ServerIsolationForm };
};

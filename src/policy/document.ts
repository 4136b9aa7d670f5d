/**
 * The policy document as people write it: YAML, JSON, or the builder (policy.md 1). Short forms are unions here and
 * become one long form in `canonical.ts`. The checks, the published schema and these types describe the same values;
 * the compiler holds `language/shapes*.ts` to them.
 */
import type { Role } from "../core/contract.ts";
import type { AdmissionSection, ReflectionSection } from "./document-later.ts";
import type { IsolationSection, PackScopeText } from "./document-isolation.ts";
import type { JudgeText } from "./document-judges.ts";
import type { RegulationSection } from "./document-regulation.ts";
import type { Tier } from "./ir.ts";

/** One word or several. */
export type Words = string | readonly string[];

/** A level, `[lo, hi]`, `unsure` (the whole interval) or `inferred` (what flows in, nothing of its own). */
export type LevelText = string | readonly [string, string];

export type LabelObject = {
  readonly confidentiality?: LevelText;
  readonly categories?: readonly string[];
  readonly trust?: LevelText;
  /** The paper's word for `trust`. */
  readonly trust_level?: LevelText;
  /** Groups that may read the value; absent = everyone. */
  readonly readers?: readonly string[];
};

export type LabelText = string | LabelObject;
export type FieldText = string | (LabelObject & { readonly from?: readonly string[] });
export type OutputText = string | (LabelObject & { readonly fields?: { readonly [pointer: string]: FieldText } });
export type EffectsText = Words | { readonly must?: readonly string[]; readonly may: readonly string[] };
export type FlagText = "irreversible" | "open_world";
export type BoundText = string | { readonly confidentiality: string; readonly categories?: readonly string[] };

export type ArgumentObject = {
  readonly role?: Role;
  /** Whether somebody besides the run's person sees the argument; absent = as effects and server say. */
  readonly sink?: boolean;
  readonly bound?: BoundText;
  readonly audience?: Words;
};
export type ArgumentText = Role | ArgumentObject;

export type OpenText = { readonly store: string; readonly audience: Words };

/** Labels for calls whose argument passes a test, for instance files whose path looks like a secret. */
export type CaseText = {
  readonly when: { readonly arg: { readonly [argument: string]: TestText } };
  readonly output?: OutputText;
  readonly effects?: EffectsText;
};

export type ToolLabelsText = {
  readonly effects?: EffectsText;
  /** The paper's word for `effects`. */
  readonly capabilities?: EffectsText;
  readonly flags?: readonly FlagText[];
  readonly args?: { readonly [argument: string]: ArgumentText };
  /** What holds for arguments that are not named. */
  readonly rest?: ArgumentText;
  readonly output?: OutputText;
  readonly cases?: readonly CaseText[];
  readonly reads?: Words;
  readonly writes?: Words;
  readonly opens?: OpenText | readonly OpenText[];
};

export type Scalar = string | number | boolean | null;

/** Exactly one key. A scalar alone means `equals`. */
export type TestObject = {
  readonly present?: boolean;
  readonly equals?: Scalar | readonly Scalar[];
  readonly glob?: Words;
  readonly domain?: Words;
  readonly path?: Words;
  readonly cidr?: Words;
  readonly regex?: string;
  readonly range?: { readonly min?: number | string; readonly max?: number | string };
  readonly schema?: unknown;
  readonly not?: TestText;
  readonly all?: readonly TestText[];
  readonly any?: readonly TestText[];
  /** Label of this one argument; only at the top of a test. */
  readonly label?: LabelText;
};
export type TestText = Scalar | TestObject;

export type DataText = LabelObject & {
  readonly roles?: readonly Role[];
  readonly args?: readonly string[];
  readonly audience?: Words;
};
export type StoreText = { readonly name: string; readonly label?: LabelText; readonly audience?: Words };

export type PatternObject = {
  readonly tool?: Words;
  readonly effect?: Words;
  readonly flags?: FlagText | readonly FlagText[];
  readonly arg?: { readonly [argument: string]: TestText };
  readonly data?: string | DataText | readonly DataText[];
  readonly held?: LabelText;
  readonly store?: StoreText | readonly StoreText[];
  readonly workspace?: boolean;
};
/** A tool, several tools, or a pattern. */
export type PatternText = Words | PatternObject;

export type KeyForm = "email" | "domain" | "path" | "url" | "iban" | "id";
export type KeyText = string | { readonly argument: string; readonly form?: KeyForm; readonly exact?: boolean };

export type GateText = {
  readonly before: PatternText;
  readonly need: PatternText;
  readonly unless?: PatternText;
  readonly within?: string;
  readonly key?: KeyText;
};
export type AbsenceText = {
  readonly after: PatternText;
  readonly never: PatternText;
  readonly until?: PatternText;
  readonly within?: string;
  readonly key?: KeyText;
};
export type AtMostText = {
  readonly of: PatternText;
  readonly count: number;
  readonly within?: string;
  readonly key?: KeyText;
};
/** At most once; with `after`, its absence at the end of a run is reported. */
export type ExactlyOnceText = { readonly of: PatternText; readonly after?: PatternText; readonly key?: KeyText };
export type ImmediatelyText = { readonly before: PatternText; readonly need: PatternText };
export type BudgetText = {
  readonly of: PatternText;
  readonly argument: string;
  readonly limit: number | string;
  readonly within?: string;
  readonly key?: KeyText;
};
export type OwedText = {
  readonly after: PatternText;
  readonly owe: PatternText;
  /** A number of consequential calls. */
  readonly within?: number;
  readonly before?: PatternText;
};
export type InjectText = {
  readonly before: PatternText;
  readonly call: { readonly tool: string; readonly arguments?: { readonly [name: string]: unknown } };
};
export type ByEndText = {
  readonly after: PatternText;
  readonly by: PatternText;
  readonly action: "hold" | "compensate" | "report";
};

/** A program of the operator's: `FILE#NAME`, beside the document, or the program itself. */
export type PredicateText = string | PredicateObject;
export type PredicateObject = {
  /** The function that it exports. */
  readonly name: string;
  /** TypeScript or JavaScript, one module that stands alone. */
  readonly source: string;
};

export type RuleText = {
  readonly id: string;
  readonly tier: Tier;
  readonly why: string;
  readonly serves?: Words;
  readonly mode?: ModeText;
  readonly when?: PatternText;
  /** With `when` in a block rule: it refuses those of the calls of which this function says `true`. */
  readonly predicate?: PredicateText;
  readonly gate?: GateText;
  readonly absence?: AbsenceText;
  readonly atMost?: AtMostText;
  readonly exactlyOnce?: ExactlyOnceText;
  readonly immediately?: ImmediatelyText;
  readonly budget?: BudgetText;
  readonly owed?: OwedText;
  readonly inject?: InjectText;
  readonly byEnd?: ByEndText;
};

export type ModeText = "enforce" | "observe";

export type UnlessText = {
  readonly call: PatternText;
  readonly need: PatternText;
  readonly within?: string;
  readonly key?: KeyText;
};
export type NeverText = {
  readonly flow?: { readonly from: string | DataText; readonly to: PatternText };
  readonly call?: PatternText;
  /** `never` after `after`, as in a rule's `absence`. */
  readonly sequence?: AbsenceText;
  /** `call` unless `need` succeeded before. */
  readonly unless?: UnlessText;
  /** More than `count` of these. */
  readonly atMost?: AtMostText;
};
export type HazardText = {
  readonly loss?: string;
  readonly consent?: "never" | "may";
  readonly why?: string;
  readonly mode?: ModeText;
  readonly never: NeverText;
};

export type LatticeSection = {
  /** Lowest first. */
  readonly confidentiality?: readonly string[];
  readonly categories?: readonly string[];
  readonly trust?: readonly ("trusted" | "untrusted")[];
  readonly groups?: readonly string[];
  /** What each group may see at most. */
  readonly clearance?: { readonly [group: string]: BoundText };
};

export type HostCapability = "gated" | "open" | { readonly open: Words };
export type HostSection = {
  readonly tools?: "hooks" | "none";
  readonly send?: HostCapability;
  readonly read?: HostCapability;
  readonly execute?: HostCapability;
  readonly sampling?: "allow" | "refuse";
};

export type ServerText = {
  /** `trusted`: its own statements are believed. `untrusted`: everything it returns is untrusted for sure. */
  readonly trust?: "trusted" | "untrusted";
  /** Group that sees what is sent to it. */
  readonly operator?: string;
  /** `local`: a process of this machine that reaches no network. */
  readonly reach?: "local" | "network";
  readonly pack?: string;
  readonly mode?: ModeText;
};

export type StoreSection = { readonly audience?: Words; readonly label?: LabelText };

export type MatchSection = {
  readonly principal?: string;
  readonly client?: string;
  readonly tag?: string;
  readonly sessions?: "trusted" | "untrusted";
};

export type ApprovalsSection = {
  readonly form?: "reversible" | "all" | "none";
  readonly by?: "anyone" | "other";
  readonly hold?: string;
  readonly expires?: string;
};

export type AuditSection = {
  /** With `digests` there is nothing to replay: after a restart or a change of policy open runs hold everything. */
  readonly payload?: "sealed" | "digests" | "clear";
  readonly keepDays?: number;
  readonly durability?: "normal" | "full";
};

export type LimitsSection = { readonly runIdle?: string; readonly answerWait?: string };
export type FlowSection = { readonly mode?: "none" | "strict" | "provenance" | "handles" };
export type KeepText = { readonly trace: readonly StepText[]; readonly firm?: boolean };

/** A tool, or a tool with its arguments; `{run: new}` and `{user: text}` stand for what a person does. */
export type StepText = string | { readonly [tool: string]: unknown };
export type ExpectText = {
  readonly trace: readonly StepText[];
  readonly verdict: "allow" | "confirm" | "deny";
  readonly by?: Words;
  /** What the user asked for: literals of the trace are derivable from it. */
  readonly instruction?: string;
};

/** A label pack: labels for one kind of server, pinned to digests of the tools as listed. */
export type PackSection = {
  readonly name: string;
  readonly title?: string;
  readonly reach?: "local" | "network";
  readonly digests?: { readonly [tool: string]: readonly string[] };
  /** What such a server may touch, for policies that isolate servers. */
  readonly scope?: PackScopeText;
};

export type PolicyDocument = {
  readonly version: 1;
  readonly extends?: readonly string[];
  readonly match?: MatchSection;
  readonly mode?: ModeText;
  readonly stpa?: string;
  readonly lattice?: LatticeSection;
  readonly host?: HostSection;
  readonly servers?: { readonly [name: string]: ServerText };
  readonly labels?: { readonly [selector: string]: ToolLabelsText };
  readonly stores?: { readonly [name: string]: StoreSection };
  readonly hazards?: { readonly [id: string]: HazardText };
  readonly rules?: readonly RuleText[];
  readonly keep?: readonly KeepText[];
  readonly accepts?: readonly string[];
  readonly flow?: FlowSection;
  readonly approvals?: ApprovalsSection;
  readonly regulation?: RegulationSection;
  readonly judges?: { readonly [name: string]: JudgeText };
  readonly isolation?: IsolationSection;
  readonly admission?: AdmissionSection;
  readonly reflection?: ReflectionSection;
  readonly audit?: AuditSection;
  readonly limits?: LimitsSection;
  readonly expect?: readonly ExpectText[];
  readonly pack?: PackSection;
  /** Only in canonical policies: the packs that were joined in. */
  readonly packs?: { readonly [name: string]: PackContents };
};

export type PackContents = PackSection & { readonly labels: { readonly [tool: string]: ToolLabelsText } };

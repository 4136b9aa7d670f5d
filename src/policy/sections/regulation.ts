/**
 * The section `regulation`, and `keep`: how a list follows the state, what an unsafe prediction does, which tools are
 * leased, how much power one run may gather, and which tools must stay usable. The mechanism `regulate` reads the result.
 */
import { type Effect, effectActions, effectBases, effectReaches } from "../../core/effect.ts";
import { type DocumentPath, type Reporter, information, problem, quoted } from "../document/diagnostic.ts";
import { given, mapped } from "../../core/given.ts";
import type { Verdict } from "../../core/verdict.ts";
import { listOf, sortedWords } from "../document/label-forms.ts";
import { type Naming, resolveAnywhere, splitSelector } from "../document/names.ts";
import { suggestion } from "../document/nearest.ts";
import {
  type Infer,
  type Shape,
  flag,
  integer,
  list,
  mapOf,
  number,
  object,
  oneOf,
  optional,
  required,
  text,
} from "../document/shape.ts";
import { duration, someWords } from "../document/shapes-labels.ts";
import type { KeepText, StepText } from "../document/shapes-rules.ts";
import type { ToolSelector } from "../ir/ir.ts";
import { canonicalDuration, durationMs } from "../values/duration.ts";
import { leasesMax, shortlistToolsMax } from "../values/limits.ts";

/** Without the paper's `external_write`: two spellings of one effect could give it two weights. */
const effectName = `^(${effectBases.join("|")})(\\.(${effectReaches.join("|")})(\\.(${effectActions.join("|")}))?)?$`;

/** Powers are sums of weights; a larger one would only lose digits. */
const weightMax = 1_000_000;

const filter = object("a filter", {
  mode: required(oneOf("filter mode", ["replace", "accumulate", "lease"]), "how lists are filtered"),
  ttl: optional(duration, "how long a tool that was hidden stays away, with `mode: lease`"),
});

const power = object(
  "a power section",
  {
    /** Power that one run may gather without a question. */
    budget: optional(number("budget"), "power that one run may gather without a question"),
    /** Weight of an effect, and of everything below it, in place of the built-in one. */
    weights: optional(
      mapOf("effect such as write.external.send", number("weight", 0, weightMax), effectName),
      "weights of effects and of all that is below them",
    ),
  },
  { notEmpty: true },
);

/** A tool, or several together, for a number of calls or a time after the run began, whichever ends first. */
const leaseShape = object("a lease", {
  tool: required(someWords, "the tool, or tools that share the lease"),
  calls: optional(integer("calls", 1, 1_000_000), "calls in one run"),
  for: optional(duration, "how long after the run began"),
});

/** World models that are asked beside the game; they only tighten. */
const models = object("a models section", {
  embedded: optional(flag, "ask the embedded model"),
  judge: optional(text("judge"), "ask this judge of the section `judges`"),
});

const section = object("a regulation section", {
  /** Written by policies that rely on regulation. It always runs, so nothing is left to decide. */
  required: optional(flag, "start only if it runs; it always does"),
  filter: optional(filter, "how lists are filtered"),
  onUnsafe: optional(oneOf("choice", ["block-call", "confirm", "end-run"]), "what an unsafe prediction does"),
  judge: optional(oneOf("choice", ["acts", "all"]), "calls that models are asked about"),
  /** A silent model: no answer in time, one that cannot be read, no connection, or it could not be asked. */
  onSilence: optional(
    oneOf("choice", ["allow", "confirm", "deny"]),
    "what becomes of a call that a model does not judge",
  ),
  epsilon: optional(number("probability", 0, 1), "tolerance of model predictions"),
  surpriseMax: optional(number("rate", 0, 1), "prediction error above which sinks ask"),
  power: optional(power, "how much one run may gather"),
  leases: optional(list(leaseShape, 0, leasesMax), "tools that are there for a while"),
  shortlist: optional(integer("tools", 1, shortlistToolsMax), "tools shown to a run that has an instruction"),
  models: optional(models, "world models that are asked"),
});
export interface RegulationSection extends Infer<typeof section> {}
export const shape: Shape<RegulationSection> = section;

export type LeaseForm = Omit<Infer<typeof leaseShape>, "tool"> & { readonly tool: readonly string[] };
export type RegulationForm = Omit<RegulationSection, "leases"> & { readonly leases?: readonly LeaseForm[] };

/** Members with only one spelling stay as written; leases get the full names of their tools. */
export function canonical(section: RegulationSection, naming: Naming): RegulationForm {
  const { leases, filter, ...rest } = section;
  return given<RegulationForm>({
    ...rest,
    filter: filter?.ttl === undefined ? filter : { ...filter, ttl: canonicalDuration(filter.ttl) },
    leases: leases?.map((lease, index) => leaseForm(lease, index, naming)),
  });
}

function leaseForm(lease: Infer<typeof leaseShape>, index: number, naming: Naming): LeaseForm {
  const path = ["regulation", "leases", index, "tool"];
  return given<LeaseForm>({
    tool: sortedWords(listOf(lease.tool).flatMap((name) => resolveAnywhere(name, naming, path))),
    calls: lease.calls,
    for: mapped(lease.for, canonicalDuration),
  });
}

/** How a list follows from one prediction to the next: `replace` lets tools come back, `accumulate` never within a run. */
export type FilterMode =
  | { readonly kind: "replace" }
  | { readonly kind: "accumulate" }
  | { readonly kind: "lease"; readonly ttlMs: number };

/** A tool that is only there for a number of calls or a time after the run began, whichever ends first. */
export type Lease = {
  readonly tools: readonly ToolSelector[];
  readonly callsMax?: number;
  readonly forMs?: number;
};

/** Tools that must stay usable one after the other; `firm` makes it a goal of the game, else losing one is warned about. */
export type Keep = { readonly firm: boolean; readonly tools: readonly ToolSelector[] };

export type Regulation = {
  readonly filter: FilterMode;
  /** Consequence of a world model's verdict "unsafe" for a call; where labels decide, the game always refuses. */
  readonly onUnsafe: "block-call" | "confirm" | "end-run";
  /** Calls that models are asked about: those that act, or plain reads as well. */
  readonly judged: "acts" | "all";
  /**
   * Consequence of the silence of a model for a call: one that acts, and one that reads or answers its server. A written
   * value counts for both.
   */
  readonly onSilence: { readonly acts: Verdict; readonly reads: Verdict };
  /** Probability of an unsafe future above which a model's prediction counts as unsafe, 0 to 1. */
  readonly epsilon: number;
  /** Share of wrong predictions, 0 to 1, above which the next sink asks. */
  readonly surpriseMax: number;
  /** Power that one run may gather without a question, in the units of `weights`; undefined = no budget. */
  readonly power: { readonly budget: number | undefined; readonly weights: ReadonlyMap<Effect, number> };
  readonly leases: readonly Lease[];
  /** Tools that a list shows to a run with a registered instruction; undefined = all. Never a security decision. */
  readonly shortlistMax: number | undefined;
  /** The models that are asked beside the game: the embedded head, and a judge by its name in `judges`. */
  readonly models: { readonly embedded: boolean; readonly judge: string | undefined };
  readonly keeps: readonly Keep[];
};

type Needs = {
  readonly regulation?: RegulationForm;
  readonly judges?: object;
  readonly keep: readonly Required<KeepText>[];
};

/** Longest time of a lease and of a filter; a run that lives longer begins anew anyway. */
const spanMsMax = 30 * 86_400_000;
const spanMsMin = 1_000;

export function compile(policy: Needs, report: Reporter): Regulation {
  const form = policy.regulation ?? {};
  return {
    filter: filterMode(form.filter, report),
    onUnsafe: form.onUnsafe ?? "block-call",
    judged: form.judge ?? "acts",
    onSilence: { acts: form.onSilence ?? "confirm", reads: form.onSilence ?? "allow" },
    epsilon: form.epsilon ?? 0.5,
    surpriseMax: form.surpriseMax ?? 0.5,
    power: powerOf(form, report),
    leases: (form.leases ?? []).map((lease, index) => leaseOf(lease, index, report)),
    shortlistMax: form.shortlist,
    models: modelsOf(policy, form, report),
    keeps: policy.keep.map((keep, index) => keepOf(keep, index, report)),
  };
}

function filterMode(form: RegulationForm["filter"], report: Reporter): FilterMode {
  const path: DocumentPath = ["regulation", "filter"];
  if (form === undefined || form.mode !== "lease") {
    if (form?.ttl !== undefined) {
      const remedy = "write `mode: lease`, or leave `ttl` out";
      report(problem("FILTER", [...path, "ttl"], `\`ttl\` means nothing with \`mode: ${form.mode}\``, remedy));
    }
    return { kind: form?.mode === "accumulate" ? "accumulate" : "replace" };
  }
  if (form.ttl === undefined) {
    report(problem("FILTER", path, "`mode: lease` does not say for how long", "add `ttl`, such as `ttl: 10m`"));
    return { kind: "replace" };
  }
  return { kind: "lease", ttlMs: span(form.ttl, [...path, "ttl"], report) };
}

function span(text: string, path: DocumentPath, report: Reporter): number {
  const ms = durationMs(text) ?? spanMsMax;
  if (ms < spanMsMin || ms > spanMsMax) {
    report(problem("RANGE", path, `${quoted(text)} is out of range`, "write at least `1s` and at most `30d`"));
  }
  return ms;
}

function powerOf(form: RegulationForm, report: Reporter): Regulation["power"] {
  const budget = form.power?.budget;
  const path: DocumentPath = ["regulation", "power"];
  if (budget !== undefined && budget <= 0) {
    const remedy = "write a number above 0, or leave `budget` out for no budget";
    report(problem("RANGE", [...path, "budget"], `a budget of ${budget} leaves nothing to be done`, remedy));
  }
  if (budget === undefined && form.power !== undefined) {
    report(information("IDLE", path, "weights do nothing without a budget", "add `budget`, or leave `power` out"));
  }
  return { budget, weights: new Map(Object.entries(form.power?.weights ?? {})) };
}

function leaseOf(form: LeaseForm, index: number, report: Reporter): Lease {
  const path: DocumentPath = ["regulation", "leases", index];
  if (form.calls === undefined && form.for === undefined) {
    const remedy = "add `calls: N`, or `for:` a time such as `10m`";
    report(problem("LEASE", path, "the lease never ends", remedy));
  }
  return given<Lease>({
    tools: form.tool.map(splitSelector),
    callsMax: form.calls,
    forMs: mapped(form.for, (text) => span(text, [...path, "for"], report)),
  });
}

function modelsOf(policy: Needs, form: RegulationForm, report: Reporter): Regulation["models"] {
  const judge = form.models?.judge;
  const judges = Object.keys(policy.judges ?? {});
  if (judge !== undefined && !judges.includes(judge)) {
    const remedy = suggestion(judge, judges, "declare it under `judges`");
    report(problem("JUDGE", ["regulation", "models", "judge"], `${quoted(judge)} is not a judge`, remedy));
  }
  const embedded = form.models?.embedded ?? false;
  const idle = (["judge", "onUnsafe", "onSilence", "epsilon", "surpriseMax"] as const).find(
    (key) => form[key] !== undefined,
  );
  if (idle !== undefined && !embedded && judge === undefined) {
    const remedy = "add `models`, such as `models: {embedded: true}`";
    report(information("IDLE", ["regulation", idle], `\`${idle}\` does nothing while no model is asked`, remedy));
  }
  return { embedded, judge };
}

function keepOf(keep: Needs["keep"][number], index: number, report: Reporter): Keep {
  const tools = keep.trace.flatMap(toolsOf);
  if (tools.length === 0) {
    const remedy = "name the tools that should stay possible";
    report(problem("KEEP", ["keep", index], "the trace names no tool", remedy));
  }
  return { firm: keep.firm, tools };
}

/** Acts of the user in a trace (`run`, `user`) are not calls, so nothing keeps them possible. */
function toolsOf(step: StepText): readonly ToolSelector[] {
  const names =
    typeof step === "string" ? [step] : Object.keys(step).filter((name) => name !== "run" && name !== "user");
  return names.map(splitSelector);
}

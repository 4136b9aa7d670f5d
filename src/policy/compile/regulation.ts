/** The sections `regulation` and `keep` to what the mechanism `regulate` reads (foresight.md 1-3). */
import type { CanonicalPolicy, LeaseForm, RegulationForm } from "../canonical/form.ts";
import { durationMs } from "../canonical/duration.ts";
import { splitSelector } from "../canonical/names.ts";
import type { DocumentPath } from "../diagnostic.ts";
import { information, problem, quoted } from "../diagnostic.ts";
import type { StepText } from "../document.ts";
import type { ToolSelector } from "../ir.ts";
import { suggestion } from "../language/nearest.ts";
import type { FilterMode, Keep, Lease, Regulation } from "../regulation.ts";
import type { Reporter } from "./labels.ts";

/** Longest time of a lease and of a filter; a run that lives longer begins anew anyway. */
const spanMsMax = 30 * 86_400_000;
const spanMsMin = 1_000;

export function compileRegulation(policy: CanonicalPolicy, report: Reporter): Regulation {
  const form = policy.regulation ?? {};
  return {
    filter: filterMode(form.filter, report),
    onUnsafe: form.onUnsafe ?? "block-call",
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
  return {
    tools: form.tool.map(splitSelector),
    ...(form.calls === undefined ? {} : { callsMax: form.calls }),
    ...(form.for === undefined ? {} : { forMs: span(form.for, [...path, "for"], report) }),
  };
}

function modelsOf(policy: CanonicalPolicy, form: RegulationForm, report: Reporter): Regulation["models"] {
  const judge = form.models?.judge;
  const judges = Object.keys(policy.judges ?? {});
  if (judge !== undefined && !judges.includes(judge)) {
    const remedy = suggestion(judge, judges, "declare it under `judges`");
    report(problem("JUDGE", ["regulation", "models", "judge"], `${quoted(judge)} is no judge`, remedy));
  }
  const embedded = form.models?.embedded ?? false;
  const idle = (["onUnsafe", "epsilon", "surpriseMax"] as const).find((key) => form[key] !== undefined);
  if (idle !== undefined && !embedded && judge === undefined) {
    const remedy = "add `models`, such as `models: {embedded: true}`";
    report(information("IDLE", ["regulation", idle], `\`${idle}\` does nothing while no model is asked`, remedy));
  }
  return { embedded, judge };
}

function keepOf(keep: CanonicalPolicy["keep"][number], index: number, report: Reporter): Keep {
  const tools = keep.trace.flatMap(toolsOf);
  if (tools.length === 0) {
    const remedy = "name the tools that should stay possible";
    report(problem("KEEP", ["keep", index], "the trace names no tool", remedy));
  }
  return { firm: keep.firm, tools };
}

/** What a person does in a trace (`run`, `user`) is nothing that could be kept possible. */
function toolsOf(step: StepText): readonly ToolSelector[] {
  const names =
    typeof step === "string" ? [step] : Object.keys(step).filter((name) => name !== "run" && name !== "user");
  return names.map(splitSelector);
}

/**
 * Information flow as a mechanism: it labels the arguments of calls and the results that come back, and lets the
 * policy's hazards judge the calls. Modes `strict` and `provenance` of formal.md 4.2; `none` labels nothing.
 *
 * It takes what it needs of the abstract state through an accessor, and keeps of its own only the provenance index and
 * what each server was sent.
 */
import type { ModelState } from "../../core/run.ts";
import type { ToolContract, OutputContract } from "../../core/contract.ts";
import type { Grant, RunEvent } from "../../core/event.ts";
import type { Json } from "../../core/json.ts";
import { type LabelRange, join, joinRanges, atMost } from "../../core/label.ts";
import type { Mechanism } from "../../core/mechanism.ts";
import type { ArgumentLabel, CallMoment, CallOption, ReleaseMoment } from "../../core/moment.ts";
import { type Opinion, type Reason, noObjection, settled } from "../../core/opinion.ts";
import type { Ir } from "../../policy/ir/ir.ts";
import { type Holding, labelArgument, labelUnexamined } from "./argument-labels.ts";
import { examinedOf } from "./examined.ts";
import { haveCompany, makeFaintHits } from "./faint-hits.ts";
import { isValueName } from "./leaves.ts";
import { linksIn, linksSuffix } from "./links.ts";
import { consumerOf } from "./origin.ts";
import {
  type ProvenanceIndex,
  copyProvenanceIndex,
  makeProvenanceIndex,
  registerText,
  releaseValue,
  settleIndex,
} from "./provenance-index.ts";
import { resultObligation } from "./result-label.ts";
import { statedLabel, withStated } from "./stated-label.ts";

export type FlowSettings = {
  readonly ir: Ir;
  /** ⊔K: everything that the agent of the run may hold. */
  readonly contextOf: (q: ModelState) => LabelRange;
  /** The part of it that no release brought: every value may carry that, whatever was released since. */
  readonly unmediatedOf: (q: ModelState) => LabelRange;
  readonly grantsOf: (q: ModelState) => readonly Grant[];
  /** Joined labels of the named stores; bottom where the policy declares none of them. */
  readonly storeLabels: (q: ModelState, names: readonly string[]) => LabelRange;
  /** The part of it that came since the policy declared the stores. */
  readonly addedLabels: (q: ModelState, names: readonly string[]) => LabelRange;
  /** Reasons of the policy's hazards against an option. */
  readonly hazards: (q: ModelState, option: CallOption, at: number) => readonly Reason[];
  /** Whether the policy may look at the labels of this tool's arguments, in any state. */
  readonly labelsMatter: (contract: ToolContract) => boolean;
  /** Digest of a value in canonical form. */
  readonly digest: (value: Json) => string;
};

/** A private mutable index; folding the events of the run rebuilds it. */
export type FlowMemory = { readonly index: ProvenanceIndex; readonly sent: Map<string, LabelRange> };

export function makeFlow(settings: FlowSettings): Mechanism<FlowMemory> {
  const { ir } = settings;
  return {
    id: "flow",
    version: 1,
    initial: () => ({ index: makeProvenanceIndex(ir.lattice), sent: new Map() }),
    consider({ moment, option }, run, memory) {
      switch (moment.kind) {
        case "call":
          return option === undefined ? noObjection : settled(settings.hazards(run.q, option, moment.at));
        case "release": {
          const { reads } = moment.contract;
          const reading = { all: settings.storeLabels(run.q, reads), added: settings.addedLabels(run.q, reads) };
          const sent = moment.option === undefined ? memory.sent.get(moment.contract.server) : undefined;
          return released(settings, { moment, q: run.q, label: resultObligation(ir, moment, reading, sent) });
        }
        case "admit":
        case "expose":
        case "reflect":
          return noObjection;
      }
    },
    remember(memory, event) {
      if (ir.flow !== "none") note(ir, memory, event);
      return memory;
    },
    settle: ({ index }) => settleIndex(index),
    copy: ({ index, sent }) => ({ index: copyProvenanceIndex(index), sent: new Map(sent) }),
    label: (moment, run, memory) => labelled(settings, moment, run.q, memory),
  };
}

/** Labels of the arguments of a call. */
function labelled(
  settings: FlowSettings,
  moment: CallMoment,
  q: ModelState,
  memory: FlowMemory,
): ReadonlyMap<string, ArgumentLabel> {
  const { ir } = settings;
  const context = settings.contextOf(q);
  const asked = ir.flow !== "provenance" || settings.labelsMatter(moment.contract);
  const coarse = asked ? undefined : coarseRange(memory.index, context, moment.contract);
  if (coarse !== undefined) {
    const labels = new Map<string, ArgumentLabel>();
    const path = [{ origin: "context", pointer: "", label: coarse.hi }];
    for (const name of Object.keys(moment.arguments)) {
      labels.set(name, { range: coarse, digest: settings.digest(moment.arguments[name] ?? null), path });
    }
    return labels;
  }
  const grants = settings.grantsOf(q);
  const unmediated = settings.unmediatedOf(q);
  const { digest } = settings;
  const consumer = consumerOf(moment.contract);
  const holding = {
    lattice: ir.lattice,
    mode: ir.flow,
    context,
    unmediated,
    grants,
    at: moment.at,
    digest,
    consumer,
  };
  const faint = makeFaintHits();
  const labels = labelsWith({ ...holding, faint }, moment, memory.index);
  return haveCompany(faint) ? labelsWith(holding, moment, memory.index) : labels;
}

/** Labels of the arguments one by one. */
function labelsWith(holding: Holding, moment: CallMoment, index: ProvenanceIndex): ReadonlyMap<string, ArgumentLabel> {
  const labels = new Map<string, ArgumentLabel>();
  const examined = examinedOf(moment.arguments);
  for (const [name, value] of Object.entries(moment.arguments)) {
    const contract = moment.contract.arguments.get(name) ?? moment.contract.rest;
    if (!examined.has(name)) {
      labels.set(name, labelUnexamined(holding, index, contract, value));
      continue;
    }
    const label = labelArgument(holding, index, contract, value);
    // A name that no schema knows is the sender's word: `{"4111-1111": 1}` sends the number.
    const chosen = !moment.contract.arguments.has(name) && isValueName(name);
    labels.set(name, chosen ? both(label, labelArgument(holding, index, contract, name)) : label);
  }
  for (const [name, contract] of moment.contract.arguments) {
    if (!name.endsWith(linksSuffix)) continue;
    const links = linksIn(moment.arguments[name.slice(0, -linksSuffix.length)] ?? null);
    if (links.length === 0) continue;
    const label = labelArgument(holding, index, contract, links);
    // The model may send an argument of this very name, too: what that holds still counts.
    const sent = labels.get(name);
    labels.set(name, sent === undefined ? label : both(sent, label));
  }
  return labels;
}

type Release = {
  readonly moment: ReleaseMoment;
  readonly q: ModelState;
  readonly label: ReturnType<typeof resultObligation>;
};

/** The label of a release, with what its server says of it within all that the call may bring or the agent holds. */
function released({ ir, contextOf }: FlowSettings, { moment, q, label }: Release): Opinion {
  const { lattice } = ir;
  if (ir.flow === "none") return settled([], [label]);
  const brought = moment.call === undefined ? lattice.top : label.range.hi;
  const bound = join(brought, contextOf(q).hi);
  const stated = withStated(lattice, label, statedLabel(lattice, moment.value), bound);
  return settled(stated.reasons, [stated.obligation]);
}

/** The label of an argument that is two things; its digest and path stay those of the value. */
function both(value: ArgumentLabel, other: ArgumentLabel): ArgumentLabel {
  const path = value.path.length > 0 ? value.path : other.path;
  return { range: joinRanges(value.range, other.range), digest: value.digest, path };
}

function note(ir: Ir, memory: FlowMemory, event: RunEvent): void {
  const provenance = ir.flow === "provenance";
  if (event.kind === "registered" && provenance) registerText(memory.index, event.text);
  // A withheld or rejected value is not held; the agent saw constant text.
  else if (event.kind === "released" && event.how === "pass" && provenance) releaseValue(memory.index, event);
  else if (event.kind === "dispatched") {
    const { server } = event.option.contract;
    const before = memory.sent.get(server);
    let sent = before;
    for (const { range } of event.option.arguments.values()) {
      sent = sent === undefined ? range : joinRanges(sent, range);
    }
    if (sent !== undefined && sent !== before) memory.sent.set(server, sent);
  }
}

/**
 * For calls whose argument labels decide nothing: where no rule, hazard, store or default looks at them, they only reach
 * the label of the result. Gives a range that holds for every argument without looking at it, from nothing to everything
 * held. Undefined where some result of the tool is declared to be less restricted than that, so that it would become too
 * restricted. Most reads are such calls, and the text that they bring is indexed when a call first depends on it.
 */
function coarseRange(index: ProvenanceIndex, context: LabelRange, contract: ToolContract): LabelRange | undefined {
  const held = joinRanges(context, index.accounted);
  if (!takes(contract.output, held)) return undefined;
  for (const { output } of contract.cases) if (output !== undefined && !takes(output, held)) return undefined;
  return { lo: index.lattice.bottom, hi: held.hi };
}

function takes(output: OutputContract, held: LabelRange): boolean {
  for (const field of output.fields) if (!absorbs(field.label, held)) return false;
  return absorbs(output.label, held);
}

function absorbs(label: LabelRange, held: LabelRange): boolean {
  return atMost(held.hi, label.hi) && atMost(held.lo, label.lo);
}

/** Regulation of a run for display, and the part of a run that a tool list depends on. */
import type { ToolContract } from "../../core/contract.ts";
import type { ArgumentLabel, CallOption } from "../../core/moment.ts";
import type { Reason } from "../../core/opinion.ts";
import type { StateClass } from "../../core/questions/prediction.ts";
import { ruleWord } from "../../core/explain/cause.ts";
import { regulationClause } from "../../core/explain/regulation-cause.ts";
import type { RegulationView } from "../../core/explain/regulation-view.ts";
import type { Ir } from "../../policy/ir/ir.ts";
import { lockedUnderWay } from "../../policy/semantics/overlap.ts";
import { type Q, cellAt, contextOf, hold, reservedHeld, resultRange } from "../../policy/semantics/state.ts";
import { next } from "../../policy/semantics/transition.ts";
import type { Scene } from "../../policy/semantics/verdicts.ts";
import { type Exposure, exposureOf } from "./game/exposure.ts";
import { filterReason, nextReturn } from "./list/filter.ts";
import { objectionTo } from "./guard.ts";
import { leaseReasons, leasesOf, leaseState } from "./leases.ts";
import { optionsOf } from "./game/options.ts";
import { powerGathered } from "./power.ts";
import { hiddenReason } from "./reasons.ts";
import { filteredReason } from "./models/foresight.ts";
import { type Regulated, type Regulator, mayPay } from "./regulate.ts";
import { toolClasses } from "./list/tool-classes.ts";

/** Most hidden tools in a view; a view is for users. */
const hiddenMax = 100;

export function viewOf(
  regulator: Regulator,
  q: Q,
  memory: Regulated,
  { contracts, at }: { readonly contracts: readonly ToolContract[]; readonly at: number },
): RegulationView {
  const { settings } = regulator;
  const known = new Map<string, Exposure>();
  const hidden: { readonly tool: string; readonly why: string }[] = [];
  for (const contract of contracts) {
    if (hidden.length >= hiddenMax) break;
    const why = whyHidden(regulator, { q, memory, known }, contract, at);
    if (why !== undefined) hidden.push({ tool: `${contract.server}.${contract.tool}`, why });
  }
  return {
    power: powerGathered(memory.power, settings.power.weights),
    budget: settings.power.budget,
    state: stateClass(regulator, q, contracts, at),
    hidden,
    risks: q.grants.flatMap((one) =>
      one.kind === "accept" && at < one.expiresAt ? [`${one.hazard} ${one.move}`] : [],
    ),
  };
}

function whyHidden(
  regulator: Regulator,
  { q, memory, known }: { readonly q: Q; readonly memory: Regulated; readonly known: Map<string, Exposure> },
  contract: ToolContract,
  at: number,
): string | undefined {
  const { settings } = regulator;
  const name = classesOf(regulator)(contract);
  const exposure = known.get(name) ?? exposureOf(regulator, q, contract, at);
  known.set(name, exposure);
  const reason =
    exposure.verdict === "deny"
      ? hiddenReason(regulator, q, contract, { exposure, at })
      : (leaseReasons(settings.leases, leasesOf(settings.leases, memory.leases, q.lost), contract, at)[0] ??
        filterReason(memory.filtered, `${contract.server}.${contract.tool}`, at) ??
        hiddenByForecast(regulator, memory, contract));
  if (reason === undefined) return undefined;
  const tool = `\`${contract.server}.${contract.tool}\``;
  const clause = regulationClause(reason, tool) ?? reason.code;
  // The tool stands before the sentence already.
  const cause = clause.startsWith(`${tool} is hidden: `) ? clause.slice(`${tool} is hidden: `.length) : clause;
  const rule = reason.rule === undefined ? "" : ` (${ruleWord(reason)} ${reason.rule})`;
  return `${cause}${rule}; ${reason.way ?? "use another tool"}`;
}

/**
 * The class of a state (formal.md 4.5). Unsafe: outside W*. Critical: some call that the rules leave open is bad itself, or
 * has an outcome that may not be passed on. Calls with the least and with the most that arguments can carry are looked at.
 */
export function stateClass(regulator: Regulator, q: Q, contracts: readonly ToolContract[], at: number): StateClass {
  const { game, frame, model } = regulator;
  const reserved = reservedHeld(frame.ir, q);
  if (game.safetyOf(q, at, reserved).verdict !== "allow") return "unsafe";
  const seen = new Set<string>();
  for (const contract of contracts) {
    const name = classesOf(regulator)(contract);
    if (seen.has(name)) continue;
    seen.add(name);
    const relevant = model.relevant(contract);
    const least = optionsOf(frame, q, contract, relevant) ?? [];
    for (const option of [...least, ...least.map((one) => withMost(frame.ir, q, one))]) {
      const scene = { frame, q, option, at };
      if (objectionTo(scene, { ...relevant, hazards: [] }, "call").verdict === "deny") continue;
      const bad = objectionTo(scene, { ...relevant, rules: [], slots: [], defaultAsks: false }, "call");
      if (bad.verdict !== "allow" || !staysWithin(regulator, scene)) return "critical";
    }
  }
  return "safe";
}

type Classes = ReturnType<typeof toolClasses>;

/** Every run that users inspect has the tools of the same servers. */
const classes = new WeakMap<Regulator, Classes>();

function classesOf(regulator: Regulator): Classes {
  let found = classes.get(regulator);
  if (found === undefined) classes.set(regulator, (found = toolClasses(regulator.frame.ir, regulator.digest)));
  return found;
}

/** The same call with all that is held in every argument. */
function withMost(ir: Ir, q: Q, option: CallOption): CallOption {
  if (ir.flow === "none") return option;
  const label: ArgumentLabel = { range: contextOf(ir, q), digest: "", path: [] };
  const names = [...option.contract.arguments.keys(), ""];
  return { ...option, arguments: new Map(names.map((name) => [name, label])) };
}

/** Everything that the call can bring may be passed on. */
function staysWithin({ game, frame }: Regulator, { q, option, at }: Scene): boolean {
  const event = { kind: "dispatched", at, call: "", method: "", option, arguments: {}, digest: "" } as const;
  const moved = next(frame, q, event);
  if (!moved.ok) return true;
  const most = hold(reservedHeld(frame.ir, q), resultRange(frame.ir, moved.value, option));
  return game.safetyOf(moved.value, at, most).verdict === "allow";
}

/** The objection of a model that hides the tool. */
function hiddenByForecast(regulator: Regulator, { foreseen }: Regulated, contract: ToolContract): Reason | undefined {
  const found = foreseen === undefined ? undefined : filteredReason(foreseen, contract, mayPay(regulator, contract));
  return found?.verdict === "deny" ? found : undefined;
}

/** A text that is equal for two states of runs that are shown the same lists at the instant `at`. */
export function exposureKey({ frame, settings }: Regulator, q: Q, memory: Regulated, at: number): string {
  const { slots, ir } = frame;
  const ends = (["lo", "hi"] as const).map((end) =>
    slots.map((slot, index) =>
      [...(q.monitors[end][index]?.keys() ?? [])].map((key) => {
        const { bits } = cellAt(slot, q.monitors[end][index] ?? new Map(), key, at);
        return bits.map((bit) => (bit ? 1 : 0)).join("");
      }),
    ),
  );
  const asks = settings.models.embedded || settings.models.judge !== undefined;
  return JSON.stringify([
    q.stores.map(({ label, audience, open }) => [label.lo, label.hi, audience, open]),
    // Data in flight counts as held for the decision, but not for the labels of an argument.
    [q.held, reservedHeld(ir, q)].map((held) => held.map(({ lo, hi }) => [lo, hi])),
    ends,
    lockedUnderWay(slots, q.inFlight),
    q.grants.filter(({ expiresAt }) => at < expiresAt),
    [q.lost, q.ended],
    settings.leases.map((lease, index) => leaseState(lease, index, memory.leases, at).kind),
    [...memory.filtered.until].filter(([, until]) => at < until),
    [nextReturn(memory.filtered, at) ?? 0, memory.filtered.full],
    asks ? modelState(memory) : [],
  ]);
}

/** What models would be asked about the list, or what they answered already. */
function modelState({ foreseen, steps }: Regulated): unknown {
  if (foreseen !== undefined) return { hides: foreseen.hides, asks: foreseen.asks };
  return [steps.instruction, steps.evidence, steps.done];
}

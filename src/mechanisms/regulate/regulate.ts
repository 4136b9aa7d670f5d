/**
 * Regulation (SafeMCP): the list follows the state, and a call or a result that could make a hazard unpreventable or a debt
 * unmeetable does not pass (formal.md 4.5). Around that exact core: leases, the power a run may gather, and world models,
 * all of which only restrict.
 */
import type { ToolContract } from "../../core/contract.ts";
import type { RunEvent } from "../../core/event.ts";
import type { ForeseenFilter } from "../../core/questions/prediction.ts";
import type { Json } from "../../core/json.ts";
import type { Label } from "../../core/label.ts";
import type { Mechanism } from "../../core/mechanism.ts";
import type { CallMoment, CallOption, ReleaseMoment } from "../../core/moment.ts";
import {
  type Answers,
  type Opinion,
  type Question,
  type Reason,
  type Settled,
  noObjection,
  settled,
} from "../../core/opinion.ts";
import { atLeastAsStrict } from "../../core/verdict.ts";
import type { Ir } from "../../policy/ir/ir.ts";
import type { Slot } from "../../policy/semantics/monitors.ts";
import { nameMatches, staticMatch } from "../../policy/semantics/patterns.ts";
import type { Regulation } from "../../policy/sections/regulation.ts";
import { type Q, cellAt, globalKey, hold, reservedHeld, resultRange, stateOf } from "../../policy/semantics/state.ts";
import { type Board, shownEntry } from "./game/exposure.ts";
import { type Exposures, makeExposures } from "./game/exposures.ts";
import { type Expected, expectedAfter, nothingExpected, surpriseReason } from "./models/surprise.ts";
import { type Filtered, filterAfter, filterReason, nothingFiltered } from "./list/filter.ts";
import { type Foreseen, filterTold, foreseenAfter, hiddenByModel } from "./models/foreseen.ts";
import {
  type Heard,
  filterIn,
  filteredReason,
  forecastReason,
  heardIn,
  heldInArguments,
  questionAbout,
  silenceReason,
} from "./models/foresight.ts";
import { type Leases, leaseReasons, leasesAfter, leasesOf, noLeases } from "./leases.ts";
import { type Power, noPower, powerAfter, powerReason } from "./power.ts";
import { hiddenReason, safetyReason } from "./reasons.ts";
import { revealedReasons } from "./models/revealed.ts";
import { safetyAfterTrial } from "./game/trial-step.ts";
import { type Steps, noSteps, stepsAfter } from "./models/steps.ts";
import { keepsLost, keepWarning } from "./warnings.ts";

export const regulateId = "regulate";

/** The memory of regulation for a run. */
export type Regulated = {
  readonly power: Power;
  readonly leases: Leases;
  readonly filtered: Filtered;
  readonly steps: Steps;
  readonly expected: Expected;
  /** The filter of models that is in force; undefined where they have to be asked. */
  readonly foreseen: Foreseen | undefined;
};

export type Regulator = Board & {
  readonly settings: Regulation;
  /** Digest of the policy. */
  readonly policy: string;
  /** Tools that the policy labels: a filter or a model is asked about these. */
  readonly tools: readonly ToolContract[];
  readonly digest: (value: Json) => string;
};

export function makeRegulate(regulator: Regulator): Mechanism<Regulated> {
  const { frame } = regulator;
  const parts: Parts = { regulator, exposures: makeExposures(regulator), aboutList: listQuestions(regulator) };
  const kept = keptTools(regulator);
  return {
    id: regulateId,
    version: 1,
    initial: () => ({
      power: noPower,
      leases: noLeases,
      filtered: nothingFiltered,
      steps: noSteps(frame.ir.lattice),
      expected: nothingExpected,
      foreseen: undefined,
    }),
    remember: (memory, event, run) => remembered(parts, memory, event, stateOf(run.q)),
    consider: ({ moment, option }, run, memory, answers) => {
      switch (moment.kind) {
        case "expose":
          return exposed(parts, stateOf(run.q), memory, {
            contract: moment.contract,
            at: moment.at,
            answers,
            // INVARIANT: some option of a tool is refused no harder than any call of it, so where the entry would be hidden,
            // the call is refused by what is asked about it below; the property test of exposures holds that.
            decidedAsCall: option !== undefined,
          });
        case "call":
          return option === undefined
            ? noObjection
            : called(parts, { moment, option, kept }, { q: stateOf(run.q), memory, answers });
        case "release":
          return released(regulator, stateOf(run.q), moment);
        case "admit":
        case "reflect":
          return noObjection;
      }
    },
  };
}

/**
 * Tools of ordinary keeps, to be called with every argument that the policy speaks of: a call without data stays
 * possible whatever is held, and is not the call that the operator wants to keep.
 */
function keptTools({ settings, tools }: Regulator): readonly ToolContract[] {
  const selectors = settings.keeps.flatMap((keep) => (keep.firm ? [] : keep.tools));
  const kept = tools.filter((one) =>
    selectors.some(({ server, tool }) => nameMatches(server, one.server) && nameMatches(tool, one.tool)),
  );
  return kept.map((one) => ({ ...one, required: [...one.arguments.keys()] }));
}

type Parts = {
  readonly regulator: Regulator;
  readonly exposures: Exposures;
  readonly aboutList: (steps: Steps) => Question;
};

/** The question about the list, made once for all entries: its key is a digest of everything that a model receives. */
function listQuestions(regulator: Regulator): (steps: Steps) => Question {
  const { lattice } = regulator.frame.ir;
  const known = new WeakMap<Steps, Question>();
  return (steps) => {
    const question = known.get(steps) ?? questionAbout({ ...regulator, lattice, steps });
    known.set(steps, question);
    return question;
  };
}

type Entry = {
  readonly contract: ToolContract;
  readonly at: number;
  readonly answers: Answers;
  readonly decidedAsCall: boolean;
};

function exposed({ regulator, exposures, aboutList }: Parts, q: Q, memory: Regulated, entry: Entry): Opinion {
  const { contract, at, answers } = entry;
  const { settings } = regulator;
  const limits: Reason[] = [];
  if (settings.leases.length > 0) {
    const leases = leasesOf(settings.leases, memory.leases, q.lost);
    limits.push(...leaseReasons(settings.leases, leases, contract, at));
  }
  const { filtered } = memory;
  const kept = filtered === nothingFiltered ? undefined : filterReason(filtered, nameOf(contract), at);
  if (kept !== undefined) limits.push(kept);
  // The game counts on the calls that meet a debt: while it is open, the approver is asked instead.
  const owed = limits.length > 0 && paysOwed(regulator, q, contract, at);
  const reasons = owed ? limits.map((reason): Reason => ({ ...reason, verdict: "confirm" })) : limits;
  const exposure = entry.decidedAsCall ? shownEntry : exposures.of(q, contract, at);
  if (exposure.verdict === "deny") reasons.push(hiddenReason(regulator, q, contract, { exposure, at }));
  if (reasons.length > 0) return settled(reasons);
  const asked: Settled = exposure.verdict === "confirm" ? { ...noObjection, verdict: "confirm" } : noObjection;
  if (!asksModels(settings)) return asked;
  // What models answered for this state with the last call is not asked for again.
  const { foreseen, steps } = memory;
  if (foreseen !== undefined) return withFilter(regulator, asked, foreseen, contract);
  const question = aboutList(steps);
  const heard = heardIn(answers, question);
  if (heard === "open") return { kind: "needs", questions: [question] };
  // A list is not a matter of safety: where a model is silent about it, each call is decided by itself.
  return heard.forecast === undefined ? asked : withFilter(regulator, asked, filterIn(heard.forecast), contract);
}

function withFilter(regulator: Regulator, opinion: Settled, filter: ForeseenFilter, contract: ToolContract): Settled {
  const found = filteredReason(filter, contract, mayPay(regulator, contract));
  return found === undefined ? opinion : withVerdict(opinion, [found]);
}

function withVerdict(opinion: Settled, reasons: readonly Reason[]): Settled {
  const more = settled([...opinion.reasons, ...reasons], opinion.obligations);
  return more.verdict === "allow" ? { ...more, verdict: opinion.verdict } : more;
}

type Asked = { readonly moment: CallMoment; readonly option: CallOption; readonly kept: readonly ToolContract[] };
type Known = { readonly q: Q; readonly memory: Regulated; readonly answers: Answers };

function called(parts: Parts, { moment, option, kept }: Asked, { q, memory, answers }: Known): Opinion {
  const { regulator, exposures } = parts;
  const { frame, game, settings } = regulator;
  const { at } = moment;
  const reasons: Reason[] = [];
  const safety = game.trivial ? undefined : safetyAfterTrial(game, { frame, q, option, at });
  if (safety !== undefined && safety.verdict !== "allow") {
    const already = game.safetyOf(q, at, reservedHeld(frame.ir, q)).verdict !== "allow";
    const exposure = safety.verdict === "deny" && !already ? exposures.of(q, option.contract, at) : shownEntry;
    reasons.push(
      exposure.verdict === "deny"
        ? hiddenReason(regulator, q, option.contract, { exposure, at })
        : safetyReason(regulator, q, safety, already ? "SG-UNSAFE-STATE" : "SG-LOOMING"),
    );
  }
  const surprise = surpriseReason(memory.expected, settings.surpriseMax, option.contract);
  if (surprise !== undefined) reasons.push(surprise);
  const power = powerReason(memory.power, { option, arguments: moment.arguments }, settings.power, q.lost);
  if (power !== undefined) reasons.push(power);
  reasons.push(...revealedReasons(regulator, q, { moment, option }));
  const warning = keepWarning(keepsLost(regulator, q, option, { kept, at }));
  if (warning !== undefined) reasons.push(warning);
  if (!isJudged(settings, option.contract) || reasons.some(({ verdict }) => verdict === "deny")) {
    return settled(reasons);
  }
  const asking = { ...regulator, lattice: frame.ir.lattice, steps: memory.steps };
  const holds = heldInArguments(frame.ir, q, option);
  const question = questionAbout(asking, { option, arguments: moment.arguments, holds });
  const heard = heardIn(answers, question);
  if (heard === "open") return { kind: "needs", questions: [question] };
  return modelled(regulator, reasons, {
    heard,
    contract: option.contract,
    owed: paysOwed(regulator, q, option.contract, at),
  });
}

type Modelled = { readonly heard: Heard; readonly contract: ToolContract; readonly owed: boolean };

/** The opinion of the game and its limits with what the models said, or did not say. */
function modelled({ settings }: Regulator, reasons: readonly Reason[], { heard, contract, owed }: Modelled): Opinion {
  const { forecast, silence } = heard;
  const found = forecast === undefined ? undefined : forecastReason(forecast, settings, owed);
  const spoken = settled(found === undefined ? reasons : [...reasons, found.reason], found?.obligations ?? []);
  if (silence === undefined) return spoken;
  // An answer of the client to its server is nothing that the agent does.
  const acts = contract.consequential && contract.answers !== true;
  const silent = silenceReason(silence, settings, { acts, owed });
  // Where the call asks or is refused already, silence adds no question.
  if (silent === undefined || atLeastAsStrict(spoken.verdict, silent.verdict)) return spoken;
  return settled([...spoken.reasons, silent], spoken.obligations);
}

/** A result is passed on only if nothing looms once the agent holds it. */
function released({ frame, game, ...rest }: Regulator, q: Q, moment: ReleaseMoment): Opinion {
  if (!game.looksAtHeld) return noObjection;
  const { option, contract, at } = moment;
  const range = option === undefined ? contract.output.label : resultRange(frame.ir, q, option);
  const safety = game.safetyOf(q, at, hold(reservedHeld(frame.ir, q), range));
  if (safety.verdict === "allow") return noObjection;
  return settled([safetyReason({ frame, game, ...rest }, q, safety, "SG-LOOMING")]);
}

function asksModels({ models }: Regulation): boolean {
  return models.embedded || models.judge !== undefined;
}

/** Models are asked about calls of the tool. */
function isJudged(settings: Regulation, { consequential }: ToolContract): boolean {
  return asksModels(settings) && (consequential || settings.judged === "all");
}

/** Debts that a call of the tool may meet. */
function debtsMetBy({ frame }: Regulator, contract: ToolContract): readonly Slot[] {
  return frame.slots.filter(
    ({ temporal, mode }) =>
      temporal.kind === "owed" && mode === "enforce" && staticMatch(temporal.owe, contract, "restrict", "hi"),
  );
}

/** A call of the tool may meet a debt, whether it is open or not. */
export function mayPay(regulator: Regulator, contract: ToolContract): boolean {
  return debtsMetBy(regulator, contract).length > 0;
}

/** The call may meet a debt that is open now. */
function paysOwed(regulator: Regulator, q: Q, contract: ToolContract, at: number): boolean {
  return debtsMetBy(regulator, contract).some(
    (slot) => cellAt(slot, q.monitors.hi[slot.index] ?? new Map(), globalKey, at).bits[0] === true,
  );
}

function nameOf({ server, tool }: ToolContract): string {
  return `${server}.${tool}`;
}

function remembered(parts: Parts, memory: Regulated, event: RunEvent, q: Q): Regulated {
  const { regulator } = parts;
  const { settings, frame } = regulator;
  const power = powerAfter(memory.power, event);
  const leases = settings.leases.length === 0 ? memory.leases : leasesAfter(settings.leases, memory.leases, event);
  const told = asksModels(settings) || settings.shortlistMax !== undefined;
  const steps = told ? toldAfter(frame.ir, memory.steps, event, q) : memory.steps;
  const expected = expectedAfter(frame.ir, memory.expected, event, q);
  const surprised = event.kind === "released" && expected !== memory.expected && expected.wrong.at(-1) === true;
  const foreseen = asksModels(settings)
    ? foreseenAfter(memory.foreseen, event, { moved: steps !== memory.steps, surprised, policy: regulator.policy })
    : undefined;
  const filtered = filteredAfter(parts, { filtered: memory.filtered, foreseen }, event, q);
  const same = power === memory.power && leases === memory.leases && steps === memory.steps;
  const all = same && filtered === memory.filtered && expected === memory.expected && foreseen === memory.foreseen;
  return all ? memory : { power, leases, steps, filtered, expected, foreseen };
}

function toldAfter(ir: Ir, steps: Steps, event: RunEvent, q: Q): Steps {
  return stepsAfter(ir.lattice, steps, event, (option): Label => heldInArguments(ir, q, option));
}

/** In the modes that remember, what the game and the models hide now is noted whenever the state may have changed. */
function filteredAfter(
  { regulator, exposures }: Parts,
  { filtered, foreseen }: Pick<Regulated, "filtered" | "foreseen">,
  event: RunEvent,
  q: Q,
): Filtered {
  const { settings, tools } = regulator;
  const { filter } = settings;
  if (filter.kind === "replace") return filtered;
  const hides = (contract: ToolContract): boolean => exposures.of(q, contract, event.at).verdict === "deny";
  // What a model of an earlier policy hid counts as well: the run goes on.
  const told = asksModels(settings) ? (filterTold(event) ?? foreseen) : undefined;
  const byModel = hiddenByModel(told, tools, (contract) => mayPay(regulator, contract));
  return filterAfter(filter, filtered, new Set([...byModel, ...tools.filter(hides).map(nameOf)]), event.at);
}

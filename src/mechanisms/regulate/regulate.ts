/**
 * Regulation (SafeMCP): the list follows the state, and a call or a result that could make a hazard unpreventable or a debt
 * unmeetable does not pass (formal.md 4.5). Around that exact core: leases, the power a run may gather, and world models,
 * all of which only restrict.
 */
import type { ToolContract } from "../../core/contract.ts";
import type { RunEvent } from "../../core/event.ts";
import type { Json } from "../../core/json.ts";
import type { Label } from "../../core/label.ts";
import type { Mechanism } from "../../core/mechanism.ts";
import type { CallMoment, CallOption, ReleaseMoment } from "../../core/moment.ts";
import type { Answers, Obligation, Opinion, Question, Reason, Settled } from "../../core/opinion.ts";
import { noObjection, settled } from "../../core/opinion.ts";
import type { Run } from "../../core/run.ts";
import type { Ir } from "../../policy/ir.ts";
import type { Slot } from "../../policy/monitors.ts";
import { nameMatches, staticMatch } from "../../policy/patterns.ts";
import type { Regulation } from "../../policy/regulation.ts";
import type { Q } from "../../policy/state.ts";
import { cellAt, globalKey, hold, reservedHeld, resultRange } from "../../policy/state.ts";
import type { Board } from "./exposure.ts";
import { shownEntry } from "./exposure.ts";
import type { Exposures } from "./exposures.ts";
import { makeExposures } from "./exposures.ts";
import type { Expected } from "./expected.ts";
import { expectedAfter, nothingExpected } from "./expected.ts";
import type { Filtered } from "./filter.ts";
import { filterAfter, filterReason, nothingFiltered } from "./filter.ts";
import { filteredReason, forecastIn, forecastReason, questionAbout } from "./foresight.ts";
import type { Leases } from "./leases.ts";
import { leaseReasons, leasesAfter, leasesOf, noLeases } from "./leases.ts";
import type { Power } from "./power.ts";
import { noPower, powerAfter, powerReason } from "./power.ts";
import { hiddenReason, standingReason } from "./reasons.ts";
import { revealedReasons } from "./revealed.ts";
import { standingAfter } from "./rounds.ts";
import type { Steps } from "./steps.ts";
import { noSteps, stepsAfter } from "./steps.ts";
import { surpriseReason } from "./surprise.ts";
import { heldInArguments } from "./told-label.ts";
import { keepsLost, keepWarning } from "./warnings.ts";

export const regulateId = "regulate";

/** What regulation remembers of a run. */
export type Regulated = {
  readonly power: Power;
  readonly leases: Leases;
  readonly filtered: Filtered;
  readonly steps: Steps;
  readonly expected: Expected;
};

export type Regulator = Board & {
  readonly settings: Regulation;
  /** What the policy labels: what a filter or a model is asked about. */
  readonly tools: readonly ToolContract[];
  readonly digest: (value: Json) => string;
};

export function makeRegulate(regulator: Regulator): Mechanism<Regulated, Q> {
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
    }),
    remember: (memory, event, run) => remembered(parts, memory, event, run),
    consider: ({ moment, option }, run, memory, answers) => {
      switch (moment.kind) {
        case "expose":
          return exposed(parts, run.q, memory, {
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
            : called(parts, { moment, option, kept }, { q: run.q, memory, answers });
        case "release":
          return released(regulator, run, moment);
        case "admit":
        case "reflect":
          return noObjection;
      }
    },
  };
}

/**
 * Tools of ordinary keeps, to be called with every argument that the policy speaks of: a call that says nothing stays
 * possible whatever is held, and is not what somebody wants to keep.
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

/** The question about the list, made once for all entries: its key is a digest of all that a model is told. */
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
  const filter = filtered === nothingFiltered ? undefined : filterReason(filtered, nameOf(contract), at);
  if (filter !== undefined) limits.push(filter);
  // The game counts on the calls that meet a debt: while it is open, a person is asked instead.
  const owed = limits.length > 0 && paysOwed(regulator, q, contract, at);
  const reasons = owed ? limits.map((reason): Reason => ({ ...reason, verdict: "confirm" })) : limits;
  const exposure = entry.decidedAsCall ? shownEntry : exposures.of(q, contract, at);
  if (exposure.verdict === "deny") reasons.push(hiddenReason(regulator, q, contract, { exposure, at }));
  if (reasons.length > 0) return settled(reasons);
  const asked: Settled = exposure.verdict === "confirm" ? { ...noObjection, verdict: "confirm" } : noObjection;
  if (!asksModels(settings)) return asked;
  const question = aboutList(memory.steps);
  const forecast = forecastIn(answers, question);
  if (forecast === "open") return { kind: "needs", questions: [question] };
  const found =
    forecast === undefined ? undefined : filteredReason(forecast, contract, debtsMetBy(regulator, contract).length > 0);
  return found === undefined ? asked : withVerdict(asked, [found]);
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
  const standing = game.trivial ? undefined : standingAfter(game, { frame, q, option, at });
  if (standing !== undefined && standing.verdict !== "allow") {
    const already = game.standing(q, at, reservedHeld(frame.ir, q)).verdict !== "allow";
    const exposure = standing.verdict === "deny" && !already ? exposures.of(q, option.contract, at) : shownEntry;
    reasons.push(
      exposure.verdict === "deny"
        ? hiddenReason(regulator, q, option.contract, { exposure, at })
        : standingReason(regulator, q, standing, already ? "SG-UNSAFE-STATE" : "SG-LOOMING"),
    );
  }
  const surprise = surpriseReason(memory.expected, settings.surpriseMax, option.contract);
  if (surprise !== undefined) reasons.push(surprise);
  const power = powerReason(memory.power, { option, arguments: moment.arguments }, settings.power, q.lost);
  if (power !== undefined) reasons.push(power);
  reasons.push(...revealedReasons(regulator, q, { moment, option }));
  const warning = keepWarning(keepsLost(regulator, q, option, { kept, at }));
  if (warning !== undefined) reasons.push(warning);
  if (!asksModels(settings) || !option.contract.consequential || reasons.some(({ verdict }) => verdict === "deny")) {
    return settled(reasons);
  }
  const asking = { ...regulator, lattice: frame.ir.lattice, steps: memory.steps };
  const holds = heldInArguments(frame.ir, q, option);
  const question = questionAbout(asking, { option, arguments: moment.arguments, holds });
  const forecast = forecastIn(answers, question);
  if (forecast === "open") return { kind: "needs", questions: [question] };
  const found =
    forecast === undefined
      ? undefined
      : forecastReason(forecast, settings, paysOwed(regulator, q, option.contract, at));
  const duties: readonly Obligation[] = found?.obligations ?? [];
  return settled(found === undefined ? reasons : [...reasons, found.reason], duties);
}

/** A result is passed on only if nothing looms once the agent holds it. */
function released({ frame, game, ...rest }: Regulator, { q }: Run<Q>, moment: ReleaseMoment): Opinion {
  if (!game.looksAtHeld) return noObjection;
  const { option, contract, at } = moment;
  const range = option === undefined ? contract.output.label : resultRange(frame.ir, q, option);
  const standing = game.standing(q, at, hold(reservedHeld(frame.ir, q), range));
  if (standing.verdict === "allow") return noObjection;
  return settled([standingReason({ frame, game, ...rest }, q, standing, "SG-LOOMING")]);
}

function asksModels({ models }: Regulation): boolean {
  return models.embedded || models.judge !== undefined;
}

/** Debts that a call of the tool may meet. */
function debtsMetBy({ frame }: Regulator, contract: ToolContract): readonly Slot[] {
  return frame.slots.filter(
    ({ temporal, mode }) =>
      temporal.kind === "owed" && mode === "enforce" && staticMatch(temporal.owe, contract, "restrict", "hi"),
  );
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

function remembered(parts: Parts, memory: Regulated, event: RunEvent, run: Run<Q>): Regulated {
  const { regulator } = parts;
  const { settings, frame } = regulator;
  const power = powerAfter(memory.power, event);
  const leases = settings.leases.length === 0 ? memory.leases : leasesAfter(settings.leases, memory.leases, event);
  const told = asksModels(settings) || settings.shortlistMax !== undefined;
  const steps = told ? toldAfter(frame.ir, memory.steps, event, run.q) : memory.steps;
  const filtered = filteredAfter(parts, memory.filtered, event, run);
  const expected = expectedAfter(frame.ir, memory.expected, event, run.q);
  const same = power === memory.power && leases === memory.leases && steps === memory.steps;
  const all = same && filtered === memory.filtered && expected === memory.expected;
  return all ? memory : { power, leases, steps, filtered, expected };
}

function toldAfter(ir: Ir, steps: Steps, event: RunEvent, q: Q): Steps {
  return stepsAfter(ir.lattice, steps, event, (option): Label => heldInArguments(ir, q, option));
}

/** In the modes that remember, what the game hides now is noted whenever the state may have changed. */
function filteredAfter({ regulator, exposures }: Parts, memory: Filtered, event: RunEvent, { q }: Run<Q>): Filtered {
  const { settings, tools } = regulator;
  const { filter } = settings;
  if (filter.kind === "replace") return memory;
  const hides = (contract: ToolContract): boolean => exposures.of(q, contract, event.at).verdict === "deny";
  return filterAfter(filter, memory, new Set(tools.filter(hides).map(nameOf)), event.at);
}

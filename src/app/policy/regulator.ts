/** Regulation of a loaded policy: the game is made once, with the tools that the policy itself labels. */
import type { ToolContract } from "../../core/contract.ts";
import { type SealedMechanism, seal } from "../../core/mechanism.ts";
import type { Reason } from "../../core/opinion.ts";
import type { Run } from "../../core/run.ts";
import { type Verdict, atLeastAsStrict, stricter } from "../../core/verdict.ts";
import type { ListedTool } from "../../core/explain/regulation-view.ts";
import type { LoadedPolicy } from "../../gateway/ports/policy.ts";
import { safetyReason } from "../../mechanisms/regulate/reasons.ts";
import { type Regulated, type Regulator, makeRegulate, regulateId } from "../../mechanisms/regulate/regulate.ts";
import { shortlist } from "../../mechanisms/regulate/list/shortlist.ts";
import { type Game, closedGame, makeGame, riskName } from "../../mechanisms/regulate/game/state-safety.ts";
import type { Steps } from "../../mechanisms/regulate/models/steps.ts";
import { exposureKey, viewOf } from "../../mechanisms/regulate/view.ts";
import type { CompiledPolicy } from "../../policy/compile/compile.ts";
import { contractOfTool } from "../../policy/contracts/contracts.ts";
import type { PolicyModel } from "../../policy/semantics/model.ts";
import type { DocumentPath } from "../../policy/document/diagnostic.ts";
import { slotsOf } from "../../policy/semantics/monitors.ts";
import { nameMatches } from "../../policy/semantics/patterns.ts";
import { type Q, initialState, reservedHeld, stateOf } from "../../policy/semantics/state.ts";
import type { Frame } from "../../policy/semantics/transition.ts";
import { makeGoals } from "../../proof/game/goals.ts";
import { watchesOf } from "../../proof/game/watch.ts";
import { digest } from "../../wire/canonical.ts";
import { sha256 } from "./policy-source.ts";

type Port = Pick<
  LoadedPolicy,
  | "regulated"
  | "remembersLists"
  | "risks"
  | "startProblem"
  | "stateDigest"
  | "sharedVerdict"
  | "describeRegulation"
  | "shortlist"
>;

export type Regulation = { readonly mechanism: SealedMechanism; readonly port: Port };

export function makeRegulation(compiled: CompiledPolicy, frame: Frame, model: PolicyModel): Regulation {
  const tools = labelledTools(compiled);
  const { game, problem } = gameOf(compiled, frame, tools);
  const regulator: Regulator = {
    frame,
    model,
    game,
    tools,
    settings: compiled.regulation,
    policy: compiled.digest,
    digest: (value) => digest(value, sha256),
  };
  const mechanism = makeRegulate(regulator);
  // The memory of this mechanism comes from its own `initial` and `remember`.
  const memoryOf = (run: Run): Regulated => (run.memories.get(regulateId) ?? mechanism.initial()) as Regulated;
  return {
    mechanism: seal(mechanism),
    port: {
      regulated: followsState(compiled, game),
      remembersLists: remembersLists(compiled),
      risks: game.risks,
      startProblem: problem ?? startProblem(regulator)?.sentence,
      stateDigest: (run, at) => sha256(exposureKey(regulator, stateOf(run.q), memoryOf(run), at)),
      sharedVerdict: (moved, other) => sharedVerdict(regulator, stateOf(moved), stateOf(other)),
      describeRegulation: (run, contracts, at) => viewOf(regulator, stateOf(run.q), memoryOf(run), { contracts, at }),
      shortlist: (run, listed) => {
        const max = compiled.regulation.shortlistMax;
        const { steps } = memoryOf(run);
        if (max === undefined || steps.instruction === "") return undefined;
        return shortlist([steps.instruction], listed, max, stayingTools(compiled, steps));
      },
    },
  };
}

/** Tools that a run has used lately, and those that the policy wants to keep, are never left out of its lists. */
function stayingTools({ regulation }: CompiledPolicy, { done }: Steps): (tool: ListedTool) => boolean {
  const used = new Set(done.map(({ server, tool }) => `${server}.${tool}`));
  const kept = regulation.keeps.flatMap(({ tools }) => tools);
  return ({ server, name }) =>
    used.has(`${server}.${name}`) || kept.some((one) => nameMatches(one.server, server) && nameMatches(one.tool, name));
}

/** Whether a list can differ from one state of a run to another. Where it cannot, lists pass as they are. */
function followsState({ ir, regulation }: CompiledPolicy, game: Game): boolean {
  const { leases, shortlistMax, models } = regulation;
  const restricts = ir.hazards.length > 0 || ir.rules.some(({ tier }) => tier !== "allow");
  const offers = leases.length > 0 || shortlistMax !== undefined || models.embedded || models.judge !== undefined;
  return !game.trivial || restricts || offers || ir.flow === "strict";
}

/** Whether an event makes a run remember more than what it says by itself: what of the lists it hides, or asks models. */
function remembersLists({ regulation }: CompiledPolicy): boolean {
  const { filter, shortlistMax, models } = regulation;
  return filter.kind !== "replace" || shortlistMax !== undefined || models.embedded || models.judge !== undefined;
}

type Made = { readonly game: Game; readonly problem: string | undefined };

function gameOf(policy: CompiledPolicy, { slots }: Frame, contracts: readonly ToolContract[]): Made {
  const watches = watchesOf(policy, slots);
  const keeps = policy.regulation.keeps.flatMap(({ firm, tools }) => (firm ? tools : []));
  const goals = makeGoals({ policy, slots, contracts, keeps });
  if (watches.ok && goals.ok) return { game: makeGame(watches.value, goals.value), problem: undefined };
  return { game: closedGame, problem: watches.ok ? (goals.ok ? undefined : goals.error) : watches.error };
}

/** Tools that the policy names whole, as far as it alone says what they do. */
function labelledTools({ table }: CompiledPolicy): readonly ToolContract[] {
  const named = table.entries.filter(({ server, tool }) => !server.includes("*") && !tool.includes("*"));
  return named.map(({ server, tool }) =>
    contractOfTool(table, server, { name: tool }, (listed) => digest(listed, sha256)),
  );
}

/** A sentence with its way on, and what of the policy it is about, the likeliest first. */
export type StartProblem = { readonly sentence: string; readonly about: readonly DocumentPath[] };

/** The same for a policy that is only looked at. */
export function startProblemOf(compiled: CompiledPolicy): StartProblem | undefined {
  const frame: Frame = { ir: compiled.ir, slots: slotsOf(compiled.ir) };
  const { game, problem } = gameOf(compiled, frame, labelledTools(compiled));
  return problem === undefined ? startProblem({ frame, game }) : { sentence: problem, about: [["hazards"]] };
}

/** Why no run may start: no decision could prevent the hazard, or a debt of the policy cannot be met. */
function startProblem({ frame, game }: Pick<Regulator, "frame" | "game">): StartProblem | undefined {
  const q = initialState(frame.ir, frame.slots, undefined);
  const { looming, lost, verdict } = game.safetyOf(q, 0, reservedHeld(frame.ir, q));
  if (verdict === "allow") return undefined;
  const [danger] = looming;
  if (danger === undefined) {
    const sentence = `\`${lost.join("`, `")}\` cannot be met whatever a run does: allow the call that meets it, or drop it`;
    return { sentence, about: lost.map(placeOfGoal) };
  }
  const { hazard, move } = danger;
  const sentence = `hazard \`${hazard.id}\` can happen by \`${move}\` alone, which the gateway does not decide: change \`host\` or the store, or write \`accepts: [${hazard.id}]\``;
  return { sentence, about: [...placeOfMove(move), ["hazards", hazard.id]] };
}

/** At its start a run has opened nothing, so what looms then is something that the client does by itself. */
function placeOfMove(move: string): readonly DocumentPath[] {
  return move.startsWith("host.") ? [["host", move.slice("host.".length)]] : [];
}

/** `debt ID` is a rule, `keep SERVER.TOOL` stands in one of the lists there. */
function placeOfGoal(name: string): DocumentPath {
  return name.startsWith("debt ") ? ["rules", name.slice("debt ".length)] : ["keep"];
}

/** A change of what all runs share must leave every other run where nothing looms that did not loom before. */
function sharedVerdict(
  regulator: Regulator,
  moved: Q,
  other: Q,
): { readonly verdict: Verdict; readonly reason: Reason | undefined } {
  const { frame, game } = regulator;
  if (game.trivial) return { verdict: "allow", reason: undefined };
  const now = game.safetyOf(other, 0, reservedHeld(frame.ir, other));
  const shared: Q = { ...other, stores: moved.stores };
  const then = game.safetyOf(shared, 0, reservedHeld(frame.ir, shared));
  const before = new Set(now.looming.map(riskName));
  const added = then.looming.filter((danger) => !before.has(riskName(danger)));
  // A possible danger must not become certain, either.
  const worse = !atLeastAsStrict(now.verdict, then.verdict);
  if (added.length === 0 && !worse && then.lost.length <= now.lost.length)
    return { verdict: "allow", reason: undefined };
  const looming = added.length === 0 && worse ? then.looming : added;
  const verdict = stricter(then.verdict, "confirm");
  return { verdict, reason: safetyReason(regulator, shared, { ...then, looming, verdict }, "SG-OTHER-RUN") };
}

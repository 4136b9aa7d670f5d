/** Decides whether a tool is shown: some option of it is in Φ* or Φ? (formal.md 4.5). Otherwise names the objection. */
import type { ToolContract } from "../../../core/contract.ts";
import { type Verdict, stricter } from "../../../core/verdict.ts";
import type { PolicyModel } from "../../../policy/semantics/model.ts";
import type { Q } from "../../../policy/semantics/state.ts";
import type { Frame } from "../../../policy/semantics/transition.ts";
import { type Objection, objectionTo } from "../guard.ts";
import { optionsOf } from "./options.ts";
import { safetyAfterTrial } from "./trial-step.ts";
import type { Game, StateSafety } from "./state-safety.ts";

export type Exposure = {
  readonly verdict: Verdict;
  /** Of the option that is refused least, where none is allowed. */
  readonly objection: Objection | undefined;
  readonly safety: StateSafety | undefined;
};

export type Board = { readonly frame: Frame; readonly model: PolicyModel; readonly game: Game };

/** Nothing stands against the tool as an entry. */
export const shownEntry: Exposure = { verdict: "allow", objection: undefined, safety: undefined };

export function exposureOf({ frame, model, game }: Board, q: Q, contract: ToolContract, at: number): Exposure {
  const relevant = model.relevant(contract);
  const options = optionsOf(frame, q, contract, relevant);
  if (options === undefined) return shownEntry;
  let best: Exposure | undefined;
  for (const option of options) {
    const objection = objectionTo({ frame, q, option, at }, relevant, "entry");
    const tried = objection.verdict !== "deny" && !game.trivial;
    const safety = tried ? safetyAfterTrial(game, { frame, q, option, at }) : undefined;
    const verdict = stricter(objection.verdict, safety?.verdict ?? "allow");
    if (verdict === "allow") return shownEntry;
    if (best === undefined || stricter(best.verdict, verdict) !== verdict) best = { verdict, objection, safety };
  }
  return best ?? shownEntry;
}

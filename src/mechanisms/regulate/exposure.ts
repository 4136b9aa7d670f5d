/** Whether a tool is shown: some option of it is in Φ* or Φ? (formal.md 4.5), and which objection hides it if none is. */
import type { ToolContract } from "../../core/contract.ts";
import type { Verdict } from "../../core/verdict.ts";
import { stricter } from "../../core/verdict.ts";
import type { PolicyModel } from "../../policy/model.ts";
import type { Q } from "../../policy/state.ts";
import type { Frame } from "../../policy/transition.ts";
import type { Objection } from "./guard.ts";
import { objectionTo } from "./guard.ts";
import { optionsOf } from "./options.ts";
import { standingAfter } from "./rounds.ts";
import type { Game, Standing } from "./standing.ts";

export type Exposure = {
  readonly verdict: Verdict;
  /** Of the option that is refused least, where none is allowed. */
  readonly objection: Objection | undefined;
  readonly standing: Standing | undefined;
};

export type Board = { readonly frame: Frame; readonly model: PolicyModel; readonly game: Game };

/** Nothing stands against the tool as an entry. */
export const shownEntry: Exposure = { verdict: "allow", objection: undefined, standing: undefined };

export function exposureOf({ frame, model, game }: Board, q: Q, contract: ToolContract, at: number): Exposure {
  const relevant = model.relevant(contract);
  const options = optionsOf(frame, q, contract, relevant);
  if (options === undefined) return shownEntry;
  let best: Exposure | undefined;
  for (const option of options) {
    const objection = objectionTo({ frame, q, option, at }, relevant, "entry");
    const tried = objection.verdict !== "deny" && !game.trivial;
    const standing = tried ? standingAfter(game, { frame, q, option, at }) : undefined;
    const verdict = stricter(objection.verdict, standing?.verdict ?? "allow");
    if (verdict === "allow") return shownEntry;
    if (best === undefined || stricter(best.verdict, verdict) !== verdict) best = { verdict, objection, standing };
  }
  return best ?? shownEntry;
}

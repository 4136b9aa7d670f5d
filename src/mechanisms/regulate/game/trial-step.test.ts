// A call tried on the state: after its dispatch, and after the least of its successes; the worse of the two counts.
import { describe, expect, it } from "vitest";
import type { LabelRange } from "../../../core/label.ts";
import type { Verdict } from "../../../core/verdict.ts";
import { slotsOf } from "../../../policy/semantics/monitors.ts";
import { relevance } from "../../../policy/semantics/relevance.ts";
import { initialState } from "../../../policy/semantics/state.ts";
import { repository } from "../../../../test/kit/regulation/documents.ts";
import { compiled, SmallRun } from "../../../../test/kit/regulation/small-run.ts";
import { optionsOf } from "./options.ts";
import { safetyAfterTrial } from "./trial-step.ts";
import type { Game } from "./state-safety.ts";

const { ir } = compiled(repository());
const frame = { ir, slots: slotsOf(ir) };
const run = new SmallRun(repository());

/** The verdict on a call by a game that answers so, one answer after the other, and what it was shown as held. */
function tried(
  name: string,
  answers: readonly Verdict[],
  looksAt: Partial<Game> = {},
): { readonly verdict: Verdict | undefined; readonly shown: readonly (readonly LabelRange[])[] } {
  const shown: (readonly LabelRange[])[] = [];
  const game: Game = {
    trivial: false,
    looksAtHeld: true,
    looksAtHistory: true,
    risks: [],
    safetyOf: (_q, _at, held) => ({ verdict: answers[shown.push(held) - 1] ?? "deny", looming: [], lost: [] }),
    ...looksAt,
  };
  const contract = run.contract(name);
  const q = initialState(ir, frame.slots, undefined);
  const option = optionsOf(frame, q, contract, relevance(frame)(contract))?.[0];
  if (option === undefined) throw new Error("a tool has options");
  return { verdict: safetyAfterTrial(game, { frame, q, option, at: 0 })?.verdict, shown };
}

describe("a call stands as the worse of two states", () => {
  it.each<[Verdict, Verdict, Verdict]>([
    ["allow", "allow", "allow"],
    ["allow", "confirm", "confirm"],
    ["allow", "deny", "deny"],
    ["confirm", "allow", "confirm"],
    ["confirm", "deny", "deny"],
  ])("after its dispatch %s, after its success %s: %s", (dispatched, succeeded, worse) => {
    const { verdict, shown } = tried("s.read_secret", [dispatched, succeeded]);
    expect([verdict, shown.length]).toEqual([worse, 2]);
    const { label } = run.contract("s.read_secret").output;
    expect(shown).toEqual([[], [{ lo: label.lo, hi: label.lo }]]);
  });

  it("what is refused at its dispatch is asked no further, nor what cannot matter once it is held", () => {
    expect(tried("s.read_secret", ["deny"]).shown).toHaveLength(1);
    expect(tried("s.read_secret", ["confirm"], { looksAtHeld: false })).toMatchObject({
      verdict: "confirm",
      shown: [[]],
    });
  });
});

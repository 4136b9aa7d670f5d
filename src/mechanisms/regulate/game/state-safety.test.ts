import { describe, expect, it } from "vitest";
import { exactly, type Label, type LabelRange } from "../../../core/label.ts";
import type { CompiledPolicy } from "../../../policy/compile/compile.ts";
import { slotsOf } from "../../../policy/semantics/monitors.ts";
import { initialState, type Q } from "../../../policy/semantics/state.ts";
import type { GoalGame, Lost } from "../../../proof/game/goals.ts";
import { watchesOf } from "../../../proof/game/watch.ts";
import { openHost } from "../../../../test/kit/regulation/documents.ts";
import { compiled } from "../../../../test/kit/regulation/small-run.ts";
import { type Game, type StateSafety, closedGame, makeGame } from "./state-safety.ts";

function gameOf({ ir }: CompiledPolicy, policy: CompiledPolicy, goals?: GoalGame): Game {
  const watches = watchesOf(policy, slotsOf(ir));
  if (!watches.ok) throw new Error(watches.error);
  return makeGame(watches.value, goals);
}

const never = compiled(openHost("never"));
const may = compiled(openHost("may"));
const afterReading = { after: "s.read", never: { effect: "write.external.send" } };
const secret = 1 as Label; // the one level bit of the small lattice
const sure: LabelRange = exactly(secret);
const doubtful: LabelRange = { lo: never.ir.lattice.bottom, hi: secret };

function start({ ir }: CompiledPolicy, ...risks: readonly string[]): Q {
  const q = initialState(ir, slotsOf(ir), undefined);
  const said = { purpose: "", principal: "p", expiresAt: 10 };
  const grants = risks.map((risk) => {
    const [hazard = "", move = ""] = risk.split(" ");
    return { kind: "accept" as const, hazard, move, ...said };
  });
  return { ...q, grants };
}

const verdicts = (...all: readonly StateSafety[]): readonly string[] => all.map(({ verdict }) => verdict);

describe("how a state stands", () => {
  it("an upper bound decides and a lower bound excuses", () => {
    const game = gameOf(never, never);
    const q = start(never);
    expect(verdicts(game.safetyOf(q, 0, []), game.safetyOf(q, 0, [doubtful]), game.safetyOf(q, 0, [sure]))).toEqual([
      "allow",
      "confirm",
      "deny",
    ]);
  });

  it("what a person may consent to is asked, however sure it is", () => {
    expect(gameOf(may, may).safetyOf(start(may), 0, [sure]).verdict).toBe("confirm");
  });

  it("an accepted risk no longer counts while the acceptance lasts", () => {
    const game = gameOf(may, may);
    const q = start(may, "leak host.send");
    expect(verdicts(game.safetyOf(q, 9, [sure]), game.safetyOf(q, 10, [sure]))).toEqual(["allow", "confirm"]);
  });

  it("a hazard that nobody may consent to is not switched off by accepting a doubtful case of it", () => {
    const game = gameOf(never, never);
    const q = start(never, "leak host.send");
    expect(verdicts(game.safetyOf(q, 0, [doubtful]), game.safetyOf(q, 0, [sure]))).toEqual(["allow", "deny"]);
  });

  it("grants of other kinds accept nothing", () => {
    const said = { purpose: "", principal: "p", expiresAt: 10 };
    const q: Q = { ...start(never), grants: [{ kind: "consent", digest: "d", ...said }] };
    expect(gameOf(never, never).safetyOf(q, 0, [sure]).verdict).toBe("deny");
  });

  it("without hazards that loom and without goals there is nothing to look at", () => {
    const parts = ({ trivial, looksAtHeld, looksAtHistory, risks }: Game): unknown[] => [
      trivial,
      looksAtHeld,
      looksAtHistory,
      risks,
    ];
    expect(parts(makeGame([], undefined))).toEqual([true, false, false, []]);
    expect(parts(gameOf(never, never))).toEqual([false, true, false, ["leak host.send"]]);
    expect(parts(makeGame([], { lost: () => [] }))).toEqual([false, true, true, []]);
    const after = compiled({ ...openHost("never"), hazards: { late: { never: { sequence: afterReading } } } });
    expect(parts(gameOf(after, after))).toEqual([false, false, true, ["late host.send"]]);
    expect(parts(closedGame)).toEqual([false, true, true, []]);
  });

  it("a game that could not be made permits nothing", () => {
    expect(closedGame.safetyOf(start(never), 0, [])).toEqual({ verdict: "deny", looming: [], lost: ["regulation"] });
  });

  it("what looms is told, and nothing where nothing does", () => {
    const game = gameOf(never, never);
    const { looming, lost } = game.safetyOf(start(never), 0, [doubtful]);
    expect(looming.map(({ hazard, move }) => [hazard.id, move])).toEqual([["leak", "host.send"]]);
    expect(lost).toEqual([]);
    expect(game.safetyOf(start(never), 0, [])).toEqual({ verdict: "allow", looming: [], lost: [] });
  });
});

describe("goals", () => {
  const firm: Lost = { names: ["debt d"], consentable: false };
  const soft: Lost = { names: ["debt d"], consentable: true };
  const goals = (hi: readonly Lost[], lo: readonly Lost[]): GoalGame => ({
    lost: ({ end }) => (end === "hi" ? hi : lo),
  });
  const safety = (hi: readonly Lost[], lo: readonly Lost[]): StateSafety =>
    makeGame([], goals(hi, lo)).safetyOf(start(never), 0, []);

  it("one that is surely out of reach refuses", () => {
    expect(safety([firm], [firm])).toMatchObject({ verdict: "deny", lost: ["debt d"] });
  });

  it("one that is out of reach at the upper bound only, or that consent brings back at the lower, asks", () => {
    expect(verdicts(safety([firm], []), safety([firm], [soft]), safety([soft], [soft]))).toEqual([
      "confirm",
      "confirm",
      "confirm",
    ]);
    expect(safety([], []).verdict).toBe("allow");
  });

  it("of several one that is surely out of reach is enough to refuse", () => {
    expect(safety([soft, firm], [soft, firm]).verdict).toBe("deny");
  });

  it.each([
    ["the risk of a firm hazard", never, ["leak host.send"], [], [["hi", "leak host.send"], ["lo"]]],
    ["a risk that a person may consent to", may, ["leak host.send"], [], [["hi", "leak host.send"]]],
    [
      "one that costs a goal all the same",
      may,
      ["leak host.send"],
      [soft],
      [
        ["hi", "leak host.send"],
        ["lo", "leak host.send"],
      ],
    ],
    ["nothing", may, [], [], [["hi"]]],
  ])("where %s is accepted the lower bound is asked for what was not", (_what, policy, risks, lost, wanted) => {
    const watches = watchesOf(policy, slotsOf(policy.ir));
    if (!watches.ok) throw new Error(watches.error);
    const asked: string[][] = [];
    const game = makeGame(watches.value, {
      lost: ({ end }, accepted) => {
        asked.push([end, ...accepted]);
        return lost;
      },
    });
    game.safetyOf(start(policy, ...risks), 0, []);
    expect(asked).toEqual(wanted);
  });

  it("accepting the risk of a firm hazard does not excuse a goal that it surely costs", () => {
    const watches = watchesOf(never, slotsOf(never.ir));
    if (!watches.ok) throw new Error(watches.error);
    const asked: string[][] = [];
    const game = makeGame(watches.value, {
      lost: ({ end }, accepted) => {
        asked.push([end, ...accepted]);
        return accepted.size > 0 ? [] : [firm];
      },
    });
    const found = game.safetyOf(start(never, "leak host.send"), 0, []);
    expect(asked).toEqual([["hi", "leak host.send"], ["lo"]]);
    expect(found).toMatchObject({ verdict: "deny", lost: ["debt d"] });
  });
});

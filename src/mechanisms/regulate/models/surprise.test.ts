import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { argument, contract, lattice, nothing, secret } from "../../../../test/kit/policy/scene.ts";
import { type LabelRange, exactly, join, trustOf } from "../../../core/label.ts";
import {
  type Surprise,
  isSink,
  isWrong,
  noSurprise,
  surpriseAfter,
  surpriseCallsMax,
  surpriseCallsMin,
  surpriseRate,
  surpriseReason,
} from "./surprise.ts";

const untrusted = trustOf(lattice, lattice.top);
const read = { must: ["read.local"], may: ["read.local"] };
const seen = (brought: LabelRange, held: LabelRange = brought, effects = read) => ({ brought, held, effects });

describe("a forecast is wrong", () => {
  it.each([
    ["as foreseen", ["private"], ["read.local"], seen(exactly(secret)), false],
    ["less secret than what came", [], ["read.local"], seen(exactly(secret)), true],
    ["more secret than all that is held", ["private"], ["read.local"], seen(exactly(nothing)), true],
    ["what the run held already", ["private"], ["read.local"], seen(exactly(nothing), exactly(secret)), false],
    ["untrusted data not foreseen", [], ["read.local"], seen(exactly(untrusted)), true],
    ["a label nobody knows", ["secretest"], ["read.local"], seen(exactly(secret)), true],
    ["either end of what is uncertain", [], ["read.local"], seen({ lo: nothing, hi: secret }), false],
    ["the other end", ["private"], ["read.local"], seen({ lo: nothing, hi: secret }), false],
    ["an effect that was not foreseen", [], [], seen(exactly(nothing)), true],
    ["an effect that the tool cannot have", [], ["read.local", "write.external.send"], seen(exactly(nothing)), true],
    ["another action in the same place", [], ["read.local.config"], seen(exactly(nothing)), false],
    ["a word that is no effect", [], ["fly"], seen(exactly(nothing), undefined, { must: [], may: [] }), false],
    ["a path that is no effect", [], ["fly.high"], seen(exactly(nothing), undefined, { must: [], may: [] }), true],
    [
      "one of the things it may do",
      [],
      ["write"],
      seen(exactly(nothing), undefined, { must: [], may: ["write"] }),
      false,
    ],
  ])("%s", (_, labels, effects, observed, wrong) => {
    expect(isWrong(lattice, { labels, effects }, observed)).toBe(wrong);
  });

  it("law: never where it says exactly what came, and less often the more is uncertain", () => {
    const label = fc.subarray(["private", "medical", "finance", "untrusted"]);
    const bits = (names: readonly string[]) =>
      names.reduce(
        (all, name) =>
          join(
            all,
            name === "untrusted" ? untrusted : name === "private" ? secret : name === "medical" ? medical : finance,
          ),
        nothing,
      );
    const categories = lattice.categoryMask;
    const medical = (categories & -categories) as typeof nothing; // the lowest category bit
    const finance = (categories & ~medical) as typeof nothing; // and the other
    fc.assert(
      fc.property(label, label, label, (foreseen, came, more) => {
        const forecast = { labels: foreseen, effects: ["read.local"] };
        const exact = seen(exactly(bits(came)));
        expect(isWrong(lattice, { ...forecast, labels: came }, exact)).toBe(false);
        const wider = seen({ lo: nothing, hi: join(bits(came), bits(more)) });
        if (isWrong(lattice, forecast, wider)) expect(isWrong(lattice, forecast, exact)).toBe(true);
      }),
    );
  });
});

describe("the rate", () => {
  const of = (...wrong: readonly boolean[]): Surprise => wrong.reduce<Surprise>(surpriseAfter, noSurprise);

  it("waits for a few comparisons, and looks back on so many", () => {
    expect(surpriseRate(of(true, true, true))).toBe(0);
    expect(surpriseRate(of(true, true, true, false))).toBe(0.75);
    const long = of(...Array.from({ length: surpriseCallsMax }, () => true), ...Array.from({ length: 8 }, () => false));
    expect(long.wrong).toHaveLength(surpriseCallsMax);
    expect(surpriseRate(long)).toBe(0.5);
  });

  it("above the limit asks before what somebody else can see", () => {
    const memory = of(...Array.from({ length: surpriseCallsMin }, (_, index) => index > 0));
    const sink = contract("send", { arguments: new Map([["to", argument("recipient", true)]]) });
    expect(surpriseReason(memory, 0.75, sink)).toBeUndefined();
    expect(surpriseReason(memory, 0.7, contract("read"))).toBeUndefined();
    expect(surpriseReason(memory, 0.7, sink)).toEqual({
      mechanism: "regulate",
      code: "SG-SURPRISE",
      verdict: "confirm",
      facts: { rate: 0.75, limit: 0.7, calls: 4 },
      way: "do without this call, or ask the person",
    });
    expect(isSink(contract("any", { rest: argument("content", true) }))).toBe(true);
  });
});

// What counters and budgets keep of each call, and what a failure without effect gives back.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callsInFlightMax, ruleKeysMax } from "../../core/limits.ts";
import { contract, dispatch, frameOf, must, option, round, rule, start, tool } from "../../../test/kit/policy/scene.ts";
import type { Temporal } from "../ir/ir.ts";
import { type MonitorCell, type Q, globalKey } from "./state.ts";
import type { Frame } from "./transition.ts";
import { firedSlots } from "./verdicts.ts";

const pay = contract("pay", { does: ["write.external.pay"] });
const key = { argument: "to", form: "id", foldLocalPart: false } as const;
const limited = (temporal: Temporal): Frame => frameOf({ rules: [rule("R", { tier: "confirm", temporal })] });
const budget: Temporal = { kind: "budget", of: tool("pay"), argument: "sum", limit: "10" };
const sum = (amount: string | undefined, keys?: readonly string[]) =>
  option(
    pay,
    {},
    {
      ...(amount === undefined ? {} : { amounts: { R: amount } }),
      ...(keys === undefined ? {} : { keys: { R: keys } }),
    },
  );
const asks = (frame: Frame, q: Q, x: ReturnType<typeof sum>, at: number): boolean =>
  firedSlots({ frame, q, option: x, at }, "rule").length > 0;
const failed = (frame: Frame, q: Q, call: string, noEffect = true): Q =>
  must(frame, q, { at: 9, kind: "failed", call, noEffect });
const cell = (q: Q, name = globalKey, end: "lo" | "hi" = "hi"): MonitorCell | undefined =>
  q.monitors[end][0]?.get(name);

describe("a failure without effect", () => {
  it("regression: gives back the amount of its own call, not that of the last one", () => {
    const frame = limited(budget);
    const small = dispatch(frame, start(frame), sum("1"), 1);
    const large = dispatch(frame, small.q, sum("9"), 2);
    const after = failed(frame, large.q, small.call);
    expect(asks(frame, after, sum("9"), 10)).toBe(true);
    expect(asks(frame, after, sum("1"), 10)).toBe(false);
    expect(cell(after)).toMatchObject({ times: [2], amounts: ["9"] });
  });

  it("regression: of a call whose amount nobody could read gives nothing back that another spent", () => {
    const frame = limited(budget);
    const spent = dispatch(frame, start(frame), sum("9"), 1);
    const unread = dispatch(frame, spent.q, sum(undefined), 2);
    expect(asks(frame, failed(frame, unread.q, unread.call), sum("9"), 10)).toBe(true);
  });

  it("gives a count back with its own time, so that the others leave the window when they should", () => {
    const frame = limited({ kind: "at-most", of: tool("pay"), count: 2, withinMs: 100 });
    const first = dispatch(frame, start(frame), sum(undefined), 1);
    const second = dispatch(frame, first.q, sum(undefined), 50);
    expect(cell(failed(frame, second.q, first.call))).toMatchObject({ times: [50], bits: [true, false] });
    expect(cell(failed(frame, second.q, second.call))).toMatchObject({ times: [1], bits: [true, false] });
  });

  it("law: leaves what was counted as if the call had never been made, whatever came between", () => {
    const amount = fc.option(fc.constantFrom("1", "2", "3"), { nil: undefined });
    const calls = fc.array(fc.tuple(amount, fc.boolean(), fc.nat({ max: 2 })), { maxLength: 6 });
    const kinds = fc.constantFrom<Temporal>(
      budget,
      { ...budget, withinMs: 4 },
      { kind: "at-most", of: tool("pay"), count: 3 },
      { kind: "at-most", of: tool("pay"), count: 3, withinMs: 4 },
    );
    fc.assert(
      fc.property(kinds, calls, (temporal, made) => {
        const frame = limited(temporal);
        let [all, kept, at] = [start(frame), start(frame), 0];
        const gone: string[] = [];
        for (const [one, fails, later] of made) {
          at += later;
          const sent = dispatch(frame, all, sum(one), at);
          all = sent.q;
          if (fails) gone.push(sent.call);
          else kept = dispatch(frame, kept, sum(one), at).q;
        }
        for (const call of gone) all = failed(frame, all, call);
        for (const end of ["lo", "hi"] as const) {
          const [left, wanted] = [cell(all, globalKey, end), cell(kept, globalKey, end)];
          // Of calls in one instant with one amount it is all the same which is given back.
          const counted = (one: MonitorCell | undefined): readonly string[] =>
            (one?.times ?? [])
              .map((time, index) => `${time} ${one?.amounts[index] ?? ""}`)
              .toSorted((first, second) => (first < second ? -1 : 1));
          // In a window each state has let go of what it looked at last; what counts is what it says below.
          if (!("withinMs" in temporal)) expect(counted(left)).toEqual(counted(wanted));
        }
        for (const one of ["1", "5", "10"])
          expect(asks(frame, all, sum(one), at)).toBe(asks(frame, kept, sum(one), at));
      }),
    );
  });

  it("that is not sure to be without effect gives nothing back", () => {
    const frame = limited(budget);
    const sent = dispatch(frame, start(frame), sum("9"), 1);
    expect(asks(frame, failed(frame, sent.q, sent.call, false), sum("2"), 10)).toBe(true);
    expect(asks(frame, failed(frame, sent.q, sent.call), sum("2"), 10)).toBe(false);
  });
});

describe("what is spent", () => {
  it("regression: stays spent for its own time, though a call that nobody could read went before", () => {
    const frame = limited({ ...budget, withinMs: 100 });
    const unread = round(frame, start(frame), sum(undefined), { at: 1 });
    // Somebody let it through: it took nothing that anybody could name.
    expect(asks(frame, unread, sum("10"), 2)).toBe(false);
    const spent = round(frame, unread, sum("9"), { at: 90 });
    expect(asks(frame, spent, sum("2"), 120)).toBe(true);
    expect(asks(frame, spent, sum("2"), 190)).toBe(false);
  });

  it("adds up by key, at both ends where the call is surely one that counts", () => {
    const frame = limited({ ...budget, key });
    const q = round(frame, round(frame, start(frame), sum("4", ["x"]), { at: 1 }), sum("5", ["y", "x"]), { at: 2 });
    expect(cell(q, "x")).toMatchObject({ amounts: ["4", "5"], times: [1, 2] });
    expect(cell(q, "y", "lo")).toMatchObject({ amounts: ["5"], times: [2] });
    expect(asks(frame, q, sum("2", ["x"]), 3)).toBe(true);
    expect(asks(frame, q, sum("2", ["y"]), 3)).toBe(false);
  });

  it("counts where the call may be one that counts, and for certain where it surely is", () => {
    const may = contract("pay", { effects: { must: [], may: ["write.external.pay"] } });
    const frame = limited({ kind: "at-most", of: { ...tool("pay"), effects: ["write"] }, count: 1 });
    const q = dispatch(frame, start(frame), option(may), 1).q;
    expect([cell(q)?.bits, cell(q, globalKey, "lo")?.bits ?? []]).toEqual([[true], []]);
  });

  it("is kept for no more calls than can still be given back", () => {
    const frame = limited({ kind: "at-most", of: tool("pay"), count: 2 });
    const full = 2 + callsInFlightMax;
    const times = Array.from({ length: full }, (_, index) => index);
    const cells = new Map([[globalKey, { bits: [true, true], since: 0, times, amounts: [] }]]);
    const q = dispatch(frame, { ...start(frame), monitors: { lo: [cells], hi: [cells] } }, sum(undefined), full).q;
    expect([cell(q)?.times.length, cell(q)?.times[0], cell(q)?.times.at(-1)]).toEqual([full, 1, full]);
    expect(cell(q)?.amounts).toEqual([]);
  });

  it("under a key beyond those that are followed counts for all that have none, and success opens nothing there", () => {
    const followed = (count: number, bit: boolean) =>
      new Map(
        Array.from({ length: count }, (_, index) => [`k${index}`, { bits: [bit], since: 0, times: [], amounts: [] }]),
      );
    const sent = (temporal: Temporal, count: number) => {
      const frame = limited(temporal);
      const cells = followed(count, false);
      const from = { ...start(frame), monitors: { lo: [cells], hi: [cells] } };
      const names = [...(round(frame, from, sum("1", ["new"]), { at: 1 }).monitors.hi[0]?.keys() ?? [])];
      return names.filter((name) => !cells.has(name));
    };
    const once: Temporal = { kind: "at-most", of: tool("pay"), count: 1, key };
    const gate: Temporal = { kind: "gate", before: tool("x"), need: tool("pay"), key };
    expect([sent(once, ruleKeysMax), sent(once, ruleKeysMax - 1)]).toEqual([[globalKey], ["new"]]);
    expect([sent(gate, ruleKeysMax), sent(gate, ruleKeysMax - 1)]).toEqual([[], ["new"]]);
  });
});

it("regression: a negative amount that somebody let through frees nothing of a budget", () => {
  const frame = limited(budget);
  const spent = dispatch(frame, start(frame), sum("9"), 1);
  expect(asks(frame, spent.q, sum("-500"), 2)).toBe(true);
  const returned = dispatch(frame, spent.q, sum("-500"), 2);
  expect(asks(frame, returned.q, sum("2"), 3)).toBe(true);
  expect(asks(frame, failed(frame, returned.q, returned.call), sum("2"), 4)).toBe(true);
});

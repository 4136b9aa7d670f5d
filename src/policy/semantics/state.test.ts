import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { heldLabelsMax } from "../../core/limits.ts";
import { type LabelRange, exactly, fromBits, join, joinRanges } from "../../core/label.ts";
import {
  argument,
  contract,
  frameOf,
  lattice,
  nothing,
  option,
  secret,
  start,
} from "../../../test/kit/policy/scene.ts";
import {
  addedRange,
  contextOf,
  hold,
  hostHeld,
  initialState,
  joinStores,
  reservedHeld,
  resultRange,
  storeRange,
  unmediated,
} from "./state.ts";
import type { Ir } from "../ir/ir.ts";
import { next } from "./transition.ts";

const label = fc.nat({ max: lattice.top }).map((bits) => fromBits(lattice, bits) ?? lattice.top);
const range: fc.Arbitrary<LabelRange> = fc.tuple(label, label).map(([lo, more]) => ({ lo, hi: join(lo, more) }));

describe("what the agent holds", () => {
  it("law: however much is held, it stays within the cap and nothing held is forgotten", () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 3 * heldLabelsMax, size: "max" }), (ranges) => {
        let held: readonly LabelRange[] = [];
        for (const one of ranges) held = hold(held, one);
        expect(held.length).toBeLessThanOrEqual(heldLabelsMax);
        // Each label lies under a held one, at the upper end where safety rests and at the lower where refusals do.
        for (const one of ranges) {
          expect(held.some((other) => join(other.hi, one.hi) === other.hi)).toBe(true);
          expect(held.some((other) => join(other.lo, one.lo) === one.lo)).toBe(true);
        }
        // The join of everything is exact: a merge never makes the whole look worse than it is.
        const all = ranges.reduce(joinRanges, exactly(nothing));
        expect(held.reduce(joinRanges, exactly(nothing)).hi).toBe(all.hi);
      }),
    );
  });

  it("the same label twice is held once", () => {
    const once = hold([], exactly(secret));
    expect(hold(once, exactly(secret))).toBe(once);
  });
});

const stores = [{ name: "box", audience: 1, initial: exactly(nothing) }];

describe("the shared part", () => {
  const frame = frameOf({ stores });

  it("begins as the policy declares it, or as other runs left it", () => {
    const first = start(frame);
    expect(first.stores).toEqual([{ label: exactly(nothing), audience: 1, open: 0, added: exactly(nothing) }]);
    const written = {
      ...first,
      stores: [{ label: exactly(secret), audience: 3, open: 2, added: exactly(nothing) }],
      held: [exactly(secret)],
    };
    const second = initialState(frame.ir, frame.slots, written);
    expect(second.stores).toBe(written.stores);
    expect(second.held).toEqual([]);
  });

  it("of a policy with other stores is not taken over", () => {
    const other = start(frameOf({}));
    expect(initialState(frame.ir, frame.slots, other).stores).toEqual(start(frame).stores);
  });

  it("joins store by store, and a store that only one side knows stays", () => {
    const left = [
      { label: exactly(nothing), audience: 1, open: 0, added: exactly(nothing) },
      { label: exactly(secret), audience: 1, open: 0, added: exactly(nothing) },
    ];
    const right = [{ label: exactly(secret), audience: 2, open: 2, added: exactly(nothing) }];
    expect(joinStores(left, right)).toEqual([
      { label: exactly(secret), audience: 3, open: 2, added: exactly(nothing) },
      left[1],
    ]);
  });

  it("is found by the name of a store", () => {
    expect(storeRange(frame.ir, start(frame), "box")).toEqual(exactly(nothing));
    expect(storeRange(frame.ir, start(frame), "elsewhere")).toBeUndefined();
  });
});

describe("what the host reads by itself", () => {
  const reading = (read: Ir["host"]["read"]) => frameOf({ stores, host: { send: 0, read, execute: false } });
  const at = (cell: LabelRange, frame = reading([0])) => ({
    ...start(frame),
    stores: [{ label: cell, audience: 1, open: 0, added: exactly(nothing) }],
  });

  it("law: counts as held and is never certain, whatever the store holds and whatever else is held", () => {
    fc.assert(
      fc.property(range, range, (cell, held) => {
        const { ir } = reading([0]);
        const q = { ...at(cell), held: [held] };
        expect(contextOf(ir, q)).toEqual({ lo: held.lo, hi: join(held.hi, cell.hi) });
        const reserved = reservedHeld(ir, q).reduce(joinRanges, exactly(nothing));
        expect(reserved).toEqual(contextOf(ir, q));
        expect(unmediated(ir, q)).toEqual({ lo: nothing, hi: cell.hi });
      }),
    );
  });

  it("nothing where it asks, everything where it need not, and a store that is no longer there adds nothing", () => {
    const q = at(exactly(secret));
    expect(hostHeld(reading("gated").ir, q)).toEqual([]);
    expect(contextOf(reading("everything").ir, q)).toEqual({ lo: nothing, hi: lattice.top });
    expect(hostHeld(reading([0, 7]).ir, q)).toEqual([{ lo: nothing, hi: secret }]);
  });

  it("a lost history came past every release, too", () => {
    const { ir } = reading("gated");
    expect(unmediated(ir, start(reading("gated")))).toEqual(exactly(nothing));
    expect(unmediated(ir, { ...start(reading("gated")), lost: true })).toEqual({ lo: nothing, hi: lattice.top });
  });
});

describe("the range of a result", () => {
  it("joins the output, the arguments and the stores that are read; a store nobody declared adds nothing", () => {
    const frame = frameOf({ stores });
    const q = {
      ...start(frame),
      stores: [{ label: { lo: nothing, hi: secret }, audience: 1, open: 0, added: exactly(nothing) }],
    };
    const tool = (reads: readonly string[]) => contract("read", { reads, rest: argument("query", false) });
    expect(resultRange(frame.ir, q, option(tool([])))).toEqual(exactly(nothing));
    expect(resultRange(frame.ir, q, option(tool(["box", "unknown"])))).toEqual({ lo: nothing, hi: secret });
    expect(resultRange(frame.ir, q, option(tool([]), { a: exactly(secret) }))).toEqual(exactly(secret));
    expect(contextOf(frame.ir, { ...q, held: [exactly(secret)] })).toEqual(exactly(secret));
    expect(addedRange(frame.ir, q, ["box"])).toEqual(exactly(nothing));
    const added = { ...q, stores: q.stores.map((store) => ({ ...store, added: exactly(secret) })) };
    expect(addedRange(frame.ir, added, ["box", "unknown"])).toEqual(exactly(secret));
    expect(addedRange(frame.ir, added, ["unknown"])).toEqual(exactly(nothing));
  });

  it("of a call in flight is reserved as it is now: what others wrote since to a store that it reads counts", () => {
    const frame = frameOf({ stores });
    const reads = { reads: ["box"], rest: argument("query", false) };
    for (const tool of [contract("read", reads), contract("look", { ...reads, reads: [] })]) {
      const called = option(tool, { a: { lo: nothing, hi: secret } });
      const event = {
        kind: "dispatched",
        at: 0,
        call: "c",
        method: "",
        option: called,
        arguments: {},
        digest: "",
      } as const;
      const moved = next(frame, start(frame), event);
      if (!moved.ok) throw new Error(moved.error);
      const written = moved.value.stores.map((store) => ({ ...store, label: exactly(lattice.top) }));
      for (const q of [moved.value, { ...moved.value, stores: written }]) {
        expect(reservedHeld(frame.ir, q)).toEqual([resultRange(frame.ir, q, called)]);
      }
    }
  });
});

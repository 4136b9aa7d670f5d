/**
 * Exposures of a state, remembered: every call is also judged as a list entry, and a list has many entries, while the parts
 * of the state that they depend on rarely change from one to the next.
 */
import type { ToolContract } from "../../../core/contract.ts";
import type { Json } from "../../../core/json.ts";
import type { LabelRange } from "../../../core/label.ts";
import { callsInFlightMax } from "../../../core/limits.ts";
import { lockedUnderWay } from "../../../policy/semantics/overlap.ts";
import { type Q, reservedHeld } from "../../../policy/semantics/state.ts";
import { type Board, type Exposure, exposureOf } from "./exposure.ts";
import { toolClasses } from "../list/tool-classes.ts";

/** States whose exposures are remembered; there is one for each live run at most times. */
const statesMax = 16;

/** Classes of tools that are remembered of one state; a server that makes up more only makes its own list slow. */
const entriesMax = 4_096;

export type Exposures = { readonly of: (q: Q, contract: ToolContract, at: number) => Exposure };

type Parts = Pick<Q, "stores" | "monitors" | "lost" | "ended"> & { readonly held: readonly LabelRange[] };
type Remembered = { readonly parts: Parts; readonly by: Map<string, Exposure> };

export function makeExposures(board: Board & { readonly digest: (value: Json) => string }): Exposures {
  const { ir, slots } = board.frame;
  const classOf = toolClasses(ir, board.digest);
  // With a lock that ends by itself the answer depends on the instant.
  const timed = slots.some(({ temporal }) => "withinMs" in temporal && temporal.withinMs !== undefined);
  const known: Remembered[] = [];
  const passing: Passing = new WeakMap();
  return {
    of: (q, contract, at) => {
      const held = reservedHeld(ir, q);
      // INVARIANT: what is remembered depends on nothing but its parts, or a run that is folded anew would differ.
      const reserves =
        (held !== q.held && q.inFlight.size > 0) ||
        q.inFlight.size >= callsInFlightMax ||
        lockedUnderWay(slots, q.inFlight).length > 0;
      // A consent is for one call; every other grant is a matter of time, or of what arguments may carry.
      const granted = q.grants.some(({ kind }) => kind !== "consent");
      const by =
        timed || granted || reserves ? ofInstant(passing, q, timed || granted ? at : undefined) : ofParts(known, q);
      const name = classOf(contract);
      const remembered = by.get(name);
      if (remembered !== undefined) return remembered;
      const exposure = exposureOf(board, q, contract, at);
      if (by.size >= entriesMax) by.clear();
      by.set(name, exposure);
      return exposure;
    },
  };
}

/** Exposures of this very state, at an instant where that matters: for one list, and no longer than the state is there. */
type Passing = WeakMap<Q, { readonly at: number | undefined; readonly by: Map<string, Exposure> }>;

function ofInstant(passing: Passing, q: Q, at: number | undefined): Map<string, Exposure> {
  const last = passing.get(q);
  if (last !== undefined && last.at === at) return last.by;
  const by = new Map<string, Exposure>();
  passing.set(q, { at, by });
  return by;
}

function ofParts(known: Remembered[], q: Q): Map<string, Exposure> {
  const { stores, monitors, lost, ended, held } = q;
  const parts: Parts = { stores, monitors, lost, ended, held };
  const { by } = known.find((one) => sameParts(one.parts, parts)) ?? added(known, parts);
  return by;
}

function added(known: Remembered[], parts: Parts): Remembered {
  const made: Remembered = { parts, by: new Map() };
  known.unshift(made);
  if (known.length > statesMax) known.pop();
  return made;
}

function sameParts(left: Parts, right: Parts): boolean {
  return (
    left.held === right.held &&
    sameItems(left.stores, right.stores) &&
    sameItems(left.monitors.lo, right.monitors.lo) &&
    sameItems(left.monitors.hi, right.monitors.hi) &&
    left.lost === right.lost &&
    left.ended === right.ended
  );
}

/** A step makes a new list of automata, and keeps those that it does not touch. */
function sameItems<T>(left: readonly T[], right: readonly T[]): boolean {
  return left === right || (left.length === right.length && left.every((one, index) => one === right[index]));
}

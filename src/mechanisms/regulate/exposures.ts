/**
 * Exposures of a state, remembered: every call is also judged as a list entry, and a list has many entries, while the parts
 * of the state that they depend on rarely change from one to the next.
 */
import type { ToolContract } from "../../core/contract.ts";
import type { Json } from "../../core/json.ts";
import type { LabelRange } from "../../core/label.ts";
import { callsInFlightMax } from "../../core/limits.ts";
import type { Q } from "../../policy/state.ts";
import { reservedHeld } from "../../policy/state.ts";
import type { Board, Exposure } from "./exposure.ts";
import { exposureOf } from "./exposure.ts";
import { toolClasses } from "./tool-classes.ts";

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
  // What ends by itself makes the answer a matter of the instant.
  const timed = slots.some(({ temporal }) => "withinMs" in temporal && temporal.withinMs !== undefined);
  const known: Remembered[] = [];
  return {
    of: (q, contract, at) => {
      const held = reservedHeld(ir, q);
      // INVARIANT: what is remembered depends on nothing but its parts, or a run that is folded anew would differ.
      const reserves = (held !== q.held && q.inFlight.size > 0) || q.inFlight.size >= callsInFlightMax;
      // A consent is for one call; every other grant is a matter of time, or of what arguments may carry.
      const granted = q.grants.some(({ kind }) => kind !== "consent");
      if (timed || granted || reserves) return exposureOf(board, q, contract, at);
      const { stores, monitors, lost, ended } = q;
      const parts: Parts = { stores, monitors, lost, ended, held: q.held };
      const { by } = known.find((one) => sameParts(one.parts, parts)) ?? added(known, parts);
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

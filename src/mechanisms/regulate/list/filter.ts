/**
 * How the list follows the state (`regulation.filter.mode`). The game says which tools are hidden now; the mode says for
 * how long. `replace`: as long as the game says so. `accumulate`: to the end of the run, so that a list only shrinks.
 * `lease`: for a time after the game has let the tool go, so that a state which flickers does not make the list flicker,
 * and an agent cannot wait at the edge for a tool to come back.
 */
import type { Reason } from "../../../core/opinion.ts";
import type { FilterMode } from "../../../policy/sections/regulation.ts";

/**
 * By tool: the monotonic millisecond at which it may be shown again; without end while the game hides it. `full` where
 * more tools were hidden than are remembered.
 */
export type Filtered = { readonly until: ReadonlyMap<string, number>; readonly full: boolean };

export const nothingFiltered: Filtered = { until: new Map(), full: false };

/** Hidden tools that a run remembers. A server that keeps inventing names must not make it forget the first ones. */
export const filteredToolsMax = 20_000;

/**
 * Memory after the game has spoken: `hidden` is all that it hides at this instant. Asked at every change of the state;
 * between two of them the game repeats its last result.
 */
export function filterAfter(mode: FilterMode, memory: Filtered, hidden: ReadonlySet<string>, at: number): Filtered {
  if (mode.kind === "replace") return memory;
  const until = new Map<string, number>();
  for (const [tool, end] of memory.until) {
    if (hidden.has(tool) || mode.kind === "accumulate") until.set(tool, Number.POSITIVE_INFINITY);
    else {
      // Hidden up to now: the time that it stays away begins.
      const back = Number.isFinite(end) ? end : at + mode.ttlMs;
      if (back > at) until.set(tool, back);
    }
  }
  let { full } = memory;
  for (const tool of hidden) {
    if (until.size < filteredToolsMax || until.has(tool)) until.set(tool, Number.POSITIVE_INFINITY);
    else full = true;
  }
  return { until, full };
}

/** The mode keeps the tool away at this time, whatever the game would say of it now. */
export function isFiltered(memory: Filtered, tool: string, at: number): boolean {
  const end = memory.until.get(tool);
  return end === undefined ? memory.full : at < end;
}

/** The next instant at which a tool comes back by itself and the list has to be made anew; undefined if none will. */
export function nextReturn(memory: Filtered, at: number): number | undefined {
  let next: number | undefined;
  for (const end of memory.until.values()) {
    if (end > at && Number.isFinite(end) && (next === undefined || end < next)) next = end;
  }
  return next;
}

/** Why a tool is kept away; undefined if it is not. */
export function filterReason(memory: Filtered, tool: string, at: number): Reason | undefined {
  if (!isFiltered(memory, tool, at)) return undefined;
  const end = memory.until.get(tool) ?? Number.POSITIVE_INFINITY;
  const back = Number.isFinite(end);
  return {
    mechanism: "regulate",
    code: "SG-FILTERED",
    verdict: "deny",
    facts: back ? { waitMs: Math.ceil(end - at) } : {},
    way: back ? "wait, or use another tool" : "use another tool, or start a new run",
  };
}

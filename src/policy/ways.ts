/** The way on from what an automaton refuses, in names that the policy itself uses: a refusal must carry no data. */
import type { Pattern, Temporal } from "./ir.ts";
import { unlockingOf } from "./monitors.ts";

/** Names or effects of the calls that would unlock or pay; empty where no call would, or they have neither. */
export function neededBy(temporal: Temporal): readonly string[] {
  const unlocking = unlockingOf(temporal);
  return unlocking === undefined ? [] : toolNames(unlocking);
}

function toolNames(pattern: Pattern): readonly string[] {
  const named = (pattern.tools ?? []).map(({ server, tool }) => (server === "*" ? tool : `${server}.${tool}`));
  return named.length > 0 ? named : (pattern.effects ?? []);
}

/** What to do next, for the person or model that was refused. */
export function wayOf(temporal: Temporal): string {
  const needed = neededBy(temporal).join(" or ");
  switch (temporal.kind) {
    case "gate":
    case "immediately":
    case "owed":
    case "by-end":
    case "inject": // never refuses, so it never has to show a way
      return needed === "" ? "do first what the rule asks for" : `call ${needed} first`;
    case "absence":
      return needed === "" ? "start a new run for this" : `call ${needed} first, or start a new run`;
    case "at-most":
    case "budget":
      return temporal.withinMs === undefined ? "start a new run for more" : "wait until the limit allows more";
  }
}

/**
 * A trace, judged in the order of lifecycle.md 2:
 *  1. evidence that is missing where something rests on it, and every event out of scope, reject the result;
 *  2. what the labels of the tool rule out does, too;
 *  3. what is left and strange by rule is asked about; what nothing explains is shown to a judge.
 * Each part only adds findings, so more events, weaker grades and less complete traces never make a call look better.
 */
import type { EffectEvent } from "../../core/effect-trace.ts";
import { wasLetPass } from "./destinations.ts";
import { effectFindings } from "./effect-rules.ts";
import type { Finding, Grounds } from "./grounds.ts";
import { noiseOf } from "./noise.ts";
import { changeFindings, scopeRules } from "./scope-rules.ts";
import { suspicions, unexplained } from "./suspicion.ts";

export type Judgement = {
  readonly violations: readonly Finding[];
  readonly suspicions: readonly Finding[];
  /** Events that are in scope, and that neither labels nor arguments explain. */
  readonly open: readonly EffectEvent[];
  /** Events that are no noise. */
  readonly heard: readonly EffectEvent[];
};

export function judgeTrace(grounds: Grounds, unjudged: true | readonly string[] = []): Judgement {
  const heard = grounds.trace.events.filter((event) => noiseOf(event, grounds) === undefined);
  const outside = new Set<EffectEvent>();
  const violations: Finding[] = [];
  for (const event of heard) {
    for (const rule of scopeRules) {
      if (!rule.applies(event, grounds)) continue;
      outside.add(event);
      const { server } = grounds.order;
      const { id, code } = rule;
      const verdict = mayBeAnothers(event, grounds) ? "confirm" : "deny";
      violations.push({ rule: id, code, verdict, what: rule.what(event), way: rule.way(event, server) });
      break;
    }
  }
  const inside = heard.filter((event) => !outside.has(event));
  violations.push(...changeFindings(grounds), ...effectFindings(inside, grounds));
  return {
    violations,
    suspicions: suspicions(heard, grounds),
    open: unexplained(inside, grounds, unjudged),
    heard,
  };
}

/**
 * While calls overlap nobody can tell whose act it was. What the scope of some other tool explains, or what the broker
 * let pass for an argument of another call, is asked about instead of being held against this one.
 */
function mayBeAnothers(event: EffectEvent, grounds: Grounds): boolean {
  if (event.phase !== "ambiguous") return false;
  const others = widened(grounds);
  const rules = scopeRules.filter((rule) => rule.applies(event, others));
  return rules.every(({ id }) => id.startsWith("net.") && wasLetPass(event, grounds));
}

/** What any tool of the server may do. */
function widened(grounds: Grounds): Grounds {
  const tools = [...grounds.order.scope.tools.values()];
  return {
    ...grounds,
    read: [...grounds.read, ...tools.flatMap(({ read }) => read)],
    write: [...grounds.write, ...tools.flatMap(({ write }) => write)],
    allow: [...grounds.allow, ...tools.flatMap(({ allow }) => allow)],
    programs: [...grounds.programs, ...tools.flatMap(({ programs }) => programs)],
  };
}

/** Why a trace says too little to judge by; undefined where it is whole, or where nothing was promised of it. */
export function gapIn({ trace, order }: Grounds): string | undefined {
  const { tier, failure, complete } = trace;
  // Hooks inside of a server, or none at all, are evidence of what they show and of nothing else.
  if (tier === "C" || tier === "none" || tier === "remote") return undefined;
  if (failure !== undefined) return failure;
  return complete || order.scope.trace === "none" ? undefined : "the tracer fell behind";
}

/** Nothing kept the server from what it did, so nothing that it says can be relied on. */
export function isUnconfined({ tier }: Grounds["trace"]): boolean {
  return tier === "C" || tier === "none";
}

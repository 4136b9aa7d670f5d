/**
 * A trace, judged in the order of lifecycle.md 2:
 *  1. evidence that is missing where something rests on it, and every event out of scope, reject the result;
 *  2. what the labels of the tool rule out does, too;
 *  3. what is left and strange by rule is asked about; what nothing explains is shown to a judge.
 * Each part only adds findings, so more events, weaker grades and less complete traces never make a call look better.
 */
import type { EffectEvent } from "../../core/isolation/effect-trace.ts";
import { endedAtBroker, wasLetPass } from "./destinations.ts";
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
  /** Events other than noise. */
  readonly heard: readonly EffectEvent[];
};

export function judgeTrace(grounds: Grounds, unjudged: readonly string[] = []): Judgement {
  const heard = grounds.trace.events.filter((event) => noiseOf(event, grounds) === undefined);
  const outside = new Set<EffectEvent>();
  const violations: Finding[] = [];
  for (const event of heard) {
    for (const rule of scopeRules) {
      if (!rule.applies(event, grounds)) continue;
      outside.add(event);
      if (wasOnlyTried(event, rule.id, grounds)) break;
      const { server } = grounds.order;
      const { id, code } = rule;
      const verdict = mayBeAnothers(event, grounds) ? "confirm" : "deny";
      violations.push({
        rule: id,
        code,
        verdict,
        what: rule.what(event),
        way: besideDefault(rule.way(event, server), grounds),
      });
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

/** Rules about what a server may need, and no policy says yet. */
const needs: ReadonlySet<string> = new Set(["file.read", "file.write", "net.destination", "net.name", "net.socket"]);

/**
 * Under the default no operator wrote what a server needs, so what it tried in vain is told to the operator and not held
 * against the call. Keys, files that others obey and other processes are no such need, and neither is what came about.
 */
function wasOnlyTried(event: EffectEvent, rule: string, grounds: Grounds): boolean {
  const { order, trace } = grounds;
  const { action, outcome, path } = event;
  if (order.mode !== "where-possible") return false;
  if (needs.has(rule)) return outcome === "denied" || outcome === "failed" || endedAtBroker(event, grounds);
  // Programs look there for a container around them. With processes of its own a projection shows theirs and no others.
  const hasOwnProcesses = trace.tier === "A" || trace.tier === "A-";
  return hasOwnProcesses && action === "file-read" && path !== undefined && /^\/proc\/\d+\/environ$/.test(path);
}

/**
 * Where the policy has no section of its own, one that names a single server would take the default from all others: their
 * variables, and the way in which those run that cannot be isolated.
 */
function besideDefault(way: string, { order }: Grounds): string {
  const opens = order.mode === "where-possible" && way.includes("isolation.servers.");
  return opens ? `${way}, beside \`isolation.backend: where-possible\`` : way;
}

/**
 * While calls overlap, an event cannot be attributed to one of them. If the scope of some other tool explains it, or
 * the broker let it pass for an argument of another call, it raises a question instead of counting against this call.
 */
function mayBeAnothers(event: EffectEvent, grounds: Grounds): boolean {
  if (event.phase !== "ambiguous") return false;
  const others = widened(grounds);
  const rules = scopeRules.filter((rule) => rule.applies(event, others));
  return rules.every(({ id }) => id.startsWith("net.") && wasLetPass(event, grounds));
}

/** The grounds widened to every tool of the server. */
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

/** Nothing restrained the server's acts, so its own statements are not reliable. */
export function isUnconfined({ tier }: Grounds["trace"]): boolean {
  return tier === "C" || tier === "none";
}

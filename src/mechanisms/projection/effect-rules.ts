/**
 * The recorded events against the labels of the tool (lifecycle.md 2): a `read` tool that writes, a `local` tool that
 * connects, a tool that runs nothing and starts a program. Only what the labels rule out counts: an effect that a tool may
 * have explains the event, whether it must have it or not. Labels that were inferred from words may be wrong, and an event
 * in the windows of several calls may be another's; then the approver is asked instead.
 */
import { type Effect, mayCover } from "../../core/effect.ts";
import { changesFiles, type EffectEvent, type WorkspaceChange } from "../../core/isolation/effect-trace.ts";
import { matchesPath } from "../../core/isolation/scope-patterns.ts";
import type { Verdict } from "../../core/verdict.ts";
import { destinationOf, isLoopback } from "./destinations.ts";
import { type Called, type EventRule, type Finding, type Grounds, shown, took } from "./grounds.ts";
import { mayStart } from "./scope-rules.ts";

export function mayWriteAnything(effects: readonly Effect[]): boolean {
  return mayCover("write", effects) || mayCover("execute", effects);
}

export function mayLeave(effects: readonly Effect[]): boolean {
  return ["read.external", "write.external", "execute.external"].some((effect) => mayCover(effect, effects));
}

export function mayExecute(effects: readonly Effect[]): boolean {
  return mayCover("execute", effects);
}

/** Events that reached, or may have reached, a party outside of the server's own network. */
export function leaves(event: EffectEvent): boolean {
  const { action, transport } = event;
  if (action === "dns-query") return true;
  return (action === "net-connect" || action === "net-send") && transport !== "unix" && !isLoopback(event);
}

const relabel =
  (effect: string) =>
  (_: EffectEvent, server: string): string =>
    `if the tool is meant to, label it with \`${effect}\` (server ${server})`;

export const effectRules: readonly (EventRule & { readonly contradicts: (effects: readonly Effect[]) => boolean })[] = [
  {
    id: "effect.write",
    code: "SG-EFFECT",
    contradicts: (effects) => !mayWriteAnything(effects),
    applies: (event) => changesFiles(event) && took(event),
    what: ({ path, target }) => `changed ${shown(target ?? path)}, although it is labelled as one that only reads`,
    way: relabel("write.local"),
  },
  {
    id: "effect.connect",
    code: "SG-EFFECT",
    contradicts: (effects) => !mayLeave(effects),
    applies: leaves,
    what: (event) => `reached out to ${shown(destinationOf(event))}, although it is labelled as one that stays local`,
    way: relabel("read.external"),
  },
  {
    id: "effect.spawn",
    code: "SG-EFFECT",
    contradicts: (effects) => !mayExecute(effects),
    // A program that the scope lists by name is explained by it, and so is the server's own code.
    applies: (event, grounds) =>
      event.action === "process-spawn" && took(event) && !mayStart(event, grounds) && !liesInNamed(event, grounds),
    what: ({ program }) => `started ${shown(program)}, although it is labelled as one that runs nothing`,
    way: relabel("execute.local"),
  },
];

/** Where any program may be started, one in a folder that the scope names for its own sake is meant. */
function liesInNamed({ program }: EffectEvent, { order, read, write, trace }: Grounds): boolean {
  if (order.scope.exec.mode !== "any" || program === undefined) return false;
  return [...read, ...write].some((pattern) => matchesPath(pattern, program, trace.places));
}

/** Findings about events that are neither noise nor out of scope. */
export function effectFindings(events: readonly EffectEvent[], grounds: Grounds): readonly Finding[] {
  const { called, order } = grounds;
  if (called === undefined) return [];
  const rules = effectRules.filter((rule) => rule.contradicts(called.effects) && !staysInside(rule.id, called));
  const found = rules.flatMap((rule) =>
    events
      .filter((event) => rule.applies(event, grounds) && !refreshesIndex(event.target ?? event.path, called))
      .map((event): Finding => ({
        rule: rule.id,
        code: rule.code,
        verdict: verdictOn(called, event.phase === "ambiguous"),
        what: rule.what(event),
        way: rule.way(event, order.server),
      })),
  );
  return [...found, ...changed(grounds, called)];
}

/** What a card says was proposed from words, and a program in a process without a way out does nothing that the process could not. */
function staysInside(rule: string, { enclosed, source }: Called): boolean {
  return rule === "effect.spawn" && enclosed && source === "card";
}

/** Git refreshes what it knows of the files in its index whenever it looks at them. */
function refreshesIndex(path: string | undefined, { enclosed, source }: Called): boolean {
  return enclosed && source === "card" && /(?:^|\/)\.git\/index(?:\.lock)?$/.test(path ?? "");
}

/** The writes themselves: no tracer has to be believed for them. */
function changed({ trace, order }: Grounds, called: Called): readonly Finding[] {
  if (mayWriteAnything(called.effects)) return deleted(trace.changes, called, order.server);
  // Changes are not attributed: while calls overlap, they may be those of another one.
  const overlaps = trace.events.some(({ phase }) => phase === "ambiguous");
  const changes = trace.changes.filter(({ path }) => !refreshesIndex(path, called));
  return changes.map(({ path }) => ({
    rule: "effect.write",
    code: "SG-EFFECT",
    verdict: verdictOn(called, overlaps),
    what: `changed ${shown(path)}, although it is labelled as one that only reads`,
    way: `if the tool is meant to, label it with \`write.local\` (server ${order.server})`,
  }));
}

/**
 * Where neither operator nor pack says what a tool does, the belief that it deletes nothing rests on this: what an enclosed
 * process takes away from the workspace is gone there only with consent.
 */
function deleted(
  changes: readonly WorkspaceChange[],
  { enclosed, effects, source }: Called,
  server: string,
): readonly Finding[] {
  // Operator and pack know what their tools do: a file that is moved is deleted where it was.
  const isLabelled = source === "operator" || source === "pack";
  if (!enclosed || isLabelled || mayCover("write.local.delete", effects)) return [];
  return changes
    .filter(({ kind }) => kind === "deleted")
    .map(({ path }) => ({
      rule: "effect.delete",
      code: "SG-EFFECT",
      verdict: "confirm",
      what: `deleted ${shown(path)}, although nothing says that it deletes`,
      way: `if the tool is meant to, label it with \`write.local.delete\` (server ${server})`,
    }));
}

function verdictOn({ source }: Called, ambiguous: boolean): Verdict {
  return ambiguous || source === "inference" ? "confirm" : "deny";
}

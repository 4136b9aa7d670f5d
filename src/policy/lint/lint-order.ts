/**
 * Findings about orders and counts without exploration: gates that wait for themselves, rules that begin with a call
 * which another rule refuses. Only findings that names alone decide are reported, since effects and labels are often
 * uncertain, and then an approver may let a call pass that a rule would refuse.
 */
import type { CompiledPolicy } from "../compile/compile.ts";
import { type Problem, quoted, warning } from "../document/diagnostic.ts";
import type { Ir, Pattern, Rule, Temporal } from "../ir/ir.ts";
import { type Slot, slotsOf } from "../semantics/monitors.ts";
import { implies, isBare, nameMatches } from "../semantics/patterns.ts";

export function lintOrder(policy: CompiledPolicy): readonly Problem[] {
  return [...waitingGates(policy), ...policy.ir.rules.flatMap((rule) => refusedBefore(rule, policy.ir.rules))];
}

type Gate = Slot & { readonly temporal: Extract<Temporal, { kind: "gate" | "immediately" }> };

/** A gate whose key is behind itself, or behind gates that wait for each other: the first key is never turned. */
function waitingGates({ ir, settings, table }: CompiledPolicy): readonly Problem[] {
  // An observed call goes ahead, and turns the key.
  const observed = settings.mode === "observe" || [...table.servers.values()].some(({ mode }) => mode === "observe");
  if (observed) return [];
  let locked = slotsOf(ir).filter((slot): slot is Gate => isClosed(slot, ir));
  const behind = (gate: Gate): Gate | undefined => {
    const { need } = gate.temporal;
    if (!isCertain(need)) return undefined;
    return [gate, ...locked].find((other) => locked.includes(other) && implies(need, other.temporal.before));
  };
  for (let count = -1; count !== locked.length;) {
    count = locked.length;
    locked = locked.filter((gate) => behind(gate) !== undefined);
  }
  return locked.map((gate) => {
    const first = behind(gate);
    const self = first === undefined || first.index === gate.index;
    const waits = self ? "has to wait for it" : `has to wait for ${quoted(first.id)}, and so on in a circle`;
    const message = `${gate.owner} ${quoted(gate.id)} waits for a call that itself ${waits}`;
    const remedy = "let `need` name a call that nothing holds back, or take that call out of `before`";
    return warning("ALWAYS-DENY", [gate.owner === "rule" ? "rules" : "hazards", gate.id], message, remedy);
  });
}

/** It refuses, no approver can consent, and no call that the gateway itself adds turns its key. */
function isClosed({ temporal, mode, owner, id }: Slot, { hazards, rules }: Ir): boolean {
  if ((temporal.kind !== "gate" && temporal.kind !== "immediately") || mode === "observe") return false;
  if (owner === "hazard" && hazards.find((hazard) => hazard.id === id)?.consent !== "never") return false;
  const { tools } = temporal.need;
  return !rules.some(
    (rule) =>
      rule.kind === "temporal" &&
      rule.temporal.kind === "inject" &&
      (tools === undefined || tools.some((tool) => fits(tool, rule.temporal))),
  );
}

function fits(selector: { readonly server: string; readonly tool: string }, temporal: Temporal): boolean {
  return (
    temporal.kind === "inject" &&
    nameMatches(selector.server, temporal.server) &&
    nameMatches(selector.tool, temporal.tool)
  );
}

/** Names and arguments of a call are what they are; its effects and labels may be known in part only. */
function isCertain({ tools, effects, flags, data, stores, held }: Pattern): boolean {
  const named = tools !== undefined && effects === undefined && flags === undefined;
  return named && data.length === 0 && stores.length === 0 && held === undefined;
}

/** A rule about the order or number of calls that another rule refuses in any case. */
function refusedBefore(rule: Rule, rules: readonly Rule[]): readonly Problem[] {
  // The second half of `exactlyOnce` is about the same calls as the first.
  if (rule.kind !== "temporal" || rule.mode === "observe" || rule.id.endsWith("/end")) return [];
  const refusing = (pattern: Pattern): Rule | undefined =>
    rules.find((other) => refusesAll(other) && implies(pattern, other.when));
  const { refused, begins } = partsOf(rule.temporal);
  const path = ["rules", rule.id];
  const start = begins === undefined ? undefined : refusing(begins);
  if (start !== undefined) {
    const message = `rule ${quoted(rule.id)} can never match: ${quoted(start.id)} refuses the call that it begins with`;
    return [warning("DEAD", path, message, "remove it, or narrow the other")];
  }
  const by = refused === undefined ? undefined : refusing(refused);
  if (by === undefined) return [];
  const message = `rule ${quoted(rule.id)} says nothing that ${quoted(by.id)} does not say more strictly`;
  return [warning("SHADOWED", path, message, "remove it, or narrow the other")];
}

type Refusing = Extract<Rule, { kind: "plain" }>;

/** It refuses calls by their names alone, so nothing about them is uncertain. */
function refusesAll(rule: Rule): rule is Refusing {
  if (rule.kind !== "plain" || rule.tier !== "block" || rule.mode === "observe") return false;
  return isBare(rule.when) && rule.when.effects === undefined && rule.when.flags === undefined;
}

/** The calls that a rule refuses, and the calls that must precede any refusal or demand of it. */
function partsOf(temporal: Temporal): { readonly refused?: Pattern; readonly begins?: Pattern } {
  switch (temporal.kind) {
    case "gate":
    case "immediately":
    case "inject":
      return { refused: temporal.before };
    case "absence":
      return { refused: temporal.never, begins: temporal.after };
    case "at-most":
    case "budget":
      return { refused: temporal.of };
    case "owed":
    case "by-end":
      return { begins: temporal.after };
  }
}

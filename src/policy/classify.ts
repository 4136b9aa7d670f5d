/**
 * The class of a concrete call (formal.md 4.1): the truth of every predicate that can matter for its tool, the
 * canonical keys of keyed rules, and exact amounts. Calls of one class look alike to everything that decides.
 */
import { isArray } from "../core/json.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { CallClass, CallMoment } from "../core/moment.ts";
import { evaluateTest } from "./argument-tests.ts";
import type { Predicate } from "./ir.ts";
import type { Slot } from "./monitors.ts";
import type { Relevant } from "./relevance.ts";
import type { Frame } from "./transition.ts";
import { canonicalKeys } from "./values/canonical.ts";
import { canonicalNumber, parseDecimal } from "./values/decimal.ts";
import { canonicalPath } from "./values/path.ts";
import { pointerValue } from "./values/pointer.ts";

export function classify(frame: Frame, relevant: Relevant, moment: CallMoment): CallClass {
  const truths = new Map<number, boolean>();
  for (const index of relevant.predicates) {
    const predicate = frame.ir.predicates[index];
    if (predicate !== undefined) truths.set(index, truthOf(predicate, moment));
  }
  const keys = new Map<string, readonly string[]>();
  const amounts = new Map<string, string>();
  for (const slot of relevant.slots) {
    const key = keyOf(slot, moment.arguments);
    if (key !== undefined) keys.set(slot.id, key);
    const amount = amountOf(slot, moment.arguments);
    if (amount !== undefined) amounts.set(slot.id, amount);
  }
  return { server: moment.contract.server, tool: moment.contract.tool, truths, keys, amounts };
}

function truthOf(predicate: Predicate, moment: CallMoment): boolean {
  switch (predicate.kind) {
    case "argument": {
      const value = pointerValue(moment.arguments, predicate.argument);
      return value === undefined ? predicate.ifAbsent : evaluateTest(predicate.test, value);
    }
    case "workspace":
      return insideWorkspace(moment);
  }
}

/**
 * Every argument with role `path` lies in a root of the workspace. Links are not followed here: a path that leaves
 * through a symbolic link is for the server's own sandbox or the projection to stop.
 */
function insideWorkspace(moment: CallMoment): boolean {
  const roots = moment.workspace.flatMap((root) => canonicalPath(root) ?? []);
  for (const [name, value] of Object.entries(moment.arguments)) {
    const contract = moment.contract.arguments.get(name) ?? moment.contract.rest;
    if (contract.role !== "path") continue;
    const paths = isArray(value) ? value : [value];
    if (!paths.every((path) => isInside(path, roots))) return false;
  }
  return true;
}

function isInside(value: Json, roots: readonly string[]): boolean {
  if (typeof value !== "string") return false;
  const path = canonicalPath(value, roots[0]);
  if (path === undefined) return false;
  return roots.some((root) => path === root || path.startsWith(root.endsWith("/") ? root : `${root}/`));
}

function keyOf(slot: Slot, argumentsOf: JsonObject): readonly string[] | undefined {
  const key = "key" in slot.temporal ? slot.temporal.key : undefined;
  if (key === undefined) return undefined;
  const value = pointerValue(argumentsOf, key.argument);
  return canonicalKeys(key.form, value, { foldLocalPart: key.foldLocalPart }) ?? [];
}

function amountOf(slot: Slot, argumentsOf: JsonObject): string | undefined {
  if (slot.temporal.kind !== "budget") return undefined;
  const value = pointerValue(argumentsOf, slot.temporal.argument);
  if (value === undefined) return undefined;
  return typeof value === "string" ? parseDecimal(value) : canonicalNumber(value);
}

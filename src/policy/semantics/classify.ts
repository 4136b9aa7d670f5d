/**
 * The class of a concrete call (formal.md 4.1): the truth of every predicate that can matter for its tool, the
 * canonical keys of keyed rules, and exact amounts. Calls of one class look alike to everything that decides.
 */
import { type Json, type JsonObject, isArray, isObject } from "../../core/json.ts";
import { isControl, mayHaveRole } from "../../core/contract.ts";
import type { CallClass, CallMoment } from "../../core/moment.ts";
import { evaluateTest } from "./argument-tests.ts";
import type { Predicate } from "../ir/ir.ts";
import type { Slot } from "./monitors.ts";
import type { Relevant } from "./relevance.ts";
import { pathReadings } from "../values/spellings.ts";
import type { Frame } from "./transition.ts";
import { carriesValue } from "../values/carries.ts";
import { canonicalKeys } from "../values/canonical-value.ts";
import { canonicalNumber, parseDecimal } from "../values/decimal.ts";
import { canonicalPath, isInside } from "../values/path.ts";
import { pointerValue } from "../values/pointer.ts";
import { valueInText } from "../values/text.ts";

export function classify(frame: Frame, relevant: Relevant, moment: CallMoment): CallClass {
  const truths = new Map<number, boolean>();
  for (const index of relevant.predicates) {
    const predicate = frame.ir.predicates[index];
    if (predicate !== undefined) truths.set(index, truthOf(frame, predicate, moment));
  }
  const { server, tool } = moment.contract;
  const bare = relevant.defaultAsks && isBare(moment) ? ({ bare: true } as const) : {};
  if (relevant.slots.length === 0) return { server, tool, truths, keys: noKeys, amounts: noAmounts, ...bare };
  const keys = new Map<string, readonly string[]>();
  const amounts = new Map<string, string>();
  for (const slot of relevant.slots) {
    const key = keyOf(slot, moment);
    if (key !== undefined) keys.set(slot.id, key);
    const amount = amountOf(slot, moment.arguments);
    if (amount !== undefined) amounts.set(slot.id, amount);
  }
  return { server, tool, truths, keys, amounts, ...bare };
}

/**
 * An argument that the contract does not name is the agent's invention: adding one must not make a call traceable. One whose role
 * is in doubt may be content, which says nothing of who chose the call.
 */
function isBare({ contract, arguments: given }: CallMoment): boolean {
  for (const [name, value] of Object.entries(given)) {
    const argument = contract.arguments.get(name);
    if (argument === undefined || argument.role === "unsure") continue;
    if (isControl(argument.role) && carriesValue(value)) return false;
  }
  return true;
}

const noKeys: CallClass["keys"] = new Map();
const noAmounts: CallClass["amounts"] = new Map();

function truthOf({ read }: Frame, predicate: Predicate, moment: CallMoment): boolean {
  switch (predicate.kind) {
    case "argument": {
      const value = pointerValue(moment.arguments, predicate.argument);
      return value === undefined ? predicate.ifAbsent : evaluateTest(predicate.test, value, read);
    }
    case "workspace":
      return insideWorkspace(moment);
  }
}

/**
 * Every argument with role `path` is inside a root of the workspace. Links are not followed here: a path that leaves
 * through a symbolic link is for the server's own sandbox or the projection to stop.
 */
function insideWorkspace(moment: CallMoment): boolean {
  for (const name of Object.keys(moment.arguments)) {
    const contract = moment.contract.arguments.get(name) ?? moment.contract.rest;
    if (!mayHaveRole(contract.role, "path")) continue;
    const roots = rootsOf(moment.workspace);
    const value = moment.arguments[name] ?? null;
    // A number or a choice of two names no file.
    if (contract.role === "unsure" && typeof value !== "string" && !isArray(value) && !isObject(value)) continue;
    const paths = isArray(value) ? value : [value];
    if (!paths.every((path) => isInsideAny(path, roots))) return false;
  }
  return true;
}

/** Roots in canonical form. A workspace is never changed in place, so what was made of one stays true. */
function rootsOf(workspace: readonly string[]): readonly string[] {
  let roots = knownRoots.get(workspace);
  if (roots === undefined) {
    roots = workspace.flatMap((root) => canonicalPath(root) ?? []);
    knownRoots.set(workspace, roots);
  }
  return roots;
}

const knownRoots = new WeakMap<readonly string[], readonly string[]>();

function isInsideAny(value: Json, roots: readonly string[]): boolean {
  if (typeof value !== "string") return false;
  const inside = (reading: string): boolean => {
    const path = canonicalPath(reading, roots[0]);
    return path !== undefined && roots.some((root) => isInside(path, root));
  };
  // A list that came as its text begins with no slash, and would count as inside the workspace whatever it lists.
  return pathReadings(value)?.every(inside) === true && valueInText(value) === undefined;
}

/**
 * The keys of a call for a rule. A rule that counts takes a relative path for the place in the workspace that it most
 * likely names, or two spellings of one file would be counted apart; a rule that permits does not: a server may start
 * elsewhere.
 */
function keyOf(slot: Slot, moment: CallMoment): readonly string[] | undefined {
  const key = "key" in slot.temporal ? slot.temporal.key : undefined;
  if (key === undefined) return undefined;
  const value = pointerValue(moment.arguments, key.argument);
  const { form, foldLocalPart } = key;
  const base = form === "path" && foldLocalPart ? rootsOf(moment.workspace)[0] : undefined;
  return canonicalKeys(form, value, { foldLocalPart, ...(base === undefined ? {} : { base }) }) ?? [];
}

function amountOf(slot: Slot, argumentsOf: JsonObject): string | undefined {
  if (slot.temporal.kind !== "budget") return undefined;
  const value = pointerValue(argumentsOf, slot.temporal.argument);
  if (value === undefined) return undefined;
  return typeof value === "string" ? parseDecimal(value) : canonicalNumber(value);
}

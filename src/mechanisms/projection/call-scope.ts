/** The access of one call beyond its server: the text of the obligation `isolate`, and the grounds of its judgement. */
import { type JsonObject, isObject, member } from "../../core/json.ts";
import type { Lattice } from "../../core/label.ts";
import type { CallOption } from "../../core/moment.ts";
import type { CallScope, IsolationOrder } from "../../core/isolation/scope.ts";
import { contractFor } from "../../policy/ir/ir.ts";
import { textsIn, trustedHosts } from "./argument-hosts.ts";
import type { Called } from "./grounds.ts";
import { mayLeave } from "./effect-rules.ts";

/** Paths that one call can name. */
export const argumentPathsMax = 64;

type Call = { readonly option: CallOption; readonly arguments: JsonObject };

/**
 * Destinations of a call: those the policy gives its tool, and those its own trusted arguments name. An argument opens a
 * destination only where the policy lets the server have some, since `none` is meant, and only for tools whose labels
 * let them reach out.
 */
export function destinationsOf(order: IsolationOrder, call: Call, lattice: Lattice): readonly string[] {
  const { scope } = order;
  const own = scope.tools.get(call.option.contract.tool)?.allow ?? [];
  const opens = scope.net.mode === "list" && mayLeave(effectsOf(call.option));
  const named = opens ? trustedHosts(call.option, call.arguments, lattice) : [];
  return [...new Set([...own, ...named])].sort();
}

/** Canonical JSON of the scope of a call: members in the order of their names, no blanks (RFC 8785 for plain texts). */
export function callScopeText(order: IsolationOrder, allow: readonly string[]): string {
  const scope: CallScope = { allow: [...new Set(allow)].sort(), order: order.digest, serial: order.scope.serial };
  return JSON.stringify(scope);
}

/** The facts of a call that its judgement uses. */
export function calledOf(order: IsolationOrder, call: Call, lattice: Lattice): Called {
  const { contract } = call.option;
  return {
    tool: contract.tool,
    effects: effectsOf(call.option),
    source: contract.source,
    enclosed: contract.process !== undefined,
    paths: pathsIn(call),
    allow: destinationsOf(order, call, lattice),
  };
}

function effectsOf({ contract, class: { truths } }: CallOption): Called["effects"] {
  return contractFor(contract, truths).effects.may;
}

/** Paths that the arguments name; undefined where the tool has no argument that is one. */
function pathsIn({ option: { contract }, arguments: given }: Call): readonly string[] | undefined {
  const names = [...contract.arguments].filter(([, { role }]) => role === "path").map(([name]) => name);
  if (names.length === 0) return undefined;
  const values = names.flatMap((name) => {
    const value = isObject(given) ? member(given, name) : undefined;
    return value === undefined ? [] : textsIn(value);
  });
  return values.slice(0, argumentPathsMax).map(withoutScheme);
}

/** `file:///a%20b` names `/a b`. */
function withoutScheme(text: string): string {
  if (!/^file:\/\//i.test(text) || !URL.canParse(text)) return text;
  try {
    return decodeURIComponent(new URL(text).pathname);
  } catch {
    return text;
  }
}

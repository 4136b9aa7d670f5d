/**
 * The narrowest rule that lets a call pass unasked from now on (`approve --always`). A rule of the tier `allow` lifts the
 * question of the default and nothing else, so it helps only where the default asks because the tool is unknown, runs
 * code or writes outside of the workspace. It names one tool of one server and the value of every argument that steers
 * the call or that another reader sees.
 */
import type { ToolContract } from "../../core/contract.ts";
import type { Decision } from "../../core/decision.ts";
import { type Json, type JsonObject, isArray, isObject, isRawNumber } from "../../core/json.ts";
import { digest } from "../../wire/canonical.ts";
import type { Call } from "../decision/call.ts";

/** The rule as one line of JSON, or why there is none, as a sentence. */
export type Always = { readonly rule: string } | { readonly why: string };

/** Questions of the default that do not depend on the data that the call carries. */
const lifted: ReadonlySet<string> = new Set(["SG-ASK-UNLABELLED", "SG-ASK-EXECUTE", "SG-ASK-OUTSIDE"]);

/** Ids of such rules begin with this; `approve --undo` removes no others. */
export const alwaysPrefix = "always-";

/** Characters of a rule; a longer one is not read by a user before it is written. */
const ruleCharactersMax = 2_000;

/** Names that a rule can only mean literally: `*` would stand for others. */
const literalName = /^[A-Za-z0-9_][\w.:/-]{0,127}$/;

export function alwaysRule(
  { contract, arguments: given, method }: Pick<Call, "contract" | "arguments" | "method">,
  decision: Decision,
  hash: (text: string) => string,
): Always {
  const { server, tool } = contract;
  const asking = decision.reasons.filter(({ verdict, observed }) => verdict !== "allow" && observed !== true);
  if (method !== "tools/call" || asking.length === 0 || asking.some(({ code }) => !lifted.has(code))) {
    return { why: "No rule can lift this question: it depends on the data that the call carries, or on its history." };
  }
  if (!literalName.test(tool) || !literalName.test(server) || server.includes("."))
    return { why: "No rule can name this tool without naming others." };
  const open = unrestricted(contract, given);
  if (open !== undefined)
    return {
      why: `A rule could not exclude the argument \`${open}\`, which this call leaves out: write the rule yourself.`,
    };
  const pinned = Object.keys(given)
    .filter((name) => isPinned(contract, name))
    .toSorted();
  if (pinned.some((name) => !isPlain(given[name] ?? null)))
    return { why: "A rule cannot hold a value of this call: write the rule yourself." };
  const tests = pinned.map((name): [string, Json] => [name, testOf(given[name] ?? null)]);
  const when: JsonObject = {
    tool: `${server}.${tool}`,
    ...(tests.length === 0 ? {} : { arg: Object.fromEntries(tests) }),
  };
  const id = `${alwaysPrefix}${digest(when, hash).slice(0, 12)}`;
  const rule = JSON.stringify({ id, tier: "allow", when, why: "you approved this call for always" });
  return rule.length <= ruleCharactersMax
    ? { rule }
    : { why: "The rule would be too long to be read: write it yourself." };
}

/** A control argument that the tool lists and the call leaves out: a permission cannot demand that it stays out. */
function unrestricted(contract: ToolContract, given: JsonObject): string | undefined {
  return [...contract.arguments.keys()].find((name) => !Object.hasOwn(given, name) && isPinned(contract, name));
}

function isPinned(contract: ToolContract, name: string): boolean {
  const { role, sink } = contract.arguments.get(name) ?? contract.rest;
  return role !== "content" || sink;
}

/** A value that text of a policy holds exactly: no number that only its digits tell. */
function isPlain(value: Json): boolean {
  if (isRawNumber(value)) return false;
  if (isArray(value)) return value.every(isPlain);
  return !isObject(value) || Object.values(value).every((part) => isPlain(part ?? null));
}

function testOf(value: Json): Json {
  return { schema: { const: value } };
}

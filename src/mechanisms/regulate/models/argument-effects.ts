/**
 * Effects that the arguments of a call reveal (foresight.md 2): a command is parsed, a path may be a place of keys or of
 * files that run by themselves, an address may hand out keys. They only add to the effects of the contract, so no argument
 * makes a call look milder.
 */
import type { ToolContract } from "../../../core/contract.ts";
import { type Effect, covers, mayCover } from "../../../core/effect.ts";
import { type Json, type JsonObject, isArray, isObject } from "../../../core/json.ts";
import type { Reason } from "../../../core/opinion.ts";
import { addDestination } from "../shell/destinations.ts";
import { effectsOfCommand, effectsOfWords } from "../shell/effects.ts";
import {
  type CommandEffects,
  type CommandFlag,
  type Findings,
  add,
  addEverything,
  noFindings,
  noteSecret,
  plainFindings,
} from "../shell/findings.ts";
import { placeOf, writingEffects, writtenPlaceOf } from "../shell/paths.ts";

export type { CommandEffects } from "../shell/findings.ts";

/** Text values looked at in one call; a call with more counts as one that cannot be read. */
export const argumentLeavesMax = 512;

/** Arguments with the role `command` that hold another language than that of a shell. */
const otherLanguage =
  /(?:^|_)(?:sql|query|queries|code|js|javascript|python|expression|function|method|statement|variables|inputs|schema|jq|regex|interpreter|language)$/i;

/**
 * UTF-16 units of commands and paths read in one call; a call with more counts as one that cannot be read. Every call of
 * every run waits while one is read, so a message full of commands must not take seconds.
 */
export const argumentUnitsMax = 65_536;

type Read = Pick<ToolContract, "effects" | "arguments" | "rest"> & {
  readonly witnessed: boolean;
  readonly found: CommandEffects;
};

/** One call is asked about several times, for its power, for what it reveals, and when it is put on record. */
const known = new WeakMap<JsonObject, Read>();

/** The effects that the arguments of a call reveal beside the certain ones of the contract. Total and bounded. */
export function argumentEffects(contract: ToolContract, given: JsonObject): CommandEffects {
  if (!isRead(contract, given)) return unread(contract);
  const { effects, arguments: declared, rest } = contract;
  const witnessed = isWitnessed(contract);
  const last = known.get(given);
  const same = last?.effects === effects && last.arguments === declared && last.rest === rest;
  if (same && last.witnessed === witnessed) return last.found;
  const found = readArguments(contract, given);
  known.set(given, { effects, arguments: declared, rest, witnessed, found });
  return found;
}

/** Whether the call has an argument that says what it does. Most calls have none. */
function isRead(contract: ToolContract, given: JsonObject): boolean {
  for (const name of Object.keys(given)) {
    const { role } = contract.arguments.get(name) ?? contract.rest;
    if (role === "unsure" || role === "command" || role === "path" || role === "destination") return true;
  }
  return false;
}

const knownUnread = new WeakMap<ToolContract["effects"], CommandEffects>();

/** Effects of every call of a tool that has no such argument. */
function unread(contract: ToolContract): CommandEffects {
  let found = knownUnread.get(contract.effects);
  if (found === undefined) knownUnread.set(contract.effects, (found = readArguments(contract, {})));
  return found;
}

function readArguments(contract: ToolContract, given: JsonObject): CommandEffects {
  const found = noFindings();
  add(found, ...contract.effects.must);
  const budget = { leaves: 0, units: 0 };
  const runs = contract.effects.may.some((effect) => effect.startsWith("execute"));
  for (const [name, value] of Object.entries(given)) {
    // Nothing can be added to everything.
    if (found.flags.has("unreadable")) break;
    const { role } = contract.arguments.get(name) ?? contract.rest;
    if (role === "command" && runs && !otherLanguage.test(name)) commandArgument(value, found, budget);
    else if (role === "unsure") unsureArgument({ name, value }, contract, found, budget);
    else if (role === "path") {
      eachText(value, budget, found, (text) => {
        if (spent(budget, found, text.length)) pathArgument(text, contract, found);
      });
    } else if (role === "destination") eachText(value, budget, found, (text) => addressArgument(text, found));
  }
  return plainFindings(found, !found.flags.has("unreadable"));
}

type Budget = { leaves: number; units: number };

/** Takes units from the budget; false where there are not enough, and then anything may be in them. */
function spent(budget: Budget, found: Findings, units: number): boolean {
  budget.units += units;
  if (budget.units <= argumentUnitsMax) return true;
  addEverything(found, "unreadable");
  return false;
}

function commandArgument(value: Json, found: Findings, budget: Budget): void {
  if (isArray(value) && value.every((word) => typeof word === "string")) {
    const units = value.reduce((sum, word) => sum + word.length + 1, 0);
    if (spent(budget, found, units)) join(found, effectsOfWords(value));
    return;
  }
  eachText(value, budget, found, (text) => {
    if (spent(budget, found, text.length)) join(found, effectsOfCommand(text));
  });
}

/** An argument that may be a command, an address or a path is read as the first of them that it can be. */
function unsureArgument(
  { name, value }: { readonly name: string; readonly value: Json },
  contract: ToolContract,
  found: Findings,
  budget: Budget,
): void {
  const runs = contract.effects.may.some((effect) => effect.startsWith("execute"));
  if (runs && !otherLanguage.test(name)) return commandArgument(value, found, budget);
  eachText(value, budget, found, (text) => {
    if (!spent(budget, found, text.length)) return;
    if (isAddress.test(text)) addressArgument(text, found);
    else pathArgument(text, contract, found);
  });
}

const isAddress = /^\s*[a-z][a-z0-9+.-]*:\/\//i;

function join(found: Findings, more: CommandEffects): void {
  add(found, ...more.effects);
  for (const one of more.destinations) found.destinations.add(one);
  for (const one of more.reads) found.reads.add(one);
  for (const one of more.writes) found.writes.add(one);
  for (const one of more.flags) found.flags.add(one);
}

function pathArgument(text: string, contract: ToolContract, found: Findings): void {
  const path = text.replace(/^file:\/\/(?:localhost)?/i, "").replaceAll("\\", "/");
  const may = (base: string): boolean => contract.effects.may.some((effect) => effect.startsWith(base));
  const glob = /[*?[]/.test(path);
  if (may("read")) noteSecret(found, path, glob);
  if (!may("write") && !may("execute")) return;
  const place = isWitnessed(contract) ? placeOf(path, glob) : writtenPlaceOf(path, glob);
  add(found, ...writingEffects(place));
  const flag = flags[place ?? "nothing"];
  if (flag !== undefined) found.flags.add(flag);
}

/**
 * What an enclosed process writes is seen in its overlay, and a file that others obey is never taken over from there. A tool
 * of which nothing else is known may as well only read the file that the call names.
 */
function isWitnessed({ source, process }: ToolContract): boolean {
  return source === "enforced" && process !== undefined;
}

const flags: { readonly [place: string]: CommandFlag } = {
  startup: "persistence",
  schedule: "persistence",
  access: "rights",
};

/** A web address that is a file of this machine, or the place where a cloud keeps keys. */
function addressArgument(text: string, found: Findings): void {
  if (/^\s*file:/i.test(text)) {
    add(found, "read.local");
    noteSecret(found, text, false);
  } else addDestination(found, { text: text.trim(), exact: true });
}

/** Every text in a value, whatever it is nested in. */
function eachText(value: Json, budget: Budget, found: Findings, look: (text: string) => void): void {
  const open: Json[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    budget.leaves += 1;
    if (budget.leaves > argumentLeavesMax) return addEverything(found, "unreadable");
    if (typeof next === "string") look(next);
    else if (isArray(next)) open.push(...next.slice(0, argumentLeavesMax + 1));
    else if (isObject(next)) open.push(...Object.values(next).slice(0, argumentLeavesMax + 1));
  }
}

/** The effects that arguments add to what the contract surely does. */
export function addedEffects(contract: ToolContract, found: CommandEffects): readonly Effect[] {
  return found.effects.filter((effect) => !contract.effects.must.includes(effect));
}

/**
 * The contract of a call with what its arguments reveal: what rules and hazards say of this one is never milder. Undefined
 * where the arguments reveal nothing that the contract is not sure of.
 */
export function revealedContract(contract: ToolContract, found: CommandEffects): ToolContract | undefined {
  const added = addedEffects(contract, found);
  if (added.length === 0) return undefined;
  const { must, may } = contract.effects;
  // A command that may do anything does not surely do everything: only the upper end grows.
  const sure = found.flags.some((flag) => unsure.includes(flag)) ? must : [...must, ...added];
  return { ...contract, effects: { must: sure, may: [...new Set([...may, ...added])] } };
}

const unsure: readonly CommandFlag[] = ["unreadable", "hidden", "runs-download"];

/** Flags that raise a question even where running code is allowed, each with words for a card. */
const asked: { readonly [flag in CommandFlag]?: string } = {
  unreadable: "it cannot be read as a command",
  hidden: "what it runs is only made while it runs",
  "runs-download": "it runs what it fetches",
  privilege: "it acts with the rights of another user",
  rights: "it changes permissions",
  persistence: "it leaves something behind that runs or is obeyed by itself",
};

/** Code can do on its side of the machine whatever else there is to do. */
function declared(may: readonly Effect[], effect: Effect): boolean {
  const reach = effect.split(".")[1] ?? "";
  return (
    mayCover(effect, may) || may.some((one) => covers(one, effect) || one === `execute.${reach}` || one === "execute")
  );
}

/**
 * The question that the arguments of a call raise: they have effects that the labels of the tool do not foresee, or
 * that no approver should permit by allowing commands in general. Undefined where there is nothing to ask.
 */
export function argumentReason(contract: ToolContract, found: CommandEffects): Reason | undefined {
  const flagged = found.flags.flatMap((flag) => asked[flag] ?? []);
  const known = found.flags.some((flag) => unsure.includes(flag)) ? [] : addedEffects(contract, found);
  const beyond = known.filter((effect) => !declared(contract.effects.may, effect));
  if (flagged.length === 0 && beyond.length === 0) return undefined;
  return {
    mechanism: "regulate",
    code: "SG-ARGUMENTS",
    verdict: "confirm",
    facts: {
      ...(flagged.length === 0 ? {} : { because: flagged }),
      ...(beyond.length === 0 ? {} : { effects: beyond }),
      ...(found.destinations.length === 0 ? {} : { destinations: found.destinations.slice(0, 4) }),
    },
    way: "do it with simpler arguments, or ask the person",
  };
}

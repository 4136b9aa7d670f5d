/**
 * Arguments that act, of tools about which neither the operator nor a pack says what they do. A server may call its tool a
 * read, and a card may accept that; what it is sent is read all the same, under whatever name and however deep it stands.
 * That only restricts: a call asks where its arguments do what the contract does not foresee.
 */
import type { ArgumentRole, ToolContract } from "../../../core/contract.ts";
import { type Effect, covers, mayCover } from "../../../core/effect.ts";
import { type Json, type JsonObject, isArray, isObject } from "../../../core/json.ts";
import type { Reason } from "../../../core/opinion.ts";
import type { ReadValue, Reading, ReadingLanguage } from "../../../core/reading.ts";
import { wordsOf } from "../../../policy/contracts/name-words.ts";

/** Values looked at in one call, and units of text in all of them; a call with more counts as one that acts. */
export const actingLeavesMax = 512;
export const actingUnitsMax = 65_536;

/** What is found of one text: what it was taken for, why it is no read, and what it may do. */
type Found = { readonly because: string; readonly effects: readonly Effect[] };

const changes: readonly Effect[] = ["write.local.delete", "write.external.delete"];
const runs: readonly Effect[] = ["execute.local"];
const sends: readonly Effect[] = ["write.external"];

/** Texts with the shape of a statement that changes something, not only its first word. */
const statement =
  /^[\s(;]*(?:insert\s+(?:or\s+\w+\s+)?into\s|delete\s+from\s|update\s+\S+\s+set\s|drop\s+(?:table|database|schema|view|index|user|role|function|trigger|sequence|extension)\s|truncate\s+(?:table\s+)?\w+\s*;?\s*$|alter\s+(?:table|user|role|database|system|schema)\s|create\s+(?:or\s+replace\s+)?(?:table|user|role|function|trigger|extension|view|index|database)\s|grant\s+[\s\S]{1,200}\sto\s|revoke\s+[\s\S]{1,200}\sfrom\s|merge\s+into\s|replace\s+into\s|copy\s+[\s\S]{1,200}\s(?:to|from)\s|attach\s+(?:database\s+)?['"]|pragma\s+\w+\s*[=(]|vacuum\s*(?:into\b|;|$)|load\s+data\s|exec(?:ute)?\s+(?:xp_|sp_|immediate))/i;
/** The same inside of a query, or behind one. */
const hidden =
  /;\s*(?:insert|delete|update|drop|truncate|alter|create|grant|revoke|merge|copy|attach|exec|execute|call)\s|\binto\s+(?:out|dump)file\b|\b(?:as|with)\s[\s\S]*\(\s*(?:delete\s+from|insert\s+into|update\s+\S+\s+set)\s|\/\*!|^\s*(?:--[^\n]*|\/\*[\s\S]{0,500}?\*\/)\s*(?:insert|delete|update|drop|truncate|alter|create)\s/i;
const query = /^[\s(]*(?:select|with)\s/i;
/** Parts of a query that its reader found, and that are no words of a sentence. */
const callsOrWrites =
  /^it (?:calls|locks|writes|runs|casts) |^it holds (?:INTO|DELETE|INSERT|UPDATE|DROP|NEXTVAL|SETVAL|PRAGMA|ATTACH)\b/;
const graph = /^\s*(?:#[^\n]*\n\s*)*mutation\b[^{]{0,500}\{/;
const commandLine =
  /^\s*(?:sudo\s+)?(?:rm|mv|dd|mkfs\S*|chmod|chown|kill|pkill|curl|wget|nc|ncat|bash|sh|zsh|python[\d.]*|node|perl|ruby|php|eval|crontab|systemctl|ssh|scp|rsync|git\s+(?:push|clone)|kubectl\s+(?:delete|apply|exec|create)|docker\s+(?:run|exec|rm))\s+(?:-\S|[/~$"'.]|https?:|\S+@\S+)|^\s*git\s+-c\s|\$\([^)]*\)|;\s*(?:rm|curl|wget|bash|sh|nc)\s/;
const program =
  /^\s*(?:#!\s*\/|import\s+(?:os|subprocess|shutil|socket)\b|from\s+(?:os|subprocess|shutil)\s+import\b)|\b(?:os\.system|subprocess\.\w+|child_process|__import__|eval|exec)\s*\(|<script\b/i;

/** Names that say what their values are, by any of their words. */
const named = {
  sql: new Set(["sql", "statement", "statements", "stmt", "ddl", "dml"]),
  command: new Set(["command", "commands", "cmd", "cmdline", "shell", "bash", "argv", "exec"]),
  code: new Set(["code", "javascript", "python", "script", "lambda"]),
  method: new Set(["method", "verb"]),
};

const has = (words: readonly string[], set: ReadonlySet<string>): boolean => words.some((word) => set.has(word));

const isRead = (reading: Reading): string | undefined => (reading.kind === "reads" ? undefined : reading.because);

type Leaf = { readonly name: string; readonly value: Json };

/** What a text does by its name, or by what it is where no name says it. */
function actingIn(read: ReadValue, { name, value }: Leaf): Found | undefined {
  const words = wordsOf(name);
  const as = (language: ReadingLanguage, noun: string, effects: readonly Effect[]): Found | undefined => {
    const because = isRead(read(language, value));
    return because === undefined ? undefined : { because: `not read as ${noun}: ${because}`, effects };
  };
  if (has(words, named.command)) return as("shell", "listed commands", runs);
  if (typeof value !== "string" || value.trim() === "") return undefined;
  if (words.includes("sql")) return as("sql", "a plain SELECT", changes);
  if (has(words, named.method) && /^[A-Za-z]{3,10}$/.test(value)) return methodOf(value);
  if (has(words, named.code)) return { because: "code", effects: runs };
  return shapeOf(read, value, has(words, named.sql));
}

function methodOf(value: string): Found | undefined {
  return /^(?:post|put|patch|delete)$/i.test(value)
    ? { because: `a request by ${value.toUpperCase()}`, effects: sends }
    : undefined;
}

function shapeOf(read: ReadValue, text: string, isStatement: boolean): Found | undefined {
  if (statement.test(text) || hidden.test(text)) return { because: "a statement that changes data", effects: changes };
  if (query.test(text)) {
    const because = isRead(read("sql", text));
    if (because !== undefined && (isStatement || callsOrWrites.test(because)))
      return { because: `not read as a plain SELECT: ${because}`, effects: changes };
  }
  if (graph.test(text)) return { because: "a mutation of GraphQL", effects: sends };
  if (commandLine.test(text)) return { because: "a command that does more than read", effects: runs };
  return program.test(text) ? { because: "code", effects: runs } : undefined;
}

/** Neither the operator nor a pack says what the tool does; what the process enforces needs no reading. */
function isJudged({ source }: ToolContract): boolean {
  return source !== "operator" && source !== "pack" && source !== "enforced";
}

/** The tool only reads, as far as its contract says: nothing that it is sent is there to be kept. */
function onlyReads({ effects }: ToolContract): boolean {
  return effects.may.every((effect) => covers("read", effect));
}

/** Some of the effects are foreseen: running code does whatever there is to do. */
function foreseen(effects: readonly Effect[], { effects: { may } }: ToolContract): boolean {
  return effects.some((effect) => mayCover(effect, may)) || mayCover("execute", may);
}

/** The question that the arguments of a call raise; undefined where there is none. Total and bounded. */
export function actingReason(read: ReadValue, contract: ToolContract, given: JsonObject): Reason | undefined {
  if (!isJudged(contract) || foreseen(runs, contract)) return undefined;
  const reads = onlyReads(contract);
  const budget = { leaves: 0, units: 0 };
  for (const [top, value] of Object.entries(given)) {
    const { role, schemaValues } = contract.arguments.get(top) ?? contract.rest;
    if (role === "content" && !reads) continue;
    const found = eachLeaf({ name: top, value }, budget, (leaf) => {
      if (typeof leaf.value === "string" && schemaValues.includes(leaf.value)) return undefined;
      const acting = leafOf(read, leaf, role);
      return acting === undefined || foreseen(acting.effects, contract) ? undefined : acting;
    });
    if (found === "too much") return reasonOf("it has too many arguments to read", []);
    if (found !== undefined) return reasonOf(`${shownName(top)} is ${found.because}`, found.effects);
  }
  return undefined;
}

/** Of a word alone nothing can be told: a name, a number, a choice. */
function leafOf(read: ReadValue, leaf: Leaf, role: ArgumentRole): Found | undefined {
  if (role === "amount" || role === "recipient") return undefined;
  return actingIn(read, leaf);
}

/** Texts and lists of words in a value, each under the nearest name, until one of them is found to act. */
function eachLeaf(
  root: Leaf,
  budget: { leaves: number; units: number },
  look: (leaf: Leaf) => Found | undefined,
): Found | "too much" | undefined {
  const open: Leaf[] = [root];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    budget.leaves += 1;
    budget.units += typeof next.value === "string" ? next.value.length : 1;
    if (budget.leaves > actingLeavesMax || budget.units > actingUnitsMax) return "too much";
    const { name, value } = next;
    if (isArray(value)) {
      const words = value.length > 0 && value.every((word) => typeof word === "string");
      const found = words && has(wordsOf(name), named.command) ? look(next) : undefined;
      if (found !== undefined) return found;
      if (!words || !has(wordsOf(name), named.command))
        open.push(...value.slice(0, actingLeavesMax + 1).map((one) => ({ name, value: one })));
    } else if (isObject(value)) {
      const members = Object.entries(value).slice(0, actingLeavesMax + 1);
      open.push(...members.map(([inner, one]) => ({ name: inner, value: one })));
    } else if (typeof value === "string") {
      const found = look(next);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function shownName(name: string): string {
  return /^[\w./-]{1,40}$/.test(name) ? `\`${name}\`` : "an argument";
}

function reasonOf(because: string, effects: readonly Effect[]): Reason {
  return {
    mechanism: "regulate",
    code: "SG-ARGUMENTS",
    verdict: "confirm",
    facts: { because: [because], ...(effects.length === 0 ? {} : { effects }) },
    way: "do it with plainer arguments, or label the tool",
  };
}

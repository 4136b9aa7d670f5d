/**
 * The source of each control argument of a call: named by the instruction, seen in an earlier call, or new, which mostly
 * means that it came from a result. Positive provenance again, but as evidence for a guess and not as a proof.
 */
import { type Json, type JsonObject, isArray, isObject, isRawNumber } from "../../../core/json.ts";
import type { PredictionStep } from "../../../core/questions/prediction.ts";
import { hashText, wordHashes } from "./words.ts";

export const controlRoles = ["recipient", "url", "path", "amount", "id", "command"] as const;
export type ControlRole = (typeof controlRoles)[number];
export type Provenance = "told" | "seen" | "new";

export type ArgumentFact = {
  readonly role: ControlRole | "content";
  readonly provenance: Provenance;
  readonly nameWords: readonly number[];
};

/** Leaves of one call's arguments, members of one object, their depth, and the units of each that are looked at. */
const leavesMax = 24;
const membersMax = 64;
/** Values visited in one call's arguments, empty ones included. */
const valuesMax = 512;
const depthMax = 6;
const valueUnitsMax = 200;
/** Units and words of the instruction that are looked at. */
const instructionUnitsMax = 8_192;
const instructionWordsMax = 1_024;

/** The names in the instruction, found once per context. */
export type Instruction = {
  readonly text: string;
  readonly words: ReadonlySet<string>;
  /** Hashes of its words, for the words of tool names. */
  readonly wordHashes: ReadonlySet<number>;
  /** Roles of which it names a value, bit by index in `controlRoles`. */
  readonly roleBits: number;
};

/** Reads the instruction: its words without punctuation around them, and which roles could be filled from it. */
export function readInstruction(instruction: string): Instruction {
  const text = instruction.slice(0, instructionUnitsMax);
  const words = new Set<string>();
  const hashes = new Set<number>();
  let roleBits = /`[^`]+`/.test(text) ? roleBit("command") : 0;
  for (const raw of text.split(/\s+/, instructionWordsMax)) {
    const word = trimmed(raw);
    if (word === "") continue;
    words.add(word);
    for (const hash of wordHashes(word)) hashes.add(hash);
    const role = roleOfValue(word);
    if (role !== undefined) roleBits |= roleBit(role);
  }
  return { text, words, wordHashes: hashes, roleBits };
}

export function roleBit(role: ControlRole): number {
  return 1 << controlRoles.indexOf(role);
}

/** Takes the punctuation of prose from both ends, in time linear in the word. */
function trimmed(word: string): string {
  let from = 0;
  let to = word.length;
  while (from < to && "\"'`([{<,;:".includes(word.charAt(from))) from += 1;
  while (to > from && "\"'`)]}>,;:.!?".includes(word.charAt(to - 1))) to -= 1;
  return word.slice(from, to);
}

/** Role of a value by its shape alone. */
function roleOfValue(value: string): ControlRole | undefined {
  if (value.includes("://")) return "url";
  if (value.includes(" ")) return undefined;
  if (/^#\w|^@\w|^[^@]+@[^@]+$/.test(value) || /^[A-Z]{2}\d{2}[A-Z0-9]{8,}$/.test(value)) return "recipient";
  if (value.includes("/")) return "path";
  if (/^[A-Z]{2,6}-\d+$/.test(value)) return "id";
  if (/^\d+([.,]\d+)?$/.test(value)) return "amount";
  return undefined;
}

const rolesByWord: ReadonlyMap<number, ControlRole> = new Map(
  (
    [
      ["recipient", "to cc bcc recipient recipients email user guest person member iban account payee audience phone"],
      ["url", "url uri link endpoint webhook domain host"],
      ["path", "path file filename folder directory source destination"],
      ["amount", "amount sum price total count limit size"],
      ["id", "id identifier uuid number"],
      ["command", "command cmd code script sql program statement"],
    ] as const
  ).flatMap(([role, words]) => words.split(" ").map((word) => [hashText(word), role] as const)),
);

/** Facts of every argument; `earlier` are the values of earlier calls. */
export function argumentFacts(
  given: JsonObject,
  instruction: Instruction,
  earlier: ReadonlySet<string>,
): readonly ArgumentFact[] {
  const facts: ArgumentFact[] = [];
  eachLeaf(given, (name, value) => {
    const nameWords = wordHashes(name);
    const role = roleOfValue(value) ?? nameWords.map((word) => rolesByWord.get(word)).find((one) => one !== undefined);
    const provenance = isTold(value, instruction) ? "told" : earlier.has(value) ? "seen" : "new";
    facts.push({ role: role ?? "content", provenance, nameWords });
  });
  return facts;
}

/**
 * The arguments with those that were left out because they are long: their content is unknown, so they are new. Else an
 * agent could hide the argument that decides behind one that is too long to be matched.
 */
export function withLeftOut({ arguments: given, declared = [] }: PredictionStep): JsonObject {
  const missing = declared.slice(0, membersMax).filter((name) => !Object.hasOwn(given, name));
  return missing.length === 0 ? given : { ...given, ...Object.fromEntries(missing.map((name) => [name, ""])) };
}

/** Adds every value of a call to those that were seen. */
export function rememberValues(given: JsonObject, seen: Set<string>): void {
  eachLeaf(given, (_, value) => void seen.add(value));
}

function isTold(value: string, instruction: Instruction): boolean {
  // A short value inside a longer word says nothing: 240 does not name 24.
  return instruction.words.has(value) || (value.length >= 8 && instruction.text.includes(value));
}

/** Visits at most `leavesMax` leaves, members by name, so that the order of a client's members changes nothing. */
function eachLeaf(given: JsonObject, visit: (name: string, value: string) => void): void {
  let left = leavesMax;
  let visits = valuesMax;
  const walk = (name: string, value: Json, depth: number): void => {
    visits -= 1;
    if (visits < 0 || left <= 0 || depth > depthMax || value === null || typeof value === "boolean") return;
    if (isRawNumber(value)) return walk(name, value.rawJSON, depth);
    if (isArray(value)) {
      for (const item of value.slice(0, left)) walk(name, item, depth + 1);
      return;
    }
    if (isObject(value)) {
      for (const key of firstNames(value)) walk(key, value[key] ?? null, depth + 1);
      return;
    }
    left -= 1;
    visit(name, String(value).slice(0, valueUnitsMax));
  };
  walk("", given, 0);
}

/** The first names of an object, sorted by code unit; not all of them, since a hostile one has a million. */
function firstNames(value: JsonObject): readonly string[] {
  const names: string[] = [];
  for (const name in value) {
    if (names.length === membersMax) break;
    if (Object.hasOwn(value, name)) names.push(name);
  }
  return names.sort();
}

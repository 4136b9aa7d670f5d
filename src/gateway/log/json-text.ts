/**
 * JSON as the log writes and reads it. Whatever came from outside leaves without anything that looks like a secret.
 * Only what is ours alone is written without a look: numbers, digests, labels and ids. Numbers keep their lexeme, or a
 * replay would see other arguments than the server.
 */
import type { ToolContract } from "../../core/contract.ts";
import { type Json, type JsonObject, isArray, isObject } from "../../core/json.ts";
import { maskSecrets, maySecret } from "../../core/secret.ts";
import type { WrittenJson } from "../../wire/message.ts";
import type { LogKeys } from "../ports/store.ts";

/** Texts of names that are kept; they are made anew when they are needed again. */
const namesMax = 1_024;

/** Characters from which a text is worth keeping until the next one: several runs may receive one value. */
const keptCharactersMin = 4_096;

/**
 * The writing functions of the codecs. `contract` gives the digest of a contract, and remembers it as a document to
 * store.
 */
export type Pen = {
  /** Text of others. */
  readonly json: (value: Json) => string;
  /** The same for a text that comes again and again, such as the name of a tool: the result is remembered. */
  readonly name: (name: string) => string;
  readonly contract: (contract: ToolContract) => string;
};

/** The subject of an entry; its events hold only members that differ from it (`event-codec.ts`). */
export type EntryHead = {
  readonly at: number;
  readonly kind: string;
  readonly call?: string | undefined;
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
};

export type CleanText = {
  /** The result of `write` with a pen, without anything that looks like a secret. */
  readonly clean: <T>(write: (pen: Pen) => T) => T;
  /** Takes the text of a value that comes next from here. */
  readonly expect: (written: WrittenJson) => void;
  /** Lets go of large values. */
  readonly release: () => void;
};

/** Whether `maskSecrets` would change a JSON text. */
export function holdsSecret(text: string, { keyedDigest }: Pick<LogKeys, "keyedDigest">): boolean {
  return maySecret(text) && maskSecrets(JSON.parse(text) as Json, keyedDigest).found.length > 0; // JSON by contract
}

/**
 * Texts are written as they are and looked through together; nearly always they are clean. Where they may not be, all
 * of it is written once more, value by value: what `maySecret` finds in a part it finds in the whole.
 */
export function cleanText(keys: Pick<LogKeys, "keyedDigest">, contract: Pen["contract"]): CleanText {
  const names = new Map<string, string>();
  let last: WrittenJson | undefined;
  let expected: WrittenJson | undefined;
  let unseen = "";
  const masked = (value: Json, plain: string): string => {
    const text = maySecret(plain) ? JSON.stringify(maskSecrets(value, keys.keyedDigest).value) : plain;
    if (text.length >= keptCharactersMin) last = { value, text };
    return text;
  };
  const plainOf = (value: Json): string => (expected?.value === value ? expected.text : JSON.stringify(value));
  const slow = (value: Json): string => (last?.value === value ? last.text : masked(value, plainOf(value)));
  const fast = (value: Json): string => {
    if (last?.value === value) return last.text;
    const plain = plainOf(value);
    // A large one is looked through by itself, once for all runs that receive it.
    if (plain.length >= keptCharactersMin) return masked(value, plain);
    unseen += plain;
    return plain;
  };
  const name = (of: string): string => {
    let text = names.get(of);
    if (text === undefined) {
      if (names.size >= namesMax) names.clear();
      text = masked(of, JSON.stringify(of));
      names.set(of, text);
    }
    return text;
  };
  const quick: Pen = { json: fast, name, contract };
  const careful: Pen = { json: slow, name, contract };
  return {
    clean: (write) => {
      unseen = "";
      const written = write(quick);
      return maySecret(unseen) ? write(careful) : written;
    },
    expect: (written) => {
      expected = written;
    },
    release: () => {
      last = undefined;
      expected = undefined;
    },
  };
}

function keepLexeme(_name: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== "number" || context.source === undefined || String(value) === context.source) return value;
  return JSON.rawJSON(context.source);
}

function holdsNumber(value: Json): boolean {
  if (typeof value === "number") return true;
  if (isArray(value)) return value.some(holdsNumber);
  return isObject(value) && Object.values(value).some((part: Json) => holdsNumber(part));
}

/** The value of a JSON text, undefined if it is none. */
export function readJson(text: string): Json | undefined {
  try {
    // Both casts: `JSON.parse` gives JSON by definition, and the reviver puts in nothing but `RawNumber`.
    const value = JSON.parse(text) as Json;
    // A text that comes out as it went in has no number that a double would write differently. Texts of the log are
    // written this way, so nearly all do, and comparing is much cheaper than a reviver for every member. The largest
    // texts are results, which seldom have any number.
    const isExact = !holdsNumber(value) || JSON.stringify(value) === text;
    return isExact ? value : (JSON.parse(text, keepLexeme) as Json);
  } catch {
    return undefined;
  }
}

export function readJsonObject(text: string): JsonObject | undefined {
  const value = readJson(text);
  return isObject(value) ? value : undefined;
}

/** Items between two ends, as one flat text: what is put together with `+` is copied again by each reader. */
export function listText(start: string, items: readonly string[], end: string): string {
  const [first = "", ...rest] = items;
  const last = rest.pop();
  return last === undefined ? start + first + end : [start + first, ...rest, last + end].join(",");
}

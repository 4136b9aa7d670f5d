/**
 * The arguments of a call as a model is told them: data, bounded before it becomes part of a question. A question goes into
 * the log and into a digest, so its size must not be the agent's choice.
 */
import { type Json, type JsonObject, isArray, isObject, isRawNumber } from "../json.ts";

/** Characters of the arguments of one call as JSON. */
export const argumentCharactersMax = 2_000;

/** Less than this of a long value is not worth its place. */
const partCharactersMin = 80;

/**
 * All of them where they are short. Else the declared ones before those that the agent made up, the shorter before the
 * longer: a mail with a long body still has its recipient, and padding pushes nothing out that the schema names.
 */
export function toldArguments(given: JsonObject, declared: readonly string[]): JsonObject {
  if (JSON.stringify(given).length <= argumentCharactersMax) return given;
  const known = new Set(declared);
  const rank = (name: string): number => (known.has(name) ? 0 : 1);
  const sized = Object.entries(given).map(([name, value]) => ({ name, value, length: JSON.stringify(value).length }));
  sized.sort((left, right) => rank(left.name) - rank(right.name) || left.length - right.length);
  const told = new Map<string, Json>();
  // The braces, and of each member its name, a colon and a comma.
  let left = argumentCharactersMax - 2;
  for (const { name, value, length } of sized) {
    const room = left - JSON.stringify(name).length - 2;
    if (length > room && room < partCharactersMin) continue;
    const kept = length <= room ? value : partOf(value, room);
    told.set(name, kept);
    left = room - JSON.stringify(kept).length;
  }
  return Object.fromEntries(Object.keys(given).flatMap((name) => entryOf(told, name)));
}

function entryOf(told: ReadonlyMap<string, Json>, name: string): readonly (readonly [string, Json])[] {
  const value = told.get(name);
  return value === undefined ? [] : [[name, value]];
}

/** The beginning and the end of a value, of the same kind as it. */
function partOf(value: Json, room: number): Json {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  let characters = room;
  let part = wrapped(value, cut(text, characters));
  // An escaped character of JSON takes up to six times its length.
  while (JSON.stringify(part).length > room) {
    characters = Math.floor(characters * 0.75);
    part = wrapped(value, cut(text, characters));
  }
  return part;
}

function wrapped(value: Json, part: string): Json {
  if (isArray(value)) return [part];
  return isObject(value) && !isRawNumber(value) ? { "": part } : part;
}

function cut(text: string, characters: number): string {
  const head = text.slice(0, Math.ceil(characters * 0.75));
  const tail = text.slice(text.length - Math.floor(characters * 0.25));
  // A cut through a surrogate pair would leave half of it, which no canonical form has.
  return `${head} [${text.length - head.length - tail.length} characters left out] ${tail}`.toWellFormed();
}

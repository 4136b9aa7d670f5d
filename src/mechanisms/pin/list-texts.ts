/** The strings of a list entry that a model reads: its names, its prose, and every string of its schemas. */
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import { escapeToken } from "../../core/pointer.ts";

/** A string with its place in the entry. `name`: a name of a tool or of a member, not prose. */
export type ListText = { readonly pointer: string; readonly text: string; readonly name: boolean };

/** Read of one entry. What is beyond is not read, which is a finding of its own (`oversized.entry`). */
export const entryCharactersMax = 256 * 1024;
const entryStringsMax = 4096;

/** Members that clients keep from models. Nothing else is left out: a model reads a schema as its text. */
const unread: ReadonlySet<string> = new Set(["icons", "_meta"]);

/** Members of a schema whose own members are named by the server. */
const naming: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);

export type EntryTexts = {
  readonly texts: readonly ListText[];
  /** False if the entry has more text than the limits permit. */
  readonly complete: boolean;
};

/** Strings of an entry in document order, within the limits. */
export function textsOf(entry: JsonObject): EntryTexts {
  const texts: ListText[] = [];
  let left = entryCharactersMax;
  for (const found of strings(entry)) {
    if (texts.length === entryStringsMax || found.text.length > left) {
      texts.push({ ...found, text: found.text.slice(0, left) });
      return { texts, complete: false };
    }
    texts.push(found);
    left -= found.text.length;
  }
  return { texts, complete: true };
}

type Place = { readonly value: Json; readonly pointer: string; readonly named: boolean };

/** Walks without recursion: depth is the server's choice. */
function* strings(entry: JsonObject): Generator<ListText> {
  const open: Place[] = [{ value: entry, pointer: "", named: false }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, pointer, named } = next;
    if (typeof value === "string") yield { pointer, text: value, name: pointer === "/name" };
    else if (isArray(value)) {
      const items = value.map((item, at) => ({ value: item, pointer: `${pointer}/${at}`, named: false }));
      open.push(...items.toReversed());
    } else if (isObject(value)) {
      const places = Object.entries(value)
        .filter(([name]) => named || !unread.has(name))
        .map(([name, part]) => {
          const below = `${pointer}/${escapeToken(name)}`;
          return { name, value: part, pointer: below, named: !named && naming.has(name) };
        });
      if (named) for (const place of places) yield { pointer: place.pointer, text: place.name, name: true };
      open.push(...places.toReversed());
    }
  }
}

/** Name of an entry as calls use it, and the names of its arguments. */
export function namesOf(entry: JsonObject): { readonly own: string; readonly parameters: readonly string[] } {
  const properties = member(member(entry, "inputSchema"), "properties");
  return { own: stringMember(entry, "name") ?? "", parameters: isObject(properties) ? Object.keys(properties) : [] };
}

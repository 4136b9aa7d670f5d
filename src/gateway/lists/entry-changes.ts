/**
 * What changed in the entries of a list, for the approver to read: old and new text side by side, as data. It is bounded,
 * says how much of it is not shown, and holds no character that ends a line, turns its direction or hides.
 */
import { type Json, isArray, isObject } from "../../core/json.ts";
import { canonicalJson } from "../../wire/canonical.ts";
import type { EntryFindings } from "../ports/policy.ts";
import { escapeForDisplay } from "../decision/display-text.ts";
import { meaningOf, nameOfEntry } from "./entry-form.ts";

/** An entry that is not accepted; without `old` none of this name was. */
export type EntryChange = { readonly now: Json; readonly old: Json | undefined };

/** Entries, and changed places of one entry, that are shown. */
const entriesMax = 12;
const placesMax = 10;

/** Characters shown of one text, and of one line. */
const textCharactersMax = 900;
const lineCharactersMax = 300;

/** Characters of unchanged text that are shown before and after a change. */
const contextCharacters = 60;

const nameCharactersMax = 80;

/** Lines of a card, each at most `lineCharactersMax` characters and some words long. */
export function changeLines(changes: readonly EntryChange[]): readonly string[] {
  const lines = changes.slice(0, entriesMax).flatMap(linesOf);
  const rest = changes.slice(entriesMax).map(({ now }) => nameOfEntry(now));
  if (rest.length === 0) return lines;
  const named = clipped(rest.join(", "), lineCharactersMax - 40);
  return [...lines, `and ${rest.length} more that are not shown: ${named}`];
}

/** Findings of one entry, with the place and the beginning of each text. */
export function findingLines(entry: Json, found: EntryFindings | undefined): readonly string[] {
  if (found === undefined) return [];
  const kinds =
    found.verdict === "deny" ? "text that gives orders, by rules of several kinds" : "text that gives orders";
  const lines = found.findings.slice(0, placesMax).map(({ rule, finds, pointer, excerpt }) => {
    const at = clipped(pointer === "" ? "its text" : pointer, nameCharactersMax);
    return clipped(`  ${rule} at ${at}: ${finds}: "${escapeForDisplay(excerpt)}"`, lineCharactersMax);
  });
  return [`\`${clipped(nameOfEntry(entry), nameCharactersMax)}\` has ${kinds}:`, ...lines];
}

function linesOf({ now, old }: EntryChange): readonly string[] {
  const name = `\`${clipped(nameOfEntry(now), nameCharactersMax)}\``;
  const [before, after] = [placesOf(old), placesOf(now)];
  const [plainBefore, plainAfter] = [placesOf(meaning(old)), placesOf(meaning(now))];
  const changed = [...new Set([...plainBefore.keys(), ...plainAfter.keys()])].filter(
    (place) => plainBefore.get(place) !== plainAfter.get(place),
  );
  const head = old === undefined ? `${name} is new:` : `${name} changed:`;
  const shown = changed.slice(0, placesMax).flatMap((place) => {
    const at = clipped(place === "" ? "all of it" : place, nameCharactersMax);
    return [`  ${at}`, ...pairOf(before.get(place), after.get(place))];
  });
  const rest = changed.length - placesMax;
  return [head, ...shown, ...(rest > 0 ? [`  and ${rest} places more that are not shown`] : [])];
}

function meaning(entry: Json | undefined): Json | undefined {
  return entry === undefined ? undefined : meaningOf(entry);
}

/** Old and new text of one place, without what both begin and end with. */
function pairOf(was: string | undefined, is: string | undefined): readonly string[] {
  if (was === undefined) return textLines("now", is ?? "");
  if (is === undefined) return textLines("was", was);
  let start = 0;
  const shorter = Math.min(was.length, is.length);
  while (start < shorter && was[start] === is[start]) start += 1;
  let end = 0;
  while (end < shorter - start && was[was.length - 1 - end] === is[is.length - 1 - end]) end += 1;
  const from = Math.max(0, start - contextCharacters);
  const until = Math.max(0, end - contextCharacters);
  const part = (text: string): string =>
    `${from > 0 ? "…" : ""}${text.slice(from, text.length - until)}${until > 0 ? "…" : ""}`;
  return [...textLines("was", part(was)), ...textLines("now", part(is))];
}

function textLines(word: string, text: string): readonly string[] {
  const seen = clipped(text, textCharactersMax);
  const lines: string[] = [];
  for (let from = 0; from < seen.length || from === 0; from += lineCharactersMax) {
    lines.push(`    ${from === 0 ? `${word}: ` : "     "}${seen.slice(from, from + lineCharactersMax)}`);
  }
  return lines;
}

function clipped(text: string, charactersMax: number): string {
  // Only what is shown is escaped: a description may be long, and an escape longer than its character.
  const seen = escapeForDisplay(text.slice(0, charactersMax));
  const rest = text.length - charactersMax;
  return rest <= 0 ? seen : `${seen} ... (${rest} characters more)`;
}

/** Texts and values of an entry by place; a list of values is one place. */
function placesOf(entry: Json | undefined): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  const walk = (node: Json, place: string): void => {
    if (isObject(node) && Object.keys(node).length > 0) {
      for (const [name, value] of Object.entries(node)) walk(value, place === "" ? name : `${place}.${name}`);
    } else if (isArray(node) && node.some(isObject)) {
      for (const [index, value] of node.entries()) walk(value, `${place}[${index}]`);
    } else places.set(place, typeof node === "string" ? node : canonicalJson(node));
  };
  if (entry !== undefined) walk(entry, "");
  return places;
}

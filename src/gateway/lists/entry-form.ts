/**
 * The form in which entries of lists are compared: what of a description means something to a model or a check. White
 * space, punctuation around words, version numbers in prose, icons and the order of members are left out; everything
 * else counts, invisible characters and each character of a schema's values included.
 */
import { canonicalJson } from "../../wire/canonical.ts";
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";

/** Members whose text is prose, wherever they stand outside of values. */
const prose: ReadonlySet<string> = new Set(["description", "title", "instructions"]);

/** Members that hold values or labels: `rm - rf` is not `rm -rf` there. */
const values: ReadonlySet<string> = new Set(["default", "const", "enum", "examples", "pattern", "required", "_meta"]);

/** The entry without what may change unasked. */
export function meaningOf(entry: Json): Json {
  if (!isObject(entry)) return entry;
  const kept = Object.entries(entry).filter(([name, value]) => !isCosmetic(name, value));
  return meaningOfNode(Object.fromEntries(kept));
}

function meaningOfNode(node: Json): Json {
  if (isArray(node)) return node.map(meaningOfNode);
  if (!isObject(node)) return node;
  const changed = Object.entries(node).map(([name, value]): [string, Json] => {
    if (values.has(name)) return [name, value];
    return [name, typeof value === "string" && prose.has(name) ? plainProse(value) : meaningOfNode(value)];
  });
  return Object.fromEntries(changed);
}

/** Characters of a version; a longer one could hold a sentence. */
const versionCharactersMax = 32;

function isCosmetic(name: string, value: Json): boolean {
  if (name === "icons") return isArray(value) && value.every(isIcon);
  return name === "version" && typeof value === "string" && isVersion(value);
}

const iconMembers: ReadonlySet<string> = new Set(["src", "mimeType", "sizes", "theme"]);

/** An icon of the protocol and nothing else: a picture of a page or of its own bytes. */
function isIcon(icon: Json): boolean {
  if (!isObject(icon) || Object.keys(icon).some((name) => !iconMembers.has(name))) return false;
  return /^(?:https?:\/\/|data:image\/)\S*$/.test(stringMember(icon, "src") ?? "");
}

function isVersion(text: string): boolean {
  return text.length <= versionCharactersMax && /^v?\d+(?:\.\d+){0,3}(?:[-+.][\da-z.]{0,12})?$/i.test(text);
}

/** What may stand around a word without saying anything; signs of paths, tags, options and amounts are not among it. */
const around: ReadonlySet<string> = new Set(".,;:!?'\"`()[]{}*_~…–—“”‘’„«»•·");

/** Words after which a number is a version. */
const announcing: ReadonlySet<string> = new Set(["version", "ver", "release"]);

/**
 * Text as the words that a reader would hear. Only characters around a word are left out: within one they make another
 * address, path or number of it.
 */
function plainProse(text: string): string {
  const words: string[] = [];
  // No invisible character parts words, since it would hide what it parts.
  for (const part of text.split(/[ \t\r\n\u00a0]+/)) {
    const word = trimmed(part);
    if (word === "" || word === "-") continue;
    const announced = announcing.has((words.at(-1) ?? "").toLowerCase());
    words.push(isVersionWord(word, announced) ? "#" : word);
  }
  return words.join(" ");
}

/** `v1.2`, or `1.2` after the word; four numbers are an address, and words behind the number are words. */
function isVersionWord(word: string, announced: boolean): boolean {
  const form = /^(v?)\d{1,4}(?:\.\d{1,4}){0,2}(?:-(?:alpha|beta|rc|dev|pre)(?:\.?\d{1,4})?)?$/i.exec(word);
  return form !== null && (announced || form[1] !== "");
}

function trimmed(word: string): string {
  let [start, end] = [0, word.length];
  while (start < end && around.has(word.charAt(start))) start += 1;
  while (end > start && around.has(word.charAt(end - 1))) end -= 1;
  return word.slice(start, end);
}

/**
 * Of an entry whose list changes with the data of its server (resources): its address, and what a client needs to read
 * it. The prose is left out.
 */
export function addressOf(entry: Json): Json {
  const short = ["name", "mimeType"].flatMap((name): [string, Json][] => {
    const text = stringMember(entry, name);
    return text === undefined ? [] : [[name, text.slice(0, nameCharactersMax)]];
  });
  const kept = ["uri", "uriTemplate", "size"].flatMap((name): [string, Json][] => {
    const value = member(entry, name);
    return value === undefined || isObject(value) || isArray(value) ? [] : [[name, value]];
  });
  const annotations = mechanicsOf(member(entry, "annotations"));
  const about: [string, Json][] = Object.keys(annotations).length === 0 ? [] : [["annotations", annotations]];
  return Object.fromEntries([...kept, ...short, ...about]);
}

/** Whether nothing of an entry is prose. */
export function isAddressAlone(entry: Json): boolean {
  return canonicalJson(meaningOf(entry)) === canonicalJson(meaningOf(addressOf(entry)));
}

/** Audience, weight and time as the protocol has them: words of a list, numbers, a date. */
function mechanicsOf(annotations: Json | undefined): JsonObject {
  const audience = member(annotations, "audience");
  const priority = member(annotations, "priority");
  const changed = stringMember(annotations, "lastModified");
  const known = isArray(audience) && audience.every((one) => one === "user" || one === "assistant");
  return {
    ...(known ? { audience } : {}),
    ...(typeof priority === "number" ? { priority } : {}),
    ...(changed !== undefined && /^[\dT:.+Z-]{1,40}$/.test(changed) ? { lastModified: changed } : {}),
  };
}

/** Bounds the name of a resource: that of a file, and no page of text. */
const nameCharactersMax = 128;

/** The name by which people know an entry. */
export function nameOfEntry(entry: Json): string {
  return stringMember(entry, "name") ?? stringMember(entry, "uri") ?? "";
}

/** What a server says of itself beside switches and numbers, as an entry of a list of its own. */
export function selfDescription(said: JsonObject, info: Json | undefined): JsonObject {
  const { instructions } = said;
  const own = isObject(info) ? info : {};
  return { ...own, ...(instructions === undefined ? {} : { instructions }) };
}

/** Signs of where a tool acts: what its server is called, what its tools speak of, and the addresses and paths that they take. */
import { type JsonObject, member, stringMember } from "../../core/json.ts";
import { listed, wordsOf } from "../../policy/contracts/name-words.ts";
import { inferArguments } from "../../policy/contracts/infer.ts";
import { deedsOfWord, sessionVerbs } from "./lexicon.ts";
import {
  accountWords,
  browsers,
  fileWords,
  machines,
  pageWords,
  publicNouns,
  publicServices,
  services,
} from "./places.ts";
import { type Add, type ReadingContext, descriptionCharsMax } from "./sign.ts";

/** `close_page`, `browser_resize`: what a server's own process holds, and nothing that outlives it. */
export function changesSession(all: readonly string[], [first = ""]: readonly string[]): boolean {
  if (first === "set" || first === "use") return all.includes("active") || all.includes("current");
  return sessionVerbs.has(first) && all.some((word) => pageWords.has(word));
}

export function placeSigns(tool: JsonObject, name: readonly string[], context: ReadingContext, add: Add): void {
  if (context.remote === true) add("place:remote", "a server on the network");
  const places = placesOf(context);
  const { named, share } = places;
  if (changesSession(wordsOf(stringMember(tool, "name") ?? ""), name))
    return add("place:session", "state of its own process");
  pageSigns(name, places, add);
  const [first] = named;
  for (const [argument, { role, known }] of inferArguments(tool)) {
    if (known && role === "destination") add("place:address", `an argument \`${argument}\` with an address`);
  }
  const open = publicPlace(context, name);
  if (open !== undefined) add("noun:public", `\`${open}\` of a service whose readers are not known`);
  for (const [place, word] of named) add(`server:${place}`, `the server is called \`${word}\``);
  // The name of a service or a machine outweighs single words, and what a server says of itself by hints.
  if (first?.[0] === "service") uploadSigns(tool, add);
  if (first !== undefined) return;
  openHint(tool, add);
  for (const [place, value] of share)
    add(`tools:${place}`, `${Math.round(value * 100)} % of the tools speak of ${place}`);
  const own = [
    ...name,
    ...wordsOf((stringMember(tool, "description") ?? "").slice(0, descriptionCharsMax)).slice(0, 60),
  ];
  const lists = { service: services, machine: machines, account: accountWords, files: fileWords, page: pageWords };
  for (const [place, list] of Object.entries(lists)) {
    const word = own.find((one) => list.has(one));
    if (word !== undefined) add(`says:${place}`, `it speaks of \`${word}\``);
    const inName = name.find((one) => list.has(one));
    if (inName !== undefined) add(`within:${place}`, `\`${inName}\` in the name`);
  }
  for (const [argument, { role, known }] of inferArguments(tool)) {
    if (known && role === "recipient") add("place:recipient", `an argument \`${argument}\` with a recipient`);
    if (known && role === "path") add("place:path", `an argument \`${argument}\` with a path`);
  }
}

/** A path of this machine in a tool of a service: what lies there goes to the service. */
function uploadSigns(tool: JsonObject, add: Add): void {
  for (const [argument, { role, known }] of inferArguments(tool)) {
    if (known && role === "path" && !/^(path|file)$/i.test(argument))
      add("schema:uploads", `an argument \`${argument}\` with a path`);
  }
}

function openHint(tool: JsonObject, add: Add): void {
  const value = member(member(tool, "annotations"), "openWorldHint");
  if (typeof value === "boolean") add(`openWorldHint=${value}`, `\`openWorldHint: ${value}\``);
}

/** What is written into a place of code or talk that anyone may read: the word of the name that says so. */
function publicPlace(context: ReadingContext, name: readonly string[]): string | undefined {
  const called = [...wordsOf(context.server), ...commonFirsts(context.tools)];
  return called.some((word) => publicServices.has(word)) ? name.find((word) => publicNouns.has(word)) : undefined;
}

/** On the page of a browser, what reads looks at what is loaded here, and what acts reaches the site. */
function pageSigns(name: readonly string[], places: Places, add: Add): void {
  const called = places.named.some(([place]) => place === "browser");
  const paged = places.many && places.share.some(([place, value]) => place === "page" && value >= 0.5);
  if (!called && (!paged || places.named.some(([place]) => place === "service"))) return;
  const kinds = listed(deedsOfWord, name[0] ?? "") ?? [];
  const acting = kinds.some((kind) => kind !== "read" && kind !== "download");
  if (acting) add("page:acts", "it acts on the page of a browser");
  else add("page:reads", "it looks at the page of a browser");
}

type Places = {
  readonly named: readonly (readonly [string, string])[];
  readonly share: readonly (readonly [string, number])[];
  /** Enough tools that what most of them speak of says something of the server. */
  readonly many: boolean;
};

const knownPlaces = new WeakMap<readonly JsonObject[], Places>();

/** What the server is called, and what at least a third of its tools speak of. */
function placesOf(context: ReadingContext): Places {
  const known = knownPlaces.get(context.tools);
  if (known !== undefined) return known;
  const called = [...new Set([...wordsOf(context.server), ...commonFirsts(context.tools)])];
  const named = [
    ...called.filter((word) => services.has(word)).map((word) => ["service", word] as const),
    ...called.filter((word) => browsers.has(word)).map((word) => ["browser", word] as const),
    ...called.filter((word) => machines.has(word)).map((word) => ["machine", word] as const),
  ];
  const texts = context.tools.map((tool) => [
    ...wordsOf(stringMember(tool, "name") ?? ""),
    ...wordsOf((stringMember(tool, "description") ?? "").slice(0, 300)),
    ...[...inferArguments(tool).keys()].flatMap(wordsOf),
  ]);
  const lists = { service: services, account: accountWords, files: fileWords, page: pageWords };
  const share = Object.entries(lists).flatMap(([place, list]) => {
    const value = texts.filter((text) => text.some((word) => list.has(word))).length / Math.max(1, texts.length);
    return value >= 1 / 3 ? [[place, value] as const] : [];
  });
  const places = { named, share, many: context.tools.length >= 3 };
  knownPlaces.set(context.tools, places);
  return places;
}

function commonFirsts(tools: readonly JsonObject[]): readonly string[] {
  const firsts = tools.map((tool) => wordsOf(stringMember(tool, "name") ?? "")[0] ?? "");
  return [...new Set(firsts.filter((word) => firsts.filter((other) => other === word).length > firsts.length / 2))];
}

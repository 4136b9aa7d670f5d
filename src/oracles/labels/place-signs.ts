/** Signs of where a tool acts: what its server is called, what its tools speak of, and the addresses and paths that they take. */
import { type JsonObject, member, stringMember } from "../../core/json.ts";
import { listed, wordsOf } from "../../policy/contracts/name-words.ts";
import { inferArguments } from "../../policy/contracts/infer.ts";
import { deedsOfWord, sessionVerbs } from "./lexicon.ts";
import { accountWords, fileWords, machines, pageWords, publicNouns, publicServices, services } from "./places.ts";
import { type Siblings, siblingsOf } from "./siblings.ts";
import { type Add, type ReadingContext, descriptionCharsMax } from "./sign.ts";

/** `close_page`, `browser_resize`: what a server's own process holds, and nothing that outlives it. */
export function changesSession(all: readonly string[], [first = ""]: readonly string[]): boolean {
  if (first === "set" || first === "use") return all.includes("active") || all.includes("current");
  return sessionVerbs.has(first) && all.some((word) => pageWords.has(word));
}

export function placeSigns(tool: JsonObject, name: readonly string[], context: ReadingContext, add: Add): void {
  if (context.remote === true) add("place:remote", "a server on the network");
  const places = siblingsOf(context);
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
  return siblingsOf(context).called.some((word) => publicServices.has(word))
    ? name.find((word) => publicNouns.has(word))
    : undefined;
}

/** On the page of a browser, what reads looks at what is loaded here, and what acts reaches the site. */
function pageSigns(name: readonly string[], places: Siblings, add: Add): void {
  const called = places.named.some(([place]) => place === "browser");
  const paged = places.many && places.share.some(([place, value]) => place === "page" && value >= 0.5);
  if (!called && (!paged || places.named.some(([place]) => place === "service"))) return;
  const kinds = listed(deedsOfWord, name[0] ?? "") ?? [];
  const acting = kinds.some((kind) => kind !== "read" && kind !== "download");
  if (acting) add("page:acts", "it acts on the page of a browser");
  else add("page:reads", "it looks at the page of a browser");
}

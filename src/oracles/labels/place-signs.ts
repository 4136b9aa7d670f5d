/** Signs of where a tool acts: what its server is called, what its tools speak of, and the addresses and paths that they take. */
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import { listed, wordsOf } from "../../policy/contracts/name-words.ts";
import { inferArguments } from "../../policy/contracts/infer.ts";
import { deedsOfWord, sessionVerbs } from "./lexicon.ts";
import { accountWords, fileWords, machines, pageWords, publicNouns, publicServices, services } from "./places.ts";
import { type Siblings, siblingsOf } from "./siblings.ts";
import { type Add, type ReadingContext, descriptionCharsMax } from "./sign.ts";

/** `close_page`, `browser_resize`: what a server's own process holds, and nothing that outlives it. */
export function changesSession(all: readonly string[], [first = ""]: readonly string[]): boolean {
  const own = ["active", "current", "working"];
  if (first === "set" || first === "use" || first === "clear") return all.some((word) => own.includes(word));
  if (first === "disconnect" || first === "emulate") return true;
  // What a process holds open is known to it alone.
  if (first === "list")
    return all.length <= 3 && all.some((word) => ["connections", "sessions", "tabs"].includes(word));
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
  ownSigns(tool, name, add);
  alsoSigns(tool, name, context, add);
  if (first?.[0] !== "machine") sendsFile(tool, name, first?.[0] === "browser", add);
  for (const [argument, { role, known }] of inferArguments(tool)) {
    if (known && role === "destination" && isAddress(argument, tool))
      add("place:address", `an argument \`${argument}\` with an address`);
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

/** A `target` is also an element of a page; an address says so in its name or format. */
function isAddress(argument: string, tool: JsonObject): boolean {
  const schema = member(member(member(tool, "inputSchema"), "properties"), argument);
  if (stringMember(schema, "format") !== undefined) return true;
  return wordsOf(argument).some((word) => addresses.has(word));
}

const addresses: ReadonlySet<string> = new Set(
  "url urls uri uris href link links host hosts hostname endpoint website site domain domains webhook server address".split(
    " ",
  ),
);

/** What a tool says of its server or reckons by itself, whatever service the server is named after. */
function ownSigns(tool: JsonObject, name: readonly string[], add: Add): void {
  const [first = "", ...others] = name;
  const reads = listed(deedsOfWord, first)?.every((kind) => kind === "read") ?? true;
  const word = others.find((one) => ownNouns.has(one));
  if (reads && word !== undefined) add("own:noun", `\`${word}\` in the name`);
  const text = (stringMember(tool, "description") ?? "").slice(0, descriptionCharsMax);
  if (
    /\b(offline|without (an? )?(api|network)|no (api|network)|does not (require|need) (an? )?(api|network|internet))\b/iu.test(
      text,
    )
  )
    add("own:offline", "the description says that it works without a network");
}

const ownNouns: ReadonlySet<string> = new Set(
  "tool tools instructions instruction prompts capabilities help version guide guidelines".split(" "),
);

/** A file of this machine that goes to a service: what the tool is called says so, or the argument. */
function sendsFile(tool: JsonObject, name: readonly string[], paged: boolean, add: Add): void {
  const schema = member(tool, "inputSchema");
  const required = member(schema, "required");
  const opening = wordsOf((stringMember(tool, "description") ?? "").slice(0, 60)).slice(0, 3);
  const uploads = [...name, ...opening].some((word) => uploading.has(word));
  for (const [argument, { role, known }] of inferArguments(tool)) {
    const words = wordsOf(argument);
    if (
      !known ||
      role !== "path" ||
      words.some((word) => ["url", "uri", "remote", "output", "save", "filename"].includes(word))
    )
      continue;
    const said = stringMember(member(member(schema, "properties"), argument), "description") ?? "";
    const local =
      words.includes("local") ||
      /\b(local|on disk|absolute path|this machine|your computer)\b/iu.test(said.slice(0, 400));
    if (!words.includes("to")) add("file:named", `a path in \`${argument}\``);
    const needed = isArray(required) && required.includes(argument);
    if (!(uploads || (local && needed))) continue;
    add("file:sent", `a file in \`${argument}\``);
    // A form of a page takes it to the site.
    if (paged) {
      add("page:sends", "a file that goes to the site of the page");
      add("noun:sent", "a file that goes to the site of the page");
    }
  }
}

/** What happens besides: a page that is fetched, what is changed and read, workloads that are started. */
function alsoSigns(tool: JsonObject, name: readonly string[], context: ReadingContext, add: Add): void {
  const { called } = siblingsOf(context);
  for (const argument of namesWithin(member(tool, "inputSchema"))) {
    const words = wordsOf(argument);
    if (words.some((word) => addresses.has(word))) add("also:fetches", `an argument \`${argument}\` with an address`);
    if (words.some((word) => attached.has(word))) add("file:named", `a file in \`${argument}\``);
  }
  if (takesAddress(tool)) add("also:fetches", "it speaks of addresses that it takes");
  if (called.includes("git") && name.some((word) => hooked.has(word))) add("also:hooks", "a repository may have hooks");
  const runs = [...called, ...name].some((word) => clusters.has(word)) || name.some((word) => carriedOut.has(word));
  if (runs) add("also:runs", "what it starts runs elsewhere");
}

/** Names of arguments, and of members of those that are objects. */
function namesWithin(schema: Json | undefined): readonly string[] {
  const properties = member(schema, "properties");
  if (!isObject(properties)) return [];
  return Object.keys(properties)
    .slice(0, namesMax)
    .flatMap((name) => {
      const inner = member(member(properties, name), "properties");
      return [name, ...(isObject(inner) ? Object.keys(inner).slice(0, namesMax) : [])];
    })
    .slice(0, namesMax);
}

/** Names that are looked at, of one schema and in it. */
const namesMax = 64;

/** A path that may as well be an address, by what its schema says. */
function takesAddress(tool: JsonObject): boolean {
  const schema = member(tool, "inputSchema");
  return [...inferArguments(tool)].some(([argument, { role }]) => {
    const said = stringMember(member(member(schema, "properties"), argument), "description") ?? "";
    return (
      (role === "path" || /url/i.test(argument)) && /\b(urls?|https?)\b/iu.test(`${said.slice(0, 400)} ${argument}`)
    );
  });
}

const hooked: ReadonlySet<string> = new Set(
  "commit checkout merge rebase push pull pick am switch worktree".split(" "),
);
const carriedOut: ReadonlySet<string> = new Set(
  "pipeline pipelines build builds job jobs workflow workflows deployment".split(" "),
);
const attached: ReadonlySet<string> = new Set(
  "attachment attachments file files filename image images media workspace root directory folder".split(" "),
);
const clusters: ReadonlySet<string> = new Set("kubernetes kubectl k8s helm terraform docker".split(" "));

const uploading: ReadonlySet<string> = new Set(
  "upload uploads attach attaches import imports parse ingest transcribe".split(" "),
);

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
  const open = siblingsOf(context).called.some((word) => publicServices.has(word));
  // Merging, marking or assigning says nothing to readers, and a draft is not shown yet.
  const says = publishingVerbs.has(name[0] ?? "") && (!name.includes("draft") || name[0] === "publish");
  return open && says ? name.find((word) => publicNouns.has(word)) : undefined;
}

const publishingVerbs: ReadonlySet<string> = new Set(
  "create add post reply comment publish push upload update edit submit write".split(" "),
);

/** On the page of a browser, what reads looks at what is loaded here, and what acts reaches the site. */
function pageSigns(name: readonly string[], places: Siblings, add: Add): void {
  const called = places.named.some(([place]) => place === "browser");
  const paged = places.many && places.share.some(([place, value]) => place === "page" && value >= 0.5);
  if (!called && (!paged || places.named.some(([place]) => place === "service"))) return;
  const kinds = listed(deedsOfWord, name[0] ?? "") ?? [];
  const acting = kinds.some((kind) => kind !== "read" && kind !== "download");
  if (acting) {
    add("page:acts", "it acts on the page of a browser");
    add("also:fetches", "a page may load others");
  } else add("page:reads", "it looks at the page of a browser");
}

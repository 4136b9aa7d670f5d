/**
 * What a list says of each of its tools: the words that its names begin with, and the places that its server is named after.
 * A server chooses how long its list is, so all of it is found in one pass and kept while the list is.
 */
import { type JsonObject, isObject, member, stringMember } from "../../core/json.ts";
import { inferArguments } from "../../policy/contracts/infer.ts";
import { listed, wordsOf } from "../../policy/contracts/name-words.ts";
import { deedsOfWord } from "./lexicon.ts";
import { accountWords, browsers, fileWords, machines, pageWords, services } from "./places.ts";
import type { ReadingContext } from "./sign.ts";

export type Siblings = {
  /** Words of the server's name, and the word that more than half of its tools begin with. */
  readonly called: readonly string[];
  /** Words before the names of most tools (`slack_`, `browser_`), which tell nothing of one tool. */
  readonly prefixes: ReadonlySet<string>;
  /** Kinds of place among `called`, each with its word. */
  readonly named: readonly (readonly [string, string])[];
  /** Kinds of place that at least a third of the tools speak of, each with the share. */
  readonly share: readonly (readonly [string, number])[];
  /** The last word of most tools (`search_tool`), which tells nothing of one. */
  readonly suffix: string | undefined;
  /** Names are made of HTTP methods (`API-post-page` beside `API-get-page`), where `post` only means that something is sent along. */
  readonly methods: boolean;
  /** Enough tools that the subject of most of them says something of the server. */
  readonly many: boolean;
};

/** Tools from which on a common prefix or subject says something of the server. */
const manyMin = 3;
/**
 * Work on the texts of one list, which its server chooses the length of: about a second on one core. A tool costs
 * `toolCost`, and one for each of its arguments.
 */
export const listWorkMax = 30_000;
const toolCost = 8;

/** Tools at the beginning of a list that are looked at within `listWorkMax`. */
export function readTo(tools: readonly JsonObject[]): number {
  let work = 0;
  const end = tools.findIndex((tool) => {
    const properties = member(member(tool, "inputSchema"), "properties");
    work += toolCost + (isObject(properties) ? Object.keys(properties).length : 0);
    return work > listWorkMax;
  });
  return end === -1 ? tools.length : end;
}

/** By list, for the name that it was read under last: two servers may list the same tools. */
const known = new WeakMap<readonly JsonObject[], { readonly server: string; readonly siblings: Siblings }>();

/** The siblings of every tool of a list, found once for a list and a server. */
export function siblingsOf({ server, tools }: ReadingContext): Siblings {
  const last = known.get(tools);
  if (last?.server === server) return last.siblings;
  const common = commonFirsts(tools);
  const called = [...new Set([...wordsOf(server), ...common])];
  const prefixed = [...(tools.length >= manyMin ? common : []), ...wordsOf(server)];
  const siblings: Siblings = {
    called,
    // A verb that most tools begin with is still their verb.
    prefixes: new Set(prefixed.filter((word) => listed(deedsOfWord, word) === undefined)),
    named: [
      ...called.filter((word) => services.has(word)).map((word) => ["service", word] as const),
      ...called.filter((word) => browsers.has(word)).map((word) => ["browser", word] as const),
      ...called.filter((word) => machines.has(word)).map((word) => ["machine", word] as const),
    ],
    suffix: tools.length >= manyMin ? commonLast(tools) : undefined,
    methods: namedByMethods(tools),
    share: sharesOf(tools.slice(0, readTo(tools))),
    many: tools.length >= manyMin,
  };
  known.set(tools, { server, siblings });
  return siblings;
}

/** The word that more than half of the tools end with, unless it is a verb. */
function commonLast(tools: readonly JsonObject[]): string | undefined {
  const counts = new Map<string, number>();
  for (const tool of tools) {
    const last = wordsOf(stringMember(tool, "name") ?? "").at(-1) ?? "";
    counts.set(last, (counts.get(last) ?? 0) + 1);
  }
  const [common] = [...counts].find(([, count]) => count > tools.length / 2) ?? [];
  return common === undefined || listed(deedsOfWord, common) !== undefined ? undefined : common;
}

const httpMethods: ReadonlySet<string> = new Set(["get", "post", "put", "patch", "delete"]);

/** Of three methods or more, `put` or `patch` among them, which no list of plain verbs has beside `post`. */
function namedByMethods(tools: readonly JsonObject[]): boolean {
  const methods = new Set(
    tools
      .flatMap((tool) => wordsOf(stringMember(tool, "name") ?? "").slice(0, 2))
      .filter((word) => httpMethods.has(word)),
  );
  return methods.size >= 3 && methods.has("post") && (methods.has("patch") || methods.has("put"));
}

/** The word that more than half of the tools begin with, if there is one. */
function commonFirsts(tools: readonly JsonObject[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const tool of tools) {
    const first = wordsOf(stringMember(tool, "name") ?? "")[0] ?? "";
    counts.set(first, (counts.get(first) ?? 0) + 1);
  }
  return [...counts].flatMap(([word, count]) => (count > tools.length / 2 ? [word] : []));
}

function sharesOf(tools: readonly JsonObject[]): Siblings["share"] {
  const texts = tools.map(
    (tool) =>
      new Set([
        ...wordsOf(stringMember(tool, "name") ?? ""),
        ...wordsOf((stringMember(tool, "description") ?? "").slice(0, 300)),
        ...[...inferArguments(tool).keys()].flatMap(wordsOf),
      ]),
  );
  const lists = { service: services, account: accountWords, files: fileWords, page: pageWords };
  return Object.entries(lists).flatMap(([place, list]) => {
    const value = texts.filter((text) => !text.isDisjointFrom(list)).length / Math.max(1, texts.length);
    return value >= 1 / 3 ? [[place, value] as const] : [];
  });
}

/**
 * A walk over the tree of a parser, by a list of all that may stand in it. What is not on the list, a new kind of node or a
 * clause that a later version of the parser knows, makes the statement no read.
 */
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../../core/json.ts";

/** Nodes of one tree. */
const nodesMax = 20_000;

/** A clause that says what is wrong, or undefined. */
export type Fault = string | undefined;

export type Grammar = {
  /** Members, and kinds of nodes, that may occur with any content that the walk permits. */
  readonly known: ReadonlySet<string>;
  /** Members that mean nothing for what a statement does: places, tokens. */
  readonly ignored: ReadonlySet<string>;
  /** Members that may only be there without content. */
  readonly empty: ReadonlySet<string>;
  /** Members whose content the look alone judges. */
  readonly closed: ReadonlySet<string>;
  /** A closer look at some of them; the walk goes on below. */
  readonly looks: ReadonlyMap<string, (value: Json) => Fault>;
  /** Words for kinds of nodes that are not known. */
  readonly words: (kind: string) => string;
};

export function faultOfTree(grammar: Grammar, tree: Json): Fault {
  const open: Json[] = [tree];
  let seen = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    seen += 1;
    if (seen > nodesMax) return "it has too many parts";
    if (isArray(next)) {
      open.push(...next);
      continue;
    }
    if (!isObject(next)) continue;
    for (const [key, value] of Object.entries(next)) {
      // A member without a value is absent; a kind of node without one is still that kind.
      if (grammar.ignored.has(key) || (value === null && /^[a-z]/.test(key))) continue;
      const fault = faultOfMember(grammar, key, value);
      if (fault !== undefined) return fault;
      if (!grammar.empty.has(key) && !grammar.closed.has(key)) open.push(value);
    }
  }
  return undefined;
}

function faultOfMember({ known, empty, looks, words }: Grammar, key: string, value: Json): Fault {
  if (empty.has(key)) return isEmpty(value) ? undefined : words(key);
  if (!known.has(key)) return words(key);
  return looks.get(key)?.(value);
}

function isEmpty(value: Json): boolean {
  return value === false || value === null || value === "None" || (isArray(value) && value.length === 0);
}

/** Texts of a list of nodes `{KIND: {member: text}}`; undefined where one of them is something else. */
export function textsIn(list: Json | undefined, kind: string, name: string): readonly string[] | undefined {
  if (!isArray(list)) return undefined;
  const texts = list.map((one) => stringMember(member(one, kind), name));
  return texts.every((text) => text !== undefined) ? texts : undefined;
}

/** Every node of a kind, wherever it is in the tree. */
export function nodesOf(tree: Json, kind: string): readonly JsonObject[] {
  const found: JsonObject[] = [];
  const open: Json[] = [tree];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (isArray(next)) open.push(...next);
    else if (isObject(next)) {
      const own = member(next, kind);
      if (isObject(own)) found.push(own);
      open.push(...Object.values(next));
    }
  }
  return found;
}

export const namesOf = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

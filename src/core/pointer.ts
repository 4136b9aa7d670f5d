/**
 * JSON Pointers (RFC 6901) and patterns over them. In a pattern `*` stands for any one member or element, and a last
 * `**` for everything at or below that place. Walks are iterative and follow own members only.
 */
import { isArray, isObject, member, type Json, type RawNumber } from "./json.ts";

/** A scalar with its pointer. */
export type Leaf = { readonly pointer: string; readonly value: null | boolean | number | string | RawNumber };

/** A member name as a token of a pointer. */
export function escapeToken(token: string): string {
  return token.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The member name of a token. */
export function unescapeToken(token: string): string {
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** The pointer that these tokens, unescaped, make. */
export function pointerOf(tokens: readonly string[]): string {
  return tokens.map((token) => `/${escapeToken(token)}`).join("");
}

/** Tokens of a pointer, unescaped; undefined for a text that is not a pointer. The empty pointer names the document. */
export function pointerTokens(pointer: string): readonly string[] | undefined {
  if (pointer === "") return [];
  if (!pointer.startsWith("/") || /~(?![01])/.test(pointer)) return undefined;
  return pointer.slice(1).split("/").map(unescapeToken);
}

function child(value: Json, token: string): Json | undefined {
  if (isObject(value)) return member(value, token);
  // Only canonical indices: `01` and `-` name no element.
  if (isArray(value) && /^(?:0|[1-9]\d{0,9})$/.test(token)) return value[Number(token)];
  return undefined;
}

/** The value at a pointer; undefined where the document has none, and for a text that is not a pointer. */
export function valueAt(document: Json, pointer: string): Json | undefined {
  const tokens = pointerTokens(pointer);
  let value: Json | undefined = tokens === undefined ? undefined : document;
  for (const token of tokens ?? []) {
    if (value === undefined) return undefined;
    value = child(value, token);
  }
  return value;
}

/** Every scalar of the document with its pointer, in document order. Empty arrays and objects have no leaf. */
export function* leaves(document: Json, prefix = ""): Generator<Leaf> {
  const open: { readonly pointer: string; readonly value: Json }[] = [{ pointer: prefix, value: document }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { pointer, value } = next;
    if (isArray(value)) {
      for (let index = value.length - 1; index >= 0; index -= 1) {
        open.push({ pointer: `${pointer}/${index}`, value: value[index] ?? null });
      }
    } else if (isObject(value)) {
      const names = Object.keys(value);
      for (let index = names.length - 1; index >= 0; index -= 1) {
        const name = names[index] ?? "";
        open.push({ pointer: `${pointer}/${escapeToken(name)}`, value: member(value, name) ?? null });
      }
    } else {
      yield next as Leaf; // Neither array nor object: a scalar, which the type guards cannot subtract from `Json`.
    }
  }
}

/** True iff the pattern names the place of the pointer. */
export function matchesPattern(pattern: string, pointer: string): boolean {
  const wanted = pattern.split("/");
  const tokens = pointer.split("/");
  for (let index = 0; index < wanted.length; index += 1) {
    const want = wanted[index];
    if (want === "**" && index === wanted.length - 1) return true;
    const token = tokens[index];
    if (token === undefined || (want !== "*" && want !== token)) return false;
  }
  return tokens.length === wanted.length;
}

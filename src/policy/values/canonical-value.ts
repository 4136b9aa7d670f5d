/**
 * Canonical forms of values (formal.md annex 8): what keyed rules compare, and what provenance takes for the same
 * value. All are total, idempotent, and linear in the text. None equates two texts that differ in a code point beyond
 * what NFC and the form's own standard say.
 */
import { type Json, isArray } from "../../core/json.ts";
import { canonicalNumber } from "./decimal.ts";
import { canonicalDomain, canonicalEmail, canonicalUrl } from "./domain.ts";
import { canonicalIban } from "./iban.ts";
import { canonicalTextUnitsMax, keysOfArgumentMax } from "./limits.ts";
import { canonicalPath } from "./path.ts";
import { valueInText } from "./text.ts";

export type CanonicalForm = "email" | "domain" | "path" | "url" | "iban" | "id";

export type CanonicalOptions = {
  /** Counters fold the case of an address's local part, gates compare it exactly. */
  readonly foldLocalPart?: boolean;
  /** Folder that relative paths start from. */
  readonly base?: string;
};

/** The canonical text of a value of this form, or undefined if the text has none. */
export function canonicalValue(form: CanonicalForm, text: string, options: CanonicalOptions = {}): string | undefined {
  switch (form) {
    case "email":
      return canonicalEmail(text, options.foldLocalPart === true);
    case "domain":
      return canonicalDomain(text);
    case "path":
      return canonicalPath(text, options.base);
    case "url":
      return canonicalUrl(text);
    case "iban":
      return canonicalIban(text);
    case "id":
      return text === "" || text.length > canonicalTextUnitsMax ? undefined : text;
  }
}

/**
 * Keys of an argument: a list is the set of its elements, and one element without a canonical form leaves the whole
 * argument without keys (undefined), so that a bad entry cannot hide behind a good one. Numbers are ids by value.
 */
export function canonicalKeys(
  form: CanonicalForm,
  value: Json | undefined,
  options: CanonicalOptions = {},
): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const elements = isArray(value) ? value : [value];
  if (elements.length === 0 || elements.length > keysOfArgumentMax) return undefined;
  const keys = new Set<string>();
  for (const element of elements) {
    const key = typeof element === "string" ? keyOfText(form, element, options) : idOfNumber(form, element);
    // An empty key would be that of everything that has none.
    if (key === undefined || key === "") return undefined;
    keys.add(key);
  }
  return [...keys];
}

/** A list that came as its text is not a key: a counter for `bob` would miss `["bob"]`, which many servers accept. */
function keyOfText(form: CanonicalForm, text: string, options: CanonicalOptions): string | undefined {
  const key = canonicalValue(form, text, options);
  return key === undefined || valueInText(text) !== undefined ? undefined : key;
}

function idOfNumber(form: CanonicalForm, value: Json): string | undefined {
  return form === "id" ? canonicalNumber(value) : undefined;
}

export type FormOfText = { readonly form: Exclude<CanonicalForm, "id">; readonly value: string };

/**
 * The forms that a text leaf could have, judged by its look: an address holds `@`, a URL `://`, a path starts at a root,
 * a home or a dot, a domain has a dot. Every text is an id, so that form is left out.
 */
export function formsOf(text: string): readonly FormOfText[] {
  if (text.length > canonicalTextUnitsMax) return [];
  const found: FormOfText[] = [];
  const add = (form: FormOfText["form"], value: string | undefined): void => {
    if (value !== undefined) found.push({ form, value });
  };
  const trimmed = text.trim();
  if (trimmed.includes("@")) add("email", canonicalEmail(text, false));
  if (trimmed.includes("://")) add("url", canonicalUrl(text));
  else if (trimmed.includes(".") && !/[\s/@]/.test(trimmed)) add("domain", canonicalDomain(text));
  if (/^(?:[/~.]|file:|[A-Za-z]:[\\/])/i.test(trimmed) || (trimmed.includes("/") && !trimmed.includes("://"))) {
    add("path", canonicalPath(text));
  }
  if (/^[A-Za-z]{2}[0-9]{2}/.test(trimmed)) add("iban", canonicalIban(text));
  return found;
}

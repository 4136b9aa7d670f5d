/**
 * Positive provenance: what may steer the agent. Holds the registered instruction, operator data and trusted results
 * of one run, and answers whether a value is derivable from them (formal.md 4.2). A private mutable index: folding the
 * events of a run in order rebuilds it exactly.
 */
import type { Role } from "../../core/contract.ts";
import type { Json } from "../../core/json.ts";
import { formsOf } from "../../policy/values/canonical-value.ts";
import { canonicalNumber, parseDecimal } from "../../policy/values/decimal.ts";
import { canonicalIban } from "../../policy/values/iban.ts";
import { normaliseText } from "../../policy/values/text.ts";
import { isRunOf } from "./boundaries.ts";
import { runPointsMin, runUnitsMax, textsTriedMax, trustedUnitsMax } from "./limits.ts";
import type { Origin } from "./origin.ts";
import { itemsOf, numberOf, wordsOf } from "./tokens.ts";

export type TrustedIndex = {
  units: number;
  readonly texts: { readonly text: string; readonly origin: Origin }[];
  /** Normalised whole leaves, canonical forms (`form:value`) and numbers, with where they were first seen. */
  readonly leaves: Map<string, Origin>;
  readonly forms: Map<string, Origin>;
  readonly numbers: Map<string, Origin>;
  /** Both names of items such as `acme/site`, which tools take as two identifiers. */
  readonly names: Map<string, Origin>;
  /** Texts by word, to find the few that a run could be in. */
  readonly words: Map<string, number[]>;
};

export function makeTrustedIndex(): TrustedIndex {
  const maps = { leaves: new Map(), forms: new Map(), numbers: new Map(), names: new Map(), words: new Map() };
  return { units: 0, texts: [], ...maps };
}

const spacedIban =
  /(?<![\p{L}\p{N}])[A-Za-z]{2}[0-9]{2}(?: [A-Za-z0-9]{4}){2,7}(?: [A-Za-z0-9]{1,4})?(?![\p{L}\p{N}])/gu;

/** Adds a leaf. Text beyond `trustedUnitsMax` is left out: it is then not derivable, which is the safe side. */
export function addTrusted(index: TrustedIndex, leaf: Json, origin: Origin): void {
  const number = canonicalNumber(leaf);
  if (number !== undefined) remember(index.numbers, number, origin);
  if (typeof leaf !== "string" || index.units + leaf.length > trustedUnitsMax) return;
  index.units += leaf.length;
  const text = normaliseText(leaf);
  remember(index.leaves, text, origin);
  const id = index.texts.length;
  index.texts.push({ text, origin });
  for (const word of wordsOf(text)) {
    const texts = index.words.get(word);
    if (texts === undefined) index.words.set(word, [id]);
    else if (texts.at(-1) !== id) texts.push(id);
  }
  for (const { form, value } of formsOf(text)) remember(index.forms, `${form}:${value}`, origin);
  for (const item of itemsOf(text)) addItem(index, item, origin);
  for (const match of text.matchAll(spacedIban)) addSpacedIban(index, match[0], origin);
}

/**
 * Owner and name of a repository, with an issue's number: all of the item, so no path, address or URL is cut. A name has a
 * letter and no dot at its start.
 */
const twoNames = /^([A-Za-z0-9][\w.-]{0,99})\/([A-Za-z0-9][\w.-]{0,99})(?:#([0-9]{1,12}))?$/;

function addItem(index: TrustedIndex, item: string, origin: Origin): void {
  const [, owner, name, issue] = twoNames.exec(item) ?? [];
  for (const one of [owner, name]) {
    if (one !== undefined && /[A-Za-z]/.test(one)) remember(index.names, normaliseText(one), origin);
  }
  const number = issue === undefined ? undefined : parseDecimal(issue);
  if (number !== undefined) remember(index.numbers, number, origin);
  const whole = numberOf(item);
  if (whole !== undefined) remember(index.numbers, whole, origin);
  else if ([...item].length >= runPointsMin) {
    for (const { form, value } of formsOf(item)) remember(index.forms, `${form}:${value}`, origin);
  }
}

/** The pattern may have taken a word too many (`... 00 EUR`); the check digits say where the number ends. */
function addSpacedIban(index: TrustedIndex, match: string, origin: Origin): void {
  for (let end = match.length; end > 0; end = match.lastIndexOf(" ", end - 1)) {
    const iban = canonicalIban(match.slice(0, end));
    if (iban !== undefined) remember(index.forms, `iban:${iban}`, origin);
  }
}

function remember(map: Map<string, Origin>, key: string, origin: Origin): void {
  if (!map.has(key)) map.set(key, origin);
}

/** Where a leaf is derivable from, or undefined. `role` amount reads decimal text by value. */
export function derivableLeaf(index: TrustedIndex, leaf: Json, role: Role): Origin | undefined {
  if (typeof leaf !== "string") {
    const number = canonicalNumber(leaf);
    return number === undefined ? undefined : index.numbers.get(number);
  }
  const value = normaliseText(leaf);
  const known = index.leaves.get(value) ?? amountOf(index, value, role) ?? formOf(index, value);
  return (
    known ?? runOf(index, value) ?? (role === "identifier" || role === "recipient" ? index.names.get(value) : undefined)
  );
}

function amountOf(index: TrustedIndex, value: string, role: Role): Origin | undefined {
  const number = role === "amount" ? parseDecimal(value) : undefined;
  return number === undefined ? undefined : index.numbers.get(number);
}

function formOf(index: TrustedIndex, value: string): Origin | undefined {
  for (const { form, value: canonical } of formsOf(value)) {
    // The canonical URL has no fragment, and a page may act on one: no untrusted author may choose it freely.
    if (form === "url" && value.includes("#")) continue;
    const origin = index.forms.get(`${form}:${canonical}`);
    if (origin !== undefined) return origin;
  }
  return undefined;
}

/** A run of whole tokens of one text. Every word of the run is a word of that text, so the rarest one picks the texts. */
function runOf(index: TrustedIndex, value: string): Origin | undefined {
  if (value.length > runUnitsMax || [...value].length < runPointsMin) return undefined;
  let fewest: readonly number[] | undefined;
  for (const word of wordsOf(value)) {
    const texts = index.words.get(word);
    if (texts === undefined) return undefined;
    if (fewest === undefined || texts.length < fewest.length) fewest = texts;
  }
  for (const id of (fewest ?? []).slice(0, textsTriedMax)) {
    const text = index.texts[id];
    if (text !== undefined && isRunOf(value, text.text)) return text.origin;
  }
  return undefined;
}

/**
 * Positive provenance: what may steer the agent. Holds the registered instruction, operator data and trusted results
 * of one run, and answers whether a value is derivable from them (formal.md 4.2). A private mutable index: folding the
 * events of a run in order rebuilds it exactly.
 */
import type { Json } from "../../core/json.ts";
import { type FormOfText, formsOf } from "../../policy/values/canonical-value.ts";
import { canonicalNumber, parseDecimal } from "../../policy/values/decimal.ts";
import { canonicalIban } from "../../policy/values/iban.ts";
import { normaliseText } from "../../policy/values/text.ts";
import { isRunOf } from "./boundaries.ts";
import { originsMax, runPointsMin, runUnitsMax, textsTriedMax, trustedUnitsMax } from "./limits.ts";
import { fits, sameScope, type Origin, type Target } from "./origin.ts";
import { itemsOf, numberOf, wordsOf } from "./tokens.ts";

/** The origins of each key, of one scope the first: a value that was seen at two places has both. */
type Origins = Map<string, Origin[]>;

export type TrustedIndex = {
  units: number;
  readonly texts: { readonly text: string; readonly origin: Origin }[];
  /** Normalised whole leaves, canonical forms (`form:value`) and numbers, with each place that they mean something in. */
  readonly leaves: Origins;
  readonly forms: Origins;
  readonly numbers: Origins;
  /** Both names of items such as `acme/site`, which tools take as two identifiers. */
  readonly names: Origins;
  /** Texts by word, to find the few that a run could be in. */
  readonly words: Map<string, number[]>;
};

export function makeTrustedIndex(): TrustedIndex {
  const maps = { leaves: new Map(), forms: new Map(), numbers: new Map(), names: new Map(), words: new Map() };
  return { units: 0, texts: [], ...maps };
}

/** An index of the same that goes on by itself. */
export function copyTrustedIndex(index: TrustedIndex): TrustedIndex {
  const copied = <V>(map: ReadonlyMap<string, readonly V[]>): Map<string, V[]> =>
    new Map([...map].map(([key, values]) => [key, [...values]]));
  return {
    units: index.units,
    texts: [...index.texts],
    leaves: copied(index.leaves),
    forms: copied(index.forms),
    numbers: copied(index.numbers),
    names: copied(index.names),
    words: copied(index.words),
  };
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

/** Origins beyond `originsMax` are left out: nothing is derivable by them, which is the safe side. */
function remember(map: Origins, key: string, origin: Origin): void {
  const known = map.get(key);
  // What the user or the operator said is for every call, so no other origin of it matters.
  const forAll = origin.server === undefined && known?.[0]?.server !== undefined;
  if (known === undefined || forAll) map.set(key, [origin]);
  else if (known.length < originsMax && !known.some((one) => one.server === undefined || sameScope(one, origin))) {
    known.push(origin);
  }
}

/** Where a leaf is derivable from for this argument, or undefined. An amount is read from decimal text by value. */
export function derivableLeaf(index: TrustedIndex, leaf: Json, target: Target): Origin | undefined {
  const { role, type } = target;
  const value = typeof leaf === "string" ? normaliseText(leaf) : "";
  const number = typeof leaf === "string" ? parseDecimal(value) : canonicalNumber(leaf);
  const byNumber = number === undefined ? undefined : index.numbers.get(number);
  const forms = formsOf(value);
  const typed = type === undefined ? noCalls : typedIn(index, value, [byNumber ?? [], ...withForms(index, forms)]);
  // What a result repeats beside the place that says what kind of name it is, in a text for instance, is of that kind.
  const mayDraw = (one: Origin): boolean =>
    (one.types !== undefined || !typed.has(one.origin)) && fits(one, target, forms.length > 0);
  if (typeof leaf !== "string") return byNumber?.find(mayDraw);
  const amount = role === "amount" ? byNumber : undefined;
  const whole =
    index.leaves.get(value)?.find(mayDraw) ?? amount?.find(mayDraw) ?? formOf(index, { value, forms }, mayDraw);
  const found = whole ?? runOf(index, value, mayDraw);
  return found ?? (role === "identifier" || role === "recipient" ? index.names.get(value)?.find(mayDraw) : undefined);
}

const noCalls: ReadonlySet<string> = new Set();

/** Calls whose results name the kind of this value at some place, whether as a text or as a number. */
function typedIn(index: TrustedIndex, value: string, others: readonly (readonly Origin[])[]): ReadonlySet<string> {
  const found = [...others.flat(), ...(index.leaves.get(value) ?? [])];
  return new Set(found.filter(({ types }) => types !== undefined).map(({ origin }) => origin));
}

type Formed = { readonly value: string; readonly forms: readonly FormOfText[] };

function withForms(index: TrustedIndex, forms: readonly FormOfText[]): readonly (readonly Origin[])[] {
  return forms.map(({ form, value }) => index.forms.get(`${form}:${value}`) ?? []);
}

type MayDraw = (origin: Origin) => boolean;

function formOf(index: TrustedIndex, { value, forms }: Formed, mayDraw: MayDraw): Origin | undefined {
  for (const { form, value: canonical } of forms) {
    // The canonical URL has no fragment, and a page may act on one: no untrusted author may choose it freely.
    if (form === "url" && value.includes("#")) continue;
    const origin = index.forms.get(`${form}:${canonical}`)?.find(mayDraw);
    if (origin !== undefined) return origin;
  }
  return undefined;
}

/**
 * A run of whole tokens of one text. Every word of the run is a word of that text, so the rarest one picks the texts;
 * texts that the call may not draw on are not tried.
 */
function runOf(index: TrustedIndex, value: string, mayDraw: MayDraw): Origin | undefined {
  if (value.length > runUnitsMax || [...value].length < runPointsMin) return undefined;
  let fewest: readonly number[] | undefined;
  for (const word of wordsOf(value)) {
    const texts = index.words.get(word);
    if (texts === undefined) return undefined;
    if (fewest === undefined || texts.length < fewest.length) fewest = texts;
  }
  let tried = 0;
  for (const id of fewest ?? []) {
    const text = index.texts[id];
    if (text === undefined || !mayDraw(text.origin)) continue;
    if (isRunOf(value, text.text)) return text.origin;
    tried += 1;
    if (tried >= textsTriedMax) return undefined;
  }
  return undefined;
}

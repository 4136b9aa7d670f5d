/** Long forms of labels, bounds, effects and tool labels. */
import type {
  ArgumentText,
  BoundText,
  CaseText,
  EffectsText,
  FieldText,
  LabelText,
  OutputText,
  ToolLabelsText,
  Words,
} from "../document.ts";
import type {
  ArgumentForm,
  BoundForm,
  CaseForm,
  EffectsForm,
  FieldForm,
  LabelForm,
  OutputForm,
  ToolLabelsForm,
} from "./form.ts";
import { testForm } from "./tests.ts";

/** Distinct, sorted words. */
export function sortedWords(words: Words): readonly string[] {
  return [...new Set(listOf(words))].toSorted();
}

export function listOf<T>(value: T | readonly T[]): readonly T[] {
  return isList(value) ? value : [value];
}

/** `Array.isArray` loses readonly lists in a union; this keeps them. */
function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}

/** Removes the keys whose value is undefined, so that an absent part is absent in the JSON as well. */
export function compact<T extends object>(value: { readonly [K in keyof T]: T[K] | undefined }): T {
  // Only keys that hold undefined are dropped, and `T` has them optional; the compiler cannot follow fromEntries.
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;
}

export function mapValues<A, B>(
  record: { readonly [key: string]: A },
  map: (value: A, key: string) => B,
): { readonly [key: string]: B } {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));
}

export function labelForm(text: LabelText): LabelForm {
  if (typeof text === "string")
    return text === "unsure" ? { confidentiality: text, trust: text } : { confidentiality: text };
  const trust = text.trust ?? text.trust_level;
  return compact<LabelForm>({
    confidentiality: text.confidentiality,
    categories: text.categories === undefined ? undefined : sortedWords(text.categories),
    trust,
    readers: text.readers === undefined ? undefined : sortedWords(text.readers),
  });
}

export function boundForm(text: BoundText): BoundForm {
  return typeof text === "string"
    ? { confidentiality: text, categories: [] }
    : { confidentiality: text.confidentiality, categories: sortedWords(text.categories ?? []) };
}

function fieldForm(text: FieldText): FieldForm {
  if (typeof text === "string") return labelForm(text);
  return compact<FieldForm>({ ...labelForm(text), from: text.from === undefined ? undefined : sortedWords(text.from) });
}

export function outputForm(text: OutputText): OutputForm {
  if (typeof text === "string") return labelForm(text);
  return compact<OutputForm>({
    ...labelForm(text),
    fields: text.fields === undefined ? undefined : mapValues(text.fields, fieldForm),
  });
}

/** `external_write` is the paper's word for writing to the outside. */
export function effectWord(word: string): string {
  return word === "external_write" ? "write.external" : word;
}

function effectList(words: Words): readonly string[] {
  return sortedWords(listOf(words).map(effectWord));
}

export function effectsForm(text: EffectsText): EffectsForm {
  if (typeof text === "string" || isWordList(text)) return { must: effectList(text), may: effectList(text) };
  const must = effectList(text.must ?? []);
  // What is surely done could also be done: the must-set lies within the may-set by construction.
  return { must, may: sortedWords([...effectList(text.may), ...must]) };
}

function isWordList(text: EffectsText): text is readonly string[] {
  return Array.isArray(text);
}

function argumentForm(text: ArgumentText): ArgumentForm {
  if (typeof text === "string") return { role: text };
  return compact<ArgumentForm>({
    role: text.role,
    sink: text.sink,
    bound: text.bound === undefined ? undefined : boundForm(text.bound),
    audience: text.audience === undefined ? undefined : sortedWords(text.audience),
  });
}

function caseForm(text: CaseText): CaseForm {
  return compact<CaseForm>({
    when: { arg: mapValues(text.when.arg, testForm) },
    output: text.output === undefined ? undefined : outputForm(text.output),
    effects: text.effects === undefined ? undefined : effectsForm(text.effects),
  });
}

export function toolLabelsForm(text: ToolLabelsText): ToolLabelsForm {
  const effects = text.effects ?? text.capabilities;
  return compact<ToolLabelsForm>({
    effects: effects === undefined ? undefined : effectsForm(effects),
    flags: text.flags === undefined ? undefined : [...new Set(text.flags)].toSorted(),
    args: text.args === undefined ? undefined : mapValues(text.args, argumentForm),
    rest: text.rest === undefined ? undefined : argumentForm(text.rest),
    output: text.output === undefined ? undefined : outputForm(text.output),
    cases: text.cases?.map(caseForm),
    reads: text.reads === undefined ? undefined : sortedWords(text.reads),
    writes: text.writes === undefined ? undefined : sortedWords(text.writes),
    opens:
      text.opens === undefined
        ? undefined
        : listOf(text.opens).map((open) => ({ store: open.store, audience: sortedWords(open.audience) })),
  });
}

/** Long forms of labels, bounds, effects and tool labels. */
import { given, mapped } from "../../core/given.ts";
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
  Scalar,
  TestText,
} from "./shapes-labels.ts";
import type {
  ArgumentForm,
  BoundForm,
  CaseForm,
  EffectsForm,
  FieldForm,
  LabelForm,
  OutputForm,
  ToolLabelsForm,
  TestForm,
} from "./long-form.ts";
import { canonicalValue } from "../values/canonical-value.ts";
import { parseDecimal } from "../values/decimal.ts";

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
  return given<LabelForm>({
    confidentiality: text.confidentiality,
    categories: mapped(text.categories, sortedWords),
    trust,
    readers: mapped(text.readers, sortedWords),
  });
}

export function boundForm(text: BoundText): BoundForm {
  return typeof text === "string"
    ? { confidentiality: text, categories: [] }
    : { confidentiality: text.confidentiality, categories: sortedWords(text.categories ?? []) };
}

function fieldForm(text: FieldText): FieldForm {
  if (typeof text === "string") return labelForm(text);
  return given<FieldForm>({ ...labelForm(text), from: mapped(text.from, sortedWords), type: text.type });
}

export function outputForm(text: OutputText): OutputForm {
  if (typeof text === "string") return labelForm(text);
  return given<OutputForm>({
    ...labelForm(text),
    fields: mapped(text.fields, (each) => mapValues(each, fieldForm)),
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
  // A certain effect is also a possible one: the must-set is within the may-set by construction.
  return { must, may: sortedWords([...effectList(text.may), ...must]) };
}

function isWordList(text: EffectsText): text is readonly string[] {
  return Array.isArray(text);
}

function argumentForm(text: ArgumentText): ArgumentForm {
  if (typeof text === "string") return { role: text };
  return given<ArgumentForm>({
    role: text.role,
    sink: text.sink,
    bound: mapped(text.bound, boundForm),
    audience: mapped(text.audience, sortedWords),
    type: text.type,
  });
}

function caseForm(text: CaseText): CaseForm {
  return given<CaseForm>({
    when: { arg: mapValues(text.when.arg, testForm) },
    output: mapped(text.output, outputForm),
    effects: mapped(text.effects, effectsForm),
  });
}

export function toolLabelsForm(text: ToolLabelsText): ToolLabelsForm {
  const effects = text.effects ?? text.capabilities;
  return given<ToolLabelsForm>({
    effects: mapped(effects, effectsForm),
    flags: text.flags === undefined ? undefined : [...new Set(text.flags)].toSorted(),
    args: mapped(text.args, (each) => mapValues(each, argumentForm)),
    rest: mapped(text.rest, argumentForm),
    output: mapped(text.output, outputForm),
    cases: text.cases?.map(caseForm),
    reads: mapped(text.reads, sortedWords),
    writes: mapped(text.writes, sortedWords),
    opens:
      text.opens === undefined
        ? undefined
        : listOf(text.opens).map((open) => ({ store: open.store, audience: sortedWords(open.audience) })),
  });
}

/** A number as exact text; a policy number has at most 15 digits here, since larger ones were refused. */
export function decimalForm(value: number | string): string {
  const text = String(value);
  return parseDecimal(text) ?? text;
}

export function testForm(text: TestText): TestForm {
  if (typeof text !== "object" || text === null) return { equals: [text] };
  return given<TestForm>({
    present: text.present,
    equals: mapped(text.equals, scalars),
    glob: mapped(text.glob, sortedWords),
    domain: text.domain === undefined ? undefined : spelled("domain", text.domain),
    path: text.path === undefined ? undefined : spelled("path", text.path),
    cidr: mapped(text.cidr, sortedWords),
    regex: text.regex,
    range:
      text.range === undefined
        ? undefined
        : given<NonNullable<TestForm["range"]>>({
            min: mapped(text.range.min, decimalForm),
            max: mapped(text.range.max, decimalForm),
          }),
    schema: text.schema,
    reads: text.reads,
    not: mapped(text.not, testForm),
    all: text.all?.map(testForm),
    any: text.any?.map(testForm),
    label: mapped(text.label, labelForm),
  });
}

/** One spelling of each name, so that equal tests are equal texts; what has no canonical form is reported by the compiler. */
function spelled(form: "domain" | "path", words: Words): readonly string[] {
  return sortedWords(listOf<string>(words).map((word) => canonicalValue(form, word) ?? word));
}

function scalars(value: Scalar | readonly Scalar[]): readonly Scalar[] {
  const rank = (item: Scalar): string => `${typeof item} ${String(item)}`;
  const distinct = [...new Set(listOf<Scalar>(value))];
  return distinct.toSorted((left, right) => (rank(left) < rank(right) ? -1 : 1));
}

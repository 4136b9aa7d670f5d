/** Long form of argument tests. */
import type { Scalar, TestText, Words } from "../document.ts";
import { canonicalValue } from "../values/canonical.ts";
import { parseDecimal } from "../values/decimal.ts";
import type { TestForm } from "./form.ts";
import { compact, labelForm, listOf, sortedWords } from "./labels.ts";

/** A number as exact text; a policy number has at most 15 digits here, since larger ones were refused. */
export function decimalForm(value: number | string): string {
  const text = String(value);
  return parseDecimal(text) ?? text;
}

export function testForm(text: TestText): TestForm {
  if (typeof text !== "object" || text === null) return { equals: [text] };
  return compact<TestForm>({
    present: text.present,
    equals: text.equals === undefined ? undefined : scalars(text.equals),
    glob: text.glob === undefined ? undefined : sortedWords(text.glob),
    domain: text.domain === undefined ? undefined : spelled("domain", text.domain),
    path: text.path === undefined ? undefined : spelled("path", text.path),
    cidr: text.cidr === undefined ? undefined : sortedWords(text.cidr),
    regex: text.regex,
    range:
      text.range === undefined
        ? undefined
        : compact<NonNullable<TestForm["range"]>>({
            min: text.range.min === undefined ? undefined : decimalForm(text.range.min),
            max: text.range.max === undefined ? undefined : decimalForm(text.range.max),
          }),
    schema: text.schema,
    not: text.not === undefined ? undefined : testForm(text.not),
    all: text.all?.map(testForm),
    any: text.any?.map(testForm),
    label: text.label === undefined ? undefined : labelForm(text.label),
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

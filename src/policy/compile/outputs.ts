/** Outputs of tools and of their cases, which of two says more, and what both say together. */
import type { FieldContract, OutputContract } from "../../core/contract.ts";
import { atMost, joinAllRanges, joinRanges } from "../../core/label.ts";
import type { LabelForm, OutputForm } from "../canonical/form.ts";
import type { DocumentPath } from "../diagnostic.ts";
import type { Scope } from "./patterns.ts";

export function compileOutput(form: OutputForm, path: DocumentPath, scope: Scope): OutputContract {
  const { fields, ...label } = form;
  const compiled = Object.entries(fields ?? {}).map(([pointer, field]) => {
    const { from, ...own } = field;
    const range = scope.labels.range(own, [...path, "fields", pointer]);
    return { pointer, label: range, ...(from === undefined ? {} : { from }) };
  });
  return { label: scope.labels.range(spoken(label), path), fields: compiled };
}

/** `output: {fields: ...}` alone says nothing of the rest of the result, which is then unknown. */
function spoken(label: LabelForm): LabelForm {
  return Object.keys(label).length === 0 ? { confidentiality: "unsure", trust: "unsure" } : label;
}

/**
 * Every part of the one result is labelled at least as high as in the other. Where both do not name the same fields, a
 * part of the one may lie in any part of the other. Naming the arguments that reach a field excludes all others from it.
 */
export function isAbove(high: OutputContract, low: OutputContract): boolean {
  const named = new Map(low.fields.map((field) => [field.pointer, field]));
  const reached = high.fields.every(({ pointer, from }) => {
    const others = named.get(pointer)?.from;
    return from === undefined || others?.every((name) => from.includes(name)) === true;
  });
  const same = high.fields.length === named.size && high.fields.every(({ pointer }) => named.has(pointer));
  const lows = [low.label, ...low.fields.map(({ label }) => label)];
  const parts = [{ pointer: undefined, label: high.label }, ...high.fields];
  return (
    reached &&
    parts.every(({ pointer, label }) => {
      const own = pointer === undefined ? low.label : named.get(pointer)?.label;
      return (same && own !== undefined ? [own] : lows).every(({ hi }) => atMost(hi, label.hi));
    })
  );
}

/**
 * The least that is above both, as far as `isAbove` can tell: where they do not name the same fields, every part of the
 * result is labelled as all parts of both together.
 */
export function joinOutputs(left: OutputContract, right: OutputContract): OutputContract {
  const pairs = left.fields.flatMap((one) => {
    const other = right.fields.find(({ pointer }) => pointer === one.pointer);
    return other === undefined ? [] : [[one, other] as const];
  });
  const label = joinRanges(left.label, right.label);
  if (pairs.length < Math.max(left.fields.length, right.fields.length)) {
    const all = [...left.fields, ...right.fields].map((field) => field.label);
    return { label: joinAllRanges(all, label), fields: [] };
  }
  return { label, fields: pairs.map(([one, other]) => joinFields(one, other)) };
}

function joinFields(one: FieldContract, other: FieldContract): FieldContract {
  const label = joinRanges(one.label, other.label);
  if (one.from === undefined || other.from === undefined) return { pointer: one.pointer, label };
  return { pointer: one.pointer, label, from: [...new Set([...one.from, ...other.from])] };
}

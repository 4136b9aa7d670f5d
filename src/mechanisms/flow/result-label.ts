/** The label of a result: the declared output joined with the call's arguments and reads (formal.md 4.1, 4.2). */
import { exactly, joinRanges, type LabelRange, type Lattice } from "../../core/label.ts";
import type { CallOption, ReleaseMoment } from "../../core/moment.ts";
import type { FieldLabel, Obligation } from "../../core/opinion.ts";
import { contractFor, type Ir } from "../../policy/ir/ir.ts";
import { presenceOf } from "./released-value.ts";

/**
 * The obligation to label a release. `reading` joins the stores that the call read, and the data added to them since
 * their declaration: the label of a field covers only their initial content, so without that a secret written into a
 * public field of a store would come back public (echo laundering by way of a store). `sent` is the label of the data
 * sent to the server before, which text outside any call may echo. A failed call is labelled like a successful one, and
 * its text has no fields: an error can echo every argument, and reveal the content of a field. So can messages beside
 * the answer of a call: progress, questions, the state of a task.
 */
export function resultObligation(
  ir: Ir,
  moment: ReleaseMoment,
  reading: { readonly all: LabelRange; readonly added: LabelRange },
  sent: LabelRange | undefined,
): Extract<Obligation, { kind: "label" }> {
  const { lattice } = ir;
  const contract =
    moment.option === undefined ? moment.contract : contractFor(moment.option.contract, moment.option.class.truths);
  const given = argumentsOf(lattice, moment.option, undefined);
  const all = sent === undefined ? given : joinRanges(given, sent);
  const whole = joinRanges(joinRanges(contract.output.label, all), reading.all);
  if (contract.output.fields.length === 0) return { kind: "label", range: whole, fields: [] };
  const declared = contract.output.fields.map((field): FieldLabel => {
    // A query selects every field, so all arguments reach it, unless the operator or a pinned pack named which do.
    const reaching = field.from === undefined ? all : argumentsOf(lattice, moment.option, field.from);
    return { pointer: field.pointer, range: joinRanges(joinRanges(field.label, reaching), reading.added) };
  });
  const unstructured = moment.outcome === "failed" || moment.call === undefined;
  const { fields: present, beside } = presenceOf(moment.value, unstructured ? [] : contract.output.fields);
  const fields = declared.filter(({ pointer }) => present.some((field) => field.pointer === pointer));
  // Text outside the fields may repeat the content of one: no reader can find where in it a title ends.
  const worst = declared.reduce((join, field) => ({ lo: join.lo, hi: joinRanges(join, field.range).hi }), whole);
  return { kind: "label", range: beside || unstructured ? worst : whole, fields };
}

function argumentsOf(
  lattice: Lattice,
  option: CallOption | undefined,
  names: readonly string[] | undefined,
): LabelRange {
  let range = exactly(lattice.bottom);
  if (option === undefined) return range;
  for (const name of names ?? option.arguments.keys()) {
    const label = option.arguments.get(name);
    if (label !== undefined) range = joinRanges(range, label.range);
  }
  return range;
}

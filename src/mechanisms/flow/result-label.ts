/** The label of what a server said: its output joined with what it was sent and what it read (formal.md 4.1, 4.2). */
import { exactly, fromBits, joinRanges } from "../../core/label.ts";
import type { Label, LabelRange, Lattice } from "../../core/label.ts";
import type { CallOption, ReleaseMoment } from "../../core/moment.ts";
import type { FieldLabel, Obligation } from "../../core/opinion.ts";
import { contractFor } from "../../policy/ir.ts";
import type { Ir } from "../../policy/ir.ts";

/**
 * The obligation to label a release. `reading` joins the stores that the call read; `sent` is what the server was sent
 * before, which text outside any call may echo. A failed call is labelled like a successful one, and its text has no
 * fields: an error can echo every argument.
 */
export function resultObligation(
  ir: Ir,
  moment: ReleaseMoment,
  reading: LabelRange,
  sent: LabelRange | undefined,
): Obligation {
  const { lattice } = ir;
  const contract =
    moment.option === undefined ? moment.contract : contractFor(moment.option.contract, moment.option.class.truths);
  const all = joinRanges(argumentsOf(lattice, moment.option, undefined), sent ?? exactly(lattice.bottom));
  const range = joinRanges(joinRanges(contract.output.label, all), reading);
  const written = growth(ir, contract.reads, reading);
  // A query selects every field, so all arguments reach it, unless the operator or a pinned pack named which do.
  const fields: readonly FieldLabel[] =
    moment.outcome === "failed"
      ? []
      : contract.output.fields.map((field) => {
          const reaching = field.from === undefined ? all : argumentsOf(lattice, moment.option, field.from);
          return { pointer: field.pointer, range: joinRanges(joinRanges(field.label, reaching), written) };
        });
  return { kind: "label", range, fields };
}

function argumentsOf(
  lattice: Lattice,
  option: CallOption | undefined,
  names: readonly string[] | undefined,
): LabelRange {
  let range = exactly(lattice.bottom);
  for (const [name, label] of option?.arguments ?? []) {
    if (names === undefined || names.includes(name)) range = joinRanges(range, label.range);
  }
  return range;
}

/**
 * What runs wrote into the stores beyond their declared beginning. The label of a field speaks of that beginning only;
 * without this, a secret written into a public field of a store would come back public (echo laundering by way of a
 * store).
 */
function growth({ lattice, stores }: Ir, names: readonly string[], reading: LabelRange): LabelRange {
  const declared = stores.filter((store) => names.includes(store.name));
  const before = declared.reduce((join, store) => joinRanges(join, store.initial), exactly(lattice.bottom));
  return { lo: beyond(lattice, reading.lo, before.lo), hi: beyond(lattice, reading.hi, before.hi) };
}

function beyond(lattice: Lattice, label: Label, before: Label): Label {
  return fromBits(lattice, label & ~before) ?? lattice.top;
}

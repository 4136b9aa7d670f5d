/**
 * The section `readings`: what an operator accepted of tools on an admission card. A reading speaks of exactly one listed
 * tool, by the digest of the whole entry, and ends on a day. It decides effects, flags and roles of arguments; results
 * stay untrusted whatever it says, with the confidentiality that it names (policy.md 2, lifecycle.md 1.7).
 */
import {
  type DocumentPath,
  type Problem,
  type Reporter,
  information,
  problem,
  quoted,
} from "../document/diagnostic.ts";
import { toolLabelsForm } from "../document/label-forms.ts";
import type { LabelForm, OutputForm, ToolLabelsForm } from "../document/long-form.ts";
import { type Infer, type Shape, list, object, required, text } from "../document/shape.ts";
import { namePattern, serverPattern, toolLabels } from "../document/shapes-labels.ts";
import { readingsMax } from "../values/limits.ts";

const fields = {
  server: required(text("server", serverPattern), "name of the server"),
  tool: required(text("tool", namePattern), "name of the tool"),
  digest: required(text("SHA-256", "^[0-9a-f]{64}$"), "SHA-256 of the whole entry as listed"),
  label: required(toolLabels, "what the tool does: effects, flags, roles of arguments, confidentiality of results"),
  until: required(text("day", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", "2027-01-31"), "last day on which it counts, in UTC"),
};
const reading = object("an accepted reading", fields);
/** An accepted reading as written. */
export interface ReadingText extends Infer<typeof reading> {}
export const shape: Shape<readonly ReadingText[]> = list(reading, 0, readingsMax);

export type ReadingForm = Omit<ReadingText, "label"> & { readonly label: ToolLabelsForm };

/** Names a reading among others, also in the paths of problems. */
export function readingKey({ server, tool, digest }: Pick<ReadingText, "server" | "tool" | "digest">): string {
  return `${server}.${tool} ${digest}`;
}

/** The readings of two documents; of one tool and digest the later one counts. */
export function merged(
  base: readonly ReadingText[] | undefined,
  next: readonly ReadingText[] | undefined,
): readonly ReadingText[] | undefined {
  if (base === undefined || next === undefined) return next ?? base;
  const replaced = new Set(next.map(readingKey));
  return [...base.filter((one) => !replaced.has(readingKey(one))), ...next];
}

/** The long form; undefined where there is none, so that such a policy keeps its digest. */
export function canonical(
  readings: readonly ReadingText[] | undefined,
  report: Reporter,
): readonly ReadingForm[] | undefined {
  if (readings === undefined || readings.length === 0) return undefined;
  const forms = new Map<string, ReadingForm>();
  for (const one of readings) {
    const key = readingKey(one);
    if (forms.has(key)) {
      report(problem("ID", ["readings", key], `${nameOf(one)} is read twice under one digest`, "keep one of the two"));
    }
    forms.set(key, { ...one, label: toolLabelsForm(one.label) });
  }
  return [...forms].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, form]) => form);
}

/** Readings that count on a day, as `YYYY-MM-DD`, and what is to say of the others. */
export function current(
  readings: readonly ReadingText[] | undefined,
  today: string,
): { readonly readings: readonly ReadingText[] | undefined; readonly problems: readonly Problem[] } {
  const over = (readings ?? []).filter(({ until }) => until < today);
  if (over.length === 0) return { readings, problems: [] };
  return {
    readings: readings?.filter(({ until }) => until >= today),
    problems: over.map((one) => {
      const message = `the reading of ${nameOf(one)} ended after ${one.until}`;
      return information("READING-END", ["readings", readingKey(one)], message, "look at the card of its server again");
    }),
  };
}

/**
 * The form under which a reading is believed: its results are untrusted for sure. Reports what a card has no authority
 * for, since a statement that counted for less than it says would mislead.
 */
export function believed({ label }: ReadingForm, path: DocumentPath, report: Reporter): ToolLabelsForm {
  const refuse = (part: string): void => {
    const message = `an accepted reading does not decide \`${part}\``;
    report(problem("READING", [...path, "label"], message, "write it under `labels`, or leave it out"));
  };
  const { output } = label;
  for (const part of ["cases", "reads", "writes", "opens"] as const) if (label[part] !== undefined) refuse(part);
  for (const argument of [...Object.values(label.args ?? {}), ...(label.rest === undefined ? [] : [label.rest])]) {
    if (argument.sink === false) refuse("sink: false");
    for (const part of ["bound", "audience", "type"] as const) if (argument[part] !== undefined) refuse(part);
  }
  for (const field of Object.values(output?.fields ?? {})) {
    for (const part of ["from", "type"] as const) if (field[part] !== undefined) refuse(part);
  }
  const trusts = [output, ...Object.values(output?.fields ?? {})].map((one) => one?.trust);
  if (trusts.some((trust) => trust !== undefined && trust !== "untrusted")) refuse("trust");
  return { ...label, output: untrusted(output) };
}

function untrusted(output: OutputForm | undefined): OutputForm {
  const sure = <T extends LabelForm>(one: T): T => ({ ...one, trust: "untrusted" });
  if (output?.fields === undefined) return sure(output ?? {});
  const fields = Object.entries(output.fields).map(([pointer, field]) => [pointer, sure(field)]);
  return { ...sure(output), fields: Object.fromEntries(fields) };
}

function nameOf({ server, tool }: Pick<ReadingText, "server" | "tool">): string {
  return quoted(`${server}.${tool}`);
}

/** The ids of an STPA document: which there are, of what kind, and what is wrong with those that are named. */
import { type DocumentPath, type Problem, clipped, quoted } from "../document/diagnostic.ts";
import type { Words } from "../document/shapes-labels.ts";
import { suggestion } from "../document/nearest.ts";
import type { StpaDocument } from "./document.ts";

/** One word or several, as a list. */
export function many(words: Words | undefined): readonly string[] {
  return words === undefined ? [] : typeof words === "string" ? [words] : words;
}

export type EntryKind =
  | "stakeholder"
  | "value"
  | "loss"
  | "hazard"
  | "controller"
  | "process"
  | "control action"
  | "feedback"
  | "unsafe control action"
  | "scenario"
  | "requirement";

export type Entry = { readonly id: string; readonly kind: EntryKind; readonly path: DocumentPath };

export function stpaProblem(code: string, path: DocumentPath, message: string, remedy: string): Problem {
  return { code, severity: "error", message: clipped(message), remedy: clipped(remedy), path };
}

/** Every entry with an id, in document order of the method: values before losses before hazards. */
export function entriesOf(document: StpaDocument): readonly Entry[] {
  const { control } = document;
  const section = (kind: EntryKind, held: object | undefined, ...path: DocumentPath): readonly Entry[] =>
    Object.keys(held ?? {}).map((id) => ({ id, kind, path: [...path, id] }));
  return [
    ...section("stakeholder", document.stakeholders, "stakeholders"),
    ...Object.entries(document.stakeholders).flatMap(([id, { values }]) =>
      section("value", values, "stakeholders", id, "values"),
    ),
    ...section("loss", document.losses, "losses"),
    ...section("hazard", document.hazards, "hazards"),
    ...section("controller", control.controllers, "control", "controllers"),
    ...section("process", control.processes, "control", "processes"),
    ...section("control action", control.actions, "control", "actions"),
    ...section("feedback", control.feedback, "control", "feedback"),
    ...section("unsafe control action", document.ucas, "ucas"),
    ...section("scenario", document.scenarios, "scenarios"),
    ...section("requirement", document.requirements, "requirements"),
  ];
}

/** Entries by id; where an id is used twice, the first. */
export type Entries = ReadonlyMap<string, Entry>;

/** Says what is wrong with an id that should name an entry of one of these kinds; undefined if nothing is. */
export function dangling(
  id: string,
  wanted: readonly EntryKind[],
  entries: Entries,
  path: DocumentPath,
): Problem | undefined {
  const named = entries.get(id);
  if (named !== undefined && wanted.includes(named.kind)) return undefined;
  const legal = [...entries.values()].filter(({ kind }) => wanted.includes(kind)).map((entry) => entry.id);
  const what = wanted.map(withArticle).join(" or ");
  const message = named === undefined ? `${quoted(id)} is not declared` : `${quoted(id)} is ${withArticle(named.kind)}`;
  const remedy = suggestion(id, legal, `declare ${what} first`);
  return stpaProblem("SG-STPA-REFERENCE", path, `${message}, and ${what} is wanted here`, remedy);
}

export function withArticle(kind: EntryKind): string {
  return kind === "feedback" ? kind : `${/^[aeiou]/.test(kind) ? "an" : "a"} ${kind}`;
}

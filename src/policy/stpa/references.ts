/** Checks of an STPA document that its shape cannot say: ids, what they name, cycles, and the size of sections. */
import { type DocumentPath, type Problem, quoted } from "../document/diagnostic.ts";
import { diagnosticsMax } from "../values/limits.ts";
import type { Words } from "../document/shapes-labels.ts";
import { type Requirement, type StpaDocument, stpaEntriesMax } from "./document.ts";
import {
  type Entries,
  type Entry,
  type EntryKind,
  dangling,
  entriesOf,
  many,
  stpaProblem,
  withArticle,
} from "./names.ts";

/** Problems in document order; empty iff every id is unique and names what it should. */
export function checkReferences(document: StpaDocument): readonly Problem[] {
  const large = oversize(document);
  if (large.length > 0) return large;
  const all = entriesOf(document);
  const entries = new Map<string, Entry>();
  for (const entry of all) if (!entries.has(entry.id)) entries.set(entry.id, entry);
  const found: Problem[] = [...duplicates(all, entries)];
  const named: Named = (words, kinds, ...path) => {
    many(words).forEach((id, index) => {
      // Each finding costs a search for the nearest word: a flood of them must not.
      if (found.length >= diagnosticsMax) return;
      const place = typeof words === "string" ? path : [...path, index];
      const problem = dangling(id, kinds, entries, place);
      if (problem !== undefined) found.push(problem);
    });
  };
  nameAnalysis(document, named);
  nameControl(document, named);
  nameMeasures(document, named);
  return [...found, ...strangers(document), ...cycles(document.requirements ?? {})];
}

function oversize(document: StpaDocument): readonly Problem[] {
  const { control, stakeholders, losses, hazards, ucas, scenarios, requirements } = document;
  const sections: readonly (readonly [DocumentPath, object | undefined])[] = [
    [["stakeholders"], stakeholders],
    ...Object.entries(stakeholders).map(([id, { values }]) => [["stakeholders", id, "values"], values] as const),
    [["losses"], losses],
    [["hazards"], hazards],
    [["control", "controllers"], control.controllers],
    [["control", "processes"], control.processes],
    [["control", "actions"], control.actions],
    [["control", "feedback"], control.feedback],
    [["ucas"], ucas],
    [["scenarios"], scenarios],
    [["requirements"], requirements],
  ];
  return sections.flatMap(([path, held]) => {
    const count = Object.keys(held ?? {}).length;
    const message = `${path.join(".")} has ${count} entries, and at most ${stpaEntriesMax} are read`;
    return count <= stpaEntriesMax ? [] : [stpaProblem("SG-STPA-SIZE", path, message, "split the analysis")];
  });
}

function duplicates(all: readonly Entry[], first: Entries): readonly Problem[] {
  const found: Problem[] = [];
  for (const entry of all) {
    const other = first.get(entry.id);
    if (other !== undefined && other !== entry) {
      const message = `the id ${quoted(entry.id)} already names ${withArticle(other.kind)}`;
      found.push({ ...stpaProblem("SG-STPA-ID", entry.path, message, "give each its own id"), atKey: true });
    }
  }
  return found;
}

type Named = (words: Words | undefined, kinds: readonly EntryKind[], ...path: DocumentPath) => void;

function nameAnalysis({ losses, hazards }: StpaDocument, named: Named): void {
  for (const [id, loss] of Object.entries(losses)) named(loss.harms, ["value"], "losses", id, "harms");
  for (const [id, hazard] of Object.entries(hazards)) named(hazard.losses, ["loss"], "hazards", id, "losses");
}

function nameControl({ control }: StpaDocument, named: Named): void {
  for (const [id, { by, on }] of Object.entries(control.actions)) {
    named(by, ["controller"], "control", "actions", id, "by");
    named(on, ["process", "controller"], "control", "actions", id, "on");
  }
  for (const [id, { from, to }] of Object.entries(control.feedback ?? {})) {
    named(from, ["process", "controller"], "control", "feedback", id, "from");
    named(to, ["controller"], "control", "feedback", id, "to");
  }
}

function nameMeasures(document: StpaDocument, named: Named): void {
  for (const [id, { controller, action, hazards }] of Object.entries(document.ucas ?? {})) {
    named(controller, ["controller"], "ucas", id, "controller");
    named(action, ["control action"], "ucas", id, "action");
    named(hazards, ["hazard"], "ucas", id, "hazards");
  }
  for (const [id, { ucas }] of Object.entries(document.scenarios ?? {})) {
    named(ucas, ["unsafe control action"], "scenarios", id, "ucas");
  }
  for (const [id, { ucas, hazards, refines }] of Object.entries(document.requirements ?? {})) {
    named(ucas, ["unsafe control action"], "requirements", id, "ucas");
    named(hazards, ["hazard"], "requirements", id, "hazards");
    named(refines, ["requirement"], "requirements", id, "refines");
  }
}

/** An unsafe control action whose controller is not the one that gives the action contradicts the control structure. */
function strangers({ control, ucas }: StpaDocument): readonly Problem[] {
  return Object.entries(ucas ?? {}).flatMap(([id, { controller, action }]) => {
    const given = Object.hasOwn(control.actions, action) ? control.actions[action]?.by : undefined;
    if (given === undefined || given === controller || !Object.hasOwn(control.controllers, controller)) return [];
    const message = `${quoted(action)} is given by ${quoted(given)}, not by ${quoted(controller)}`;
    return [stpaProblem("SG-STPA-CONTROLLER", ["ucas", id, "controller"], message, `write ${quoted(given)}`)];
  });
}

/** Each requirement that refines itself is named once, at the link that closes the cycle. */
function cycles(requirements: { readonly [id: string]: Requirement }): readonly Problem[] {
  const done = new Set<string>();
  const found: Problem[] = [];
  for (const start of Object.keys(requirements)) {
    // A walk with a stack of its own: a chain may be as long as the section.
    const open: { readonly id: string; readonly left: string[] }[] = [];
    const enter = (id: string): void => void open.push({ id, left: [...many(requirements[id]?.refines)] });
    if (!done.has(start)) enter(start);
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const next = top.left.pop();
      if (next === undefined) {
        done.add(top.id);
        open.pop();
      } else if (open.some(({ id }) => id === next)) {
        const message = `${quoted(next)} refines itself by way of ${quoted(top.id)}`;
        const path = ["requirements", top.id, "refines"];
        found.push(stpaProblem("SG-STPA-CYCLE", path, message, "remove one link of the cycle"));
      } else if (!done.has(next) && Object.hasOwn(requirements, next)) enter(next);
    }
  }
  return found;
}

/** Named limits of STPA documents, beside those of every document (`policy/document/limits.ts`). */

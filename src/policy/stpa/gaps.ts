/**
 * Gaps of an analysis: each step of STPA must be answered by the next one. A gap is not an error; it is open work,
 * reported at the place where it is missing.
 */
import { type DocumentPath, type Problem, quoted } from "../document/diagnostic.ts";
import type { Requirement, StpaDocument } from "./document.ts";
import { many, stpaProblem } from "./names.ts";

export function gap(code: string, path: DocumentPath, message: string, remedy: string): Problem {
  return { ...stpaProblem(code, path, message, remedy), severity: "warning", atKey: true };
}

/** Gaps inside the document, in the order of the method. */
export function documentGaps(document: StpaDocument): readonly Problem[] {
  return [...analysisGaps(document), ...controlGaps(document), ...requirementGaps(document)];
}

function analysisGaps({ stakeholders, losses, hazards, ucas = {} }: StpaDocument): readonly Problem[] {
  const harmed = new Set(Object.values(losses).flatMap(({ harms }) => many(harms)));
  const led = new Set(Object.values(hazards).flatMap((hazard) => many(hazard.losses)));
  const reached = new Set(Object.values(ucas).flatMap((uca) => many(uca.hazards)));
  const values = Object.entries(stakeholders).flatMap(([who, { values: held }]) =>
    Object.keys(held).map((id) => ({ id, path: ["stakeholders", who, "values", id] })),
  );
  return [
    ...values
      .filter(({ id }) => !harmed.has(id))
      .map(({ id, path }) =>
        gap("SG-STPA-VALUE", path, `no loss harms the value ${quoted(id)}`, "add a loss, or leave the value out"),
      ),
    ...Object.keys(losses)
      .filter((id) => !led.has(id))
      .map((id) => gap("SG-STPA-LOSS", ["losses", id], `no hazard leads to the loss ${quoted(id)}`, "add a hazard")),
    ...Object.keys(hazards)
      .filter((id) => !reached.has(id))
      .map((id) =>
        gap(
          "SG-STPA-HAZARD",
          ["hazards", id],
          `no unsafe control action leads to the hazard ${quoted(id)}`,
          "add one under `ucas`; `sluicegate stpa draft` proposes some",
        ),
      ),
  ];
}

function controlGaps({ control, ucas = {}, requirements = {} }: StpaDocument): readonly Problem[] {
  const considered = new Set(Object.values(ucas).map(({ action }) => action));
  const answered = new Set(Object.values(requirements).flatMap((requirement) => many(requirement.ucas)));
  return [
    ...Object.keys(control.actions)
      .filter((id) => !considered.has(id))
      .map((id) =>
        gap(
          "SG-STPA-ACTION",
          ["control", "actions", id],
          `no unsafe control action covers the control action ${quoted(id)}`,
          "add unsafe control actions for it, or leave it out",
        ),
      ),
    ...Object.keys(ucas)
      .filter((id) => !answered.has(id))
      .map((id) =>
        gap(
          "SG-STPA-UCA",
          ["ucas", id],
          `no requirement prevents ${quoted(id)}`,
          "add it to the `ucas` of a requirement",
        ),
      ),
  ];
}

function requirementGaps({ requirements = {} }: StpaDocument): readonly Problem[] {
  const refined = new Set(Object.values(requirements).flatMap(({ refines }) => many(refines)));
  return Object.entries(requirements).flatMap(([id, requirement]) => {
    const path = ["requirements", id];
    const found: Problem[] = [];
    if (many(requirement.ucas).length + many(requirement.hazards).length + many(requirement.refines).length === 0) {
      found.push(
        gap("SG-STPA-AIMLESS", path, `requirement ${quoted(id)} prevents nothing`, "name `ucas` or `hazards`"),
      );
    }
    // A requirement that others make precise is met by them.
    if (!isFormal(requirement) && !refined.has(id)) {
      const message = `requirement ${quoted(id)} has no property and no rule, so nothing enforces it`;
      found.push(gap("SG-STPA-REQUIREMENT", path, message, "add `property` or `rules`"));
    }
    return found;
  });
}

function isFormal({ property, rules = [] }: Requirement): boolean {
  return property !== undefined || rules.length > 0;
}

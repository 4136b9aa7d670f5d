/**
 * The formal half of an STPA document: its properties and rule skeletons as a policy. The compiler of policies itself
 * checks them, so a level, a tool or a store that does not exist is found where the document says it.
 */
import { type Manifests, canonicalPolicy } from "../canonical/canonical.ts";
import { splitSelector } from "../document/names.ts";
import { compilePolicy } from "../compile/compile.ts";
import { defaultPolicy } from "../canonical/default-policy.ts";
import { type DocumentPath, type Problem, quoted } from "../document/diagnostic.ts";
import type { HazardText, RuleText } from "../document/shapes-rules.ts";
import type { LatticeSection } from "../document/shapes-labels.ts";
import type { PolicyDocument } from "../canonical/policy-document.ts";
import type { Requirement, StpaDocument } from "./document.ts";
import { many, stpaProblem } from "./names.ts";
import { stringify } from "yaml";

/** A hazard or rule of the policy with the requirement that it comes from. */
export type FormalPart = {
  readonly id: string;
  readonly requirement: string;
  /** Where the document says it. */
  readonly path: DocumentPath;
} & ({ readonly kind: "property"; readonly hazard: HazardText } | { readonly kind: "rule"; readonly rule: RuleText });

/** Every hazard of the analysis that a requirement is about: those it names, and those of its control actions. */
export function hazardsOf(document: StpaDocument, requirement: Requirement): readonly string[] {
  const byAction = many(requirement.ucas).flatMap((id) => many(document.ucas?.[id]?.hazards));
  return [...new Set([...many(requirement.hazards), ...byAction])];
}

/** Every property and rule under the id that it has in the policy, in document order. */
export function formalParts(document: StpaDocument): readonly FormalPart[] {
  return Object.entries(document.requirements ?? {}).flatMap(([requirement, given]) => {
    const path: DocumentPath = ["requirements", requirement];
    const { property, rules = [] } = given;
    const parts: FormalPart[] = [];
    if (property !== undefined) {
      const { id = `never-${requirement}`, ...rest } = property;
      const [hazard] = hazardsOf(document, given);
      const [loss] = many(hazard === undefined ? undefined : document.hazards[hazard]?.losses);
      const head = { ...(loss === undefined ? {} : { loss }), why: given.says };
      parts.push({ kind: "property", id, requirement, path: [...path, "property"], hazard: { ...head, ...rest } });
    }
    rules.forEach((skeleton, index) => {
      const id = skeleton.id ?? (rules.length === 1 ? `rule-${requirement}` : `rule-${requirement}-${index + 1}`);
      const head = { tier: given.tier, why: given.says, serves: requirement };
      parts.push({
        kind: "rule",
        id,
        requirement,
        path: [...path, "rules", index],
        rule: { ...head, ...skeleton, id },
      });
    });
    return parts;
  });
}

/** The labels that a document may speak of: the built-in ones and its own. */
export function latticeOf(document: StpaDocument): LatticeSection {
  const [base = {}, own = {}] = [defaultPolicy.lattice, document.lattice];
  return {
    ...base,
    ...own,
    categories: [...new Set([...(base.categories ?? []), ...(own.categories ?? [])])],
    groups: [...new Set([...(base.groups ?? []), ...(own.groups ?? [])])],
  };
}

/** Hazards and rules of the parts, as sections of a policy. */
export function formalSections(parts: readonly FormalPart[]): Pick<PolicyDocument, "hazards" | "rules"> {
  return {
    hazards: Object.fromEntries(parts.flatMap((part) => (part.kind === "property" ? [[part.id, part.hazard]] : []))),
    rules: parts.flatMap((part) => (part.kind === "rule" ? [part.rule] : [])),
  };
}

/** Faults of properties and rules, placed in the STPA document. `hash` is SHA-256 in hex. */
export function checkFormal(document: StpaDocument, hash: (text: string) => string): readonly Problem[] {
  const parts = formalParts(document);
  const twice = sharedIds(document, parts);
  if (twice.length > 0) return twice;
  const stores = Object.entries(document.control.processes ?? {}).flatMap(([id, process]) =>
    process.kind === "store" ? [[process.store ?? id, {}] as const] : [],
  );
  const policy: PolicyDocument = {
    version: 1,
    lattice: latticeOf(document),
    stores: Object.fromEntries(stores),
    ...formalSections(parts),
  };
  const canonical = canonicalPolicy(policy, [], knownTools(document));
  const problems = [...canonical.problems, ...compilePolicy(canonical.policy, hash).problems];
  return problems.filter(({ severity }) => severity === "error").map((found) => placedIn(parts, found));
}

/** A policy has one name space for hazards and rules, and `loss:` and `serves:` may name what the document declares. */
function sharedIds(document: StpaDocument, parts: readonly FormalPart[]): readonly Problem[] {
  const seen = new Set<string>();
  const found: Problem[] = [];
  for (const part of parts) {
    const { id, path } = part;
    const given = document.requirements?.[part.requirement];
    // A property may be called like the one hazard of the analysis that it makes precise.
    const own = part.kind === "property" && given !== undefined && hazardsOf(document, given).includes(id);
    const foreign = Object.hasOwn(document.hazards, id) && !own;
    const place = [...path, "id"];
    if (seen.has(id)) {
      const message = `${quoted(id)} names two properties or rules`;
      found.push(stpaProblem("SG-STPA-ID", place, message, "give each its own id"));
    } else if (foreign) {
      const message = `${quoted(id)} is a hazard that requirement ${quoted(part.requirement)} is not about`;
      found.push(
        stpaProblem("SG-STPA-ID", place, message, `add ${quoted(id)} to its hazards, or rename the ${part.kind}`),
      );
    }
    seen.add(id);
  }
  return found;
}

/**
 * The tools of the control structure. A property about any other tool is a mistake, unless the structure itself
 * leaves tools open with `*` or a bare name.
 */
function knownTools(document: StpaDocument): Manifests | undefined {
  const { actions, feedback = {} } = document.control;
  const selectors = [...Object.values(actions), ...Object.values(feedback)].flatMap(({ tools }) => many(tools));
  const open = selectors.some((selector) => selector.includes("*") || !selector.includes("."));
  if (selectors.length === 0 || open) return undefined;
  const servers = new Map<string, string[]>();
  for (const selector of selectors) {
    const { server, tool } = splitSelector(selector);
    const held = servers.get(server) ?? [];
    servers.set(server, held);
    held.push(tool);
  }
  return Object.fromEntries(servers);
}

/** The lattice is the one section that a document has in common with the policy. */
function placedIn(parts: readonly FormalPart[], found: Problem): Problem {
  const [section, id, ...rest] = found.path;
  if (section === "lattice") return found;
  const kind = section === "hazards" ? "property" : "rule";
  const part = parts.find((each) => each.kind === kind && each.id === id);
  return { ...found, path: [...(part?.path ?? ["requirements"]), ...rest] };
}

export type CompileOptions = {
  /** Name of the STPA document, as the policy will refer to it. */
  readonly file: string;
  /** Policies that bring the labels; the built-in default without them. */
  readonly over?: readonly string[];
};

/**
 * Policy text with the hazards and the rule skeletons of a checked document. Stores and labels are not written: they
 * belong to the policy that this is laid over, and a second declaration would replace the first.
 */
export function compileStpa(document: StpaDocument, { file, over = ["default"] }: CompileOptions): string {
  const policy: PolicyDocument = {
    version: 1,
    extends: over,
    stpa: file,
    ...(document.lattice === undefined ? {} : { lattice: document.lattice }),
    ...formalSections(formalParts(document)),
  };
  // Aliases would make the text depend on how the document was written; flow maps are left to the later editor.
  return stringify(policy, { aliasDuplicateObjects: false, lineWidth: 116 });
}

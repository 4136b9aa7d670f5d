/**
 * Joins the documents of a policy into one, base first. A later document replaces what it names and keeps the rest:
 * rules and hazards by id, labels by tool and key, settings by key; categories and groups add up.
 */
import { setOwn } from "../../core/json.ts";
import {
  type Diagnostic,
  type DocumentPath,
  type Problem,
  problem,
  quoted,
  information,
  warning,
} from "../document/diagnostic.ts";
import type { PolicyDocument, PolicySource } from "./policy-document.ts";
import type { RuleText, HazardText } from "../document/shapes-rules.ts";
import { joinSections, saidTwice } from "./scopes.ts";
import { diagnose } from "../document/parse.ts";
import { mapValues } from "../document/label-forms.ts";
import * as readings from "../sections/readings.ts";

/** Where the parts of the joined document came from, by `section` and `section/id`. */
export type Origins = ReadonlyMap<string, { readonly source: PolicySource; readonly path: DocumentPath }>;

export type Merged = {
  readonly document: PolicyDocument;
  readonly origins: Origins;
  readonly diagnostics: readonly Diagnostic[];
};

type Part = { readonly [key: string]: unknown };

/** Sections that are maps of entries, where each entry is replaced or, if the flag is set, joined key by key. */
const mapSections = {
  servers: true,
  labels: true,
  stores: false,
  hazards: false,
  judges: true,
  packs: false,
} as const satisfies { readonly [K in keyof PolicyDocument]?: boolean };

const flatSections = [
  "match",
  "host",
  "flow",
  "approvals",
  "admission",
  "reflection",
  "audit",
  "limits",
] as const satisfies readonly (keyof PolicyDocument)[];

export function merge(documents: readonly PolicySource[]): Merged {
  const origins = new Map<string, { source: PolicySource; path: DocumentPath }>();
  const diagnostics: Diagnostic[] = [];
  let all: PolicyDocument = { version: 1 };
  for (const source of documents) {
    noteOrigins(source, origins);
    diagnostics.push(...duplicates(source), ...replaced(all, source.document).map((found) => diagnose(found, source)));
    all = mergeTwo(all, source.document);
  }
  return { document: all, origins, diagnostics };
}

function mergeTwo(base: PolicyDocument, next: PolicyDocument): PolicyDocument {
  // Sections are merged by one loop over their names; each keeps the type it has in both documents.
  const merged: { [key: string]: unknown } = { ...base };
  for (const [section, value] of Object.entries(next)) {
    if (value !== undefined && section !== "extends" && section !== "pack") merged[section] = value;
  }
  for (const section of flatSections) merged[section] = joined(base[section], next[section]);
  for (const [section, deep] of Object.entries(mapSections)) {
    // `section` is a key of the literal above; Object.entries forgets that.
    const key = section as keyof typeof mapSections;
    merged[section] = deep ? joinedDeep(base[key], next[key]) : joined(base[key], next[key]);
  }
  merged["labels"] = joinedDeep(plainLabels(base.labels), plainLabels(next.labels));
  merged["lattice"] = mergeLattice(base.lattice, next.lattice);
  merged["isolation"] = joinSections(base.isolation, next.isolation);
  merged["regulation"] = mergeRegulation(base.regulation, next.regulation);
  merged["readings"] = readings.merged(base.readings, next.readings);
  merged["rules"] = mergeRules(base.rules ?? [], next.rules ?? []);
  merged["keep"] = [...(base.keep ?? []), ...(next.keep ?? [])];
  merged["accepts"] = [...(base.accepts ?? []), ...(next.accepts ?? [])];
  merged["expect"] = [...(base.expect ?? []), ...(next.expect ?? [])];
  const present = Object.entries(merged).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as PolicyDocument; // built from two checked documents, section by section
}

/** The paper's `capabilities` are `effects`: in whichever words, the later document has to win. */
function plainLabels(labels: PolicyDocument["labels"]): PolicyDocument["labels"] {
  if (labels === undefined) return undefined;
  return mapValues(labels, ({ capabilities, ...rest }) =>
    capabilities === undefined ? rest : { ...rest, effects: rest.effects ?? capabilities },
  );
}

function joined(base: Part | undefined, next: Part | undefined): Part | undefined {
  return base === undefined && next === undefined ? undefined : { ...base, ...next };
}

function joinedDeep(base: Part | undefined, next: Part | undefined): Part | undefined {
  if (base === undefined || next === undefined) return base ?? next;
  const merged: { [key: string]: unknown } = { ...base };
  for (const [key, value] of Object.entries(next)) {
    const before = Object.hasOwn(base, key) ? base[key] : undefined;
    setOwn(merged, key, { ...(before as Part | undefined), ...(value as Part) }); // entries of these sections are maps
  }
  return merged;
}

function mergeLattice(
  base: PolicyDocument["lattice"],
  next: PolicyDocument["lattice"],
): PolicyDocument["lattice"] | undefined {
  if (base === undefined || next === undefined) return next ?? base;
  const union = (left: readonly string[] | undefined, right: readonly string[] | undefined): readonly string[] => [
    ...new Set([...(left ?? []), ...(right ?? [])]),
  ];
  return {
    ...base,
    ...next,
    categories: union(base.categories, next.categories),
    groups: union(base.groups, next.groups),
    clearance: { ...base.clearance, ...next.clearance },
  };
}

/** Leases add up, since a file that adds one must not take away those that it was built on. */
function mergeRegulation(
  base: PolicyDocument["regulation"],
  next: PolicyDocument["regulation"],
): PolicyDocument["regulation"] | undefined {
  if (base === undefined || next === undefined) return next ?? base;
  const leases = [...(base.leases ?? []), ...(next.leases ?? [])];
  const weights = { ...base.power?.weights, ...next.power?.weights };
  const power = { ...base.power, ...next.power, ...(Object.keys(weights).length === 0 ? {} : { weights }) };
  return {
    ...base,
    ...next,
    ...(Object.keys(power).length === 0 ? {} : { power }),
    ...(leases.length === 0 ? {} : { leases }),
  };
}

function mergeRules(base: readonly RuleText[], next: readonly RuleText[]): readonly RuleText[] {
  const replaced = new Set(next.map((rule) => rule.id));
  return [...base.filter((rule) => !replaced.has(rule.id)), ...next];
}

function noteOrigins(source: PolicySource, origins: Map<string, { source: PolicySource; path: DocumentPath }>): void {
  for (const [section, value] of Object.entries(source.document)) {
    origins.set(section, { source, path: [section] });
    if (section === "rules") {
      source.document.rules?.forEach((rule, index) => {
        origins.set(`rules/${rule.id}`, { source, path: ["rules", index] });
      });
    } else if (section === "readings") {
      source.document.readings?.forEach((one, index) => {
        origins.set(`readings/${readings.readingKey(one)}`, { source, path: ["readings", index] });
      });
    } else if (section === "keep" || section === "expect") {
      // These lists are joined one behind the other.
      let next = 0;
      while (origins.has(`${section}/${next}`)) next += 1;
      source.document[section]?.forEach((_entry, index) => {
        origins.set(`${section}/${next + index}`, { source, path: [section, index] });
      });
    } else if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      for (const key of Object.keys(value)) origins.set(`${section}/${key}`, { source, path: [section, key] });
    }
  }
}

function duplicates(source: PolicySource): readonly Diagnostic[] {
  const seen = new Map<string, DocumentPath>();
  const found: Problem[] = [];
  const note = (id: string, path: DocumentPath): void => {
    if (seen.has(id)) found.push(problem("ID", path, `the id ${quoted(id)} is used twice`, "give each its own id"));
    seen.set(id, path);
  };
  for (const id of Object.keys(source.document.hazards ?? {})) note(id, ["hazards", id]);
  source.document.rules?.forEach((rule, index) => note(rule.id, ["rules", index, "id"]));
  if (source.document.isolation !== undefined) found.push(...saidTwice(source.document.isolation));
  return found.map((each) => diagnose(each, source));
}

/** Place of a problem that was found in the joined or canonical document. */
export function placed(
  found: Problem,
  origins: Origins,
  fallback: PolicySource,
  fallbackPath: DocumentPath = [],
): Diagnostic {
  const [section, entry, ...rest] = found.path;
  const exact = entry === undefined ? undefined : origins.get(`${section}/${entry}`);
  if (exact !== undefined) return diagnose({ ...found, path: [...exact.path, ...rest] }, exact.source);
  const whole = section === undefined ? undefined : origins.get(String(section));
  if (whole !== undefined) return diagnose({ ...found, path: [...whole.path, ...found.path.slice(1)] }, whole.source);
  return diagnose({ ...found, path: fallbackPath }, fallback);
}

export function replaced(base: PolicyDocument, next: PolicyDocument): readonly Problem[] {
  const rules = new Map((base.rules ?? []).map((rule) => [rule.id, rule]));
  const ofRules = (next.rules ?? []).flatMap((rule, index) => {
    const before = rules.get(rule.id);
    return before === undefined ? [] : [said(["rules", index, "id"], "rule", rule.id, isLooser(before, rule))];
  });
  const ofHazards = Object.entries(next.hazards ?? {}).flatMap(([id, hazard]) => {
    const before = Object.hasOwn(base.hazards ?? {}, id) ? base.hazards?.[id] : undefined;
    return before === undefined ? [] : [said(["hazards", id], "hazard", id, isMilder(before, hazard))];
  });
  return [...ofRules, ...ofHazards];
}

function said(path: Problem["path"], what: string, id: string, looser: boolean): Problem {
  const message = `the ${what} ${quoted(id)} takes the place of one that is extended`;
  const remedy = "rename it to have both, or leave it so";
  return looser
    ? warning("REPLACES", path, `${message}, and stops less than it`, remedy)
    : information("REPLACES", path, message, remedy);
}

/**
 * How much an enforced rule stops. An allow rule takes a question away; what a must rule asks for has to happen, where a
 * question may be answered.
 */
const strength: { readonly [tier in RuleText["tier"]]: number } = { allow: -1, confirm: 1, must: 2, block: 3 };

function isLooser(before: RuleText, after: RuleText): boolean {
  return strengthOf(after) < strengthOf(before);
}

/** An observed rule stops nothing, and takes no question away either. */
function strengthOf({ tier, mode }: RuleText): number {
  return mode === "observe" ? 0 : strength[tier];
}

function isMilder(before: HazardText, after: HazardText): boolean {
  return weightOf(after) < weightOf(before);
}

function weightOf({ consent, mode }: HazardText): number {
  if (mode === "observe") return 0;
  return consent === "may" ? 1 : 2;
}

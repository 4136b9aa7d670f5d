/** The trace matrix: loss -> hazard -> unsafe control action -> requirement -> rule or property -> proof. */
import type { CanonicalPolicy } from "../canonical/policy-document.ts";
import { type StpaDocument, matrixRowsMax } from "./document.ts";
import { type FormalPart, formalParts, hazardsOf } from "./formal.ts";
import { many } from "./names.ts";
import type { Words } from "../document/shapes-labels.ts";
import { rulesServing } from "./policy-gaps.ts";
import { type ProofResults, held, proofWords } from "./proof-results.ts";

/** Evidence to compare with; without a policy the document's own properties and rules stand in for it. */
export type Evidence = { readonly policy?: CanonicalPolicy; readonly proofs?: ProofResults };

export type TracedProperty = {
  readonly id: string;
  /** Verdict of the proof; `not computed` where no proof was given, `not proved` where it does not mention it. */
  readonly proof: string;
  /** Proved, or kept from happening by regulation. */
  readonly proved: boolean;
};

/** A path as far as it goes: what is undefined is a gap. */
export type MatrixRow = {
  readonly loss: string;
  readonly hazard: string | undefined;
  readonly uca: string | undefined;
  readonly requirement: string | undefined;
  readonly rules: readonly string[];
  readonly properties: readonly TracedProperty[];
};

export type Matrix = { readonly rows: readonly MatrixRow[]; readonly rowsLeftOut: number };

/** All paths, in document order, up to `matrixRowsMax`. */
export function traceMatrix(document: StpaDocument, evidence: Evidence): Matrix {
  const hazardsOfLoss = namedBy(document.hazards, ({ losses }) => losses);
  const endsOf = endsBelow(document);
  const measures = measuresOf(document, evidence);
  const rows: MatrixRow[] = [];
  let count = 0;
  for (const loss of Object.keys(document.losses)) {
    for (const hazard of hazardsOfLoss.get(loss) ?? [undefined]) {
      const ends = hazard === undefined ? [nothing] : endsOf(hazard);
      count += ends.length;
      for (const { uca, requirement } of ends.slice(0, matrixRowsMax - rows.length)) {
        const found = hazard === undefined || requirement === undefined ? without : measures(requirement, hazard);
        rows.push({ loss, hazard, uca, requirement, ...found });
      }
    }
  }
  return { rows, rowsLeftOut: count - rows.length };
}

type End = Pick<MatrixRow, "uca" | "requirement">;
type Measures = Pick<MatrixRow, "rules" | "properties">;

const nothing: End = { uca: undefined, requirement: undefined };
const without: Measures = { rules: [], properties: [] };

/** Entries by the ids that they name: looking through all of them for every id would be a product of sections. */
function namedBy<T>(
  section: { readonly [id: string]: T } | undefined,
  names: (entry: T) => Words | undefined,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [id, entry] of Object.entries(section ?? {})) {
    for (const name of new Set(many(names(entry)))) {
      const held = found.get(name) ?? [];
      found.set(name, held);
      held.push(id);
    }
  }
  return found;
}

/** How the ways from a hazard go on; the same for every loss. */
function endsBelow(document: StpaDocument): (hazard: string) => readonly End[] {
  const ucasOf = namedBy(document.ucas, ({ hazards }) => hazards);
  const byUca = namedBy(document.requirements, ({ ucas }) => ucas);
  const byHazard = namedBy(document.requirements, ({ hazards }) => hazards);
  const known = new Map<string, readonly End[]>();
  return (hazard) => {
    const found = known.get(hazard);
    if (found !== undefined) return found;
    const ends: End[] = (ucasOf.get(hazard) ?? []).flatMap((uca) =>
      (byUca.get(uca) ?? [undefined]).map((requirement) => ({ uca, requirement })),
    );
    // A requirement that names the hazard, and none of its control actions, still belongs to it.
    const listed = new Set(ends.map(({ requirement }) => requirement));
    for (const requirement of byHazard.get(hazard) ?? []) {
      if (!listed.has(requirement)) ends.push({ uca: undefined, requirement });
    }
    if (ends.length === 0) ends.push(nothing);
    known.set(hazard, ends);
    return ends;
  };
}

type Sources = {
  readonly parts: readonly FormalPart[];
  /** Hazards of the analysis that each requirement with a property is about. */
  readonly about: ReadonlyMap<string, ReadonlySet<string>>;
  /** Requirements that refine one, at any remove. */
  readonly refiners: (requirement: string) => ReadonlySet<string>;
  readonly evidence: Evidence;
};

/** Rules and properties of each requirement under each hazard, found once. */
function measuresOf(document: StpaDocument, evidence: Evidence): (requirement: string, hazard: string) => Measures {
  const about = new Map(
    Object.entries(document.requirements ?? {})
      .filter(([, { property }]) => property !== undefined)
      .map(([id, requirement]) => [id, new Set(hazardsOf(document, requirement))]),
  );
  const sources: Sources = { parts: formalParts(document), about, refiners: refinersIn(document), evidence };
  const known = new Map<string, Measures>();
  return (requirement, hazard) => {
    const key = `${requirement} ${hazard}`;
    const found = known.get(key) ?? {
      rules: rulesFor(sources, requirement),
      properties: propertiesFor(sources, requirement, hazard),
    };
    known.set(key, found);
    return found;
  };
}

function refinersIn(document: StpaDocument): Sources["refiners"] {
  const direct = namedBy(document.requirements, ({ refines }) => refines);
  return (requirement) => {
    const found = new Set<string>();
    const open = [...(direct.get(requirement) ?? [])];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (found.has(next)) continue;
      found.add(next);
      open.push(...(direct.get(next) ?? []));
    }
    return found;
  };
}

function rulesFor({ parts, evidence: { policy } }: Sources, requirement: string): readonly string[] {
  if (policy !== undefined) return rulesServing(policy, requirement).map(({ id }) => id);
  return parts.filter((part) => part.kind === "rule" && part.requirement === requirement).map(({ id }) => id);
}

/**
 * Its own properties; else those of the requirements that make it precise; else, where it has rules, those of other
 * requirements about the same hazard, which its rules help to hold. Prose alone enforces nothing, so no proof stands
 * behind it.
 */
function propertiesFor(sources: Sources, requirement: string, hazard: string): readonly TracedProperty[] {
  const { parts, about, refiners, evidence } = sources;
  const { policy, proofs } = evidence;
  const properties = parts.filter(
    ({ kind, id }) => kind === "property" && (policy === undefined || Object.hasOwn(policy.hazards, id)),
  );
  const precise = new Set([requirement, ...refiners(requirement)]);
  const own = properties.filter((part) => precise.has(part.requirement));
  const enforced = rulesFor(sources, requirement).length > 0;
  const others = properties.filter((part) => enforced && about.get(part.requirement)?.has(hazard) === true);
  return (own.length > 0 ? own : others).flatMap((part) => {
    if (part.kind !== "property") return [];
    const found = proofs?.get(part.id);
    const proof = proofs === undefined ? "not computed" : found === undefined ? "not proved" : proofWords(found);
    return [{ id: part.id, proof, proved: held(found, part.hazard.consent ?? "may") }];
  });
}

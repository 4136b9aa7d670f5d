/** The trace matrix: loss -> hazard -> unsafe control action -> requirement -> rule or property -> proof. */
import type { CanonicalPolicy } from "../canonical/form.ts";
import type { StpaDocument } from "./document.ts";
import type { FormalPart } from "./formal.ts";
import { formalParts, hazardsOf } from "./formal.ts";
import { matrixRowsMax } from "./limits.ts";
import { many } from "./names.ts";
import { rulesServing } from "./policy-gaps.ts";
import type { ProofResults } from "./proof-results.ts";
import { proofWords, satisfies } from "./proof-results.ts";

/** What a policy is compared with; without a policy the document's own properties and rules stand in for it. */
export type Evidence = { readonly policy?: CanonicalPolicy; readonly proofs?: ProofResults };

export type TracedProperty = {
  readonly id: string;
  /** Verdict of the proof; `not computed` where no proof was given, `not proved` where it does not mention it. */
  readonly proof: string;
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
  const rows: MatrixRow[] = [];
  let count = 0;
  const add = (make: () => MatrixRow): void => {
    count += 1;
    if (rows.length < matrixRowsMax) rows.push(make());
  };
  const measures = measuresOf(document, evidence);
  for (const loss of Object.keys(document.losses)) {
    const hazards = Object.entries(document.hazards).filter(([, { losses }]) => many(losses).includes(loss));
    if (hazards.length === 0) add(() => ({ ...nothing, loss }));
    for (const [hazard] of hazards) {
      const ucas = Object.entries(document.ucas ?? {}).filter(([, each]) => many(each.hazards).includes(hazard));
      const direct = namedBy(document, ({ hazards: named }) => many(named).includes(hazard));
      if (ucas.length + direct.length === 0) add(() => ({ ...nothing, loss, hazard }));
      for (const [uca] of ucas) {
        const requirements = namedBy(document, (each) => many(each.ucas).includes(uca));
        if (requirements.length === 0) add(() => ({ ...nothing, loss, hazard, uca }));
        for (const requirement of requirements) {
          add(() => ({ loss, hazard, uca, requirement, ...measures(requirement, hazard) }));
        }
      }
      // A requirement that names the hazard, and none of its control actions, still belongs to it.
      for (const requirement of direct) {
        const listed = ucas.some(([uca]) => many(document.requirements?.[requirement]?.ucas).includes(uca));
        if (!listed) add(() => ({ ...nothing, loss, hazard, requirement, ...measures(requirement, hazard) }));
      }
    }
  }
  return { rows, rowsLeftOut: count - rows.length };
}

const nothing = { hazard: undefined, uca: undefined, requirement: undefined, rules: [], properties: [] };

type Requirements = NonNullable<StpaDocument["requirements"]>;

function namedBy(document: StpaDocument, test: (requirement: Requirements[string]) => boolean): readonly string[] {
  return Object.entries(document.requirements ?? {}).flatMap(([id, requirement]) => (test(requirement) ? [id] : []));
}

type Measures = Pick<MatrixRow, "rules" | "properties">;

type Sources = { readonly document: StpaDocument; readonly parts: readonly FormalPart[]; readonly evidence: Evidence };

/** Rules and properties of each requirement under each hazard, found once. */
function measuresOf(document: StpaDocument, evidence: Evidence): (requirement: string, hazard: string) => Measures {
  const sources: Sources = { document, parts: formalParts(document), evidence };
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

function rulesFor({ parts, evidence: { policy } }: Sources, requirement: string): readonly string[] {
  if (policy !== undefined) return rulesServing(policy, requirement).map(({ id }) => id);
  return parts.filter((part) => part.kind === "rule" && part.requirement === requirement).map(({ id }) => id);
}

/** Its own properties; else those of other requirements about the same hazard, which its rules help to hold. */
function propertiesFor(
  { document, parts, evidence }: Sources,
  requirement: string,
  hazard: string,
): readonly TracedProperty[] {
  const { policy, proofs } = evidence;
  const properties = parts.filter(
    ({ kind, id }) => kind === "property" && (policy === undefined || Object.hasOwn(policy.hazards, id)),
  );
  const own = properties.filter((part) => part.requirement === requirement);
  const about = properties.filter((part) => {
    const other = document.requirements?.[part.requirement];
    return other !== undefined && hazardsOf(document, other).includes(hazard);
  });
  return (own.length > 0 ? own : about).flatMap((part) => {
    if (part.kind !== "property") return [];
    const found = proofs?.get(part.id);
    const proof = proofs === undefined ? "not computed" : found === undefined ? "not proved" : proofWords(found);
    return [{ id: part.id, proof, proved: satisfies(found, part.hazard.consent ?? "may") }];
  });
}

/** Small policies for tests of the proof engine, through the loader and compiler that every policy goes through. */
import { createHash } from "node:crypto";
import type { ToolContract } from "../../../src/core/contract.ts";
import { contractOfTool } from "../../../src/policy/contracts/contracts.ts";
import type { ArgumentObject, ToolLabelsText } from "../../../src/policy/document/shapes-labels.ts";
import type { HazardText, NeverText, RuleText } from "../../../src/policy/document/shapes-rules.ts";
import type { PolicyDocument } from "../../../src/policy/canonical/policy-document.ts";
import { loadPolicy } from "../../../src/policy/load.ts";
import { Diagram } from "../../../src/proof/prove/diagram.ts";
import { type Model, type ModelMove, makeModel } from "../../../src/proof/prove/fixpoint.ts";
import { type HazardProof, type Prover, makeProver, proveHazard } from "../../../src/proof/prove/prove.ts";
import { renderSteps } from "../../../src/proof/prove/render.ts";
import { makeSpace, type Space } from "../../../src/proof/prove/space.ts";
import { type Ends, type Question, type Subject, questionOf } from "../../../src/proof/prove/subject.ts";
import { makeVariants } from "../../../src/proof/prove/variants.ts";

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Labels and arguments in a word. */
export const open = { confidentiality: "public", trust: "trusted" } as const;
export const secret = { confidentiality: "private", trust: "trusted" } as const;
export const foreign = { confidentiality: "public", trust: "untrusted" } as const;
export const local: ArgumentObject = { role: "content", sink: false };
export const sink: ArgumentObject = { role: "content", sink: true, audience: "anyone", bound: "public" };

/** Tools in a line: what each returns, writes, opens. */
export const tools = {
  reads: (output: ToolLabelsText["output"], more: ToolLabelsText = {}): ToolLabelsText => ({
    effects: "read.local",
    rest: local,
    ...(output === undefined ? {} : { output }),
    ...more,
  }),
  writes: (store: string): ToolLabelsText => ({
    effects: "write.local",
    args: { text: local },
    rest: local,
    output: open,
    writes: store,
  }),
  grants: (store: string): ToolLabelsText => ({
    effects: "write.local.grant",
    rest: local,
    output: open,
    opens: { store, audience: "anyone" },
  }),
  sends: (more: ToolLabelsText = {}): ToolLabelsText => ({
    effects: "write.external.send",
    args: { text: sink },
    rest: sink,
    output: open,
    ...more,
  }),
} as const;

export type Small = Omit<PolicyDocument, "version" | "hazards"> & {
  /** What must never happen, as the hazard `h`. */
  readonly never: NeverText;
  readonly hazard?: Omit<HazardText, "never">;
};

export const hazardId = "h";

/** The subject of a small policy whose tools are those that it labels. */
export function small({ never, hazard, ...document }: Small): Subject {
  return subjectOfDocument({
    version: 1,
    lattice: { confidentiality: ["public", "private"] },
    servers: { s: { trust: "trusted" } },
    ...document,
    hazards: { [hazardId]: { ...hazard, never } },
  });
}

export function subjectOfDocument(document: PolicyDocument): Subject {
  const { policy, diagnostics } = loadPolicy({ file: "small", document }, { loader: () => undefined, hash: sha256 });
  if (policy === undefined) throw new Error(JSON.stringify(diagnostics, undefined, 1));
  const contracts = Object.keys(document.labels ?? {}).map((selector): ToolContract => {
    const [server = "", name = ""] = selector.split(".");
    return contractOfTool(policy.table, server, { name }, () => "");
  });
  return { policy, contracts };
}

export const blocks = (id: string, when: NonNullable<RuleText["when"]>): RuleText => ({
  id,
  tier: "block",
  when,
  why: `because of ${id}`,
});

/** The question about the hazard `h` under these rules. */
export function question(subject: Subject, core: readonly string[] = [], ends: Ends = ["hi"]): Question {
  const hazard = subject.policy.ir.hazards.find((one) => one.id === hazardId);
  if (hazard === undefined) throw new Error("a small policy has the hazard h");
  return questionOf(subject, { hazard, core: new Set(core), ends });
}

export function space(subject: Subject, core: readonly string[] = [], ends: Ends = ["hi"]): Space {
  return makeSpace(question(subject, core, ends), makeVariants(subject).outputs, new Diagram(100_000));
}

export function model(subject: Subject, core: readonly string[] = [], ends: Ends = ["hi"]): Model {
  const made = makeModel(question(subject, core, ends), makeVariants(subject));
  if (!made.ok) throw new Error(made.error);
  return made.value;
}

/** Moves of one kind. */
export function movesOf<K extends ModelMove["kind"]>({ moves }: Model, kind: K): readonly (ModelMove & { kind: K })[] {
  return moves.filter((move): move is ModelMove & { kind: K } => move.kind === kind);
}

export function prove(subject: Subject, id: string = hazardId): HazardProof {
  return proveWith(makeProver(subject), id);
}

export function proveWith(prover: Prover, id: string = hazardId): HazardProof {
  const hazard = prover.subject.policy.ir.hazards.find((one) => one.id === id);
  if (hazard === undefined) throw new Error(`there is no hazard ${id}`);
  return proveHazard(prover, hazard);
}

/** The counterexample of a refuted hazard in words. */
export function told(subject: Subject, proof: HazardProof): readonly string[] {
  return renderSteps(subject, proof.hazard, proof.counterexample?.steps ?? []);
}

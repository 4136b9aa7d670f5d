/** Proves a policy without a rule wrong, plays the way that the engine found, and plays it again with the rule. */
import { makeProver, proveHazard, type HazardProof } from "../../src/proof/prove/prove.ts";
import { type Subject, boundsRule, defaultRule } from "../../src/proof/prove/subject.ts";
import type { TraceStep } from "../../src/proof/prove/trace.ts";
import { happened } from "./happened.ts";
import { type Mutant, type Pack, reducedTo } from "./packs.ts";
import { type Act, planOf } from "./plan.ts";
import { Planting } from "./planting.ts";
import { World } from "./world.ts";

export type Played = {
  readonly happened: boolean;
  /** Acts that the gateway kept from happening: the rules that decided; a reading that found a store shut has none. */
  readonly stopped: readonly (readonly string[])[];
};

export type Replayed = {
  readonly verdicts: { readonly open: HazardProof["verdict"]; readonly closed: HazardProof["verdict"] };
  readonly steps: readonly TraceStep[];
  readonly open: Played;
  readonly closed: Played;
};

export async function replay(pack: Pack, mutant: Mutant, seed: number): Promise<Replayed> {
  if (mutant.open.includes(defaultRule) && !mutant.open.includes(boundsRule))
    throw new Error("no gateway runs a default that looks at no bounds: this mutant cannot be played");
  const open = reducedTo(pack, mutant.open);
  const closed = reducedTo(pack, mutant.closed);
  const { verdict, counterexample } = proofOf(open, mutant.hazard);
  const steps = counterexample?.steps ?? [];
  const acts = planOf({ subject: open, manifest: pack.manifest, hazard: mutant.hazard }, steps, new Planting(seed));
  return {
    verdicts: { open: verdict, closed: proofOf(closed, mutant.hazard).verdict },
    steps,
    open: await played(pack, { subject: open, hazard: mutant.hazard, acts }, seed),
    closed: await played(pack, { subject: closed, hazard: mutant.hazard, acts }, seed),
  };
}

function proofOf(subject: Subject, id: string): HazardProof {
  const hazard = subject.policy.ir.hazards.find((one) => one.id === id);
  if (hazard === undefined) throw new Error(`no hazard ${id}`);
  return proveHazard(makeProver(subject), hazard);
}

type Story = { readonly subject: Subject; readonly hazard: string; readonly acts: readonly Act[] };

async function played({ manifest }: Pack, { subject, hazard, acts }: Story, seed: number): Promise<Played> {
  const planting = new Planting(seed);
  const world = new World(subject, manifest, planting);
  const stopped: (readonly string[])[] = [];
  for (const act of acts) {
    if (!(await world.play(act))) stopped.push(act.kind === "call" ? world.decidedBy() : []);
  }
  const judged = subject.policy.ir.hazards.find(({ id }) => id === hazard);
  return { happened: judged !== undefined && happened(judged, { world, planting }), stopped };
}

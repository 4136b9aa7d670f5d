/** A counterexample as acts: calls with concrete arguments, and what servers, clocks and outsiders do between them. */
import type { ToolContract } from "../../src/core/contract.ts";
import { type JsonObject, stringMember } from "../../src/core/json.ts";
import type { KeySpec } from "../../src/policy/ir/ir.ts";
import { staticMatch } from "../../src/policy/semantics/patterns.ts";
import { type Subject, modelTemporal } from "../../src/proof/prove/subject.ts";
import { unlockingOf } from "../../src/policy/semantics/monitors.ts";
import type { Manifest } from "../../src/proof/prove/table.ts";
import type { TraceStep } from "../../src/proof/prove/trace.ts";
import { makeVariants } from "../../src/proof/prove/variants.ts";
import { Arguments } from "./arguments.ts";
import type { Planted, Planting } from "./planting.ts";

export type Act =
  | {
      readonly kind: "call";
      /** Number of the client process; each has a run of its own. */
      readonly run: number;
      readonly contract: ToolContract;
      readonly arguments: JsonObject;
      /** `late`: the server answers when the clock of the story says so. */
      readonly answer: "success" | "error" | "late";
    }
  | { readonly kind: "late" }
  | { readonly kind: "tick"; readonly ms: number }
  | { readonly kind: "speak"; readonly contract: ToolContract }
  | { readonly kind: "fire"; readonly store: string; readonly group: string };

type CallStep = TraceStep & { readonly kind: "call" };
const ownRun = 1;

export function planOf(
  { subject, manifest, hazard }: { readonly subject: Subject; readonly manifest: Manifest; readonly hazard: string },
  steps: readonly TraceStep[],
  planting: Planting,
): readonly Act[] {
  return new Planner(subject, manifest, hazard, planting).plan(steps);
}

class Planner {
  readonly #subject: Subject;
  readonly #planting: Planting;
  readonly #values: Arguments;
  readonly #key: KeySpec | undefined;
  /** What each run has got to hold. */
  readonly #held = new Map<number, Planted[]>();
  /** What was written into stores, besides what they held from the start. */
  readonly #written = new Map<string, Planted[]>();
  #runs = ownRun;

  constructor(subject: Subject, manifest: Manifest, hazard: string, planting: Planting) {
    this.#subject = subject;
    this.#planting = planting;
    const listed = (server: string, tool: string): JsonObject | undefined =>
      manifest[server]?.find((one) => stringMember(one, "name") === tool);
    this.#values = new Arguments(subject, listed);
    const found = subject.policy.ir.hazards.find((one) => one.id === hazard);
    this.#key = found?.kind === "temporal" ? found.temporal.key : undefined;
  }

  plan(steps: readonly TraceStep[]): readonly Act[] {
    return steps.flatMap((step, index) => this.#acts(step, steps.slice(index + 1)));
  }

  #acts(step: TraceStep, later: readonly TraceStep[]): readonly Act[] {
    switch (step.kind) {
      case "call":
        return this.#calls(step, later);
      case "late":
        return [{ kind: "late" }];
      case "tick":
        return [{ kind: "tick", ms: step.withinMs + 1 }];
      case "speak": {
        const contract = this.#subject.contracts.find(({ tool }) => tool === "notifications/message");
        if (contract === undefined) throw new Error("no server could say anything");
        this.#holds(ownRun).push(this.#planting.output(contract, new Map()));
        return [{ kind: "speak", contract }];
      }
      case "fire":
        return [{ kind: "fire", store: step.store, group: step.group }];
      case "host-read":
      case "host-send":
      case "host-execute":
        throw new Error(`${step.kind}: no starter policy has an open host, so nothing here plays one`);
    }
  }

  #calls(step: CallStep, later: readonly TraceStep[]): readonly Act[] {
    const contract = this.#subject.contracts.find(({ server, tool }) => server === step.server && tool === step.tool);
    if (contract === undefined) throw new Error(`${step.server}.${step.tool} has no contract`);
    const before: Act[] = [];
    let run = ownRun;
    if (step.run === "other") {
      this.#runs += 1;
      run = this.#runs;
      const wanted = step.arguments.reduce((all, { label }) => all | label, 0);
      if (wanted !== 0) before.push(this.#source(run, wanted));
    }
    const carried = new Map(
      step.arguments.map(({ name, label }) => [name, this.#texts(run, label).map(({ text }) => text)] as const),
    );
    const key = this.#key === undefined || step.key === undefined ? undefined : { spec: this.#key, relation: step.key };
    const given = this.#values.find({ contract, truths: step.truths, carried, key });
    for (const store of contract.writes) {
      const texts = step.arguments.flatMap(({ label }) => this.#texts(run, label));
      this.#written.set(store, [...(this.#written.get(store) ?? []), ...texts]);
    }
    if (step.gained !== undefined) this.#gain(run, contract, step.truths);
    return [...before, { kind: "call", run, contract, arguments: given, answer: this.#answer(step, contract, later) }];
  }

  /** A call of another run that brings what the run is said to hold: one that changes as little as can be. */
  #source(run: number, wanted: number): Act {
    const covering = makeVariants(this.#subject).all.filter(
      ({ contract }) => (wanted & ~contract.output.label.hi) === 0,
    );
    const cost = ({ contract }: (typeof covering)[number]): number =>
      (contract.consequential ? 4 : 0) + (contract.toolDigest === undefined ? 2 : 0) + contract.writes.length;
    const [best] = covering.toSorted((left, right) => cost(left) - cost(right));
    const contract = this.#subject.contracts.find(
      ({ server, tool }) => server === best?.contract.server && tool === best.contract.tool,
    );
    if (best === undefined || contract === undefined) throw new Error(`nothing brings ${wanted} to another run`);
    const given = this.#values.find({ contract, truths: best.fixed, carried: new Map(), key: undefined });
    this.#gain(run, contract, best.fixed);
    return { kind: "call", run, contract, arguments: given, answer: "success" };
  }

  #gain(run: number, contract: ToolContract, truths: ReadonlyMap<number, boolean>): void {
    const held = this.#holds(run);
    held.push(this.#planting.output(contract, truths));
    for (const store of contract.reads)
      held.push(this.#planting.store(this.#subject, store), ...(this.#written.get(store) ?? []));
  }

  #holds(run: number): Planted[] {
    const held = this.#held.get(run) ?? [];
    this.#held.set(run, held);
    return held;
  }

  /** Texts that together have the restrictions of a label; those with the fewest others first. */
  #texts(run: number, label: number): readonly Planted[] {
    const { untrustedBit } = this.#subject.policy.ir.lattice;
    const extra = (one: Planted): number => count(one.label & ~label & ~untrustedBit);
    const chosen: Planted[] = [];
    let missing = label;
    for (const one of this.#holds(run).toSorted((left, right) => extra(left) - extra(right))) {
      if ((one.label & missing) === 0) continue;
      chosen.push(one);
      missing &= ~one.label;
    }
    if (missing !== 0) throw new Error(`nothing that run ${run} holds has the restrictions ${missing}`);
    return chosen;
  }

  /** A success that the counterexample does not have must not unlock anything: such a call fails, or answers late. */
  #answer(step: CallStep, contract: ToolContract, later: readonly TraceStep[]): "success" | "error" | "late" {
    if (step.succeeds) return "success";
    const { rules, hazards } = this.#subject.policy.ir;
    const temporals = [...rules, ...hazards].flatMap((one) => (one.kind === "temporal" ? [one] : []));
    const unlocked = temporals.filter(({ temporal }) => {
      const modelled = modelTemporal(temporal);
      const unlock = modelled === undefined ? undefined : unlockingOf(modelled);
      return unlock !== undefined && staticMatch(unlock, contract, "permit", "hi");
    });
    if (unlocked.length === 0) return "success";
    const late = later.some((other) => other.kind === "late" && unlocked.some(({ id }) => id === other.rule));
    return late ? "late" : "error";
  }
}

function count(bits: number): number {
  return bits === 0 ? 0 : (bits & 1) + count(bits >>> 1);
}

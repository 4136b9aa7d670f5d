/**
 * One hazard as a game without goals. The gateway may refuse every call, so rules and tools do not matter. The
 * remaining moves are an opened channel, sends and executions of the client, and time (formal.md 4.1, 4.5). The arena
 * therefore holds for any list of tools, and is made once for a policy.
 */
import type { ToolContract } from "../../core/contract.ts";
import type { CompiledPolicy } from "../../policy/compile/compile.ts";
import type { Hazard, Ir } from "../../policy/ir/ir.ts";
import type { Cost } from "../prove/fixpoint.ts";
import { type EnvironmentMove, environment } from "../prove/environment.ts";
import { Diagram } from "../prove/diagram.ts";
import { type Space, makeSpace, ownView } from "../prove/space.ts";
import { questionOf } from "../prove/subject.ts";
import type { Arena, Uncontrollable } from "./arena.ts";

export type SafetyArena = { readonly space: Space; readonly arena: Arena };

export function safetyArena(policy: CompiledPolicy, hazard: Hazard, cost: Cost): SafetyArena {
  const subject = { policy, contracts: [anything(policy.ir)] };
  const question = questionOf(subject, { hazard, core: new Set(), ends: ["hi"] });
  const space = makeSpace(question, [], new Diagram(cost.nodesMax, cost.effort));
  const moves = environment(space, ownView(space)).flatMap((move) => uncontrollable(policy.ir, move, hazard));
  return {
    space,
    arena: {
      diagram: space.diagram,
      stateCount: space.variables.length,
      rounds: [],
      uncontrollable: moves,
      goals: [],
      domain: 1,
    },
  };
}

/** The move as one of the game; undefined where the gateway decides it, or where it only unlocks. */
export function uncontrollable(ir: Ir, move: EnvironmentMove, hazard: Hazard): readonly Uncontrollable[] {
  const name = moveName(ir, move);
  if (name === undefined) return [];
  const { permitted, bad, next } = move.step;
  // A host act changes no state, so it is in the model only where it is bad.
  const both = hazard.consent === "may" ? { never: 0, may: bad } : { never: bad, may: 0 };
  return [{ name, possible: permitted, bad: both, next }];
}

/** The name of a move in an accepted risk: `fire STORE GROUP`, `host.send`, `host.execute`. */
function moveName(ir: Ir, move: EnvironmentMove): string | undefined {
  switch (move.kind) {
    case "fire":
      return `fire ${ir.stores[move.store]?.name ?? ""} ${ir.lattice.groups[move.group] ?? ""}`;
    case "host-send":
      return "host.send";
    case "host-execute":
      return "host.execute";
    case "host-read":
      return "host.read";
    case "tick":
      return `tick ${move.automaton.id}`;
    // Unsolicited messages are released or withheld like results; a late success only unlocks.
    case "speak":
    case "late":
      return undefined;
  }
}

/** A tool that writes to every store and opens it to everyone: no listed tool can do more. */
function anything(ir: Ir): ToolContract {
  const nothing = { lo: ir.lattice.bottom, hi: ir.lattice.bottom };
  const names = ir.stores.map(({ name }) => name);
  return {
    server: "",
    tool: "",
    toolDigest: undefined,
    source: "unknown",
    effects: { must: [], may: [] },
    flags: { irreversible: false, openWorld: false },
    arguments: new Map(),
    rest: { role: "content", sink: false, audience: 0, forbidden: ir.lattice.bottom, schemaValues: [] },
    output: { label: nothing, fields: [] },
    cases: [],
    reads: names,
    writes: names,
    opens: names.map((store) => ({ store, audience: ir.lattice.groups })),
    consequential: true,
  };
}

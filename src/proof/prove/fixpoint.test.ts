// The fixpoint and the way read back from it: distances, limits, and that a limit is never taken for a proof.
import { describe, expect, it } from "vitest";
import { blocks, model, open, prove, question, secret, small, tools } from "../../../test/kit/proof/small.ts";
import { explore, freshCost, makeModel, predecessors } from "./fixpoint.ts";
import { stateVariablesMax } from "./limits.ts";
import { shortestPath } from "./path.ts";
import { decideCore, makeProver, proveHazard } from "./prove.ts";
import { makeVariants } from "./variants.ts";

const labels = { "s.read": tools.reads(secret), "s.send": tools.sends(), "s.look": tools.reads(open) };
const flow = { flow: { from: "private", to: "s.send" } } as const;

function explored(subject: ReturnType<typeof small>, core: readonly string[] = []) {
  const found = explore(model(subject, core));
  if (!found.ok) throw new Error(found.error);
  return found.value;
}

describe("the nearest bad move", () => {
  it("a move that is bad at once has distance one and a way of one move", () => {
    const found = explored(small({ labels, never: { call: "s.send" } }));
    expect(found.distance).toBe(1);
    expect(shortestPath(found)?.map(({ move }) => move.kind)).toEqual(["dispatch"]);
  });

  it("each layer is one move further, and the way goes through all of them", () => {
    for (const count of [1, 3, 7]) {
      const found = explored(small({ labels, never: { atMost: { of: "s.send", count } } }));
      expect(found.distance).toBe(count + 1);
      expect(found.layers).toHaveLength(count + 1);
      expect(shortestPath(found)).toHaveLength(count + 1);
    }
  });

  it("where nothing leads there, there is no distance and no way", () => {
    const found = explored(small({ labels, rules: [blocks("no", "s.send")], never: flow }), ["no"]);
    expect(found.distance).toBeUndefined();
    expect(shortestPath(found)).toBeUndefined();
  });

  it("a way has the choices that were made in it, by name", () => {
    const path = shortestPath(explored(small({ labels, never: flow }))) ?? [];
    expect(path.map(({ choices }) => [...choices])).toEqual([["returns"], [expect.stringMatching(/^takes 0 /)]]);
  });

  it("a step that changes nothing of the target leads into it only from within", () => {
    const { space } = model(small({ labels, never: flow }));
    const step = { permitted: 1, bad: 0, next: new Map([[0, 1]]) };
    expect(predecessors(space, step, space.diagram.variable(space.variables.length))).toBe(0);
    expect(predecessors(space, step, space.diagram.variable(0))).toBe(1);
  });
});

describe("limits", () => {
  const subject = small({ labels, rules: [blocks("no", { tool: "s.send", data: "private" })], never: flow });
  const prover = makeProver(subject);
  const { hazard } = question(subject);

  it("too few nodes for the model, for the search, or for the way back are refused, never believed", () => {
    const known = proveHazard(prover, hazard);
    expect(known).toMatchObject({ verdict: "proved", core: ["no"] });
    for (let nodesMax = 2; nodesMax < 200; nodesMax += 1) {
      const proof = proveHazard(prover, hazard, { ...freshCost(), nodesMax });
      if (proof.verdict === "proved") expect(proof.core).toEqual(["no"]);
      else {
        expect(proof.verdict).toBe("unknown");
        expect(proof.reason).toMatch(/needs more than the limit of .* nodes or .* steps/);
      }
    }
    expect(proveHazard(prover, hazard, { ...freshCost(), nodesMax: 200 }).verdict).toBe("proved");
  });

  it("law: however few steps are left, no refuted hazard is proved and no proved one is refuted", () => {
    const refutable = small({ labels, never: { atMost: { of: "s.send", count: 3 } } });
    const one = makeProver(refutable);
    const verdicts = new Set<string>();
    const asked = question(refutable).hazard;
    for (let left = 0; left < 1_500; left += 7) {
      verdicts.add(proveHazard(one, asked, { ...freshCost(), effort: { left } }).verdict);
      const proof = proveHazard(prover, hazard, { ...freshCost(), effort: { left } });
      expect(["proved", "unknown"]).toContain(proof.verdict);
      expect(["refuted", "unknown"]).toContain(proof.without.verdict);
    }
    expect([...verdicts].toSorted()).toEqual(["refuted", "unknown"]);
  });

  it("a model that is not finished in its steps says so in its search, too", () => {
    const bounded = question(subject, ["default", "bounds"]);
    const made = makeModel(bounded, makeVariants(subject), { ...freshCost(), effort: { left: 5 } });
    expect(made).toMatchObject({ ok: false, error: expect.stringMatching(/steps of a decision diagram/) });
    const counted = small({ labels, never: { atMost: { of: "s.send", count: 50 } } });
    const cost = { ...freshCost(), effort: { left: 1_000_000 } };
    const long = makeModel(question(counted), makeVariants(counted), cost);
    expect(long.ok).toBe(true);
    cost.effort.left = 100;
    expect(long.ok ? explore(long.value) : long).toMatchObject({ ok: false });
  });

  it("numbers that count to too many bits are refused at once", () => {
    const huge = small({ labels, never: { atMost: { of: "s.send", count: 10_000 } } });
    const proof = prove(huge);
    expect(proof).toMatchObject({ verdict: "unknown", enforcedBy: "none", givenConsent: undefined });
    expect(proof.reason).toMatch(new RegExp(`more than the limit of ${stateVariablesMax} bits of state`));
    const never = { unless: { call: "s.send", need: "s.look" } } as const;
    const owed = { after: "s.read", owe: "s.look", within: 10_000, before: "s.send" };
    const debt = small({ labels, rules: [{ id: "debt", tier: "must", owed, why: "w" }], never });
    const core = ["debt"];
    expect(decideCore(makeProver(debt), "h", core)).toMatchObject({ ok: false, error: expect.stringMatching(/bits/) });
  });

  it("a hazard that is not there is named", () => {
    expect(decideCore(prover, "other", [])).toEqual({ ok: false, error: "there is no hazard `other`" });
    expect(decideCore(prover, "h", ["no"])).toMatchObject({ ok: true, value: { distance: undefined } });
  });
});

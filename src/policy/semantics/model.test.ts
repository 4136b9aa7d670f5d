import { describe, expect, it } from "vitest";
import type { CallMoment } from "../../core/moment.ts";
import { contract, frameOf, lattice, nothing, option } from "../../../test/kit/policy/scene.ts";
import { makeModel } from "./model.ts";
import { stateOf } from "./state.ts";

const look = contract("look", { does: ["read.local"] });
const moment: CallMoment = {
  kind: "call",
  at: 1,
  call: "c",
  method: "tools/call",
  contract: look,
  arguments: { a: "x", b: [1, 2] },
  workspace: [],
  digest: "d",
};

describe("the model of a policy", () => {
  const model = makeModel(frameOf({}), (value) => `digest of ${JSON.stringify(value)}`);

  it("knows nothing of arguments that nobody labelled: from nothing to everything", () => {
    const range = { lo: nothing, hi: lattice.top };
    expect([...model.unknownLabels(moment)]).toEqual([
      ["a", { range, digest: 'digest of "x"', path: [] }],
      ["b", { range, digest: "digest of [1,2]", path: [] }],
    ]);
  });

  it("classifies a call and moves by events; what is no move is an error", () => {
    expect(model.classify(moment)).toMatchObject({ server: "s", tool: "look", truths: new Map([[0, true]]) });
    const q = model.initial(undefined);
    const { call, method, digest } = moment;
    const allowed = { at: 1, kind: "dispatched", call, method, option: option(look), arguments: {}, digest } as const;
    const sent = model.next(q, allowed);
    expect(sent.ok && stateOf(sent.value).inFlight.has("c")).toBe(true);
    expect(sent.ok && model.next(sent.value, allowed).ok).toBe(false);
  });

  it("sees the same parts of the policy for the same contract", () => {
    expect(model.relevant(look)).toBe(model.relevant(look));
  });
});

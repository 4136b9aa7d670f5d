import { expect, test } from "vitest";
import type { Opinion } from "../../core/opinion.ts";
import { lattice } from "../../../test/kit/policy/scene.ts";
import { orderOf, run, tool } from "../../../test/kit/isolation/projection-scene.ts";
import { makeProjection, nothingRemembered } from "./projection.ts";

function beside(distrusted: readonly string[], order = orderOf()): Opinion {
  const made = makeProjection({ order: () => order, lattice, digest: (one) => JSON.stringify(one) });
  const head = { kind: "release", at: 9, call: undefined, contract: tool(), option: undefined } as const;
  const moment = { ...head, outcome: "succeeded", value: "words" } as const;
  const memory = { ...nothingRemembered, distrusted: new Set(distrusted) };
  return made.consider({ moment, option: undefined }, run, memory, new Map());
}

test("a text beside calls of a server that violated its scope is withheld; `learn` decides nothing", () => {
  expect(beside(["s"])).toMatchObject({ verdict: "deny", reasons: [{ code: "SG-DISTRUST" }] });
  expect(beside(["other"])).toMatchObject({ verdict: "allow" });
  expect(beside(["s"], orderOf({}, "learn"))).toMatchObject({ verdict: "allow" });
});

import { expect, it } from "vitest";
import { begin, seal } from "../../core/mechanism.ts";
import { step } from "../../core/step.ts";
import { makeModel } from "../../policy/semantics/model.ts";
import { everyEffect } from "../../core/effect.ts";
import { contract, frameOf } from "../../../test/kit/policy/scene.ts";
import { makeTiers } from "./tiers.ts";

it("a tool of which nothing is known asks with the one reason that helps", () => {
  const frame = frameOf({});
  const model = makeModel(frame, () => "digest");
  const engine = { model, mechanisms: [seal(makeTiers(frame, model))] };
  const unknown = contract("mystery", { effects: { must: [], may: everyEffect }, source: "unknown" });
  const head = { kind: "call", at: 1, call: "c", method: "tools/call", contract: unknown } as const;
  const moment = { ...head, arguments: { a: "x" }, workspace: [], digest: "d" };
  const found = step(engine, begin(engine, "r", undefined), moment, new Map());
  expect(found.kind === "decided" && found.decision.reasons.map((reason) => reason.code)).toEqual([
    "SG-ASK-UNLABELLED",
  ]);
  expect(found).toMatchObject({ decision: { verdict: "confirm" } });
});

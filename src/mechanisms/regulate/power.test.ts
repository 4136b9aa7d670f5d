import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { argument, contract, option } from "../../../test/kit/policy/scene.ts";
import type { ToolContract } from "../../core/contract.ts";
import { type Effect, everyEffect } from "../../core/effect.ts";
import type { RunEvent } from "../../core/event.ts";
import type { JsonObject } from "../../core/json.ts";
import {
  type Power,
  effectsOfCall,
  effectsOfTool,
  noPower,
  powerAfter,
  powerGathered,
  powerReachable,
  powerReason,
  powerWith,
} from "./power.ts";
import { completed, powerOf } from "./power-weights.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const builtIn: ReadonlyMap<Effect, number> = new Map();
const power = (...effects: readonly Effect[]): number => powerOf(new Set(effects), builtIn);
const call = (of: ToolContract, given: JsonObject = {}) => ({ option: option(of), arguments: given });
const allowed = (of: ToolContract, given: JsonObject = {}): RunEvent => ({
  at: 0,
  kind: "dispatched",
  call: "c",
  method: "tools/call",
  digest: "d",
  ...call(of, given),
});

const read = contract("read", { does: ["read.local"] });
const send = contract("send", { does: ["write.external.send"] });
const shell = contract("run", {
  effects: { must: [], may: ["execute.local"] },
  arguments: new Map([["command", argument("command", false)]]),
});

describe("weights", () => {
  it("count an effect once, and an action in place of the plain effect", () => {
    expect(power()).toBe(0);
    expect(power("read.local")).toBe(1);
    expect(power("write.external")).toBe(8);
    expect(power("write.external.send")).toBe(12);
    expect(power("write.external", "write.external.send")).toBe(12);
    expect(power("write.external.send", "write.external.pay")).toBe(12 + 28);
    expect(power("read.local", "write.local", "execute.local")).toBe(1 + 3 + 20);
  });

  it("take a path that leaves things open for all that it could be", () => {
    expect(completed(["write"]).size).toBe(everyEffect.filter((effect) => effect.startsWith("write")).length);
    expect(power("write")).toBe(power(...everyEffect.filter((effect) => effect.startsWith("write."))));
    expect(power("execute", "read", "write")).toBe(power(...everyEffect));
    expect(powerOf(new Set(["fly.away"]), builtIn)).toBe(0);
  });

  it("of a policy replace those of the effect and of all below it, but an action never weighs less than its place", () => {
    const own = new Map<Effect, number>([
      ["write", 5],
      ["write.external.send", 2.5],
      ["read.local", 0],
    ]);
    expect(powerOf(new Set(["write.external.pay"]), own)).toBe(5);
    expect(powerOf(new Set(["write.external.send"]), own)).toBe(5);
    expect(powerOf(new Set(["read.local"]), own)).toBe(0);
    expect(powerOf(new Set(["read.local.credential"]), own)).toBe(0);
    expect(powerOf(new Set(["read.external"]), own)).toBe(2);
  });
});

describe("a run", () => {
  it("gathers what its calls may have done, from the moment they are allowed", () => {
    const before = powerAfter(noPower, allowed(read));
    expect(powerAfter(before, allowed(read))).toBe(before);
    expect(powerAfter(before, { at: 1, kind: "succeeded", call: "c" })).toBe(before);
    const after = powerAfter(before, allowed(send));
    expect(powerGathered(after, builtIn)).toBe(13);
    expect(powerWith(before, call(send), builtIn)).toBe(13);
    expect(powerReachable(before, [read, send, shell], builtIn)).toBe(33);
  });

  it("counts what arguments reveal, whom a call lets in, and the case that holds", () => {
    expect(effectsOfCall(call(shell, { command: "git push" }))).toContain("write.external.publish");
    const share = contract("share", { does: ["write.local"], opens: [{ store: "s", audience: ["anyone"] }] });
    expect(effectsOfCall(call(share))).toContain("write.external.grant");
    const cases = contract("write", {
      does: ["write.local"],
      opens: share.opens,
      cases: [
        { predicates: [0], effects: { must: ["write.local.delete"], may: ["write.local.delete"] } },
        { predicates: [9], output: read.output },
      ],
    });
    expect(effectsOfCall(call(cases))).not.toContain("write.local");
    expect(effectsOfTool(cases)).toEqual(["write.local", "write.local.delete", "write.external.grant"]);
    expect(effectsOfTool(read)).toEqual(["read.local"]);
  });
});

describe("the budget", () => {
  const settings = { budget: 12, weights: builtIn };

  it("asks when power is gathered, and not when it is used again", () => {
    expect(powerReason(noPower, call(send), { budget: undefined, weights: builtIn }, false)).toBeUndefined();
    expect(powerReason(noPower, call(send), settings, false)).toBeUndefined();
    const reader = powerAfter(noPower, allowed(read));
    expect(powerReason(reader, call(send), settings, false)).toEqual({
      mechanism: "regulate",
      code: "SG-POWER",
      verdict: "confirm",
      facts: { gathered: 1, after: 13, budget: 12, effects: ["write.external.send"] },
      way: "do this part in a new run, or ask the person",
    });
    const agreed = powerAfter(reader, allowed(send));
    expect(powerReason(agreed, call(send), settings, false)).toBeUndefined();
    expect(powerReason(agreed, call(read), settings, false)).toBeUndefined();
    expect(powerReason(agreed, call(shell), settings, false)?.facts["after"]).toBe(33);
  });
});

const effect = fc.constantFrom<Effect>(...everyEffect, "read", "write", "execute");
const effects = fc.array(effect, { maxLength: 8 });
const weights = fc
  .dictionary(
    fc.constantFrom<Effect>(...everyEffect, "read", "write", "execute"),
    fc.double({ min: 0, max: 1e6, noNaN: true }),
    {
      maxKeys: 6,
    },
  )
  .map((entries): ReadonlyMap<Effect, number> => new Map(Object.entries(entries)));

describe("laws", () => {
  it("more effects never weigh less", () => {
    fc.assert(
      fc.property(effects, effects, weights, (some, more, own) => {
        expect(powerOf(new Set([...some, ...more]), own)).toBeGreaterThanOrEqual(powerOf(new Set(some), own));
        expect(powerOf(new Set([...more, ...some]), own)).toBe(powerOf(new Set([...some, ...more]), own));
      }),
      { numRuns: runs },
    );
  });

  it("larger weights never weigh less", () => {
    fc.assert(
      fc.property(
        effects,
        weights,
        fc.double({ min: 0, max: 1e3, noNaN: true }),
        fc.nat(5),
        (some, own, add, which) => {
          const raised = new Map(
            [...own].map(([name, weight], at) => [name, at === which ? weight + add : weight] as const),
          );
          expect(powerOf(new Set(some), raised)).toBeGreaterThanOrEqual(powerOf(new Set(some), own));
        },
      ),
      { numRuns: runs },
    );
  });

  it("power never falls over a run, is what was foretold, and more tools never reach less", () => {
    const tools = fc.array(
      effects.map((may) => contract("t", { effects: { must: [], may } })),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(tools, tools, weights, (used, others, own) => {
        let memory: Power = noPower;
        const ceiling = powerReachable(noPower, [...used, ...others], own);
        expect(ceiling).toBeGreaterThanOrEqual(powerReachable(noPower, used, own));
        for (const tool of used) {
          const foretold = powerWith(memory, call(tool), own);
          const before = powerGathered(memory, own);
          memory = powerAfter(memory, allowed(tool));
          expect(powerGathered(memory, own)).toBe(foretold);
          expect(foretold).toBeGreaterThanOrEqual(before);
          expect(foretold).toBeLessThanOrEqual(ceiling);
        }
      }),
      { numRuns: runs },
    );
  });
});

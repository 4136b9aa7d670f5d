import { describe, expect, it } from "vitest";
import type { RunEvent } from "../../../core/event.ts";
import type { JsonObject } from "../../../core/json.ts";
import { type Label, exactly, join } from "../../../core/label.ts";
import type { CallOption } from "../../../core/moment.ts";
import { contract, lattice, nothing, option, secret } from "../../../../test/kit/policy/scene.ts";
import { argumentCharactersMax } from "../../../core/questions/told-arguments.ts";
import { type Steps, instructionCharactersMax, noSteps, stepsAfter, stepsMax } from "./steps.ts";

const tool = contract("t", { does: ["write.local"], arguments: new Map() });

function allowed(call: string, given: JsonObject = {}, label = nothing): RunEvent {
  const labels = Object.fromEntries(Object.keys(given).map((name) => [name, exactly(label)]));
  const head = { kind: "dispatched", at: 1, call, method: "tools/call", digest: "d" } as const;
  return { ...head, option: option(tool, labels), arguments: given };
}

const labelOf = ({ arguments: all }: CallOption): Label =>
  [...all.values()].reduce((sum, { range }) => join(sum, range.hi), lattice.bottom);

const after = (...events: readonly RunEvent[]): Steps =>
  events.reduce((memory, event) => stepsAfter(lattice, memory, event, labelOf), noSteps(lattice));

function released(call: string | undefined, how: "pass" | "reject"): RunEvent {
  const fields = [{ pointer: "/f", range: exactly(secret) }];
  return { kind: "released", at: 3, call, server: "s", tool: "t", how, label: exactly(nothing), fields };
}

describe("what a model is told of a run", () => {
  it("each call that was let through, how it ended, and what its result brought", () => {
    const { done, evidence } = after(
      allowed("1", { x: "v" }, secret),
      allowed("2"),
      { kind: "succeeded", at: 2, call: "1" },
      { kind: "failed", at: 2, call: "2", noEffect: false },
      released("1", "pass"),
      released("2", "reject"),
      released(undefined, "pass"),
    );
    expect(done).toMatchObject([
      { call: "1", arguments: { x: "v" }, effects: ["write.local"], outcome: "succeeded", brought: ["private"] },
      { call: "2", arguments: {}, outcome: "failed", brought: [] },
    ]);
    expect(evidence).toBe(secret);
  });

  it("a lost call is one of which nothing is known", () => {
    expect(after(allowed("1"), { kind: "unknown", at: 2, call: "1", cause: "lost" }).done[0]?.outcome).toBe("unknown");
  });

  it("the instruction, as text and cut to its limit; what the operator gave is no instruction", () => {
    const long = "x".repeat(instructionCharactersMax + 1);
    expect(after({ kind: "registered", at: 1, text: { source: "instruction", value: long } }).instruction).toHaveLength(
      instructionCharactersMax,
    );
    const value = { task: "mail" };
    expect(after({ kind: "registered", at: 1, text: { source: "instruction", value } }).instruction).toBe(
      '{"task":"mail"}',
    );
    expect(after({ kind: "registered", at: 1, text: { source: "operator", value: "root" } }).instruction).toBe("");
  });

  it("of arguments that are too long a part, and no more than the last steps", () => {
    const long = { x: "v".repeat(argumentCharactersMax) };
    expect(after(allowed("1", long)).done[0]?.arguments).toEqual({ x: expect.stringContaining("left out") });
    const many = Array.from({ length: stepsMax + 2 }, (_, index) => allowed(String(index)));
    const kept = after(...many).done.map(({ call }) => call);
    expect(kept).toEqual(Array.from({ length: stepsMax / 2 + 2 }, (_, at) => String(at + stepsMax / 2)));
  });
});

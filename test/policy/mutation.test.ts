/**
 * Every rule of a proof is needed: without it the engine finds a way to the hazard, which is no mistake of the engine,
 * since stub servers with planted secrets see it happen behind the running gateway; and with the rule they do not.
 * Quick sizes play every rule of the policies below and one rule, by the seed, of each other policy; full sizes play all.
 */
import { describe, expect, test } from "vitest";
import type { KeySpec } from "../../src/policy/ir/ir.ts";
import { Arguments } from "../mutation/arguments.ts";
import { mutantsOf, policyOfText, reducedTo, starterPolicies, starterPolicy } from "../mutation/packs.ts";
import { type Replayed, replay } from "../mutation/replay.ts";

const seed = Number(process.env["SLUICEGATE_SEED"] ?? Date.now() % 1_000_000);

const full = process.env["SLUICEGATE_FULL"] === "1";

/** Between them these have every form of a rule, and ways through stores, other runs and readers. */
const whole =
  "calendar drive fetch filesystem git github gitlab mail memory notion payments playwright postgres shell slack sqlite".split(
    " ",
  );

function expectNeeded({ verdicts, steps, open, closed }: Replayed, rule: string): void {
  expect(verdicts).toEqual({ open: "refuted", closed: "proved" });
  expect(steps.length).toBeGreaterThan(0);
  expect(open).toEqual({ happened: true, stopped: [] });
  expect(closed.happened).toBe(false);
  expect(closed.stopped.flat()).toContain(rule);
}

describe(`starter policies without one rule (SLUICEGATE_SEED=${seed})`, () => {
  const kinds = new Set<string>();

  describe.each(starterPolicies)("%s", (name) => {
    const pack = starterPolicy(name);
    const all = mutantsOf(pack);
    const mutants = full || whole.includes(name) ? all : all.slice(seed % all.length).slice(0, 1);

    test("has proofs that need rules", () => expect(mutants.length).toBeGreaterThan(0));

    test.each(mutants)("$hazard happens without $rule", async (mutant) => {
      const replayed = await replay(pack, mutant, seed);
      for (const step of replayed.steps) kinds.add(step.kind === "call" ? `${step.run} run` : step.kind);
      expectNeeded(replayed, mutant.rule);
    });
  });

  // Time, late answers and servers that speak unasked are never the shortest way there; they are played below.
  test("the ways there are calls, calls of other runs, and readers of stores", () => {
    expect([...kinds].toSorted()).toEqual(["fire", "other run", "this run"]);
  });
});

const head = `
version: 1
lattice: {confidentiality: [public, private], groups: [me, anyone]}
servers: {desk: {reach: local}}
labels:
  desk.read: {effects: [read.local], output: {confidentiality: public, trust: trusted}}
  desk.pay: {effects: [write.local], args: {to: identifier}, output: {confidentiality: public, trust: trusted}}
  desk.check: {effects: [write.local], args: {to: identifier}, output: {confidentiality: public, trust: trusted}}
  desk.send: {effects: [write.external.send], args: {text: content}, output: {confidentiality: public, trust: trusted}}
`;
const paidAfterReading = `
hazards: {h: {why: "nothing is paid after reading", never: {sequence: {after: desk.read, never: desk.pay}}}}
rules:
  - {id: strict, tier: block, absence: {after: desk.read, never: desk.pay}, why: "nothing is paid after reading"}
`;

/** Policies in which nothing but the one kind of step leads to the hazard, once the rule `strict` is gone. */
const stories = {
  tick: `${head}${paidAfterReading}
  - {id: for-a-while, tier: block, absence: {after: desk.read, never: desk.pay, within: 10m}, why: "not at once"}
`,
  speak: `${head}
host: {tools: none}
hazards: {h: {why: "secrets stay", never: {flow: {from: {confidentiality: private}, to: {tool: desk.send}}}}}
rules:
  - {id: strict, tier: block, when: {tool: desk.send, data: {confidentiality: private}}, why: "secrets stay"}
  - {id: tools-only, tier: block, when: {tool: ["*/*", "ping"]}, why: "resources and prompts are not used"}
`,
};

const late = `${head}${paidAfterReading}
  - {id: unless-checked, tier: block, absence: {after: desk.read, never: desk.pay, until: desk.check}, why: "checked"}
  - {id: no-check-now, tier: block, absence: {after: desk.read, never: desk.check}, why: "checks come first"}
`;

describe("kinds of steps that no starter policy leads to", () => {
  test.each(Object.entries(stories))("%s", async (kind, text) => {
    const pack = policyOfText(kind, text);
    const rest = pack.policy.ir.rules.map(({ id }) => id).filter((id) => id !== "strict");
    const mutant = { hazard: "h", rule: "strict", open: rest, closed: [...rest, "strict"] };
    const replayed = await replay(pack, mutant, seed);
    expect(replayed.steps.map((step) => step.kind)).toContain(kind);
    expectNeeded(replayed, mutant.rule);
  });

  test("late: what the model lets pass, since an answer may come whenever it likes, the gateway asks about", async () => {
    const pack = policyOfText("late", late);
    const rest = ["unless-checked", "no-check-now"];
    const mutant = { hazard: "h", rule: "strict", open: rest, closed: [...rest, "strict"] };
    const { steps, verdicts, open } = await replay(pack, mutant, seed);
    expect(steps.map((step) => step.kind)).toContain("late");
    expect(verdicts).toEqual({ open: "refuted", closed: "proved" });
    expect(open).toEqual({ happened: false, stopped: [["unless-checked"]] });
  });

  test("a key: what was done for one thing says nothing of another", async () => {
    const key = "key: to";
    const text = `${head}
hazards: {h: {why: "checked first", never: {unless: {call: desk.pay, need: desk.check, ${key}}}}}
rules:
  - {id: strict, tier: must, gate: {before: desk.pay, need: desk.check, ${key}}, why: "checked first"}
  - {id: any-check, tier: must, gate: {before: desk.pay, need: desk.check}, why: "something is checked first"}
`;
    const mutant = { hazard: "h", rule: "strict", open: ["any-check"], closed: ["any-check", "strict"] };
    const replayed = await replay(policyOfText("key", text), mutant, seed);
    expectNeeded(replayed, mutant.rule);
  });

  test("calls of one key name one thing, calls of another another, and unreadable ones none", () => {
    const subject = reducedTo(policyOfText("keys", head), []);
    const contract = subject.contracts.find(({ tool }) => tool === "pay");
    if (contract === undefined) throw new Error("not labelled");
    const spec: KeySpec = { argument: "to", form: "id", foldLocalPart: false };
    const values = new Arguments(subject, () => undefined);
    const [other, same, again, unreadable] = (["other", "same", "same", "unreadable"] as const).map((relation) =>
      values.find({ contract, truths: new Map(), carried: new Map(), key: { spec, relation } }),
    );
    expect(same).toEqual(again);
    expect(other?.["to"]).toBeDefined();
    expect(other).not.toEqual(same);
    expect(unreadable).toEqual({});
  });
});

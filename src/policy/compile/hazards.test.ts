import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { loadPolicy } from "../load.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const load = (text: string, others: Readonly<Record<string, string>> = {}) =>
  loadPolicy(
    { file: "p.yaml", text: `version: 1\n${text}` },
    { loader: (name) => ({ file: name, text: `version: 1\n${others[name] ?? ""}` }), hash },
  );
const of = (tool: string) => ({ tools: [{ server: "*", tool }], predicates: [], data: [], stores: [] });

describe("temporal hazards become the automata that rules have", () => {
  it.each([
    ["sequence: {after: a, never: b}", { kind: "absence", after: of("a"), never: of("b") }],
    [
      "sequence: {after: a, never: b, until: c, within: 1m, key: {argument: to, form: email}}",
      {
        kind: "absence",
        after: of("a"),
        never: of("b"),
        until: of("c"),
        withinMs: 60_000,
        key: { argument: "to", form: "email", foldLocalPart: true },
      },
    ],
    ["unless: {call: a, need: b}", { kind: "gate", before: of("a"), need: of("b") }],
    [
      "unless: {call: a, need: b, within: 1h, key: id}",
      {
        kind: "gate",
        before: of("a"),
        need: of("b"),
        withinMs: 3_600_000,
        key: { argument: "id", form: "id", foldLocalPart: false },
      },
    ],
    ["atMost: {of: a, count: 2}", { kind: "at-most", of: of("a"), count: 2 }],
    [
      "atMost: {of: a, count: 0, within: 1d, key: {argument: to, form: email, exact: true}}",
      {
        kind: "at-most",
        of: of("a"),
        count: 0,
        withinMs: 86_400_000,
        key: { argument: "to", form: "email", foldLocalPart: false },
      },
    ],
  ])("%s", (never, temporal) => {
    const { policy } = load(`hazards: {H: {never: {${never}}}}`);
    expect(policy?.ir.hazards).toMatchObject([{ id: "H", kind: "temporal", consent: "never" }]);
    expect(policy?.ir.hazards[0]).toHaveProperty("temporal", temporal);
  });

  it("what unlocks reads labels and absent arguments the other way round than what forbids", () => {
    const text = "hazards: {H: {never: {unless: {call: {held: private}, need: {held: sensitive, arg: {a: x}}}}}}";
    const { policy } = load(text);
    expect(policy?.ir.hazards[0]).toMatchObject({
      temporal: { before: { held: { kind: "atLeast" } }, need: { held: { kind: "atMost" } } },
    });
    expect(policy?.ir.predicates[1]).toMatchObject({ argument: "a", ifAbsent: false });
  });

  it.each([
    ["hazards: {H: {never: {unless: {call: {held: top}, need: b}}}}", "SG-POLICY-LEVEL"],
    [
      "stores: {s: {}}\nhazards: {H: {never: {unless: {call: a, need: {store: {name: s, audience: me}}}}}}",
      "SG-POLICY-AUDIENCE",
    ],
    ["hazards: {H: {never: {sequence: {after: a, never: b, key: [x, y]}}}}", "SG-POLICY-TYPE"],
    ["hazards: {H: {never: {atMost: {of: a, count: -1}}}}", "SG-POLICY-RANGE"],
  ])("%s is refused", (text, code) => {
    const { policy, diagnostics } = load(text);
    expect(policy).toBeUndefined();
    expect(diagnostics.map((found) => found.code)).toContain(code);
  });
});

it("a rule and a hazard of one id are refused, though each file alone is sound: keys go by id", () => {
  const base = "hazards: {X: {never: {atMost: {of: a, count: 1, key: to}}}}";
  const mine = "extends: [base]\nrules: [{id: X, tier: block, why: w, atMost: {of: a, count: 1, key: from}}]";
  const { policy, diagnostics } = load(mine, { base });
  expect(policy).toBeUndefined();
  expect(diagnostics.map(({ code, file }) => [code, file])).toEqual([["SG-POLICY-ID", "base"]]);
});

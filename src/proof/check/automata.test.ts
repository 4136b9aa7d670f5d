import { describe, expect, it } from "vitest";
import { type Members, sha256 } from "../../../test/kit/proof/first-example.ts";
import { type Small, of, rule, small, tool } from "../../../test/kit/proof/small-certificate.ts";
import { checkCertificate } from "./check.ts";

function answer(parts: Small): string {
  const checked = checkCertificate(small(parts), { hash: sha256 });
  return checked.ok ? "accepted" : checked.reason;
}

const [a, b, c] = [of("a"), of("b"), of("c")];
const sequence = { after: a, never: b };
/** The first variable implies the second, and the second the first, over `variables` of two. */
const firstImpliesSecond = {
  nodes: [
    [1, 0, 1],
    [0, 1, 2],
  ],
  root: 3,
};
const secondImpliesFirst = {
  nodes: [
    [1, 1, 0],
    [0, 2, 1],
  ],
  root: 3,
};

const proofs: Readonly<Record<string, Small>> = {
  "a gate for what needs it": {
    never: { unless: { call: b, need: a } },
    rules: [rule("r", { gate: { before: b, need: a } })],
    variables: ["M:r:0", "M:h:0"],
    ...firstImpliesSecond,
  },
  "a gate that closes again": {
    never: { unless: { call: b, need: a } },
    rules: [rule("r", { gate: { before: b, need: a, unless: c } })],
    variables: ["M:r:0", "M:h:0"],
    ...firstImpliesSecond,
  },
  "a gate that closes sooner": {
    never: { unless: { call: b, need: a, within: "1h" } },
    rules: [rule("r", { gate: { before: b, need: a, within: "90s" } })],
    variables: ["M:r:0", "M:h:0"],
    ...firstImpliesSecond,
  },
  "an injected call": {
    never: { unless: { call: b, need: a } },
    rules: [rule("r", { inject: { before: b, call: { tool: "s.a", arguments: {} } } }, "must")],
    variables: ["M:r:0", "M:h:0"],
    ...firstImpliesSecond,
  },
  "a call that is held until its end": {
    never: { unless: { call: b, need: a } },
    rules: [rule("r", { byEnd: { after: b, by: a, action: "hold" } }, "must")],
    variables: ["M:r:0", "M:h:0"],
    ...firstImpliesSecond,
  },
  "immediately before": {
    never: { unless: { call: b, need: a } },
    rules: [rule("r", { immediately: { before: b, need: a } }, "must")],
    variables: ["M:r:0", "M:h:0"],
    ...firstImpliesSecond,
  },
  "an absence that is armed as long": {
    never: { sequence },
    rules: [rule("r", { absence: sequence })],
    variables: ["M:r:0", "M:h:0"],
    ...secondImpliesFirst,
  },
  "an absence that lasts longer": {
    never: { sequence: { ...sequence, until: c, within: "1m" } },
    rules: [rule("r", { absence: { ...sequence, until: c, within: "1d" } })],
    variables: ["M:r:0", "M:h:0"],
    ...secondImpliesFirst,
  },
  "a count that is lower": {
    never: { atMost: { of: b, count: 2 } },
    rules: [rule("r", { atMost: { of: b, count: 1 } })],
    variables: ["M:r:0", "M:h:0", "M:h:1"],
    nodes: [
      [2, 1, 0],
      [1, 2, 0],
      [0, 3, 2],
    ],
    root: 4,
  },
  "exactly once": {
    never: { atMost: { of: b, count: 1 } },
    rules: [rule("r", { exactlyOnce: { of: b } })],
    variables: ["M:r:0", "M:h:0"],
    ...secondImpliesFirst,
  },
  "a count over a longer time": {
    never: { atMost: { of: b, count: 1, within: "1m" } },
    rules: [rule("r", { atMost: { of: b, count: 1, within: "1h" } })],
    variables: ["M:r:0", "M:h:0"],
    ...secondImpliesFirst,
  },
  "never at all": {
    never: { atMost: { of: b, count: 1 } },
    rules: [rule("r", { atMost: { of: b, count: 0, within: "1m" } })],
  },
  "a debt before anything else": {
    never: { sequence: { ...sequence, until: c } },
    rules: [rule("r", { owed: { after: a, owe: c, within: 1 } }, "must")],
    variables: ["M:r:0", "M:h:0"],
    ...secondImpliesFirst,
  },
  "a debt before one call": {
    never: { sequence: { ...sequence, until: c } },
    rules: [rule("r", { owed: { after: a, owe: c, before: b } }, "must")],
    variables: ["M:r:0", "M:h:0"],
    ...secondImpliesFirst,
  },
  "a debt with one call to spare": {
    // At most one call after the debt began: b twice after a cannot be.
    never: { atMost: { of: b, count: 1 } },
    rules: [rule("r", { owed: { after: b, owe: c, within: 2 } }, "must"), rule("s", { atMost: { of: b, count: 1 } })],
    variables: ["M:s:0", "M:h:0"],
    ...secondImpliesFirst,
  },
};

describe("automata of rules that keep hazards from happening", () => {
  it.each(Object.entries(proofs))("%s", (_, parts) => {
    expect(answer(parts)).toBe("accepted");
    const without = answer({
      ...parts,
      core: [],
      variables: parts.variables?.filter((one) => one.startsWith("M:h")) ?? [],
      nodes: [],
      root: 1,
    });
    expect(without).toMatch(/does what the hazard forbids/);
    if (parts.root !== undefined)
      expect(answer({ ...parts, root: 1, nodes: [] })).toMatch(/does what the hazard forbids/);
  });
});

const weaker: Readonly<Record<string, readonly [Small, RegExp]>> = {
  "a gate that stays open longer": [
    { ...proofs["a gate that closes sooner"]!, rules: [rule("r", { gate: { before: b, need: a, within: "61m" } })] },
    /time passing for the automaton of h leads out/,
  ],
  "a gate that never closes": [
    { ...proofs["a gate that closes sooner"]!, rules: [rule("r", { gate: { before: b, need: a } })] },
    /time passing for the automaton of h leads out/,
  ],
  "an absence that lasts shorter": [
    {
      ...proofs["an absence that lasts longer"]!,
      rules: [rule("r", { absence: { ...sequence, until: c, within: "1s" } })],
    },
    /time passing for the automaton of r leads out/,
  ],
  "an absence of another trigger": [
    {
      ...proofs["an absence that lasts longer"]!,
      rules: [rule("r", { absence: { after: c, never: b, within: "1d" } })],
    },
    /"s.a" leads out|time passing/,
  ],
  "an absence with a wider trigger": [
    {
      ...proofs["an absence that lasts longer"]!,
      rules: [rule("r", { absence: { after: { tool: ["s.a", "s.c"] }, never: b, until: c, within: "1d" } })],
    },
    /time passing for the automaton of r leads out/,
  ],
  "an absence that ends with another call": [
    { ...proofs["an absence that is armed as long"]!, rules: [rule("r", { absence: { ...sequence, until: c } })] },
    /"s.c" leads out/,
  ],
  "an absence that ends with the success of a call on its way": [
    {
      ...proofs["an absence that is armed as long"]!,
      rules: [rule("r", { absence: { ...sequence, until: { ...c, effect: ["read.local"] } } })],
      tools: [tool("a"), tool("b"), tool("c", { effects: { must: ["read.local"], may: ["read.local"] } })],
    },
    /leads out/,
  ],
  "a need that is only possible": [
    {
      ...proofs["a gate for what needs it"]!,
      rules: [rule("r", { gate: { before: b, need: { effect: ["read"] } } })],
    },
    /leads out/,
  ],
  "a count over a shorter time": [
    { ...proofs["a count over a longer time"]!, rules: [rule("r", { atMost: { of: b, count: 1, within: "1s" } })] },
    /time passing for the automaton of r leads out/,
  ],
  "a budget, which restricts nothing": [
    { ...proofs["exactly once"]!, rules: [rule("r", { budget: { of: b } })], variables: ["M:h:0"], nodes: [], root: 1 },
    /does what the hazard forbids/,
  ],
  "a report at the end, which restricts nothing": [
    {
      ...proofs["exactly once"]!,
      rules: [rule("r", { byEnd: { after: b, by: a, action: "report" } })],
      variables: [],
      nodes: [],
      root: 1,
    },
    /does what the hazard forbids/,
  ],
  "a debt that stops another call": [
    {
      ...proofs["a debt before one call"]!,
      rules: [rule("r", { owed: { after: a, owe: c, before: of("none") } }, "must")],
    },
    /does what the hazard forbids/,
  ],
  "a debt with a call to spare": [
    {
      ...proofs["a debt before anything else"]!,
      rules: [rule("r", { owed: { after: a, owe: c, within: 2 } }, "must")],
    },
    /does what the hazard forbids/,
  ],
  "a debt that the call is no part of": [
    {
      ...proofs["a debt before anything else"]!,
      tools: [tool("a"), tool("b", { consequential: false }), tool("c")],
    },
    /does what the hazard forbids/,
  ],
};

describe("automata that are too weak", () => {
  it.each(Object.entries(weaker))("%s", (_, [parts, reason]) => {
    expect(answer(parts)).toMatch(reason);
  });
});

it("a debt counts the calls that it spares one by one", () => {
  const spared = (within: number): Small => ({
    never: { atMost: { of: b, count: 2 } },
    rules: [rule("r", { owed: { after: b, owe: of("none"), within } }, "must")],
    // Whoever called once owes, and whoever called twice has spent the last call; nobody ever pays.
    variables: ["P:r:1", "M:r:0", `M:r:${within - 1}`, "M:h:0", "M:h:1"],
    nodes: [[4, 1, 0], [3, 2, 0], [2, 2, 1], [1, 3, 4], [0, 5, 0]], // prettier-ignore
    root: 6,
  });
  expect(answer(spared(2))).toBe("accepted");
  expect(answer(spared(3))).toMatch(/"s.b" leads out/);
});

describe("what a call may do arms and forbids, and only what it must do unlocks", () => {
  const perhaps = tool("c", { effects: { must: [], may: ["read.local"] } });
  const reads = { effect: ["read.local"] };
  const silent = { must: [], may: [] };
  const tools = [tool("a", { effects: silent }), tool("b", { effects: silent }), perhaps];

  it.each([
    ["fires", { never: { sequence: { after: a, never: reads } } }, /"s.c" is not refused/],
    [
      "arms",
      { never: { sequence: { after: reads, never: b } }, variables: ["M:h:0"], nodes: [[0, 1, 0]], root: 2 },
      /"s.c" leads out/,
    ],
    [
      "does not unlock",
      {
        ...proofs["a gate for what needs it"]!,
        never: { unless: { call: b, need: reads } },
        rules: [rule("r", { gate: { before: b, need: c } })],
      },
      /"s.c" leads out/,
    ],
  ] as const)("it %s", (_, parts, reason) => {
    expect(answer({ ...parts, tools })).toMatch(reason);
  });
});

it.each(["compensate", "report"])("what waits for the end of a run only to %s has no automaton", (action) => {
  const rules = [rule("r", { byEnd: { after: b, by: a, action } }, "must")];
  const parts = { never: { call: b }, rules, variables: ["M:r:0"], nodes: [[0, 1, 0]], root: 2 };
  expect(answer(parts)).toMatch(/no variable "M:r:0"/);
});

it("late success: two calls on their way leave one behind", () => {
  // Once P:1 and P:2 are both false and the gate is shut, b stays impossible only as long as no call of a is on its way.
  const parts: Small = {
    never: { unless: { call: b, need: a } },
    rules: [rule("r", { gate: { before: b, need: a } })],
    variables: ["M:r:0", "M:h:0", "P:r:1", "P:r:2"],
    nodes: [
      [3, 1, 0],
      [2, 2, 1],
      [1, 0, 3],
      [0, 3, 4],
    ],
    root: 5,
  };
  expect(answer(parts)).toBe("accepted");
  expect(answer({ ...parts, variables: ["M:r:0", "M:h:0", "P:h:1", "P:h:2"] })).toBe("accepted");
  expect(answer({ ...parts, variables: ["M:r:0", "M:h:0", "P:h:1", "P:r:2"] })).toMatch(/no variable "P:[hr]:[12]"/);
});

const keyed = { argument: "to", form: "email" };
const never = { atMost: { of: b, count: 1, key: keyed } };
const byKey = (key: Members): Small => ({
  ...proofs["exactly once"]!,
  never,
  rules: [rule("r", { exactlyOnce: { of: b, key } })],
});

describe("keys", () => {
  it("a rule of the same key, or of none, keeps a keyed hazard from happening", () => {
    expect(answer(byKey(keyed))).toBe("accepted");
    expect(answer(byKey({ ...keyed, exact: false }))).toBe("accepted");
    const gate = { unless: { call: b, need: a, key: keyed } };
    const gated = { ...proofs["a gate for what needs it"]!, never: gate };
    expect(
      answer({ ...gated, rules: [rule("r", { gate: { before: b, need: a, key: { ...keyed, exact: true } } })] }),
    ).toBe("accepted");
    const held = { after: b, by: a, action: "hold" };
    const heldBy = (key: Members) => answer({ ...gated, rules: [rule("r", { byEnd: { ...held, key } }, "must")] });
    expect(heldBy({ ...keyed, exact: true })).toBe("accepted");
    expect(heldBy({ ...keyed, argument: "cc" })).toMatch(/key/);
    const absence = { ...sequence, key: keyed };
    expect(
      answer({
        ...proofs["an absence that is armed as long"]!,
        never: { sequence: absence },
        rules: [rule("r", { absence })],
      }),
    ).toBe("accepted");
    expect(answer({ ...proofs["exactly once"]!, never })).toBe("accepted");
  });

  it("a rule without the key does not see an unreadable one as the hazard does", () => {
    const gated = { ...proofs["a gate for what needs it"]!, never: { unless: { call: b, need: a, key: keyed } } };
    expect(answer(gated)).toMatch(/does what the hazard forbids|leads out/);
  });

  it("a rule with the key stops no call of another one, whatever that call opens", () => {
    const parts: Small = {
      never: { unless: { call: b, need: a, key: keyed } },
      rules: [
        rule("r", { gate: { before: b, need: c } }),
        rule("s", { gate: { before: c, need: of("none"), key: keyed } }),
      ],
      // Neither gate is ever open: true of the key that is followed.
      variables: ["M:r:0", "M:s:0"],
      nodes: [[1, 1, 0], [0, 2, 0]], // prettier-ignore
      root: 3,
    };
    expect(answer(parts)).toMatch(/"s.c" leads out/);
  });

  it("a call whose key nobody can read is no call that a counter of keys stops", () => {
    const key = { ...keyed, exact: true };
    const unread: Small = {
      never: { unless: { call: b, need: a, key } },
      rules: [rule("r", { atMost: { of: b, count: 0, key } })],
    };
    expect(answer(unread)).toMatch(/does what the hazard forbids/);
    expect(answer({ ...unread, rules: [rule("r", { atMost: { of: b, count: 0 } })] })).toBe("accepted");
  });

  it("a rule of another key is refused", () => {
    expect(answer(byKey({ ...keyed, exact: true }))).toMatch(/follows a key that the hazard does not/);
    expect(answer(byKey({ ...keyed, form: "id" }))).toMatch(/follows a key that the hazard does not/);
    expect(answer({ ...byKey(keyed), never: { atMost: { of: b, count: 1 } } })).toMatch(/follows a key/);
  });
});

it.each([
  [{ gate: { before: b } }, /gate\.need is missing/],
  [{ gate: { before: b, need: a, within: "soon" } }, /not a duration/],
  [{ gate: { before: b, need: a, when: a } }, /unknown member "when"/],
  [{ atMost: { of: b, count: 257 } }, /counts to more than 256/],
  [{ gate: { before: b, need: a }, absence: sequence }, /mixes forms/],
  [{ gate: { before: b, need: a }, when: a }, /mixes forms/],
])("a rule that cannot be read: %j", (body, reason) => {
  expect(answer({ ...proofs["exactly once"]!, rules: [rule("r", body)] })).toMatch(reason);
});

it("an automaton of the hazard's id is refused", () => {
  expect(answer({ ...proofs["exactly once"]!, rules: [rule("h", { exactlyOnce: { of: b } })] })).toMatch(
    /the id of the hazard/,
  );
});

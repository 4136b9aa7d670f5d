import { describe, expect, it } from "vitest";
import { type Members, policy, sha256 } from "../../../test/kit/proof/first-example.ts";
import { type Small, of, rule, small, tool } from "../../../test/kit/proof/small-certificate.ts";
import { checkCertificate } from "./check.ts";
import type { Json } from "./json.ts";

function answer(parts: Small): string {
  const checked = checkCertificate(small(parts), { hash: sha256 });
  return checked.ok ? "accepted" : checked.reason;
}
const forbidden = /does what the hazard forbids/;
const leaves = /leads out of the invariant/;
const vacuous = /the proof is vacuous/;

const secret = { confidentiality: "private" };
const argument = (role: string, change: Members = {}): Members => ({
  role,
  sink: true,
  audience: 2,
  forbidden: 1,
  ...change,
});
const send = { must: ["write.external.send"], may: ["write.external.send"] };
const held = { variables: ["K:1"] };
const source = tool("a", { output: { label: 1, fields: [0] } });
const sender = tool("b", { effects: send, arguments: { body: argument("content") } });
const leak: Small = {
  never: { flow: { from: secret, to: of("b") } },
  rules: [rule("r", { when: { ...of("b"), data: [secret] } }, "confirm")],
  tools: [source, sender],
  ...held,
};

describe("labels of arguments", () => {
  it.each(["strict", "handles", "provenance"])("%s: a rule on all data keeps it in", (mode) => {
    const flow = { flow: { mode } };
    expect(answer({ ...leak, policy: flow })).toBe("accepted");
    expect(answer({ ...leak, policy: flow, core: [] })).toMatch(forbidden);
    const onHeld = rule("r", { when: { ...of("b"), held: secret } });
    expect(answer({ ...leak, policy: flow, rules: [onHeld] })).toBe("accepted");
    // The call may also be made with nothing in it.
    expect(answer({ ...leak, never: { call: { ...of("b"), held: secret } }, policy: flow })).toMatch(forbidden);
    const onOther = rule("r", { when: { ...of("b"), held: { trust: "untrusted" } } });
    expect(answer({ ...leak, policy: flow, rules: [onOther], variables: ["K:1", "K:8", "K:9"] })).toMatch(forbidden);
  });

  it("where no data is followed, no flow can be found", () => {
    expect(answer({ ...leak, policy: { flow: { mode: "none" } } })).toMatch(vacuous);
  });

  it("an argument that nobody named carries data too", () => {
    const named = (name: string): readonly Members[] => [
      rule("r", { when: { ...of("b"), arg: { [name]: { label: secret } } } }),
    ];
    expect(answer({ ...leak, rules: named("body") })).toMatch(forbidden);
    const onBody = { flow: { from: { ...secret, args: ["body"] }, to: of("b") } };
    expect(answer({ ...leak, never: onBody, rules: named("body") })).toBe("accepted");
    expect(answer({ ...leak, never: onBody, rules: named("subject") })).toMatch(forbidden);
    expect(answer({ ...leak, never: { flow: { from: { ...secret, args: ["subject"] }, to: {} } } })).toMatch(forbidden);
  });

  it("several labels of one variable are held together, and still joined one by one", () => {
    const two: Small = {
      never: { flow: { from: secret, to: { ...of("b"), data: [{ trust: "untrusted" }] } } },
      rules: [rule("r", { when: { ...of("b"), data: [{ ...secret, trust: "untrusted" }] } })],
      tools: [source, sender],
    };
    // One argument may be private and another untrusted: the rule is about all of them, and so is the hazard.
    expect(answer({ ...two, variables: ["K:1,8,9"] })).toBe("accepted");
    expect(answer({ ...two, variables: ["K:1", "K:8", "K:9"] })).toBe("accepted");
    const onMark = [rule("r", { when: { ...of("b"), data: [{ categories: ["c"] }] } })];
    const lattice = { ...policy.lattice, categories: ["c"] };
    expect(answer({ ...leak, rules: onMark, policy: { lattice }, variables: ["K:1,2,3"] })).toMatch(forbidden);
    const [onBody] = [rule("r", { when: { ...of("b"), data: [{ ...secret, args: ["body"] }] } })];
    expect(answer({ ...two, rules: [onBody], variables: ["K:1,8,9"] })).toMatch(forbidden);
  });
});

it("data leaves without the distrust that it came with", () => {
  const both = tool("a", { output: { label: 9, fields: [] } });
  const onTrust = [rule("r", { when: { ...of("b"), data: [{ trust: "untrusted" }] } })];
  const only = { variables: ["K:1", "K:8", "K:9"], nodes: [[0, 1, 0]], root: 2 };
  expect(answer({ ...leak, rules: onTrust, tools: [both, sender], ...only })).toMatch(forbidden);
});

describe("cases", () => {
  const test = { kind: "some", test: { kind: "equals", values: ["v"] } };
  const predicate = { kind: "argument", argument: "x", test, ifAbsent: true };
  const cased = (one: Members): Small => ({
    never: { call: { effect: ["write.external"] } },
    rules: [rule("r", { when: { arg: { x: { equals: ["v"] } } } })],
    tools: [tool("a", { effects: { must: [], may: [] }, cases: [{ predicates: [one], effects: send }] })],
  });

  it("a rule on the very predicate of the case keeps the effect out", () => {
    expect(answer(cased(predicate))).toBe("accepted");
    expect(answer({ ...cased(predicate), core: [] })).toMatch(forbidden);
    expect(answer(cased({ ...predicate, ifAbsent: false }))).toMatch(forbidden);
  });

  it("output and effects are each replaced by the first case that is true and names them, and a set by all of its", () => {
    const nothing = { must: [], may: [] };
    const other = { ...predicate, argument: "y" };
    const quiet = { predicates: [predicate], output: { label: 0, fields: [] } };
    const sends = { predicates: [predicate], effects: send };
    const tools = (cases: Json) => [tool("a", { effects: nothing, cases })];
    expect(answer({ ...cased(predicate), tools: tools([quiet, sends]), core: [] })).toMatch(forbidden);
    const both = { predicates: [predicate, other], effects: send };
    expect(answer({ ...cased(predicate), tools: tools([both]) })).toBe("accepted");
    expect(answer({ ...cased({ ...other, argument: "z" }), tools: tools([{ ...both, predicates: [other] }]) })).toMatch(
      forbidden,
    );
    const never = { predicates: [predicate, { ...predicate, ifAbsent: false }], effects: send };
    expect(answer({ ...cased(predicate), tools: tools([never]), core: [] })).toMatch(forbidden);
  });

  it("the first case that is true replaces effects and output", () => {
    const nothing = { must: [], may: [] };
    const cases = [
      { predicates: [predicate], effects: nothing },
      { predicates: [predicate], effects: send },
    ];
    const first = { ...cased(predicate), tools: [tool("a", { effects: nothing, cases })], core: [] };
    expect(answer(first)).toMatch(vacuous);
    const output = { label: 1, fields: [1] };
    const brings = tool("a", { cases: [{ predicates: [predicate], output }] });
    expect(answer({ ...leak, tools: [brings, sender] })).toBe("accepted");
    const claim = { nodes: [[0, 1, 0]], root: 2 };
    expect(answer({ ...leak, tools: [brings, sender], ...claim })).toMatch(/"s.a" leads out/);
  });
});

describe("the default", () => {
  const both = { core: ["default", "bounds"], variables: ["K:1", "K:8", "K:9"] };
  const trust = { core: ["default"], variables: ["K:8"] };
  const seen = { flow: { from: { ...secret, audience: ["anyone"] }, to: { effect: ["write.external.send"] } } };
  const bounded: Small = { never: seen, rules: [], tools: [source, sender], ...both };
  const allowing = (when: Members, mode = "enforce"): readonly Members[] => [{ ...rule("x", { when }, "allow"), mode }];

  it("asks where a sink gets more than its bound, unless an enforced rule allows it", () => {
    expect(answer(bounded)).toBe("accepted");
    expect(answer({ ...bounded, core: ["default"] })).toBe("accepted");
    const inside = argument("content", { audience: 0 });
    expect(answer({ ...bounded, tools: [source, { ...sender, arguments: { body: inside } }] })).toMatch(vacuous);
    const loose = argument("content", { forbidden: 0 });
    expect(answer({ ...bounded, tools: [source, { ...sender, arguments: { body: loose } }] })).toMatch(forbidden);
    expect(answer({ ...bounded, rules: allowing(of("b")) })).toMatch(forbidden);
    expect(answer({ ...bounded, rules: allowing(of("b"), "observe") })).toBe("accepted");
    const unseen = argument("content", { sink: false });
    expect(answer({ ...bounded, tools: [source, { ...sender, arguments: { body: unseen } }] })).toMatch(forbidden);
    const mild = allowing({ ...of("b"), data: [{ confidentiality: "public" }] });
    expect(answer({ ...bounded, rules: mild, variables: ["K:1", "K:8", "K:2", "K:4", "K:15"] })).toBe("accepted");
  });

  it("asks where a control argument may come from outside", () => {
    const steered = { flow: { from: { trust: "untrusted", roles: ["recipient"] }, to: { effect: ["write"] } } };
    const to = tool("b", { effects: send, arguments: { to: argument("recipient", { sink: false }) } });
    const parts: Small = { never: steered, rules: [], tools: [to], ...trust };
    expect(answer(parts)).toBe("accepted");
    expect(answer({ ...parts, core: [] })).toMatch(forbidden);
    const doubtful = tool("b", { effects: send, arguments: { to: argument("unsure", { sink: false }) } });
    expect(answer({ ...parts, tools: [doubtful], core: [] })).toMatch(forbidden);
    const said = { flow: { ...steered.flow, from: { trust: "untrusted", roles: ["content"] } } };
    expect(answer({ ...parts, never: said, tools: [sender] })).toMatch(forbidden);
    const local = { must: ["write.local"], may: ["write.local"] };
    const inside = { ...steered.flow, to: { workspace: true } };
    expect(answer({ ...parts, never: { flow: inside }, tools: [{ ...to, effects: local }] })).toMatch(forbidden);
    const irreversible = { irreversible: true, openWorld: false };
    const final = { ...to, effects: local, flags: irreversible };
    expect(answer({ ...parts, never: { flow: inside }, tools: [final] })).toBe("accepted");
  });

  it("asks before reading outside what the agent chose, and only then", () => {
    const read = { must: ["read.external"], may: ["read.external"] };
    const never = { flow: { from: { trust: "untrusted", roles: ["query"] }, to: { effect: ["read"] } } };
    const fetched = (sink: boolean): readonly Members[] => [
      tool("b", { effects: read, arguments: { q: argument("query", { sink }) } }),
    ];
    expect(answer({ never, rules: [], tools: fetched(true), ...trust })).toBe("accepted");
    expect(answer({ never, rules: [], tools: fetched(false), ...trust })).toMatch(forbidden);
    // A place that carries nothing may as well be left out, and then the call goes nowhere that the agent chose.
    const two = { q: argument("query", { sink: false }), place: argument("destination") };
    const apart = [tool("b", { effects: read, arguments: two })];
    expect(answer({ never, rules: [], tools: apart, ...trust })).toMatch(forbidden);
  });

  it("asks before execution, and before writing outside the workspace", () => {
    const run = { must: ["execute"], may: ["execute"] };
    const executed: Small = {
      never: { call: { effect: ["execute"] } },
      rules: [],
      tools: [tool("b", { effects: run })],
    };
    expect(answer({ ...executed, ...trust })).toBe("accepted");
    const local = { must: ["write.local"], may: ["write.local"] };
    const never = (workspace: boolean): Members => ({ call: { effect: ["write.local"], workspace } });
    const tools = [tool("b", { effects: local })];
    expect(answer({ ...executed, never: never(false), tools, ...trust })).toBe("accepted");
    expect(answer({ ...executed, never: never(true), tools, ...trust })).toMatch(forbidden);
  });
});

it("what is only observed restricts nothing", () => {
  expect(answer({ ...leak, policy: { mode: "observe" } })).toMatch(forbidden);
  expect(answer({ ...leak, policy: { servers: { s: { mode: "observe" } } } })).toMatch(forbidden);
  expect(answer({ ...leak, policy: { servers: { other: { mode: "observe" } } } })).toBe("accepted");
  const [observed] = leak.rules ?? [];
  expect(answer({ ...leak, rules: [{ ...observed, mode: "observe" }] })).toMatch(/not one enforced rule/);
});

describe("stores", () => {
  const box = { audience: ["me"], label: { confidentiality: "public", trust: "trusted" } };
  const full = { ...of("c"), store: [{ name: "box", label: secret }] };
  const kept: Small = {
    never: { call: full },
    rules: [rule("r", { when: full })],
    tools: [source, tool("b", { writes: ["box"] }), tool("c", { reads: ["box"] })],
    policy: { stores: { box } },
    variables: ["K:1", "S:box:0"],
  };

  it("another run writes what this run does not hold", () => {
    expect(answer(kept)).toBe("accepted");
    // "What is in the box, this run holds": true of its own writes alone.
    const own = { nodes: [[1, 1, 0], [0, 2, 1]], root: 3 } as const; // prettier-ignore
    expect(answer({ ...kept, ...own })).toMatch(/"s.b", called by another run, leads out/);
    expect(answer({ ...kept, ...own, tools: [source, tool("c", { reads: ["box"] })] })).toMatch(vacuous);
  });

  it("what is opened to others may be written by them", () => {
    const opens = (audience: number): Small => ({
      never: { call: { ...of("c"), store: [{ name: "box", label: { trust: "untrusted" } }] } },
      rules: [],
      tools: [tool("b", { opens: [{ store: "box", audience }] }), tool("c")],
      policy: { stores: { box } },
      variables: ["K:8", "S:box:3"],
      nodes: [[1, 1, 0]],
      root: 2,
    });
    expect(answer(opens(2))).toMatch(/"s.b" leads out/);
    expect(answer(opens(1))).toBe("accepted");
    expect(answer(opens(4))).toBe("accepted");
  });

  it("a store starts with the label and the audience that the policy declares", () => {
    const starts = (store: Members, root: number): string =>
      answer({ ...kept, policy: { stores: { box: store } }, nodes: [[1, 1, 0]], root });
    expect(starts({ ...box, label: secret }, 2)).toMatch(/the start is outside/);
    expect(starts({ audience: ["me", "nobody"] }, 2)).toMatch(/not a category or group/);
    expect(starts({ audience: ["me"] }, 2)).toMatch(leaves);
  });
});

describe("the host by itself", () => {
  const out = { flow: { from: { ...secret, audience: ["anyone"] }, to: { effect: ["write.external"] } } };
  const host = (change: Members, groups?: readonly string[]): Small => ({
    never: out,
    rules: [rule("r", { when: of("o") })],
    tools: [source, tool("o", { opens: [{ store: "box", audience: 2 }] })],
    variables: ["K:1"],
    policy: {
      stores: { box: { audience: ["me"], label: { confidentiality: "private", trust: "trusted" } } },
      host: { ...policy.host, ...change },
      ...(groups === undefined ? {} : { lattice: { ...policy.lattice, groups } }),
    },
  });
  const closed = { ...host({}), variables: ["K:1", "O:box:1"], nodes: [[1, 1, 0]], root: 2 };

  it("a gated host does nothing", () => {
    expect(answer(closed)).toBe("accepted");
  });

  it.each([
    [{ send: "open" }, /may send by itself/],
    [{ send: { open: ["anyone"] } }, /may send by itself/],
    [{ send: { open: "anyone" } }, /may send by itself/],
    [{ send: { open: ["me"] } }, /^accepted$/],
    [{ send: { open: [] } }, /^accepted$/],
    [{ execute: { open: [] } }, /may execute by itself/],
    [{ execute: "open" }, /may execute by itself/],
    [{ read: "open" }, /^accepted$/],
    [{ read: { open: ["box"] } }, /^accepted$/],
    [{ read: { open: "other" } }, /the store "other" is used/],
    [{ send: "perhaps" }, /a host capability/],
    [{ send: { open: ["nobody"] } }, /not a category or group/],
  ])("%j", (change, expected) => {
    expect(answer({ ...closed, policy: host(change).policy ?? {} })).toMatch(expected);
  });

  it.each([
    [[], { call: { flags: ["irreversible"] } }],
    [["K:1"], { flow: { from: { ...secret, roles: ["query"] }, to: { effect: ["execute"] } } }],
  ])("what it executes may be anything: %j %j", (variables, never) => {
    expect(answer({ ...host({ execute: "open" }), never, variables })).toMatch(/may execute by itself/);
  });

  it("without a group `anyone`, open means every group", () => {
    const toOrg = { flow: { from: { ...secret, audience: ["org"] }, to: { effect: ["write.external"] } } };
    const parts = { ...host({ send: "open" }, ["me", "org"]), never: toOrg, variables: ["K:1", "O:box:1"] };
    expect(answer({ ...parts, nodes: [[1, 1, 0]], root: 2 })).toMatch(/may send by itself/);
  });

  it("what it reads counts as held", () => {
    const read = { host: { ...policy.host, read: { open: ["box"] } } };
    const box = { audience: ["me"], label: { confidentiality: "private", trust: "trusted" } };
    const parts: Small = {
      never: { call: { ...of("b"), held: secret } },
      rules: [rule("r", { when: { ...of("b"), held: secret } })],
      policy: { ...read, stores: { box } },
      variables: ["K:1", "S:box:0"],
    };
    expect(answer(parts)).toBe("accepted");
    expect(answer({ ...parts, core: [] })).toMatch(forbidden);
  });
});

/** What each move changes is tried on a claim that nothing else breaks before it; each of these claims is false. */
describe("the move that a false claim forgets is the one that is named", () => {
  const box = { audience: ["me"], label: { confidentiality: "public", trust: "trusted" } };
  /** The claim that the first of the variables is never true. */
  const never = (...variables: readonly string[]): Partial<Small> => ({ variables, nodes: [[0, 1, 0]], root: 2 });
  const gate = rule("r", { gate: { before: of("b"), need: of("a") } });
  const gated: Small = { never: { unless: { call: of("b"), need: of("a") } }, rules: [gate] };
  const onHeld = (held: Members): Small => ({ never: { call: { ...of("b"), held } }, rules: [] });
  const absence = { after: of("a"), never: of("b") };
  const reads = { ...of("c"), effect: ["read.local"] };
  const afterOpening = { ...of("b"), store: [{ name: "box", audience: ["anyone"] }] };
  const claims: Readonly<Record<string, readonly [Small, string]>> = {
    "a result": [{ ...onHeld(secret), tools: [source, tool("b")], ...never("K:1") }, 'the tool "s.a" leads out'],
    "a field of a result": [
      {
        ...onHeld(secret),
        tools: [tool("a", { output: { label: 0, fields: [1] } }), tool("b")],
        ...never("K:1"),
      },
      'the tool "s.a" leads out',
    ],
    "what is in a store that is read": [
      {
        ...onHeld(secret),
        tools: [tool("a", { reads: ["box"] }), tool("b")],
        policy: { stores: { box: { ...box, label: secret } } },
        ...never("K:1"),
      },
      'the tool "s.a" leads out',
    ],
    "a store that another run opens": [
      {
        never: { call: afterOpening },
        rules: [rule("r", { gate: { before: of("a"), need: of("none") } })],
        tools: [tool("a", { opens: [{ store: "box", audience: 2 }] }), tool("b")],
        policy: { stores: { box } },
        variables: ["A:box:1", "M:r:0"],
        nodes: [[1, 1, 0], [0, 2, 0]], // prettier-ignore
        root: 3,
      },
      'the tool "s.a", called by another run, leads out',
    ],
    "a call that is on its way": [{ ...gated, ...never("P:r:1") }, 'the tool "s.a" leads out'],
    "a second call that is on its way": [{ ...gated, ...never("P:r:2") }, 'the tool "s.a" leads out'],
    "a call that fails before it can be counted": [
      {
        never: { sequence: absence },
        rules: [rule("r", { atMost: { of: { tool: ["s.a", "s.b"] }, count: 1 } })],
        variables: ["M:r:0", "M:h:0"],
        nodes: [[1, 1, 0], [0, 2, 1]], // prettier-ignore
        root: 3,
      },
      'the tool "s.a" leads out',
    ],
    "a success that comes late, for one of two": [
      {
        never: { sequence: { ...absence, until: reads } },
        rules: [rule("r", { absence: { ...absence, until: of("c") } })],
        tools: [tool("a"), tool("b"), tool("c", { effects: { must: ["read.local"], may: ["read.local"] } })],
        variables: ["M:r:0", "M:h:0"],
        nodes: [[1, 1, 0], [0, 2, 1]], // prettier-ignore
        root: 3,
      },
      "late success for the automaton of r leads out",
    ],
    "what a server says unasked": [
      { ...onHeld(secret), tools: [tool("b")], ...never("K:1") },
      "a server speaking outside any call leads out",
    ],
    "what the host reads in a store": [
      {
        ...onHeld({ ...secret, trust: "untrusted" }),
        rules: [rule("r", { when: of("b") })],
        policy: { stores: { box: { ...box, label: secret } }, host: { ...policy.host, read: { open: "box" } } },
        ...never("K:1", "K:8", "K:9"),
      },
      "the host reading its stores leads out",
    ],
  };

  it.each(Object.entries(claims))("%s", (_, [parts, expected]) => {
    expect(answer(parts)).toBe(`${expected} of the invariant`);
  });
});

import { describe, expect, it } from "vitest";
import {
  type Members,
  certificate,
  changeable,
  policy,
  sha256,
  tools,
  withPolicy,
} from "../../../test/kit/proof/first-example.ts";
import { type Present, checkCertificate, unreadable } from "./check.ts";

const present = { hash: sha256, policyDigest: certificate.digest, tools, manifests: certificate.manifests };
type Certificate = typeof certificate;
const changed = (change: (certificate: Certificate) => void): Certificate => {
  const copy = changeable();
  change(copy);
  return copy;
};

it("law: the hand-written certificate of the first worked example is accepted", () => {
  const accepted = {
    ok: true,
    hazard: "leak",
    core: ["no-private-write", "no-private-grant"],
    assumptions: certificate.assumptions,
  };
  expect(checkCertificate(certificate, present)).toEqual(accepted);
  expect(checkCertificate(JSON.parse(JSON.stringify(certificate)), { hash: sha256 })).toEqual(accepted);
});

it("regression: a certificate tells what its policy takes for granted, and nothing else", () => {
  const under = (change: (its: Members) => void, present: Omit<Present, "hash"> = {}) =>
    checkCertificate(withPolicy(change), { hash: sha256, ...present });
  const refused = { ok: false, reason: expect.stringMatching(/recorded assumptions/) };
  for (const name of ["send", "read", "execute"])
    expect(under((its) => (its["host"] = { ...(its["host"] as Members), [name]: "open" }))).toMatchObject(refused);
  for (const mode of ["none", "strict", "handles"])
    expect(under((its) => (its["flow"] = { mode }))).toMatchObject(refused);
  // A list that opens nothing to send and to read is as good as `gated`; of what is executed, no list is.
  for (const name of ["send", "read"])
    expect(under((its) => (its["host"] = { ...(its["host"] as Members), [name]: { open: [] } }))).toMatchObject({
      ok: true,
    });
});

it("regression: expected traces that turn out otherwise than recorded are refused", () => {
  const judged = (...expect: readonly { verdict: string; holds: boolean }[]) =>
    checkCertificate(certificate, { ...present, expect });
  expect(judged({ verdict: "allow", holds: true })).toMatchObject({ ok: true });
  for (const other of [[], [{ verdict: "allow", holds: false }], [{ verdict: "deny", holds: true }]])
    expect(judged(...other)).toMatchObject({ ok: false, reason: expect.stringMatching(/expected traces/) });
});

it("what a policy says beside its rules is covered by the digest and not read", () => {
  const regulated = withPolicy((its) => (its["regulation"] = { leases: [{ tool: ["git.grant"], calls: 1 }] }));
  expect(checkCertificate(regulated, { hash: sha256 })).toMatchObject({ ok: true });
});

it("what does not depend on a variable need not list it", () => {
  const shorter = changed((one) => {
    one.variables = ["K:1", "S:repo:0", "A:repo:1", "O:repo:1"];
    one.nodes = [
      [3, 1, 0],
      [2, 2, 0],
      [2, 2, 1],
      [1, 4, 3],
    ];
  });
  expect(checkCertificate(shorter, present)).toMatchObject({ ok: true });
});

const faults: readonly (readonly [string, Certificate | Members, RegExp])[] = [
  ["no rule about writing", changed((one) => one.core.shift()), /git\.write_repo.* leads out/],
  ["no rule about granting", changed((one) => one.core.pop()), /git\.grant.* leads out/],
  ["a rule twice", changed((one) => one.core.push("no-private-grant")), /names a rule twice/],
  ["a rule that is none", changed((one) => one.core.push("nothing")), /"nothing", which is not one enforced rule/],
  ["the default, which says nothing here", changed((one) => one.core.push("default")), /whether the label 8 is held/],
  ["true everywhere", changed((one) => (one.root = 1)), /a reader of the store "repo" is not refused/],
  ["false everywhere", changed((one) => (one.root = 0)), /the start is outside/],
  ["the wrong root", changed((one) => (one.root = 4)), /leads out|is not refused/],
  ["a root that is no node", changed((one) => (one.root = 6)), /the root is not among/],
  ["a flipped node", changed((one) => one.nodes[0]?.splice(1, 2, 0, 1)), /the start is outside/],
  ["an inner node flipped", changed((one) => one.nodes[2]?.splice(1, 2, 1, 2)), /leads out|is not refused/],
  ["children that come later", changed((one) => one.nodes.reverse()), /a child that does not come before/],
  ["a node that is its own child", changed((one) => one.nodes[0]?.splice(1, 1, 2)), /does not come before/],
  ["a node of four numbers", changed((one) => one.nodes[0]?.push(1)), /node 2 names/],
  ["an order that falls", changed((one) => one.nodes[1]?.splice(0, 1, 5)), /node 3 asks its variable after/],
  ["an order that falls on one side", changed((one) => one.nodes.push([5, 0, 2])), /node 6 asks its variable after/],
  ["a variable out of range", changed((one) => one.nodes[1]?.splice(0, 1, 2 ** 40)), /node 3 names a variable/],
  ["a missing variable", changed((one) => one.variables.shift()), /whether the label 1 is held/],
  ["a variable of its own", changed((one) => one.variables.push("X:1")), /no variable "X:1"/],
  ["a label that none can hold", changed((one) => one.variables.push("K:2")), /no variable "K:2"/],
  ["a label that is no number", changed((one) => one.variables.push("K:01")), /no variable "K:01"/],
  ["a label twice", changed((one) => one.variables.push("K:1,1")), /not exactly one variable/],
  ["a variable twice", changed((one) => one.variables.push("S:repo:0")), /listed twice/],
  [
    "variables swapped",
    changed((one) => one.variables.push(...one.variables.splice(1, 1))),
    /after one|leads|start|refused/,
  ],
  ["a wrong digest", changed((one) => (one.digest = "0".repeat(64))), /the digest is not/],
  ["another version", changed((one) => (one.version = 2)), /version other than 1/],
  ["another hazard", changed((one) => (one.hazard = "other")), /no hazard "other"/],
  ["a hazard of every object", changed((one) => (one.hazard = "__proto__")), /no hazard "__proto__"/],
  ["another policy", withPolicy((its) => (its["keep"] = ["x"])), /another policy than the one in force/],
  ["other labels", changed((one) => (one.tools = one.tools.toReversed())), /about other tools/],
  ["other manifests", changed((one) => (one.manifests.git = "")), /about other manifests/],
  [
    "manifests of two servers swapped",
    changed((one) => Object.assign(one, { manifests: { it: one.manifests.git } })),
    /other manifests/,
  ],
  ["no assumptions", changed((one) => (one.assumptions = [])), /recorded assumptions/],
  ["one assumption less", changed((one) => one.assumptions.pop()), /recorded assumptions/],
  ["one assumption more", changed((one) => one.assumptions.push("It rains.")), /recorded assumptions/],
  ["one assumption twice", changed((one) => one.assumptions.splice(0, 1, one.assumptions[1] ?? "")), /recorded assump/],
  ["a milder assumption", changed((one) => one.assumptions.splice(1, 1, "Labels are exact.")), /recorded assumptions/],
  ["assumptions of another flow", withPolicy((its) => (its["flow"] = { mode: "none" })), /another policy/],
  ["no example", changed((one) => one.expect.pop()), /not those of the policy/],
  [
    "an example of another verdict",
    changed((one) => (one.expect = [{ verdict: "deny", holds: true }])),
    /not those of/,
  ],
  ["an example that fails", changed((one) => (one.expect = [{ verdict: "allow", holds: false }])), /does not hold/],
  ["nodes that are no list", { ...certificate, nodes: {} }, /certificate\.nodes is not a list/],
  ["a node that is no list", { ...certificate, nodes: [1] }, /nodes\[0\] is not a list/],
  ["a policy that is a list", { ...certificate, policy: [] }, /policy is not an object/],
  ["a huge number", { ...certificate, root: 1e300 }, /root is not a whole number/],
  ["an unknown member", { ...certificate, more: 1 }, /unknown member "more"/],
  ["a missing member", { ...certificate, nodes: undefined } as unknown as Members, /not JSON/],
];

describe("every fault of a certificate is refused and named", () => {
  it.each(faults)("%s", (_, faulty, reason) => {
    const checked = checkCertificate(faulty, present);
    expect(checked.ok ? "accepted" : checked.reason).toMatch(reason);
  });
});

const altered: readonly (readonly [string, (its: Certificate) => void, RegExp])[] = [
  [
    "the table forgets that a write writes",
    (one) => void (one.tools[1] = { ...one.tools[1]!, writes: [] }),
    /accepted/,
  ],
  [
    "a grant that adds another group",
    (one) => void (one.tools[2]!.opens = [{ store: "repo", audience: 1 }] as never),
    /the proof is vacuous/,
  ],
  ["a store that nobody declares", (one) => void (one.tools[1]!.writes = ["other"] as never), /store "other"/],
  [
    "a tool of unknown parts",
    (one) => void ((one.tools[1] as unknown as Members)["more"] = 1),
    /unknown member "more"/,
  ],
  ["a negative label", (one) => void (one.tools[0]!.output = { label: -1, fields: [] }), /label is not a whole/],
];

describe("a label table that is not compared is taken at its word", () => {
  it.each(altered)("%s", (_, change, reason) => {
    const checked = checkCertificate(changed(change), { hash: sha256 });
    expect(checked.ok ? "accepted" : checked.reason).toMatch(reason);
  });
});

it("with the table of the gateway, a forgotten write is refused", () => {
  const faulty = changed((one) => void (one.tools[1] = { ...one.tools[1]!, writes: [] }));
  expect(checkCertificate(faulty, present)).toMatchObject({ ok: false, reason: expect.stringMatching(/other tools/) });
});

it("a proof of a policy under which nothing is allowed is worth nothing", () => {
  const idle = withPolicy((its) => (its["expect"] = [{ trace: [], verdict: "deny" }]));
  const checked = checkCertificate({ ...idle, expect: [{ verdict: "deny", holds: true }] }, { hash: sha256 });
  expect(checked).toMatchObject({ ok: false, reason: expect.stringMatching(/expects nothing to be allowed/) });
});

describe("limits", () => {
  it.each([
    [{ variablesMax: 5 }, /more than 5 variables/],
    [{ nodesMax: 3 }, /more than 3 nodes/],
    [{ diagramStepsMax: 10 }, /more steps or nodes/],
    [{ diagramNodesMax: 20 }, /more steps or nodes/],
  ])("%j", (limits, reason) => {
    const checked = checkCertificate(certificate, { ...present, limits });
    expect(checked.ok ? "accepted" : checked.reason).toMatch(reason);
  });

  it("a reason stays short whatever names it quotes", () => {
    const long = withPolicy((its) => (its["mode"] = "x".repeat(5000)));
    const checked = checkCertificate({ ...long, core: ["y".repeat(5000)] }, { hash: sha256 });
    expect(checked.ok ? "" : checked.reason).toMatch(/^certificate\.policy\.mode is not one of enforce, observe$/);
    const unknown = checkCertificate({ ...certificate, core: ["\n".repeat(5000)] }, present);
    expect(unknown.ok ? 0 : unknown.reason.length).toBeLessThanOrEqual(240);
  });
});

it("what throws when it is read is refused", () => {
  const hostile = {
    get version(): number {
      throw new Error("read");
    },
  };
  expect(checkCertificate(hostile, present)).toEqual({ ok: false, reason: unreadable });
});

it.each([undefined, null, 1, "x", [], {}, () => 1, 1n, Symbol("x"), new Date(0), new Map()])(
  "%s is refused",
  (value) => {
    expect(checkCertificate(value, present)).toMatchObject({
      ok: false,
      reason: expect.not.stringMatching(unreadable),
    });
  },
);

it("present tools that are no JSON are other tools", () => {
  const checked = checkCertificate(certificate, { ...present, tools: [() => 1] });
  expect(checked).toMatchObject({ ok: false, reason: expect.stringMatching(/other tools/) });
  expect(policy.version).toBe(1);
});

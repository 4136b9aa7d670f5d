import { expect, it } from "vitest";
import { type Members, policy, sha256 } from "../../../test/kit/proof/first-example.ts";
import { type Small, of, rule, small, tool } from "../../../test/kit/proof/small-certificate.ts";
import { checkCertificate } from "./check.ts";

const call: Small = { never: { call: of("b") }, rules: [rule("r", { when: of("b") })] };
function answer(parts: Small): string {
  const checked = checkCertificate(small(parts), { hash: sha256 });
  return checked.ok ? "accepted" : checked.reason;
}
const lattice = (change: Members): Small => ({ ...call, policy: { lattice: { ...policy.lattice, ...change } } });
const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `n${index}`);
const argument = { role: "content", sink: false, audience: 0, forbidden: 0 };
const secret = { confidentiality: "private" };
const tested = (count: number): Members => Object.fromEntries(names(count).map((name) => [name, { equals: ["x"] }]));

const subjects: Readonly<Record<string, readonly [Small, RegExp]>> = {
  "a call that a rule blocks": [call, /^accepted$/],
  "a hazard that no tool can bring about": [{ ...call, never: { call: of("d") } }, /vacuous/],
  "a lattice without levels": [lattice({ confidentiality: [] }), /no level or more than 52/],
  "a lattice that is too large": [lattice({ categories: names(51) }), /no level or more than 52/],
  "a lattice that is large": [lattice({ categories: names(48) }), /^accepted$/],
  "a core that is too large": [{ ...call, core: names(1025) }, /more than 1024 rules/],
  "a rule called default": [{ ...call, rules: [rule("default", { when: of("b") })] }, /not one enforced rule/],
  "two rules of one id": [{ ...call, rules: [rule("r", { when: of("b") }), rule("r", {})], core: ["r"] }, /not one/],
  "a rule that asks a program of the operator's": [
    { ...call, rules: [rule("r", { when: of("b"), predicate: { name: "f", source: "" } })] },
    /"r" of the core has the unknown member "predicate"/,
  ],
  "a must rule without time": [{ ...call, rules: [rule("r", { when: of("b") }, "must")] }, /neither blocks nor asks/],
  "an allow rule in the core": [{ ...call, rules: [rule("r", { when: of("b") }, "allow")] }, /neither blocks nor asks/],
  "a rule without a form": [{ ...call, rules: [rule("r", {})] }, /does what the hazard forbids/],
  "a hazard of two forms": [{ ...call, never: { call: of("b"), flow: {} } }, /exactly one form/],
  "a hazard of no form": [{ ...call, never: {} }, /exactly one form/],
  "a hazard that is null": [{ ...call, never: null }, /exactly one form/],
  "a hazard of an unknown form": [{ ...call, never: { constructor: of("b") } }, /unknown form "constructor"/],
  "a flow without a source": [{ ...call, never: { flow: { to: of("b") } } }, /from is missing/],
  "a sequence without an end": [{ ...call, never: { sequence: { after: of("a") } } }, /never is missing/],
  "a pattern that cannot be read": [{ ...call, rules: [rule("r", { when: { who: 1 } })] }, /unknown member "who"/],
  "an allow rule without `when`": [
    { ...call, core: ["default"], rules: [rule("x", {}, "allow")] },
    /an allow rule of the policy has no `when`/,
  ],
  "too many predicates": [
    { ...call, never: { call: { ...of("b"), arg: tested(13) } }, rules: [] },
    /"s.b" has more than 2\^12 classes/,
  ],
  "as many predicates as may be": [{ ...call, never: { call: { ...of("b"), arg: tested(12) } } }, /^accepted$/],
  "too much work": [
    {
      ...call,
      never: { call: { arg: tested(12) } },
      rules: [],
      tools: names(13).map((one) =>
        tool(one, { arguments: Object.fromEntries(names(2000).map((x) => [x, argument])) }),
      ),
    },
    /the classes of all tools take more work/,
  ],
  "too many patterns for too many tools": [
    {
      ...call,
      rules: names(1000).map((one) => rule(one, { when: { ...of("b"), effect: ["read"] } })),
      tools: names(10_100).map((one) => tool(one)),
    },
    /the classes of all tools take more work/,
  ],
  "too many labels": [
    {
      ...lattice({ categories: names(40) }),
      never: { call: { ...of("b"), data: [{ categories: names(40) }] } },
      tools: [tool("b", { output: { label: 0, fields: names(2100).map((_, index) => (index + 1) * 2) } })],
    },
    /more than 2048 labels can be held/,
  ],
  "too many kinds of arguments": [
    {
      ...call,
      rules: [],
      never: { call: { ...of("b"), data: names(1100).map((one) => ({ ...secret, args: [one] })) } },
      variables: ["K:1"],
      tools: [tool("b", { arguments: Object.fromEntries(names(1100).map((x) => [x, argument])) })],
    },
    /"s.b" has too many kinds of arguments/,
  ],
  "too many stores": [
    { ...call, policy: { stores: Object.fromEntries(names(26_000).map((one) => [one, { audience: [] }])) } },
    /more than 100000 variables/,
  ],
};

it.each(Object.entries(subjects))("%s", (_, [parts, expected]) => {
  expect(answer(parts)).toMatch(expected);
});

/** A name that no server has is shown where it stands, in whichever part of a policy. */
import { expect, it } from "vitest";
import { loadPolicy } from "../load.ts";

const rules = `rules:
  - id: When
    tier: block
    why: w
    when:
      tool: [s.t, nope]
  - id: Short
    tier: block
    why: w
    when: nope
  - id: Gate
    tier: must
    why: w
    gate:
      before: nope
      need: nope
      unless: {tool: nope}
  - id: Absence
    tier: block
    why: w
    absence:
      after: nope
      never: nope
      until: nope
  - id: AtMost
    tier: block
    why: w
    atMost:
      count: 1
      of: nope
  - id: Once
    tier: block
    why: w
    exactlyOnce:
      of: nope
      after: nope
  - id: Immediately
    tier: must
    why: w
    immediately:
      before: nope
      need: nope
  - id: Budget
    tier: block
    why: w
    budget:
      of: nope
      argument: sum
      limit: 5
  - id: Owed
    tier: must
    why: w
    owed:
      after: nope
      owe: nope
      before: nope
  - id: ByEnd
    tier: must
    why: w
    byEnd:
      after: nope
      by: nope
      action: report
`;
const inject = `rules:
  - id: Inject
    tier: must
    why: w
    inject:
      before: nope
      call:
        arguments: {}
        tool: nope
`;
const hazards = `hazards:
  Flow:
    never:
      flow:
        from: private
        to: nope
  Call:
    never:
      call: nope
  Sequence:
    never:
      sequence:
        after: nope
        never: nope
        until: nope
  Unless:
    never:
      unless:
        call: nope
        need: nope
  AtMost:
    never:
      atMost:
        count: 1
        of: nope
`;
const others = `labels:
  s.t: {}
  nope: {}
regulation:
  leases:
    - calls: 1
      tool: s.t
    - calls: 1
      tool: nope
keep:
  - trace: [s.t]
  - trace: [nope]
expect:
  - {verdict: deny, trace: [s.t]}
  - {verdict: deny, trace: [s.t, {nope: {}}]}
`;

it.each([rules, inject, hazards, others])("%#", (text) => {
  const whole = `version: 1\n${text}`;
  const options = { loader: () => undefined, hash: () => "", manifests: { s: ["t"] } };
  const { policy, diagnostics } = loadPolicy({ file: "p.yaml", text: whole }, options);
  expect(policy).toBeUndefined();
  const unknown = diagnostics.filter(({ code }) => code === "SG-POLICY-TOOL");
  const wanted = whole.split("\n").flatMap((line, index) => (line.includes("nope") ? [index + 1] : []));
  expect(unknown.map(({ line }) => line).toSorted((left, right) => left - right)).toEqual(wanted);
});

// Faults in the engine and in what compiles for it. Each proves something that is false; the checker, which reads the
// policy and the table by itself, must refuse every one of these proofs.
import { describe, expect, it } from "vitest";
import type { NeverText, RuleText } from "../../../src/policy/document/shapes-rules.ts";
import type { PolicyDocument } from "../../../src/policy/canonical/policy-document.ts";
import type { ToolLabelsText } from "../../../src/policy/document/shapes-labels.ts";
import { decideCore, makeProver } from "../../../src/proof/prove/prove.ts";
import type { Subject } from "../../../src/proof/prove/subject.ts";
import { caseOf, certified, checkedFor, wholeCore } from "../../kit/proof/certified.ts";
import { type Fault, exploreFaultily, faults } from "../../kit/proof/faults.ts";
import { hazardId, subjectOf } from "../../kit/proof/random-policy.ts";

/** False proofs that are wanted: 40 in a quick run, 200 in a full one. */
const wanted = Math.max(40, Math.min(200, Number(process.env["SLUICEGATE_RUNS"] ?? 200) / 5));
const seedsMax = wanted * 25;
const names = Object.keys(faults);
const each = Math.ceil((1.5 * wanted) / names.length);

type Met = { wrong: number; accepted: number };
const met = new Map(names.map((name): [string, Met] => [name, { wrong: 0, accepted: 0 }]));

/** Whether the hazard can happen under a core, as the engine without a fault finds. */
function refuting(subject: Subject): (core: readonly string[]) => boolean {
  const prover = makeProver(subject);
  const known = new Map<string, boolean>();
  return (core) => {
    const text = core.join(" ");
    const found = known.has(text) ? undefined : decideCore(prover, hazardId, core);
    if (found !== undefined) known.set(text, found.ok && found.value.distance !== undefined);
    return known.get(text) === true;
  };
}

function tryFault(subject: Subject, fault: Fault, isRefuted: (core: readonly string[]) => boolean): Met {
  const its = fault.subject?.(subject) ?? subject;
  const whole = wholeCore(its);
  const found = { wrong: 0, accepted: 0 };
  for (const core of [whole, whole.filter((_, index) => index % 2 === 0), []]) {
    // Only where the hazard can happen would a proof be false.
    const explored = isRefuted(core) ? exploreFaultily({ its, hazardId, core, fault }) : undefined;
    const certificate = explored === undefined ? undefined : certified(subject, core, explored);
    if (certificate === undefined) continue;
    found.wrong += 1;
    if (checkedFor(subject, certificate).ok) found.accepted += 1;
  }
  return found;
}

describe("compiler faults", () => {
  it(
    "law: no false proof of a faulty engine is accepted",
    () => {
      for (let seed = 1; seed <= seedsMax; seed += 1) {
        const one = caseOf(seed);
        if (one === undefined) continue;
        const isRefuted = refuting(one.subject);
        for (const [name, fault] of Object.entries(faults)) {
          const so = met.get(name);
          if (so === undefined || so.wrong >= each) continue;
          const { wrong, accepted } = tryFault(one.subject, fault, isRefuted);
          so.wrong += wrong;
          so.accepted += accepted;
        }
      }
      const accepted = [...met].filter(([, so]) => so.accepted > 0).map(([name]) => name);
      expect(accepted).toEqual([]);
    },
    wanted * 1500 + 30_000,
  );

  it("the law above met as many false proofs as are wanted, of nearly every fault", () => {
    const counts = [...met.values()].map(({ wrong }) => wrong);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(wanted);
    expect(counts.filter((count) => count === 0).length).toBeLessThanOrEqual(names.length / 5);
  });
});

const [a, b, c] = [{ tool: "s.a" }, { tool: "s.b" }, { tool: "s.c" }];
const sequence = { after: a, never: b };
const untilPaid = { sequence: { ...sequence, until: c } };
type Aimed = { readonly never: NeverText; readonly rule?: Partial<RuleText>; readonly labels?: ToolLabelsText };

/** Policies for faults that random ones seldom meet; the labels are those of the tool `a`. */
const aimed: Readonly<Record<string, Aimed>> = {
  "the cases of tools are missing": {
    never: { call: { effect: "write.external" } },
    labels: {
      effects: "read.local",
      args: { x: { role: "identifier" } },
      cases: [{ when: { arg: { x: { equals: "v" } } }, effects: ["read.local", "write.external"] }],
    },
  },
  "effects are cut short": {
    never: { call: { effect: "write.external.send" } },
    labels: { effects: "write.external.send" },
  },
  "after and never are swapped": {
    never: { sequence },
    rule: { tier: "block", absence: { after: b, never: a } },
  },
  "a debt is due at once": { never: untilPaid, rule: { tier: "must", owed: { after: a, owe: c, within: 2 } } },
  "a debt is due before everything": {
    never: untilPaid,
    rule: { tier: "must", owed: { after: a, owe: c, within: 3 } },
  },
};

describe("faults that random policies seldom meet", () => {
  it.each(Object.entries(aimed))("%s", (name, { never, rule, labels }) => {
    const writes: ToolLabelsText = { effects: "write.local", args: { x: { role: "identifier" } } };
    const document: PolicyDocument = {
      version: 1,
      servers: { s: { trust: "trusted" } },
      labels: { "s.a": labels ?? writes, "s.b": writes, "s.c": writes },
      hazards: { [hazardId]: { consent: "never", never } },
      rules: rule === undefined ? [] : [{ id: "r", why: "it is said so", tier: "block", ...rule }],
      flow: { mode: "strict" },
    };
    const subject = subjectOf(document, ["s.a", "s.b", "s.c"]);
    if (subject === undefined) throw new Error("the policy of the fault does not load");
    const core = rule === undefined ? [] : ["r"];
    expect(refuting(subject)(core)).toBe(true);
    const fault = faults[name] ?? {};
    const explored = exploreFaultily({ its: fault.subject?.(subject) ?? subject, hazardId, core, fault });
    const certificate = explored === undefined ? undefined : certified(subject, core, explored);
    expect(certificate).toBeDefined();
    expect(checkedFor(subject, certificate).ok).toBe(false);
  });
});

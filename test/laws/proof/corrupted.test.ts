// Certificates of random policies, corrupted at random: what the checker still accepts, the explicit explorer confirms.
import { describe, expect, it } from "vitest";
import type { PolicyDocument } from "../../../src/policy/canonical/policy-document.ts";
import { sha256 } from "../../../src/app/policy/policy-source.ts";
import { assumptionsOf } from "../../../src/proof/prove/certificate.ts";
import { type Checked, checkCertificate, unreadable } from "../../../src/proof/check/check.ts";
import type { Json } from "../../../src/proof/check/json.ts";
import { decideCore, makeProver } from "../../../src/proof/prove/prove.ts";
import type { Subject } from "../../../src/proof/prove/subject.ts";
import {
  type Case,
  type Members,
  caseOf,
  certified,
  checkedFor,
  dice,
  digestOf,
  policyOf,
  tableOf,
  wholeCore,
} from "../../kit/proof/certified.ts";
import { exploreExplicitly } from "../../kit/proof/explicit.ts";
import { faults } from "../../kit/proof/faults.ts";
import { hazardId, subjectOf } from "../../kit/proof/random-policy.ts";

/** Corruptions to try: 100 in a quick run, 1,000 in a full one. */
const wanted = Number(process.env["SLUICEGATE_RUNS"] ?? 200) > 200 ? 1000 : 100;

type Roll = (sides: number) => number;
type Proof = { readonly one: Case; readonly core: readonly string[]; readonly certificate: Members };
/** A certificate that was tampered with, and what it is about now. */
type Corrupted = { readonly certificate: Members; readonly checked: Checked; readonly subject: Subject };

function proofOf(seed: number, roll: Roll): Proof | undefined {
  const one = caseOf(seed);
  if (one === undefined) return undefined;
  const core = wholeCore(one.subject).filter(() => roll(4) > 0);
  const prover = makeProver(one.subject);
  const bare = decideCore(prover, hazardId, []);
  // A hazard that no rule is needed for has a proof that little can harm.
  if (bare.ok && bare.value.distance === undefined && roll(4) > 0) return undefined;
  const found = decideCore(prover, hazardId, core);
  const certificate = found.ok ? certified(one.subject, core, found.value) : undefined;
  if (certificate === undefined || !checkedFor(one.subject, certificate).ok) return undefined;
  return { one, core, certificate };
}

function isProved(subject: Subject, core: readonly string[]): boolean {
  const found = decideCore(makeProver(subject), hazardId, core);
  return found.ok && found.value.distance === undefined;
}

const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? [...value] : []);
const choose = <T>(roll: Roll, items: readonly T[]): T | undefined => items[roll(items.length)];

/** Nodes, variables, root and core are the claim; policy and tools stay, and are compared. */
function corruptedClaim({ one, certificate }: Proof, roll: Roll): Corrupted {
  const nodes = listOf(certificate["nodes"]).map(listOf);
  const variables = listOf(certificate["variables"]);
  const core = listOf(certificate["core"]);
  const changes: readonly (() => Members)[] = [
    () => {
      const node = choose(roll, nodes);
      node?.splice(1 + roll(2), 1, roll(2 + nodes.length));
      return { nodes };
    },
    () => {
      const node = choose(roll, nodes);
      node?.splice(1, 2, node[2] ?? 0, node[1] ?? 0);
      return { nodes };
    },
    () => ({ root: roll(nodes.length + 2) }),
    () => ({ nodes: nodes.map((node) => node.with(0, (Number(node[0]) + 1) % Math.max(variables.length, 1))) }),
    () => ({ variables: variables.toSpliced(roll(variables.length), 1) }),
    () => {
      const [left, right] = [roll(variables.length), roll(variables.length)];
      const swapped = variables.with(left, variables[right] ?? "").with(right, variables[left] ?? "");
      return variables.length === 0 ? { root: 0 } : { variables: swapped };
    },
    () => ({ core: core.toSpliced(roll(core.length), 1) }),
    () => ({ core: [...core, choose(roll, [...wholeCore(one.subject), "default", "bounds", "x"]) ?? "x"] }),
  ];
  const changed = { ...certificate, ...choose(roll, changes)?.() };
  return { certificate: changed, checked: checkedFor(one.subject, changed), subject: one.subject };
}

/** Contracts that say something else; once as the gateway has them, which is then compared in vain, once against them. */
function corruptedTable({ one, certificate }: Proof, roll: Roll): Corrupted {
  const faulty = choose(
    roll,
    Object.values(faults).filter(({ subject }) => subject !== undefined),
  );
  const { contracts } = faulty?.subject?.(one.subject) ?? one.subject;
  const subject = { ...one.subject, contracts };
  const changed = { ...certificate, tools: tableOf(subject) };
  const different = JSON.stringify(changed.tools) !== JSON.stringify(certificate["tools"]);
  if (different) expect(checkedFor(one.subject, changed).ok).toBe(false);
  return { certificate: changed, checked: checkCertificate(changed, { hash: sha256 }), subject };
}

/** A program of the operator's, after which a rule may refuse nothing at all. */
const predicate = { name: "f", source: "export function f() { return false; }" };

/** Another policy under the same proof. */
function corruptedPolicy({ one, certificate }: Proof, roll: Roll): Corrupted | undefined {
  const { document } = one;
  const { rules = [], stores = {} } = document;
  const at = roll(rules.length);
  const changes: readonly Partial<PolicyDocument>[] = [
    { rules: rules.toSpliced(at, 1) },
    { rules: rules.map((rule, index) => (index === at ? { ...rule, mode: "observe" } : rule)) },
    { rules: rules.map((rule, index) => (index === at ? { ...rule, id: "x" } : rule)) },
    { rules: rules.map((rule) => (rule.tier === "block" && rule.when !== undefined ? { ...rule, predicate } : rule)) },
    { flow: { mode: roll(2) === 0 ? "strict" : "provenance" } },
    { mode: "observe" },
    { host: { send: "open", read: "gated", execute: "gated" } },
    { host: { send: "gated", read: "open", execute: "open" } },
    { stores: Object.fromEntries(Object.keys(stores).map((name) => [name, { audience: "anyone" }])) },
    { labels: Object.fromEntries(Object.keys(document.labels ?? {}).map((name) => [name, {}])) },
    { hazards: { [hazardId]: { consent: "never", never: { call: { effect: "write" } } } } },
  ];
  const subject = subjectOf({ ...document, ...choose(roll, changes) }, one.tools);
  if (subject === undefined) return undefined;
  const policy = policyOf(subject);
  const changed = { ...certificate, policy, tools: tableOf(subject) };
  if (digestOf(policy) === certificate["digest"]) return undefined;
  const stale = checkCertificate(changed, { hash: sha256 });
  expect(stale).toMatchObject({ ok: false, reason: expect.stringMatching(/the digest is not/) });
  const renewed = { ...changed, digest: digestOf(policy), assumptions: [...assumptionsOf(subject)] };
  expect(checkedFor(one.subject, renewed).ok).toBe(false);
  return { certificate: renewed, checked: checkCertificate(renewed, { hash: sha256 }), subject };
}

describe("corrupted certificates", () => {
  it(
    "law: none is accepted that the explicit explorer does not confirm",
    () => {
      const met = { tried: 0, accepted: 0, confirmed: 0 };
      for (let seed = 1; met.tried < wanted; seed += 1) {
        const roll = dice(seed);
        const proof = proofOf(seed, roll);
        if (proof === undefined) continue;
        const corrupt = [corruptedClaim, corruptedClaim, corruptedTable, corruptedPolicy][roll(4)];
        const corrupted = corrupt?.(proof, roll);
        if (corrupted === undefined) continue;
        const { certificate, checked, subject } = corrupted;
        met.tried += 1;
        if (!checked.ok) {
          expect(checked.reason).not.toBe(unreadable);
          continue;
        }
        met.accepted += 1;
        // The explorer has nothing to say where a model is too large for it; then the engine is asked again.
        const answer = exploreExplicitly(subject, hazardId, checked.core);
        if (answer !== undefined) met.confirmed += 1;
        const safe = answer?.safe ?? isProved(subject, checked.core);
        expect(safe, JSON.stringify(certificate)).toBe(true);
      }
      // A corruption that changes nothing that counts leaves a certificate; most leave none.
      expect(met.accepted).toBeLessThan(wanted * 0.75);
      expect(met.confirmed).toBeGreaterThan(wanted / 20);
    },
    wanted * 500 + 30_000,
  );
});

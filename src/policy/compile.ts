/**
 * Canonical policy to everything that runs: the IR, the label table, the settings of the gateway. Nothing but the
 * canonical JSON goes in, so what the prover explored and what the gateway enforces cannot be two things.
 */
import type { PolicySettings } from "../core/settings.ts";
import type { Ir, StoreDeclaration } from "./ir.ts";
import type { CanonicalPolicy } from "./canonical/form.ts";
import { canonicalText } from "./canonical.ts";
import type { LabelCompiler, Reporter } from "./compile/labels.ts";
import { compileLattice, labelCompiler } from "./compile/labels.ts";
import type { Scope } from "./compile/patterns.ts";
import { compileCheck } from "./compile/checks.ts";
import { compileHazard } from "./compile/hazards.ts";
import { compileHost } from "./compile/host.ts";
import { compileIsolation } from "./compile/isolation.ts";
import { compileJudges } from "./compile/judges.ts";
import { compileRegulation } from "./compile/regulation.ts";
import { compileRule } from "./compile/rules.ts";
import { compileSettings } from "./compile/settings.ts";
import { predicateRegistry } from "./compile/tests.ts";
import { compileTools } from "./compile/tools.ts";
import type { LabelTable } from "./contracts/table.ts";
import type { Problem } from "./diagnostic.ts";
import { hasErrors, information, problem, quoted, warning } from "./diagnostic.ts";
import { suggestion } from "./language/nearest.ts";
import type { Isolation } from "./isolation/order.ts";
import type { Judges } from "./judges.ts";
import type { Regulation } from "./regulation.ts";

export type CompiledPolicy = {
  readonly digest: string;
  /** RFC 8785 text of the policy; its SHA-256 is the digest. */
  readonly canonical: string;
  readonly policy: CanonicalPolicy;
  readonly ir: Ir;
  readonly table: LabelTable;
  readonly settings: PolicySettings;
  readonly regulation: Regulation;
  readonly judges: Judges;
  /** Undefined where the policy has no section `isolation`. */
  readonly isolation: Isolation | undefined;
};

export type Compiled = { readonly policy: CompiledPolicy | undefined; readonly problems: readonly Problem[] };

/** Compiles a canonical policy; `hash` is SHA-256 in hex. With an error there is no policy, only problems. */
export function compilePolicy(given: CanonicalPolicy, hash: (text: string) => string): Compiled {
  const canonical = canonicalText(given);
  // Read back from its own text: the order in which a file names things must not reach any index of the IR.
  const policy = JSON.parse(canonical) as CanonicalPolicy;
  const problems: Problem[] = [];
  const report: Reporter = (found) => void problems.push(found);
  const lattice = compileLattice(policy.lattice, report);
  const labels = labelCompiler(policy.lattice, lattice, report);
  const registry = predicateRegistry();
  const scope: Scope = { labels, registry, stores: Object.keys(policy.stores).toSorted(), report };
  checkWords(policy, labels, report);
  const table = compileTools(policy, scope);
  const rules = policy.rules.flatMap((rule) => (rule.predicate === undefined ? compileRule(rule, scope) : []));
  const checks = policy.rules.flatMap((rule) => compileCheck(rule, scope, hash));
  const hazards = Object.entries(policy.hazards).map(([id, hazard]) => compileHazard(id, hazard, scope));
  const stores = scope.stores.map((name) => storeDeclaration(name, policy, labels));
  const host = compileHost(policy.host, scope);
  const settings = compileSettings(policy, report);
  const regulation = compileRegulation(policy, report);
  const judges = compileJudges(policy, labels, report);
  const isolation = compileIsolation(policy, hash, report);
  if (hasErrors(problems)) return { policy: undefined, problems };
  const digest = hash(canonical);
  const ir: Ir = {
    digest,
    lattice,
    // `handles` adds to `strict` what is not built yet; without it, strict is the same policy with less comfort.
    flow: policy.flow.mode === "handles" ? "strict" : policy.flow.mode,
    predicates: registry.predicates,
    rules,
    checks,
    hazards,
    stores,
    execute: "confirm",
    host,
  };
  return { policy: { digest, canonical, policy, ir, table, settings, regulation, judges, isolation }, problems };
}

function storeDeclaration(name: string, policy: CanonicalPolicy, labels: LabelCompiler): StoreDeclaration {
  const form = policy.stores[name];
  const path = ["stores", name];
  const { lattice } = labels;
  // Nothing said: what others put there is outside our sight, but nobody vouches for it either.
  const unsaid = { lo: lattice.bottom, hi: labels.range({ confidentiality: "inferred" }, path).hi };
  return {
    name,
    audience: labels.groupBits(form?.audience ?? ["anyone"], [...path, "audience"]),
    initial: form?.label === undefined ? unsaid : labels.range(form.label, [...path, "label"]),
  };
}

function checkWords(policy: CanonicalPolicy, labels: LabelCompiler, report: Reporter): void {
  for (const [group, bound] of Object.entries(policy.lattice.clearance)) {
    labels.groupBits([group], ["lattice", "clearance", group]);
    labels.forbidden(bound, [], ["lattice", "clearance", group]);
  }
  for (const id of policy.accepts) {
    if (Object.hasOwn(policy.hazards, id)) continue;
    report(problem("HAZARD", ["accepts"], `${quoted(id)} is no hazard`, suggestion(id, Object.keys(policy.hazards))));
  }
  const ids = new Set<string>();
  for (const { id } of policy.rules) {
    if (ids.has(id)) report(problem("ID", ["rules", id], `the id ${quoted(id)} is used twice`, "give each its own id"));
    ids.add(id);
  }
  for (const id of Object.keys(policy.hazards)) {
    // Automata and keys go by id: a rule and a hazard of one name, from two files, would read each other's key.
    if (!ids.has(id)) continue;
    report(problem("ID", ["hazards", id], `${quoted(id)} is a rule and a hazard`, "give each its own id"));
  }
  for (const expect of policy.expect) {
    const by: readonly string[] = typeof expect.by === "string" ? [expect.by] : (expect.by ?? []);
    const known = [...ids, ...Object.keys(policy.hazards)];
    for (const id of by) {
      if (known.includes(id)) continue;
      report(problem("RULE", ["expect"], `${quoted(id)} is no rule and no hazard`, suggestion(id, known)));
    }
  }
  noteInactive(policy, report);
}

/** Says aloud what is written in the policy and does nothing yet. */
function noteInactive(policy: CanonicalPolicy, report: Reporter): void {
  const later = ["admission", "reflection"] as const;
  for (const section of later) {
    if (policy[section] === undefined) continue;
    const message = `\`${section}\` is checked, but not active yet in this version`;
    report(information("INACTIVE", [section], message, "do not rely on it"));
  }
  if (policy.flow.mode === "handles") {
    const message = "`handles` is not active yet; the policy runs as `strict`, which refuses more";
    report(warning("INACTIVE", ["flow", "mode"], message, "write `strict` or `provenance`"));
  }
}

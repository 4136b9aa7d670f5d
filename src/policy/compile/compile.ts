/**
 * Canonical policy to everything that runs: the IR, the label table, the settings of the gateway. Nothing but the
 * canonical JSON goes in, so prover and gateway run the same policy.
 */
import type { PolicySettings } from "../../core/settings.ts";
import type { Ir, StoreDeclaration } from "../ir/ir.ts";
import type { CanonicalPolicy } from "../canonical/policy-document.ts";
import { canonicalText } from "../canonical/canonical.ts";
import type { LabelCompiler, LabelTable } from "../ir/label-table.ts";
import { type Reporter, type Problem, hasErrors, problem, quoted, warning } from "../document/diagnostic.ts";
import { compileLattice, labelCompiler } from "./labels.ts";
import type { Scope } from "./patterns.ts";
import { compileCheck, compileRule } from "./rules.ts";
import { compileHazard } from "./hazards.ts";
import { compileIsolation } from "./isolation.ts";
import * as host from "../sections/host.ts";
import * as judges from "../sections/judges.ts";
import * as later from "../sections/later.ts";
import * as regulation from "../sections/regulation.ts";
import * as settings from "../sections/settings.ts";
import { predicateRegistry } from "./tests.ts";
import { compileTools } from "./tools.ts";
import { suggestion } from "../document/nearest.ts";
import type { Isolation } from "../ir/isolation-order.ts";

export type CompiledPolicy = {
  readonly digest: string;
  /** RFC 8785 text of the policy; its SHA-256 is the digest. */
  readonly canonical: string;
  readonly policy: CanonicalPolicy;
  readonly ir: Ir;
  readonly table: LabelTable;
  readonly settings: PolicySettings;
  readonly regulation: regulation.Regulation;
  readonly judges: judges.Judges;
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
  const names = Object.keys(policy.stores).toSorted();
  const stores = names.map((name) => storeDeclaration(name, policy, labels));
  const initial = new Map(stores.map((store) => [store.name, store.initial]));
  const scope: Scope = { labels, registry, stores: names, initial, report };
  checkWords(policy, labels, report);
  const table = compileTools(policy, scope);
  const rules = policy.rules.flatMap((rule) => (rule.predicate === undefined ? compileRule(rule, scope) : []));
  const checks = policy.rules.flatMap((rule) => compileCheck(rule, scope, hash));
  const hazards = Object.entries(policy.hazards).map(([id, hazard]) => compileHazard(id, hazard, scope));
  const powers = host.compile(policy.host, scope);
  const parts = {
    settings: settings.compile(policy, report),
    regulation: regulation.compile(policy, report),
    judges: judges.compile(policy, labels, report),
    isolation: compileIsolation(policy, hash, report),
  };
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
    host: powers,
    ...(policy.admission?.labels === "declared" ? { declaredOnly: true as const } : {}),
  };
  return { policy: { digest, canonical, policy, ir, table, ...parts }, problems };
}

function storeDeclaration(name: string, policy: CanonicalPolicy, labels: LabelCompiler): StoreDeclaration {
  const form = policy.stores[name];
  const path = ["stores", name];
  const { lattice } = labels;
  // Without a statement, the gateway does not see the data that others put there, and no party vouches for it either.
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

/** Reports settings of the policy that nothing implements yet. */
function noteInactive(policy: CanonicalPolicy, report: Reporter): void {
  later.compile(policy, report);
  if (policy.flow.mode === "handles") {
    const message = "`handles` is not active yet; the policy runs as `strict`, which refuses more";
    report(warning("INACTIVE", ["flow", "mode"], message, "write `strict` or `provenance`"));
  }
}

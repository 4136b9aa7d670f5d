/**
 * The canonical policy: `extends` followed, short forms written out, defaults explicit, labels and ids sorted, and the
 * text by RFC 8785. The gateway, the prover and the checker load this very JSON; its digest names the policy.
 */
import canonicalize from "canonicalize";
import type { CanonicalPolicy, PackForm, StoreSectionForm, PackContents, PolicyDocument } from "./policy-document.ts";
import type { LatticeForm, RuleForm } from "../document/long-form.ts";
import { isolationForm, packScopeForm } from "./scopes.ts";
import { boundForm, labelForm, mapValues, sortedWords, toolLabelsForm } from "../document/label-forms.ts";
import { given, mapped } from "../../core/given.ts";
import { type KnownTools, type Naming, resolveName, splitSelector } from "../document/names.ts";
import * as host from "../sections/host.ts";
import * as judges from "../sections/judges.ts";
import * as later from "../sections/later.ts";
import * as readings from "../sections/readings.ts";
import * as regulation from "../sections/regulation.ts";
import * as settings from "../sections/settings.ts";
import { hazardForm, ruleForm } from "./rule-forms.ts";
import { type Problem, problem, quoted } from "../document/diagnostic.ts";
import type { StepText } from "../document/shapes-rules.ts";
import type { ToolLabelsText } from "../document/shapes-labels.ts";

export type Manifests = { readonly [server: string]: readonly string[] };

export type Canonical = { readonly policy: CanonicalPolicy; readonly problems: readonly Problem[] };

/** RFC 8785 text; what is hashed, stored in certificates and loaded again. */
export function canonicalText(policy: CanonicalPolicy): string {
  const text = canonicalize(policy);
  if (text === undefined) throw new Error("a policy is an object and always has a text");
  return text;
}

const defaultLattice: LatticeForm = {
  confidentiality: ["public", "sensitive", "private"],
  categories: [],
  trust: ["trusted", "untrusted"],
  groups: ["me", "anyone"],
  clearance: {},
};

/**
 * The canonical form of a joined document and its packs. `manifests` lists the tools of servers that are known; with
 * it a name that no server has is an error, without it such a name stands for that tool on any server.
 */
export function canonicalPolicy(
  document: PolicyDocument,
  packs: readonly PolicyDocument[],
  manifests: Manifests | undefined,
): Canonical {
  const problems: Problem[] = [];
  const naming: Naming = {
    known: knownTools(document, manifests),
    report: (found) => void problems.push(found),
  };
  const policy: CanonicalPolicy = {
    ...given<Pick<CanonicalPolicy, "stpa" | "judges" | "regulation" | "isolation" | "readings">>({
      stpa: document.stpa,
      judges: mapped(document.judges, judges.canonical),
      regulation: mapped(document.regulation, (section) => regulation.canonical(section, naming)),
      isolation: mapped(document.isolation, isolationForm),
      readings: readings.canonical(document.readings, naming.report),
    }),
    ...later.canonical(document),
    ...settings.canonical(document),
    version: 1,
    mode: document.mode ?? "enforce",
    lattice: latticeForm(document),
    host: host.canonical(document.host ?? {}),
    servers: document.servers ?? {},
    labels: labelsForm(document.labels ?? {}, naming),
    packs: packForms(document, packs, problems),
    stores: storeForms([...packs, document]),
    hazards: mapValues(document.hazards ?? {}, (hazard, id) => hazardForm(id, hazard, naming)),
    rules: rulesForm(document, naming),
    keep: (document.keep ?? []).map((keep, index) => ({
      trace: keep.trace.map((step) => stepForm(step, naming, ["keep", index])),
      firm: keep.firm ?? false,
    })),
    accepts: sortedWords(document.accepts ?? []),
    flow: { mode: document.flow?.mode ?? "provenance" },
    expect: (document.expect ?? []).map((expect, index) => ({
      ...expect,
      ...(expect.by === undefined ? {} : { by: sortedWords(expect.by) }),
      trace: expect.trace.map((step) => stepForm(step, naming, ["expect", index])),
    })),
  };
  return { policy, problems };
}

function knownTools(document: PolicyDocument, manifests: Manifests | undefined): KnownTools {
  const tools = new Map<string, Set<string>>();
  const add = (server: string, tool: string): void => {
    if (server.includes("*") || tool.includes("*")) return;
    const found = tools.get(server) ?? new Set<string>();
    tools.set(server, found.add(tool));
  };
  const listed = manifests === undefined ? undefined : new Set(Object.keys(manifests));
  for (const [server, names] of Object.entries(manifests ?? {})) for (const name of names) add(server, name);
  for (const selector of Object.keys(document.labels ?? {})) {
    const { server, tool } = splitSelector(selector);
    // A label for a tool that its server does not list must not make the name known.
    if (listed?.has(server) !== true && selector.includes(".")) add(server, tool);
  }
  return { tools, listed };
}

function labelsForm(
  labels: { readonly [selector: string]: ToolLabelsText },
  naming: Naming,
): CanonicalPolicy["labels"] {
  const found: { [selector: string]: ReturnType<typeof toolLabelsForm> } = {};
  for (const [name, text] of Object.entries(labels)) {
    const selector = resolveName(name, naming, ["labels", name]);
    if (Object.hasOwn(found, selector)) {
      const message = `${quoted(name)} and another entry label the same tool`;
      naming.report(problem("ID", ["labels", name], message, "join the two entries"));
    }
    found[selector] = toolLabelsForm(text);
  }
  return found;
}

function latticeForm(document: PolicyDocument): LatticeForm {
  const lattice = document.lattice ?? {};
  return {
    confidentiality: lattice.confidentiality ?? defaultLattice.confidentiality,
    categories: sortedWords(lattice.categories ?? []),
    trust: defaultLattice.trust,
    groups: sortedWords([...(lattice.groups ?? []), ...defaultLattice.groups]),
    clearance: mapValues(lattice.clearance ?? {}, boundForm),
  };
}

function rulesForm(document: PolicyDocument, naming: Naming): readonly RuleForm[] {
  const rules = (document.rules ?? []).map((rule) => ruleForm(rule, naming));
  return rules.toSorted((left, right) => (left.id < right.id ? -1 : 1));
}

function packForms(
  document: PolicyDocument,
  packs: readonly PolicyDocument[],
  problems: Problem[],
): CanonicalPolicy["packs"] {
  const found: { [name: string]: PackForm } = {};
  const contents: PackContents[] = Object.values(document.packs ?? {});
  for (const pack of packs) {
    if (pack.pack !== undefined) contents.push({ ...pack.pack, labels: pack.labels ?? {} });
  }
  for (const pack of contents) {
    if (Object.hasOwn(found, pack.name)) {
      problems.push(problem("PACK", ["packs"], `two packs have the name ${quoted(pack.name)}`, "rename one"));
    }
    found[pack.name] = {
      name: pack.name,
      ...(pack.title === undefined ? {} : { title: pack.title }),
      ...(pack.reach === undefined ? {} : { reach: pack.reach }),
      ...(pack.scope === undefined ? {} : { scope: packScopeForm(pack.scope) }),
      digests: mapValues(pack.digests ?? {}, sortedWords),
      labels: mapValues(pack.labels, toolLabelsForm),
    };
  }
  return found;
}

/** Stores of packs come first, so that the operator's own declaration of a store replaces a pack's. */
function storeForms(documents: readonly PolicyDocument[]): CanonicalPolicy["stores"] {
  const found = new Map<string, StoreSectionForm>();
  for (const document of documents) {
    for (const [name, store] of Object.entries(document.stores ?? {})) {
      found.set(name, {
        // A store without an audience has the worst one: everyone can read the store.
        audience: sortedWords(store.audience ?? "anyone"),
        ...(store.label === undefined ? {} : { label: labelForm(store.label) }),
      });
    }
  }
  return Object.fromEntries(found);
}

/** Steps that stand for the user (`run`, `user`) keep their key; the others get the full name of their tool. */
function stepForm(step: StepText, naming: Naming, path: Problem["path"]): StepText {
  if (typeof step === "string") return resolveName(step, naming, path);
  if (Object.keys(step).length !== 1) {
    const message = `a step names ${Object.keys(step).length} calls, and one is looked at`;
    naming.report(problem("CHOICE", path, message, "write one call in each step"));
  }
  return Object.fromEntries(
    Object.entries(step).map(([name, value]) => [
      name === "run" || name === "user" ? name : resolveName(name, naming, path),
      value,
    ]),
  );
}

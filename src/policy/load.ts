/**
 * From a policy as written to a policy that runs: gather what it extends, join, make canonical, compile. One function
 * for the command line, the gateway and tests. A policy with an error yields none.
 */
import { diagnose } from "./document/parse.ts";
import { type CanonicalPolicy, parsePolicy } from "./canonical/policy-document.ts";
import { type Manifests, canonicalPolicy, canonicalText } from "./canonical/canonical.ts";
import { type Gathered, type PolicyInput, type PolicyLoader, gather } from "./canonical/extends.ts";
import { merge, placed } from "./canonical/merge.ts";
import { type CompiledPolicy, compilePolicy } from "./compile/compile.ts";
import { defaultPolicyName } from "./canonical/default-policy.ts";
import { type Diagnostic, type Problem, hasErrors } from "./document/diagnostic.ts";
import { diagnosticsMax } from "./values/limits.ts";

export type LoadOptions = {
  readonly loader: PolicyLoader;
  /** SHA-256 of UTF-8 text, in hex. */
  readonly hash: (text: string) => string;
  /** Tools of the servers that are known, for resolving bare names and finding misspelt ones. */
  readonly manifests?: Manifests;
};

export type Loaded = {
  /** Absent iff some diagnostic is an error. */
  readonly policy: CompiledPolicy | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** Gives a later finding, such as one of the lints, its place in the documents. */
  readonly place: (found: Problem) => Diagnostic;
};

export function loadPolicy(input: PolicyInput, options: LoadOptions): Loaded {
  const gathered = asPolicy(gather(input, options.loader), options.loader);
  const own = gathered.documents.at(-1) ?? gathered.packs[0];
  if (own === undefined || hasErrors(gathered.diagnostics)) {
    const nowhere = { file: input.file, locate: () => ({ line: 0, column: 0 }) };
    return finished(undefined, gathered.diagnostics, (found) => diagnose(found, nowhere));
  }
  const merged = merge(gathered.documents);
  const packs = gathered.packs.map((pack) => pack.document);
  const canonical = canonicalPolicy(merged.document, packs, options.manifests);
  const compiled = compilePolicy(canonical.policy, options.hash);
  const packOrigins = new Map(gathered.packs.map((pack) => [pack.document.pack?.name, pack]));
  const place = (found: Problem): Diagnostic => {
    // A problem inside a joined pack is one of the pack's own file.
    const [section, name, ...inner] = found.path;
    const rest = inner[0] === "scope" ? ["pack", ...inner] : inner;
    const pack = section === "packs" ? packOrigins.get(String(name)) : undefined;
    return pack === undefined
      ? placed(found, merged.origins, own)
      : placed({ ...found, path: rest }, new Map(), pack, rest);
  };
  const problems = [...canonical.problems, ...compiled.problems].map(place);
  return finished(compiled.policy, [...gathered.diagnostics, ...merged.diagnostics, ...problems], place);
}

/** A pack by itself is checked as what it will be: a part of the default policy, without the other packs. */
function asPolicy(gathered: Gathered, loader: PolicyLoader): Gathered {
  const own = gathered.packs.at(-1);
  if (gathered.documents.length > 0 || own === undefined) return gathered;
  const base = loader(defaultPolicyName, own.file);
  if (base === undefined) return gathered;
  const { documents, diagnostics } = gather(base, loader);
  return { documents, packs: gathered.packs, diagnostics: [...gathered.diagnostics, ...diagnostics] };
}

function finished(
  policy: CompiledPolicy | undefined,
  diagnostics: readonly Diagnostic[],
  place: Loaded["place"],
): Loaded {
  const shown = diagnostics.toSorted((left, right) => rank(left) - rank(right)).slice(0, diagnosticsMax);
  return { policy: hasErrors(diagnostics) ? undefined : policy, diagnostics: shown, place };
}

const order = { error: 0, warning: 1, info: 2 } as const;

function rank(diagnostic: Diagnostic): number {
  return order[diagnostic.severity];
}

/**
 * Loads the canonical JSON itself, as certificates and the event log keep it. Refused unless it is exactly canonical,
 * so that one digest cannot stand for two policies.
 */
export function loadCanonical(text: string, hash: (text: string) => string): CompiledPolicy | undefined {
  const parsed = parsePolicy(text, "canonical policy");
  if (!parsed.ok) return undefined;
  const made: CanonicalPolicy = canonicalPolicy(parsed.value.document, [], undefined).policy;
  if (canonicalText(made) !== text) return undefined;
  return compilePolicy(made, hash).policy;
}

/**
 * From a policy as written to a policy that runs: gather what it extends, join, make canonical, compile. One function
 * for the command line, the gateway and tests. A policy with an error yields none.
 */
import { diagnose } from "./document/parse.ts";
import {
  type CanonicalPolicy,
  type PolicyDocument,
  type PolicySource,
  parsePolicy,
} from "./canonical/policy-document.ts";
import { type Manifests, canonicalPolicy, canonicalText } from "./canonical/canonical.ts";
import { type Gathered, type PolicyInput, type PolicyLoader, gather } from "./canonical/extends.ts";
import { merge, placed } from "./canonical/merge.ts";
import { type CompiledPolicy, compilePolicy } from "./compile/compile.ts";
import { defaultPolicyName } from "./canonical/default-policy.ts";
import { type Diagnostic, type Problem, hasErrors, warning } from "./document/diagnostic.ts";
import { given } from "../core/given.ts";
import * as readings from "./sections/readings.ts";
import type { ReadingText } from "./sections/readings.ts";
import { type AcceptedHosts, withAcceptedHosts } from "./canonical/accepted-hosts.ts";
import type { IsolationSection } from "./document/shapes-isolation.ts";
import { diagnosticsMax, policyTextUnitsMax } from "./values/limits.ts";

export type LoadOptions = {
  readonly loader: PolicyLoader;
  /** SHA-256 of UTF-8 text, in hex. */
  readonly hash: (text: string) => string;
  /** Tools of the servers that are known, for resolving bare names and finding misspelt ones. */
  readonly manifests?: Manifests;
  /** The day, as `YYYY-MM-DD` in UTC: readings that ended before do not count. Without it all do, as in a replay. */
  readonly today?: string;
  /** Isolates by default: a policy without a section `isolation` gets this one, which its canonical text then has. */
  readonly isolation?: IsolationSection | undefined;
  /**
   * What was accepted on cards: readings, and in `isolation` the hosts of servers. What a reading says in words that this
   * policy lacks is left out, alone.
   */
  readonly accepted?: PolicySource;
};

export type Loaded = {
  /** Last day of the reading that ends first. */
  readonly until?: string;
  /** Absent iff some diagnostic is an error. */
  readonly policy: CompiledPolicy | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** Gives a later finding, such as one of the lints, its place in the documents. */
  readonly place: (found: Problem) => Diagnostic;
};

export function loadPolicy(input: PolicyInput, options: LoadOptions): Loaded {
  const alone = gather(input, options.loader);
  const { accepted } = options;
  // A pack by itself is a document for others, and no policy in force here.
  if (accepted === undefined || alone.documents.length === 0 || hasErrors(alone.diagnostics)) {
    return joined(input, asPolicy(alone, options.loader), options).loaded;
  }
  const hosts = accepted.document.isolation?.servers ?? {};
  const withReadings = (usable: readonly ReadingText[]): Joined => {
    const source = { ...accepted, document: { version: 1, readings: usable } as const };
    return joined(input, { ...alone, documents: [source, ...alone.documents] }, options, hosts);
  };
  const given = accepted.document.readings ?? [];
  const whole = withReadings(given);
  if (fits(whole)) return whole.loaded;
  // Readings were accepted under the words of some policy; where this one lacks them, they say nothing.
  const usable = given.filter((one) => !whole.faults.has(readings.readingKey(one)));
  const less = withReadings(usable);
  const counting = fits(less) ? less : joined(input, alone, options);
  const left = fits(less) ? given.length - usable.length : given.length;
  return withNote(counting.loaded, diagnose(leftOut(left), accepted));
}

/** A policy must be read again from its canonical text, which has a bound. */
function fits({ loaded }: Joined): boolean {
  return loaded.policy !== undefined && loaded.policy.canonical.length <= policyTextUnitsMax;
}

function leftOut(count: number): Problem {
  const message = `${count} accepted ${count === 1 ? "reading does" : "readings do"} not count under this policy: it lacks their words, or room`;
  return warning("READING", ["readings"], message, "look at their cards again under this policy");
}

function withNote(loaded: Loaded, note: Diagnostic): Loaded {
  return { ...loaded, diagnostics: [...loaded.diagnostics, note].slice(-diagnosticsMax) };
}

/** A policy with the keys of readings that do not compile. */
type Joined = { readonly loaded: Loaded; readonly faults: ReadonlySet<string> };

function joined(input: PolicyInput, gathered: Gathered, options: LoadOptions, hosts: AcceptedHosts = {}): Joined {
  const own = gathered.documents.at(-1) ?? gathered.packs[0];
  if (own === undefined || hasErrors(gathered.diagnostics)) {
    const nowhere = { file: input.file, locate: () => ({ line: 0, column: 0 }) };
    const loaded = finished(undefined, gathered.diagnostics, (found) => diagnose(found, nowhere));
    return { loaded, faults: new Set() };
  }
  const merged = merge(gathered.documents);
  const packs = gathered.packs.map((pack) => pack.document);
  const current = readings.current(merged.document.readings, options.today ?? "");
  const section = merged.document.isolation ?? options.isolation;
  const isolation = withAcceptedHosts(section, hosts, merged.document, packs);
  const document = given<PolicyDocument>({ ...merged.document, readings: current.readings, isolation });
  const canonical = canonicalPolicy(document, packs, options.manifests);
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
  const found = [...current.problems, ...canonical.problems, ...compiled.problems];
  const problems = found.map(place);
  const until = (current.readings ?? []).map((one) => one.until).toSorted()[0];
  const loaded = finished(compiled.policy, [...gathered.diagnostics, ...merged.diagnostics, ...problems], place);
  const wrong = found.filter((one) => one.severity === "error" && one.path[0] === "readings");
  return {
    loaded: until === undefined ? loaded : { ...loaded, until },
    faults: new Set(wrong.map(({ path }) => String(path[1]))),
  };
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

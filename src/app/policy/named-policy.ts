/** Policies that files, commands and callers name: read and compiled, or the first error as a sentence with its place. */
import { resolve } from "node:path";
import type { JsonObject } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { LoadedPolicy } from "../../gateway/ports/policy.ts";
import type { PolicyInput } from "../../policy/canonical/extends.ts";
import type { CompiledPolicy } from "../../policy/compile/compile.ts";
import type { Diagnostic, Problem } from "../../policy/document/diagnostic.ts";
import type { PolicyDocument, PolicySource } from "../../policy/canonical/policy-document.ts";
import type { ToolLists } from "../../policy/contracts/contracts.ts";
import { type Loaded, loadPolicy } from "../../policy/load.ts";
import type { Fault } from "../state/outcome.ts";
import { shortPath } from "../state/sentences.ts";
import { stateHome } from "../../adapters/daemon/paths.ts";
import { CardFiles } from "../cards/card-files.ts";
import { diagnosticLine } from "./diagnostic-line.ts";
import { loadedPolicy } from "./loaded-policy.ts";
import { readManifests, toolNames } from "./manifest.ts";
import {
  type PolicyInputs,
  defaultPolicyName,
  loadFrom,
  loadInputs,
  policyInputs,
  sha256,
  shippedLoader,
} from "./policy-source.ts";
import { programProblems } from "./rule-programs.ts";

/** Why a document is not a policy: its first error, with place and remedy. */
export function whyUnloadable(name: string, diagnostics: readonly Diagnostic[]): string {
  const first = diagnostics.find(({ severity }) => severity === "error");
  return first === undefined
    ? `${shortPath(name)} does not load: \`sluicegate policy check\` says why.`
    : diagnosticLine(first);
}

export type Extra = {
  /** A `labels:` section laid over the policy. */
  readonly labels?: JsonObject | undefined;
  readonly flow?: "strict" | "provenance";
};

/** A policy, and what gives a later finding its place in its documents. */
export type Placed = Pick<Loaded, "place" | "until"> & { readonly policy: CompiledPolicy };

/** A compiled policy from a file, the default, or a document of our own; the error is a sentence with place. */
export function placedFrom(source: string | undefined | PolicyInput): Result<Placed, string> {
  if (typeof source === "object")
    return usable(loadPolicy(source, { loader: shippedLoader, hash: sha256 }), source.file);
  const inputs = policyInputs(source);
  return inputs.ok ? placedOf(inputs.value, undefined) : inputs;
}

/** The same of what was read already, with the readings of cards. Whether the programs of its rules load is asked apart. */
export function placedOf(inputs: PolicyInputs, accepted: PolicySource | undefined): Result<Placed, string> {
  return usable(loadInputs(inputs, accepted), inputs.input.file);
}

/** The same, for callers that need the policy alone. */
export function compiledFrom(source: string | undefined | PolicyInput): Result<CompiledPolicy, string> {
  const placed = placedFrom(source);
  return placed.ok ? ok(placed.value.policy) : placed;
}

/** A policy file, or the default, with labels and a flow mode laid over it; the error is a sentence with place. */
export function loadPolicyFor(file: string | undefined, extra: Extra = {}): Result<LoadedPolicy, string> {
  const own = file === defaultPolicyName ? undefined : file;
  const name = own === undefined ? defaultPolicyName : resolve(own);
  const over = extra.labels !== undefined || extra.flow !== undefined;
  const document = {
    version: 1,
    extends: [name],
    ...(extra.labels === undefined ? {} : { labels: extra.labels }),
    ...(extra.flow === undefined ? {} : { flow: { mode: extra.flow } }),
  };
  // The loader itself checks input from outside; the type only states the intended form.
  const input = { file: `${name} (with a trace)`, document: document as unknown as PolicyDocument };
  const placed = placedFrom(over ? input : own);
  if (!placed.ok) return placed;
  const { policy } = placed.value;
  const silent = firstSentence(placed.value, programProblems(policy));
  return silent === undefined ? ok(loadedPolicy(policy, name)) : err(silent);
}

/** The first of some findings as a line; undefined where there is none. */
export function firstSentence({ place }: Placed, [first]: readonly Problem[]): string | undefined {
  return first === undefined ? undefined : diagnosticLine(place(first));
}

function usable({ policy, diagnostics, place, until }: Loaded, source: string): Result<Placed, string> {
  if (policy !== undefined) return ok(until === undefined ? { policy, place } : { policy, place, until });
  return err(whyUnloadable(source, diagnostics));
}

/** The tools that `--manifest` names, by server; none without it. */
export function namedTools(files: readonly string[] = []): Result<ToolLists, Fault> {
  const read = readManifests(files);
  return read.ok ? read : err({ code: "SG-MANIFEST", sentence: read.error });
}

/** Names of tools that bare names in a policy are resolved by; undefined where no list was given. */
const namesIn = (lists: ToolLists): ReturnType<typeof toolNames> | undefined =>
  Object.keys(lists).length === 0 ? undefined : toolNames(lists);

/**
 * Loads a policy of the command line, with all its diagnostics; `default` is the built-in one. What was accepted on cards
 * is added as in a running gateway, so that what is shown and proved is what holds.
 */
export function readPolicy(name: string, lists: ToolLists = {}): Result<Loaded, Fault> {
  const accepted = new CardFiles(stateHome(process.env)).source();
  if (!accepted.ok) return err({ code: "SG-POLICY", sentence: accepted.error });
  const read = loadFrom(name === defaultPolicyName ? undefined : name, namesIn(lists), undefined, accepted.value);
  return read.ok ? read : err({ code: "SG-POLICY", sentence: read.error });
}

/** A policy on the command line that compiles. */
export function namedPolicy(name: string, lists: ToolLists = {}): Result<Loaded & Placed, Fault> {
  const read = readPolicy(name, lists);
  if (!read.ok) return read;
  const { policy, diagnostics } = read.value;
  return policy === undefined
    ? err({ code: "SG-POLICY", sentence: whyUnloadable(name, diagnostics) })
    : ok({ ...read.value, policy });
}

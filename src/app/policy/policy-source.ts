/** Where policies come from: a file, the shipped default, the shipped packs. All reading of policies happens here. */
import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { attempt } from "../../adapters/attempt.ts";
import type { PolicyInput, PolicyLoader } from "../../policy/canonical/extends.ts";
import type { Manifests } from "../../policy/canonical/canonical.ts";
import type { PolicyDocument, PolicySource } from "../../policy/canonical/policy-document.ts";
import { type LoadOptions, type Loaded, loadPolicy } from "../../policy/load.ts";
import type { ToolDigest } from "../../policy/contracts/contracts.ts";
import { digest } from "../../wire/canonical.ts";
import { shortPath } from "../state/sentences.ts";
import { policyTextUnitsMax } from "../../policy/values/limits.ts";
import { defaultPolicy } from "../../policy/canonical/default-policy.ts";
import { given } from "../../core/given.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { textFile } from "../state/text-file.ts";

export const sha256 = (text: string): string => hash("sha256", text);

/** Names a tool by its whole entry as listed, exactly as the gateway does. */
export const toolDigest: ToolDigest = (listed) => digest(listed, sha256);

/** Folder of the package: it contains packs, schema and examples, for the sources and for the published build. */
export const packageFolder = resolve(import.meta.dirname, "../../..");

/** Reads a policy file; the error says what to do. */
export function policyFile(file: string): Result<PolicyInput, string> {
  const read = textFile(file, policyTextUnitsMax * 4);
  if (read.ok) return ok({ file, text: read.value });
  return read.error.kind === "large"
    ? err(`${shortPath(file)} is too large for a policy: split it with \`extends\`.`)
    : err(`${shortPath(file)} cannot be read (${read.error.why}): check the path of the policy.`);
}

/** The name in `extends: [default]`, and of the policy that holds where none is given. */
export const defaultPolicyName = "default";

const shippedDefault: PolicyInput = { file: defaultPolicyName, document: defaultPolicy };

const packName = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** True for the default policy and the shipped packs, which the reader of a message did not write. */
export function isShipped(file: string): boolean {
  return file === defaultPolicyName || dirname(file) === join(packageFolder, "packs");
}

/** Names of the shipped packs. */
export function packNames(): readonly string[] {
  const files = attempt(() => readdirSync(join(packageFolder, "packs")), []);
  return files.filter((name) => name.endsWith(".yaml")).map((name) => name.slice(0, -".yaml".length));
}

/** A shipped pack as the build has parsed it; undefined in a checkout, where the YAML is read. */
function builtPack(name: string): PolicyInput | undefined {
  const file = join(import.meta.dirname, "../../packs", `${name}.json`);
  if (!existsSync(file)) return undefined;
  // Our own build wrote it from a pack that the loader checks like any other document.
  const document = JSON.parse(readFileSync(file, "utf8")) as PolicyDocument;
  return { file: join(packageFolder, "packs", `${name}.yaml`), document };
}

/** Finds `default`, then a shipped pack, then a file beside the document that names it. */
export const shippedLoader: PolicyLoader = (name, from) => {
  if (name === defaultPolicyName) return shippedDefault;
  const built = packName.test(name) ? builtPack(name) : undefined;
  if (built !== undefined) return built;
  const candidates = [
    ...(packName.test(name) ? [join(packageFolder, "packs", `${name}.yaml`)] : []),
    isAbsolute(name) ? name : resolve(dirname(from), name),
  ];
  for (const file of candidates) {
    const read = policyFile(file);
    if (read.ok) return read.value;
  }
  return undefined;
};

/** This day in UTC, by which accepted readings end. */
export function today(nowMs = Date.now()): string {
  return new Date(nowMs).toISOString().slice(0, 10);
}

/** What a policy is made of: its own text, and all that it names. Each is read once, so loading it again needs no file. */
export type PolicyInputs = { readonly input: PolicyInput; readonly loader: PolicyLoader };

/** Without a file: the default. `noted` gets the files that are read. */
export function policyInputs(
  file: string | undefined,
  noted: (file: string) => void = () => undefined,
): Result<PolicyInputs, string> {
  const input: Result<PolicyInput, string> = file === undefined ? ok(shippedDefault) : policyFile(resolve(file));
  if (!input.ok) return input;
  const read = new Map<string, PolicyInput | undefined>();
  const loader: PolicyLoader = (name, from) => {
    const key = JSON.stringify([from, name]);
    if (!read.has(key)) read.set(key, shippedLoader(name, from));
    const found = read.get(key);
    if (found !== undefined && !isShipped(found.file)) noted(found.file);
    return found;
  };
  return ok({ input: input.value, loader });
}

/** Loads a policy as of this day. `accepted` are the readings of cards. */
export function loadInputs({ input, loader }: PolicyInputs, accepted?: PolicySource, manifests?: Manifests): Loaded {
  const isolation = usualIsolation(process.env);
  const options = { loader, hash: sha256, today: today(), manifests, accepted, isolation };
  return loadPolicy(input, given<LoadOptions>(options));
}

/**
 * Loads a policy with everything it extends. Without a file: the default. `noted` gets the files that were read;
 * `accepted` are the readings of cards.
 */
export function loadFrom(
  file: string | undefined,
  manifests?: Manifests,
  noted?: (file: string) => void,
  accepted?: PolicySource,
): Result<Loaded, string> {
  const inputs = policyInputs(file, noted);
  return inputs.ok ? ok(loadInputs(inputs.value, accepted, manifests)) : inputs;
}

/**
 * The section of a policy that says nothing of isolation: local servers are isolated where that is possible. An operator
 * turns this default off with `SLUICEGATE_ISOLATION=off`; what a policy says itself holds all the same.
 */
export function usualIsolation(environment: NodeJS.ProcessEnv): LoadOptions["isolation"] {
  return environment["SLUICEGATE_ISOLATION"] === "off" ? undefined : { backend: "where-possible" };
}

/** Where the policies of the user lie that no command line names. */
export function configurationFolder(environment: NodeJS.ProcessEnv): string {
  return join(environment["XDG_CONFIG_HOME"] ?? join(homedir(), ".config"), "sluicegate");
}

/**
 * The user's own policies, where no command line names one: `SLUICEGATE_POLICY`, else `policy.yaml` and everything in
 * `policies/` of the configuration folder. Without any the default holds.
 */
export function userPolicies(environment: NodeJS.ProcessEnv): readonly string[] {
  const named = environment["SLUICEGATE_POLICY"];
  if (named !== undefined && named !== "") return [resolve(named)];
  const folder = configurationFolder(environment);
  const several = join(folder, "policies");
  const listed = existsSync(several) ? readdirSync(several).filter((name) => /\.(ya?ml|json)$/.test(name)) : [];
  const one = join(folder, "policy.yaml");
  return [...(existsSync(one) ? [one] : []), ...listed.toSorted().map((name) => join(several, name))];
}

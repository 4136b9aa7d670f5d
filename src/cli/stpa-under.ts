/** What a compiled STPA document is laid over: whether it is there and loads, and what the new policy calls it. */
import { dirname, isAbsolute, relative, resolve } from "node:path";
import type { Result } from "../core/result.ts";
import { err, ok } from "../core/result.ts";
import { loadPolicy } from "../policy/load.ts";
import { diagnosticLine } from "./loaded-policy.ts";
import { isShipped, policyFile, sha256, shippedLoader } from "./policy-source.ts";

/** A file as a policy at `own` names it: a policy means names from its own folder, a command line from where it was typed. */
export function seenFrom(own: string, file: string): string {
  return isAbsolute(file) ? file : relative(dirname(own), resolve(file));
}

/** What `--over` names, as `extends` of a policy at `own`; the error says which of them is not there. */
export function underNames(own: string, over: readonly string[]): Result<readonly string[], string> {
  const names: string[] = [];
  for (const name of over) {
    const found = shippedLoader(name, resolve("policy.yaml"));
    const file = found === undefined ? policyFile(resolve(name)) : ok(found);
    if (!file.ok) return file;
    names.push(isShipped(file.value.file) ? name : seenFrom(own, name));
  }
  return ok(names);
}

/** The first error in what lies under a new policy; what is missing in the policy itself is still to be written. */
export function checkedUnder(own: string, text: string): Result<undefined, string> {
  const { diagnostics } = loadPolicy({ file: own, text }, { loader: shippedLoader, hash: sha256 });
  const wrong = diagnostics.find(({ severity, file }) => severity === "error" && file !== own);
  return wrong === undefined ? ok(undefined) : err(diagnosticLine(wrong));
}

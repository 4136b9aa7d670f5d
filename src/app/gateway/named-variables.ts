/**
 * The variables that a client's configuration gives to one server. The client starts the shim with its own environment
 * and those of the entry, so they are the ones that the client itself does not have, or has with another value.
 */
import { readFileSync } from "node:fs";
import { attempt } from "../../adapters/attempt.ts";

/** A process cannot have a larger environment than this without a changed limit of the system (execve(2)). */
const environmentBytesMax = 8 * 1024 * 1024;

/** Set by the shell or for the shim, not by an entry. */
const ownNames = new Set(["_", "OLDPWD", "PWD", "SHLVL"]);

/** None where the system does not show the environment of the client: then a policy names what passes. */
export function namedVariables(given: Readonly<Record<string, string>>, client: number): readonly string[] {
  const bytes = attempt(() => readFileSync(`/proc/${client}/environ`), undefined);
  if (bytes === undefined || bytes.length === 0 || bytes.length > environmentBytesMax) return [];
  const own = new Map(
    bytes
      .toString("utf8")
      .split("\0")
      .map((line) => [line.slice(0, Math.max(0, line.indexOf("="))), line.slice(line.indexOf("=") + 1)] as const),
  );
  return Object.keys(given).filter(
    (name) => own.get(name) !== given[name] && !ownNames.has(name) && !name.startsWith("SLUICEGATE_"),
  );
}

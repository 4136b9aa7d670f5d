/**
 * What a scope must not say. Each layer is looked at by itself, so that a finding stands where it was written; what
 * only the layers together can get wrong is looked at by `conflicts.ts`.
 */
import { maskSecrets } from "../../core/secret.ts";
import type { Reporter } from "../compile/labels.ts";
import { plainDestination, plainPath } from "../canonical/isolation.ts";
import type { DocumentPath } from "../diagnostic.ts";
import { information, problem, quoted } from "../diagnostic.ts";
import type { PackScopeText } from "../document-isolation.ts";
import { variableUnitsMax } from "../limits.ts";
import { destinationFault } from "./destination-faults.ts";
import { breadthFault, spellingFault } from "./path-faults.ts";
import { destinationGivesAway, givesAway } from "./sensitive.ts";

type Layer = { readonly sensitive: ReadonlySet<string>; readonly report: Reporter };

/** Reports everything that is wrong with one layer of a scope. */
export function checkScope(scope: PackScopeText, path: DocumentPath, report: Reporter): void {
  const layer: Layer = { sensitive: new Set(scope.sensitive ?? []), report };
  const { files, net, env, sockets, tools } = scope;
  checkOpened(files?.read, [...path, "files", "read"], layer);
  checkOpened(files?.write, [...path, "files", "write"], layer);
  checkOpened(sockets, [...path, "sockets"], layer);
  for (const entry of files?.deny ?? []) isSpelled(entry, [...path, "files", "deny"], report);
  checkDestinations(net?.allow, [...path, "net", "allow"], layer);
  for (const name of env?.pass ?? []) checkPassed(name, [...path, "env", "pass"], report);
  for (const [name, value] of Object.entries(env?.set ?? {}))
    checkSet(name, value, [...path, "env", "set", name], report);
  for (const [name, tool] of Object.entries(tools ?? {})) {
    const at = [...path, "tools", name];
    checkOpened(tool.read, [...at, "read"], layer);
    checkOpened(tool.write, [...at, "write"], layer);
    checkDestinations(tool.allow, [...at, "allow"], layer);
    checkPrograms(tool.programs, [...at, "programs"], report);
  }
  checkPrograms(scope.exec?.programs, [...path, "exec", "programs"], report);
}

type Entries = readonly string[] | undefined;

function isSpelled(entry: string, path: DocumentPath, report: Reporter): boolean {
  const fault = spellingFault(entry);
  if (fault !== undefined) report(problem("SCOPE-PATH", path, `${quoted(entry)} ${fault.why}`, fault.remedy));
  return fault === undefined;
}

function checkOpened(entries: Entries, path: DocumentPath, layer: Layer): void {
  for (const entry of entries ?? []) {
    if (!isSpelled(entry, path, layer.report)) continue;
    const plain = plainPath(entry);
    const wide = breadthFault(plain);
    if (wide !== undefined) {
      const remedy = "name the folders that the server needs";
      layer.report(problem("SCOPE-BROAD", path, `${quoted(entry)} would open ${wide}`, remedy));
    } else noteGiven(plain, givesAway(plain), path, layer);
  }
}

function checkDestinations(entries: Entries, path: DocumentPath, layer: Layer): void {
  for (const entry of entries ?? []) {
    const fault = destinationFault(entry);
    const message = `${quoted(entry)} ${fault?.why}`;
    if (fault?.code === "breadth") layer.report(problem("SCOPE-BROAD", path, message, fault.remedy));
    else if (fault !== undefined) layer.report(problem("SCOPE-DESTINATION", path, message, fault.remedy));
    else noteGiven(plainDestination(entry), destinationGivesAway(plainDestination(entry)), path, layer);
  }
}

/** What gives away a key has to be named twice, and is said aloud even then. */
function noteGiven(entry: string, gives: string | undefined, path: DocumentPath, layer: Layer): void {
  if (gives === undefined) return;
  const message = `${quoted(entry)} gives the server ${gives}`;
  layer.report(
    layer.sensitive.has(entry)
      ? information("SCOPE-SENSITIVE", path, message, "leave it only if you would give the server that key yourself")
      : problem("SCOPE-SENSITIVE", path, message, `remove it, or add ${quoted(entry)} to \`sensitive\` as well`),
  );
}

function checkPassed(name: string, path: DocumentPath, report: Reporter): void {
  if (name.startsWith("SLUICEGATE_")) {
    const message = `${quoted(name)} is a variable of this gateway and may hold its keys`;
    report(problem("SCOPE-VARIABLE", path, message, "remove it, or pass the value under another name"));
  }
  if (name === "HOME" || name === "PWD") {
    const message = `${quoted(name)} is set for the server by the projection`;
    report(problem("SCOPE-VARIABLE", path, message, "remove it: the server has a home of its own"));
  }
}

function checkSet(name: string, value: string, path: DocumentPath, report: Reporter): void {
  // Messages never repeat the value.
  if (maskSecrets({ [name]: value }, () => "").found.length > 0) {
    const message = `the value of ${quoted(name)} looks like a secret, and policies are shown, hashed and shared`;
    report(problem("SCOPE-VARIABLE", path, message, "put it into the environment and name it in `env.pass`"));
  }
  if (value.length > variableUnitsMax || value.includes("\0")) {
    const message = `the value of ${quoted(name)} is too long or holds a NUL`;
    report(problem("SCOPE-VARIABLE", path, message, `write at most ${variableUnitsMax} characters`));
  }
}

function checkPrograms(entries: Entries, path: DocumentPath, report: Reporter): void {
  for (const entry of entries ?? []) {
    if (entry.includes("/")) isSpelled(entry, path, report);
    else if (!/^[^\s*?[\]{}\p{C}]{1,255}$/u.test(entry) || entry === "." || entry === ".." || entry === "~") {
      report(problem("SCOPE-PATH", path, `${quoted(entry)} is no name of a program`, "write a name or a path"));
    }
  }
}

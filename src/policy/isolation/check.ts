/**
 * Faults of a scope. Each layer is checked by itself, so that a finding stands at the place of the fault;
 * `conflicts.ts` checks the faults of the layers together.
 */
import { maskSecrets } from "../../core/secret.ts";
import { type Reporter, type DocumentPath, information, problem, quoted } from "../document/diagnostic.ts";
import { plainDestination, plainPath } from "../canonical/scopes.ts";
import type { PackScopeText } from "../document/shapes-isolation.ts";
import { variableUnitsMax } from "../values/limits.ts";
import { destinationFault } from "./destination-faults.ts";
import { breadthFault, spellingFault } from "./path-faults.ts";
import { destinationGivesAway, givesAway } from "./sensitive.ts";
import type { IsolationOrder, IsolationTier } from "../../core/isolation/scope.ts";
import { tierHasNetwork } from "./words.ts";

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

/** An entry that gives access to a key must be named twice, and is reported even then. */
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

/** Refuses entries that are neither the name nor the path of a program. */
export function checkPrograms(entries: Entries, path: DocumentPath, report: Reporter): void {
  for (const entry of entries ?? []) {
    if (entry.includes("/")) isSpelled(entry, path, report);
    else if (!/^[^\s*?[\]{}\p{C}]{1,255}$/u.test(entry) || entry === "." || entry === ".." || entry === "~") {
      report(problem("SCOPE-PATH", path, `${quoted(entry)} is not a name of a program`, "write a name or a path"));
    }
  }
}

/** One layer that takes back what it says. */
export function checkLayer(scope: PackScopeText, path: DocumentPath, report: Reporter): void {
  const { net, exec, tools } = scope;
  const ofTool = Object.entries(tools ?? {}).find(([, tool]) => (tool.allow ?? []).length > 0)?.[0];
  const allow = net?.allow?.[0] ?? (ofTool === undefined ? undefined : tools?.[ofTool]?.allow?.[0]);
  const program = exec?.programs?.[0];
  const conflict = (part: string, message: string): void => {
    report(problem("SCOPE-CONFLICT", [...path, part, "mode"], message, "write `mode: list`, or remove the list"));
  };
  if (net?.mode === "none" && allow !== undefined) conflict("net", `\`net\` is none and allows ${quoted(allow)}`);
  if (exec?.mode === "none" && program !== undefined) conflict("exec", `\`exec\` is none and lists ${quoted(program)}`);
  const idle = (part: string, mode: string): void => {
    const message = `the list of \`${part}\` says nothing while its mode is ${mode}`;
    report(information("SCOPE-IDLE", [...path, part], message, "write `mode: list`, or remove the list"));
  };
  if (net?.mode === "open" && allow !== undefined) idle("net", "open");
  if (exec?.mode === "any" && program !== undefined) idle("exec", "any");
}

export type Conflict = { readonly part: readonly string[]; readonly message: string; readonly remedy: string };

/** Conflicts between the layers of one order. */
export function conflictsOf(order: IsolationOrder, require: IsolationTier): readonly Conflict[] {
  const found: Conflict[] = [];
  const { workspace } = order.scope.files;
  if (workspace.mode === "direct" && workspace.commit !== "allow") {
    const message = `writes go into the workspace itself, so \`commit: ${workspace.commit}\` cannot keep them back`;
    found.push({ part: ["files", "workspace"], message, remedy: "write `mode: overlay`, or `commit: allow`" });
  }
  if (order.scope.net.mode === "open" && tierHasNetwork(require)) {
    const message = `\`net: open\` takes the server out of tier ${require}, which is required`;
    found.push({ part: ["net"], message, remedy: "list its hosts in `net.allow`, or write `require: B`" });
  }
  if (order.mode === "off" && require !== "none") {
    const message = `it runs bare by \`backend: off\`, and tier ${require} is required`;
    found.push({ part: ["backend"], message, remedy: "write `backend: auto`, or `require: none` beside it" });
  }
  return found;
}

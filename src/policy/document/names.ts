/**
 * Tool names of a policy: `server.tool`, `*` within a name, or a bare name. Where a pattern restricts, a bare name stands
 * for the tools of that name on every server, unlabelled ones too; elsewhere it stands for the one known tool of that name.
 */
import { type DocumentPath, type Problem, type Reporter, problem, quoted } from "./diagnostic.ts";
import { suggestion } from "./nearest.ts";

/** Tools by server, from manifests and from the labels of the policy itself. */
export type KnownTools = {
  readonly tools: ReadonlyMap<string, ReadonlySet<string>>;
  /**
   * Servers whose manifests were given: of these, and of no other, all tools are known. Undefined where none was given; else
   * a name without a server that no known tool has is a mistake, and not a tool of a server that is still unknown.
   */
  readonly listed: ReadonlySet<string> | undefined;
};

/** Tells where a name came from, and collects what is wrong with names. */
export type Naming = {
  readonly known: KnownTools;
  readonly report: (problem: Problem) => void;
};

/** Server and tool of a qualified name: the server ends at the first dot. */
export function splitSelector(selector: string): { readonly server: string; readonly tool: string } {
  const dot = selector.indexOf(".");
  return dot < 0 ? { server: "*", tool: selector } : { server: selector.slice(0, dot), tool: selector.slice(dot + 1) };
}

/**
 * The qualified forms of a name in a pattern that restricts (docs/semantics.md 3: "no dot: any server"). A bare name is not
 * narrowed to the servers that are known: another server that offers the same tool would escape the rule. A known bare
 * name with a dot in it may as well be meant as server and tool, so it stands for both.
 */
export function resolveAnywhere(name: string, naming: Naming, path: DocumentPath): readonly string[] {
  const full = resolveName(name, { ...naming, report: reportExcept("AMBIGUOUS", naming) }, path);
  if (full === name || name.startsWith("host:")) return [full];
  return name.indexOf(".") > 0 ? [`*.${name}`, name] : [`*.${name}`];
}

/** Several servers with a tool of one name leave no choice open where the name stands for all of them. */
function reportExcept(code: string, { report }: Naming): Naming["report"] {
  return (found) => {
    if (found.code !== `SG-POLICY-${code}`) report(found);
  };
}

/** The qualified form of a name that stands for one tool; an ambiguous or unknown one is reported and kept for any server. */
export function resolveName(name: string, naming: Naming, path: DocumentPath): string {
  const { known } = naming;
  const dot = name.indexOf(".");
  if (dot < 0 && name.startsWith("host:")) {
    const message = `${quoted(name)} names a client, and none of its own tools`;
    naming.report(problem("TOOL", path, message, `write ${quoted(`${name}.*`)} for all of them`));
    return `${name}.*`;
  }
  const owners = [...known.tools].filter(([, tools]) => tools.has(name)).map(([server]) => server);
  // A tool may have a dot in its own name: a known bare name wins over an unknown server.
  const qualified = dot > 0 && (owners.length === 0 || known.tools.has(name.slice(0, dot)));
  if (qualified) {
    checkQualified(name, naming, path);
    return name;
  }
  if (name.includes("*")) return `*.${name}`;
  const [only, second] = owners;
  if (only !== undefined && second === undefined) return `${only}.${name}`;
  if (only !== undefined) {
    const remedy = `write one of ${owners.map((server) => `\`${server}.${name}\``).join(", ")}`;
    naming.report(problem("AMBIGUOUS", path, `${quoted(name)} is a tool of ${owners.length} servers`, remedy));
  } else if (known.listed !== undefined) {
    const all = [...known.tools.values()].flatMap((tools) => [...tools]);
    naming.report(problem("TOOL", path, `no known server has a tool ${quoted(name)}`, suggestion(name, all)));
  }
  return `*.${name}`;
}

function checkQualified(name: string, naming: Naming, path: DocumentPath): void {
  const { server, tool } = splitSelector(name);
  const { tools, listed } = naming.known;
  const own = [...(tools.get(server) ?? [])];
  if (listed?.has(server) !== true || tool.includes("*") || own.includes(tool)) return;
  naming.report(problem("TOOL", path, `server ${quoted(server)} has no tool ${quoted(tool)}`, suggestion(tool, own)));
}

type StoreNames = { readonly stores: readonly string[]; readonly report: Reporter };

export function reportStore(name: string, path: DocumentPath, scope: StoreNames): void {
  const remedy = suggestion(name, scope.stores, "declare it under `stores`");
  scope.report(problem("STORE", path, `${quoted(name)} is not a declared store`, remedy));
}

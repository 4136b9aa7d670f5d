/** Long form of the section `isolation` and of the scope of a pack: one spelling of each entry, defaults written out. */
import { parseDestination } from "../../core/scope-patterns.ts";
import type { EnvironmentScope, ExecScope, FileScope, IsolationTier, ToolScope } from "../../core/scope.ts";
import type { IsolationSection, PackScopeText, ScopeText, ServerIsolationText } from "../document-isolation.ts";
import { limitDefaults, netDefaults, workspaceQuotaMb } from "../isolation/defaults.ts";
import { joinScopes, plainScope, plainSection } from "../isolation/layers.ts";
import type { IsolationForm, ServerIsolationForm } from "./form.ts";
import { compact, mapValues, sortedWords } from "./labels.ts";

const files: FileScope = {
  read: [],
  write: [],
  deny: [],
  workspace: { mode: "overlay", commit: "allow", per: "call", quotaMb: workspaceQuotaMb },
};
const exec: ExecScope = { mode: "any", programs: [] };
const env: EnvironmentScope = { pass: [], set: {} };

/** The widest layer: what a policy without a word about scopes says. */
const builtIn = {
  files,
  net: netDefaults,
  exec,
  env,
  sockets: [],
  limits: limitDefaults,
  trace: "full",
  serial: false,
  onViolation: "reject",
  sensitive: [],
} as const satisfies ScopeText;

export function isolationForm(section: IsolationSection): IsolationForm {
  const plain = plainSection(section);
  const said = plain.exec_trace_whitelisted;
  return compact<IsolationForm>({
    backend: plain.backend ?? "auto",
    require: tierOf(plain.require) ?? "none",
    exec_trace_whitelisted: typeof said === "object" ? sortedWords(said) : said === false ? undefined : said,
    // A judge that is named is asked about what happened; what it could open has to be asked for.
    judge: plain.judge && { effects: true, domains: false, onDistrust: "confirm", ...plain.judge },
    // Every key of the built-in layer is there, and joining takes none away.
    defaults: scopeForm(joinScopes<ScopeText>(builtIn, plain.defaults ?? {})) as IsolationForm["defaults"],
    servers: mapValues(plain.servers ?? {}, serverForm),
  });
}

/** Before this, `strict` became the tier that it stands for. */
function tierOf(require: ServerIsolationText["require"]): IsolationTier | undefined {
  return require === "strict" ? "A" : require;
}

function serverForm(server: ServerIsolationText): ServerIsolationForm {
  const { require, ...rest } = server;
  return compact<ServerIsolationForm>({ ...scopeForm(rest), require: tierOf(require) });
}

export function packScopeForm(scope: PackScopeText): PackScopeText {
  return scopeForm(plainScope(scope));
}

function scopeForm<T extends PackScopeText>(scope: T): T {
  return compact<PackScopeText>({
    ...scope,
    files:
      scope.files &&
      compact<NonNullable<ScopeText["files"]>>({
        ...scope.files,
        read: pathsForm(scope.files.read),
        write: pathsForm(scope.files.write),
        deny: pathsForm(scope.files.deny),
      }),
    net:
      scope.net && compact<NonNullable<ScopeText["net"]>>({ ...scope.net, allow: destinationsForm(scope.net.allow) }),
    exec:
      scope.exec && compact<NonNullable<ScopeText["exec"]>>({ ...scope.exec, programs: words(scope.exec.programs) }),
    env: scope.env && compact<NonNullable<ScopeText["env"]>>({ ...scope.env, pass: words(scope.env.pass) }),
    sockets: pathsForm(scope.sockets),
    sensitive: sensitiveForm(scope.sensitive),
    tools: scope.tools && mapValues(scope.tools, toolForm),
  }) as T; // each key keeps its meaning, so what the type promised is still there
}

function toolForm(tool: Partial<ToolScope>): Partial<ToolScope> {
  return compact<Partial<ToolScope>>({
    read: pathsForm(tool.read),
    write: pathsForm(tool.write),
    allow: destinationsForm(tool.allow),
    programs: words(tool.programs),
  });
}

type List = readonly string[] | undefined;

function words(list: List): List {
  return list === undefined ? undefined : sortedWords(list);
}

function pathsForm(list: List): List {
  return list === undefined ? undefined : sortedWords(list.map(plainPath));
}

function destinationsForm(list: List): List {
  return list === undefined ? undefined : sortedWords(list.map(plainDestination));
}

/** Paths and destinations, told apart as the lists that they speak of do. */
function sensitiveForm(list: List): List {
  return list === undefined
    ? undefined
    : sortedWords(list.map((entry) => (/^[/~.]/.test(entry) ? plainPath(entry) : plainDestination(entry))));
}

/** Without doubled, closing and idle parts. What climbs or is no path is left as it is, for the check that refuses it. */
export function plainPath(path: string): string {
  const [first = "", ...rest] = path.split("/");
  if (path === "" || rest.includes("..") || !["", "~", "."].includes(first)) return path;
  const kept = rest.filter((part) => part !== "" && part !== ".");
  return kept.length === 0 && first === "" ? "/" : [first, ...kept].join("/");
}

/** `host:port` as a resolver compares names. What is no destination is left as it is, for the check that refuses it. */
export function plainDestination(text: string): string {
  const found = parseDestination(text);
  switch (found?.kind) {
    case undefined:
      return text;
    case "name":
      return `${found.name}:${found.port}`;
    case "below":
      return `*.${found.name}:${found.port}`;
    case "block":
      return blockText(text, found.port);
  }
}

/** An address keeps its spelling, in lower case; only its port is written out. */
function blockText(text: string, port: number): string {
  const bracketed = /^\[([^\]]*)\]/.exec(text)?.[1];
  const host = bracketed ?? (text.split(":").length > 2 ? text : (text.split(":")[0] ?? text));
  return host.includes(":") ? `[${host.toLowerCase()}]:${port}` : `${host}:${port}`;
}

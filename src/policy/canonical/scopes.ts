/** Long form of the section `isolation` and of the scope of a pack: one spelling of each entry, defaults written out. */
import { parseDestination } from "../../core/isolation/scope-patterns.ts";
import type {
  EnvironmentScope,
  ExecScope,
  FileScope,
  IsolationTier,
  ToolScope,
  LimitScope,
  NetScope,
} from "../../core/isolation/scope.ts";
import type {
  IsolationSection,
  PackScopeText,
  ScopeText,
  ServerIsolationText,
  RequireText,
} from "../document/shapes-isolation.ts";
import type { IsolationForm, ServerIsolationForm } from "../document/long-form.ts";
import { given } from "../../core/given.ts";
import { mapValues, sortedWords } from "../document/label-forms.ts";
import { type Problem, problem } from "../document/diagnostic.ts";

const mebibyte = 1_048_576;

/** Mebibytes of writes that may wait for a verdict; they are held in memory. */
export const workspaceQuotaMb = 512;

/** Bytes of one call. More than pages and answers of an API need, less than a disk is worth. */
export const callBytesMax = 32 * mebibyte;

/** Bytes over the life of a server: what many allowed calls may carry off together. */
export const serverBytesMax = 1_024 * mebibyte;

export const netDefaults: NetScope = { mode: "none", allow: [], callBytesMax, serverBytesMax };

export const limitDefaults: LimitScope = {
  /** Resident memory of all processes together; the address space of a runtime is far larger and costs nothing. */
  memoryMb: 1_024,
  /** Threads count too: one Node server has a dozen. */
  processes: 128,
  openFiles: 1_024,
  cpuSeconds: 3_600,
  fileMb: 256,
  /** The paper's limit of one tool call. */
  callTimeoutMs: 120_000,
};

const files: FileScope = {
  read: [],
  write: [],
  deny: [],
  workspace: { mode: "overlay", commit: "allow", per: "call", quotaMb: workspaceQuotaMb },
};
const exec: ExecScope = { mode: "any", programs: [] };
const env: EnvironmentScope = { pass: [], set: {} };

/** The widest layer, for a server of which a policy writes nothing more: it works in its workspace, and reaches nothing else. */
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
  const { programs = [], ...judge } = plain.judge ?? { use: "" };
  return given<IsolationForm>({
    backend: plain.backend ?? "auto",
    require: tierOf(plain.require) ?? "none",
    exec_trace_whitelisted: plain.exec_trace_whitelisted === false ? false : undefined,
    // A judge that is named is asked about what happened; what it could open has to be asked for.
    judge: plain.judge && {
      effects: true,
      domains: false,
      onDistrust: "confirm",
      ...judge,
      programs: sortedWords(programs),
    },
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
  return given<ServerIsolationForm>({ ...scopeForm(rest), require: tierOf(require) });
}

export function packScopeForm(scope: PackScopeText): PackScopeText {
  return scopeForm(plainScope(scope));
}

function scopeForm<T extends PackScopeText>(scope: T): T {
  return given<PackScopeText>({
    ...scope,
    files:
      scope.files &&
      given<NonNullable<ScopeText["files"]>>({
        ...scope.files,
        read: pathsForm(scope.files.read),
        write: pathsForm(scope.files.write),
        deny: pathsForm(scope.files.deny),
      }),
    net: scope.net && given<NonNullable<ScopeText["net"]>>({ ...scope.net, allow: destinationsForm(scope.net.allow) }),
    exec: scope.exec && given<NonNullable<ScopeText["exec"]>>({ ...scope.exec, programs: words(scope.exec.programs) }),
    env: scope.env && given<NonNullable<ScopeText["env"]>>({ ...scope.env, pass: words(scope.env.pass) }),
    sockets: pathsForm(scope.sockets),
    sensitive: sensitiveForm(scope.sensitive),
    tools: scope.tools && mapValues(scope.tools, toolForm),
  }) as T; // each key keeps its meaning, so what the type promised is still there
}

function toolForm(tool: Partial<ToolScope>): Partial<ToolScope> {
  return given<Partial<ToolScope>>({
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

/** Paths and destinations, distinguished by the rules of their lists. */
function sensitiveForm(list: List): List {
  return list === undefined
    ? undefined
    : sortedWords(list.map((entry) => (/^[/~.]/.test(entry) ? plainPath(entry) : plainDestination(entry))));
}

/** Without doubled, closing and idle parts. A climbing path or other text is kept, for the check that refuses it. */
export function plainPath(path: string): string {
  const [first = "", ...rest] = path.split("/");
  if (path === "" || rest.includes("..") || !["", "~", "."].includes(first)) return path;
  const kept = rest.filter((part) => part !== "" && part !== ".");
  return kept.length === 0 && first === "" ? "/" : [first, ...kept].join("/");
}

/** `host:port` as a resolver compares names. Any other text stays as it is, for the check that refuses it. */
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

/** A section without the paper's keys, and with what it leaves to be understood. */
export type PlainSection = Pick<
  IsolationSection,
  "backend" | "require" | "judge" | "defaults" | "servers" | "exec_trace_whitelisted"
>;

type Part = { readonly [key: string]: unknown };

/** Drops keys without a value. */
function defined<T extends object>(value: { readonly [K in keyof T]: T[K] | undefined }): T {
  // Only optional keys ever hold undefined; the compiler cannot follow fromEntries.
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;
}

/** Drops keys without a value and parts without a key, so that saying nothing has one form. */
function tidy<T extends object>(value: { readonly [K in keyof T]: T[K] | undefined }): T {
  const kept = Object.entries(value).filter(([, item]) => item !== undefined && !isEmptyPart(item));
  return Object.fromEntries(kept) as T; // as above: what is left out is optional
}

function isEmptyPart(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
}

export function plainSection(section: IsolationSection): PlainSection {
  const require = plainRequire(section);
  const said = section.defaults === undefined ? {} : plainScope(section.defaults);
  const defaults = joinScopes(plainScope(paperScope(section)), said);
  const servers = Object.entries(section.servers ?? {}).map(([name, server]) => [name, plainServer(server)] as const);
  return tidy<PlainSection>({
    backend: section.backend,
    require,
    judge: section.judge,
    defaults,
    // A server that is named without a setting is kept: its author intended that one.
    servers: servers.length === 0 ? undefined : Object.fromEntries(servers),
    exec_trace_whitelisted: section.exec_trace_whitelisted,
  });
}

function plainRequire({ require, required }: IsolationSection): RequireText | undefined {
  if (require !== undefined) return strictAsTier(require);
  return required === undefined ? undefined : required ? "B" : "none";
}

function strictAsTier(require: RequireText): RequireText {
  return require === "strict" ? "A" : require;
}

/** The settings of the section beside its defaults, as defaults. Where both set a value, the defaults win. */
function paperScope(section: IsolationSection): ScopeText {
  const mode = section.trace_mode === "auto" || section.trace_mode === "py" ? "full" : section.trace_mode;
  return tidy<ScopeText>({
    files: tidy<NonNullable<ScopeText["files"]>>({
      read: section.allowed_paths,
      workspace: tidy<NonNullable<NonNullable<ScopeText["files"]>["workspace"]>>({
        mode: section.link_inputs === true ? "read" : undefined,
        per: section.persist_workspace === undefined ? undefined : section.persist_workspace ? "run" : "call",
      }),
    }),
    // The paper begins with an empty list: nothing but the destinations that a call is given.
    net: section.allowed_domains === undefined ? undefined : { mode: "list" as const, allow: section.allowed_domains },
    limits: tidy<NonNullable<ScopeText["limits"]>>({ callTimeoutMs: section.callTimeoutMs }),
    trace: section.trace ?? mode,
    onViolation: section.onViolation,
  });
}

function plainServer(server: ServerIsolationText): ServerIsolationText {
  const { require, ...rest } = server;
  return { ...plainScope(rest), ...(require === undefined ? {} : { require: strictAsTier(require) }) };
}

/** A list of destinations or programs implies `mode: list`; the policy need not state the mode as well. */
export function plainScope<T extends PackScopeText>(scope: T): T {
  const ofTools = Object.values(scope.tools ?? {});
  const reaches = (scope.net?.allow ?? []).length > 0 || ofTools.some((tool) => (tool.allow ?? []).length > 0);
  const starts = (scope.exec?.programs ?? []).length > 0;
  const listed = { mode: "list" } as const;
  return tidy<T>({
    ...scope,
    ...(reaches ? { net: { ...listed, ...scope.net } } : {}),
    ...(starts ? { exec: { ...listed, ...scope.exec } } : {}),
  });
}

export function joinSections(
  base: IsolationSection | undefined,
  next: IsolationSection | undefined,
): IsolationSection | undefined {
  if (base === undefined || next === undefined) {
    const only = base ?? next;
    return only === undefined ? undefined : plainSection(only);
  }
  const [before, after] = [plainSection(base), plainSection(next)];
  return tidy<PlainSection>({
    ...before,
    ...after,
    defaults: joinScopes(before.defaults ?? {}, after.defaults ?? {}),
    servers: joinEntries(before.servers, after.servers, joinScopes),
  });
}

type Joinable = PackScopeText & Pick<ServerIsolationText, "backend" | "require">;

/** The scope that `next` makes of `base`; no key that either has is lost. */
export function joinScopes<T extends Joinable>(base: T, next: T): T {
  return defined<T>({
    ...base,
    ...next,
    files: joinFiles(base.files, next.files),
    net: joinParts(base.net, next.net),
    exec: joinParts(base.exec, next.exec),
    env: joinEnvironments(base.env, next.env),
    limits: joinParts(base.limits, next.limits),
    tools: joinEntries(base.tools, next.tools, (before, after) => ({ ...before, ...after })),
  });
}

function joinFiles(base: ScopeText["files"], next: ScopeText["files"]): ScopeText["files"] {
  if (base === undefined || next === undefined) return next ?? base;
  return defined<NonNullable<ScopeText["files"]>>({
    ...base,
    ...next,
    deny:
      base.deny === undefined || next.deny === undefined
        ? (next.deny ?? base.deny)
        : [...new Set([...base.deny, ...next.deny])],
    workspace: joinParts(base.workspace, next.workspace),
  });
}

function joinEnvironments(base: ScopeText["env"], next: ScopeText["env"]): ScopeText["env"] {
  if (base === undefined || next === undefined) return next ?? base;
  return defined<NonNullable<ScopeText["env"]>>({ ...base, ...next, set: joinParts(base.set, next.set) });
}

function joinParts<T extends Part>(base: T | undefined, next: T | undefined): T | undefined {
  return base === undefined || next === undefined ? (next ?? base) : { ...base, ...next };
}

type Entries<T> = { readonly [name: string]: T };

function joinEntries<T>(
  base: Entries<T> | undefined,
  next: Entries<T> | undefined,
  join: (before: T, after: T) => T,
): Entries<T> | undefined {
  if (base === undefined || next === undefined) return next ?? base;
  const all = new Map(Object.entries(base));
  for (const [name, entry] of Object.entries(next)) {
    const before = all.get(name);
    all.set(name, before === undefined ? entry : join(before, entry));
  }
  return Object.fromEntries(all); // defines own properties, whatever a server is called
}

type Pair = readonly [paper: keyof IsolationSection, ours: string, said: (section: IsolationSection) => unknown];

const pairs: readonly Pair[] = [
  ["required", "require", (section) => section.require],
  ["trace_mode", "trace", (section) => section.trace ?? section.defaults?.trace],
  ["trace", "defaults.trace", (section) => section.defaults?.trace],
  ["onViolation", "defaults.onViolation", (section) => section.defaults?.onViolation],
  ["persist_workspace", "defaults.files.workspace.per", (section) => section.defaults?.files?.workspace?.per],
  ["link_inputs", "defaults.files.workspace.mode", (section) => section.defaults?.files?.workspace?.mode],
  ["allowed_paths", "defaults.files.read", (section) => section.defaults?.files?.read],
  ["allowed_domains", "defaults.net", (section) => section.defaults?.net?.allow ?? section.defaults?.net?.mode],
  ["callTimeoutMs", "defaults.limits.callTimeoutMs", (section) => section.defaults?.limits?.callTimeoutMs],
];

export function saidTwice(section: IsolationSection): readonly Problem[] {
  return pairs
    .filter(([paper, , said]) => section[paper] !== undefined && said(section) !== undefined)
    .map(([paper, ours]) => {
      const message = `\`${paper}\` and \`${ours}\` say the same thing twice`;
      return { ...problem("SCOPE-CONFLICT", ["isolation", paper], message, "keep one of them"), atKey: true as const };
    });
}

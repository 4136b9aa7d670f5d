/**
 * Layers of scopes: what is written nearer replaces the same key further away, and keeps the rest. Only `deny` adds up,
 * since a list that was written to keep something shut must not be lost by one that says more of something else.
 *
 * Every document is put into its plain form before it is joined with another: the paper's keys and ours speak of the
 * same things, and the later document has to win in either spelling.
 */
import type {
  IsolationSection,
  PackScopeText,
  RequireText,
  ScopeText,
  ServerIsolationText,
} from "../document-isolation.ts";

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
    // A server that is named and given nothing is kept: who wrote it meant that one.
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

/** What the section says beside its defaults, as defaults. Where both speak, the defaults do. */
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
    net: tidy<NonNullable<ScopeText["net"]>>({ allow: section.allowed_domains }),
    limits: tidy<NonNullable<ScopeText["limits"]>>({ callTimeoutMs: section.callTimeoutMs }),
    trace: section.trace ?? mode,
    onViolation: section.onViolation,
  });
}

function plainServer(server: ServerIsolationText): ServerIsolationText {
  const { require, ...rest } = server;
  return { ...plainScope(rest), ...(require === undefined ? {} : { require: strictAsTier(require) }) };
}

/** A list of destinations or programs says that there is a list; nobody has to say it twice. */
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

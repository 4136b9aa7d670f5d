/**
 * Reading of arguments: what a value does that is text of a language. A reader answers at once and by the value alone, so
 * a decision stays a function of the call, and replays with the same version of this package as it was made.
 */
import type { Json } from "./json.ts";

/** Languages with a reader. `sql` is a read only where every SQL dialect takes it for one. */
export const readingLanguages = [
  "docker",
  "git",
  "http",
  "kubectl",
  "shell",
  "sql",
  "sql:mariadb",
  "sql:mysql",
  "sql:postgres",
  "sql:sqlite",
  "ssh",
] as const;

export type ReadingLanguage = (typeof readingLanguages)[number];

/**
 * `reads`: the whole value was read, and does nothing but read. `acts`: it surely does something else. `unread`: neither
 * is known, which counts as the worst case. `because` is a clause such as "it calls pg_sleep", with names of the value
 * and no other part of it.
 */
export type Reading = { readonly kind: "reads" } | { readonly kind: "acts" | "unread"; readonly because: string };

/** Total: it answers for every value, in time that grows with its length only. */
export type ReadValue = (language: ReadingLanguage, value: Json) => Reading;

export type SqlDialect = "postgres" | "mysql" | "mariadb" | "sqlite";

/** The tree that a parser makes of one text, or the reason why there is none. */
export type SqlTree = { readonly ok: true; readonly tree: Json } | { readonly ok: false; readonly because: string };

/** Parser of SQL texts: a package outside the pure layers. Each answer depends on dialect and text alone. */
export type ParseSql = (dialect: SqlDialect, text: string) => SqlTree;

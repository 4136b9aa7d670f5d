/** The parsers of SQL: PostgreSQL's own as WebAssembly, and that of Apache DataFusion for the other dialects. */
import type { Json } from "../../core/json.ts";
import type { ParseSql } from "../../core/reading.ts";

/** Loads both packages, 5 MB of WebAssembly. Rejects where one of them is not installed. */
export async function loadSqlParsers(): Promise<ParseSql> {
  const [postgres, others] = await Promise.all([import("libpg-query"), import("@guanmingchiu/sqlparser-ts")]);
  await Promise.all([postgres.loadModule(), others.init()]);
  return (dialect, text) => {
    try {
      const found: unknown =
        dialect === "postgres"
          ? postgres.parseSync(text)
          : others.parse(text, dialect === "sqlite" ? "sqlite" : "mysql");
      // As plain data; the walk over it takes nothing for granted.
      return { ok: true, tree: JSON.parse(JSON.stringify(found, orNull)) as Json };
    } catch {
      return { ok: false, because: `no parser of ${names[dialect]} reads it` };
    }
  };
}

/** A kind of node without its optional member must stay in the tree. */
const orNull = (_key: string, value: unknown): unknown => (value === undefined ? null : value);

const names = { postgres: "PostgreSQL", mysql: "MySQL", mariadb: "MariaDB", sqlite: "SQLite" } as const;

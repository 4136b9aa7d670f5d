/** The parts of both packages that are used. Their own types describe every node of a tree, which nothing here relies on. */
declare module "libpg-query" {
  export function loadModule(): Promise<void>;
  /** Throws where the text is no SQL of PostgreSQL. */
  export function parseSync(text: string): unknown;
}

declare module "@guanmingchiu/sqlparser-ts" {
  export function init(): Promise<void>;
  /** Throws where the text is no SQL of the dialect. */
  export function parse(text: string, dialect: "mysql" | "sqlite"): unknown;
}

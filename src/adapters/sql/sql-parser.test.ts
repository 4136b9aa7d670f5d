import { pathToFileURL } from "node:url";
import { writeFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadSqlParsers } from "./parsers.ts";
import { makeSqlParser } from "./sql-parser.ts";

test("the thread answers at once, and as the parsers do", async () => {
  const here = await loadSqlParsers();
  const there = makeSqlParser();
  for (const dialect of ["postgres", "sqlite", "mysql", "mariadb"] as const) {
    for (const text of [
      "select a from t",
      "select",
      "drop table t",
      "select cast(a as integer)",
      "select 1; select 2",
    ]) {
      expect(there(dialect, text)).toEqual(here(dialect, text));
      expect(there(dialect, text)).toBe(there(dialect, text));
    }
  }
  for (let count = 0; count < 200; count += 1) expect(there("sqlite", `select ${count}`).ok).toBe(true);
  expect(there("postgres", "selec")).toEqual({ ok: false, because: "no parser of PostgreSQL reads it" });
});

test("a thread that does not answer, or cannot start, is no answer", () => {
  const folder = mkdtempSync(join(tmpdir(), "sg-sql-"));
  const silent = join(folder, "silent.mjs");
  writeFileSync(silent, "setInterval(() => undefined, 1_000);");
  for (const program of [silent, join(folder, "missing.mjs")]) {
    const parse = makeSqlParser({ program: pathToFileURL(program), startMsMax: 300, answerMsMax: 1 });
    const none = { ok: false, because: "the parser did not answer" };
    expect(parse("sqlite", "select 1")).toEqual(none);
    expect(parse("sqlite", "select 1")).toEqual(none);
  }
  rmSync(folder, { recursive: true });
});

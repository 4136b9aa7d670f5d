import { expect, it } from "vitest";
import type { Json } from "../../../core/json.ts";
import { readingLanguages } from "../../../core/reading.ts";
import { makeReadValue } from "./read-value.ts";
import { faultOfTree } from "./sql-tree.ts";

const asked: string[] = [];
const read = makeReadValue((dialect) => {
  asked.push(dialect);
  return { ok: false, because: `nobody reads ${dialect}` };
});

it.each<[string, Json]>([
  ["docker", "docker ps"],
  ["git", "git log"],
  ["http", "GET"],
  ["kubectl", "kubectl get pods"],
  ["shell", "ls"],
  ["ssh", "ssh host ls"],
])("%s has its reader", (language, value) => {
  const own = readingLanguages.find((one) => one === language);
  expect(own === undefined ? undefined : read(own, value)).toEqual({ kind: "reads" });
});

it("a statement is parsed in its dialect, and without one in each until one refuses", () => {
  for (const language of readingLanguages.filter((one) => one.startsWith("sql"))) {
    expect(read(language, "select 1")).toMatchObject({ kind: "unread" });
  }
  expect(asked).toEqual(["postgres", "mariadb", "mysql", "postgres", "sqlite"]);
});

it("what is no read of one language is none of another", () => {
  for (const language of readingLanguages) {
    for (const value of ["rm x", "drop table t", "POST", null, {}, ["sh"]])
      expect(read(language, value).kind).not.toBe("reads");
  }
});

it("a tree without end is no read", () => {
  const known = new Set(["a"]);
  const none = new Set<string>();
  const grammar = {
    known,
    ignored: none,
    empty: none,
    closed: none,
    looks: new Map<string, () => undefined>(),
    words: () => "odd",
  };
  expect(
    faultOfTree(
      grammar,
      Array.from({ length: 30_000 }, () => ({ a: 1 })),
    ),
  ).toBe("it has too many parts");
  expect(faultOfTree(grammar, [{ a: [{ b: 1 }] }])).toBe("odd");
  expect(faultOfTree(grammar, [{ a: null, b: null }])).toBeUndefined();
  expect(faultOfTree(grammar, [{ B: null }])).toBe("odd");
});

/** Codes as the sources have them and as the documentation lists them; the test of the table compares the two. */
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

/** Functions of the policy loader that take a code without its prefix. */
const builders =
  /\b(?:problem|warning|information|refuse|add|wrong)\(\s*(?:[\w.]+ \? )?"([A-Z][A-Z-]+)"(?: : "([A-Z][A-Z-]+)")?/g;

export function codesInSources(): ReadonlySet<string> {
  const codes = new Set<string>();
  for (const file of globSync("src/**/*.ts", { cwd: root }).filter((name) => !name.endsWith(".test.ts"))) {
    const text = readFileSync(join(root, file), "utf8");
    for (const [code] of text.matchAll(/\bSG-[A-Z0-9]+(?:-[A-Z0-9]+)*\b(?!-)/g)) codes.add(code);
    if (!file.startsWith(join("src", "policy"))) continue;
    for (const found of text.matchAll(builders)) {
      for (const word of found.slice(1)) if (word !== undefined) codes.add(`SG-POLICY-${word}`);
    }
  }
  return codes;
}

/** First cells of the tables: codes, and reasons of wire errors. */
export function codesInDocument(): ReadonlySet<string> {
  const text = readFileSync(join(root, "docs/errors.md"), "utf8");
  return new Set([...text.matchAll(/^\| `([^`]+)`/gm)].map((found) => found[1] ?? ""));
}

/** Words that take a second one. */
const groups = new Set(["policy", "audit", "daemon", "bench", "stpa", "proof"]);

/** Commands that a sentence in backticks tells somebody to run: the first word, with the second of a group. */
export function commandsInSources(): ReadonlySet<string> {
  const named = new Set<string>();
  for (const file of globSync("src/**/*.ts", { cwd: root }).filter((name) => !name.endsWith(".test.ts"))) {
    const text = readFileSync(join(root, file), "utf8");
    for (const found of text.matchAll(/`sluicegate ([a-z-]+)(?: ([a-z][a-z-]+))?/g)) {
      const [, first = "", second] = found;
      const both = groups.has(first) || ((first === "runs" || first === "stores") && second !== undefined);
      named.add(both ? `${first} ${second ?? ""}`.trim() : first);
    }
  }
  return named;
}

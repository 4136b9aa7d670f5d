// What commands read from the package's own folder is published with it: an installed copy has nothing else.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const { files, scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly files: readonly string[];
  readonly scripts: Readonly<Record<string, string>>;
};

/** The paths that follow `packageFolder` in the sources of the commands, each as one text. */
function pathsRead(): readonly string[] {
  const folders = ["src/app", "src/lab", "src/cli"].map((folder) => join(root, folder));
  const sources = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  );
  const texts = sources
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .map((name) => readFileSync(name, "utf8"));
  const call = /\(\s*packageFolder((?:,\s*"[\w./-]+")+)/g;
  const found = texts.flatMap((text) => [...text.matchAll(call)].map((match) => match[1] ?? ""));
  return [...new Set(found.map((words) => [...words.matchAll(/"([^"]+)"/g)].map((word) => word[1]).join("/")))];
}

it("every folder that a command reads is there, and published", () => {
  const read = pathsRead();
  expect(read).toEqual(expect.arrayContaining(["examples/agentdojo", "packs", "scenarios/regulation", "training"]));
  const published = (path: string): boolean => files.some((one) => path === one || path.startsWith(`${one}/`));
  expect(read.filter((path) => !published(path))).toEqual([]);
  expect(read.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

it("nothing that only work on the package itself needs is published", () => {
  expect(files.filter((one) => /^(?:src|test|scripts|bench)$/.test(one))).toEqual([]);
});

/** The Markdown pages that are published, relative to the root. */
function pages(): readonly string[] {
  const inside = (one: string): readonly string[] =>
    statSync(join(root, one)).isFile()
      ? [one]
      : readdirSync(join(root, one), { recursive: true, encoding: "utf8" }).map((name) => join(one, name));
  return files
    .filter((one) => one !== "dist" && existsSync(join(root, one)))
    .flatMap(inside)
    .filter((one) => one.endsWith(".md"));
}

it("every link of a published page leads to something that is published", () => {
  const read = pages();
  expect(read).toEqual(expect.arrayContaining(["README.md", "CONTRIBUTING.md", "docs/cli.md"]));
  const published = (path: string): boolean => files.some((one) => path === one || path.startsWith(`${one}/`));
  const dead = read.flatMap((page) => {
    const links = [...readFileSync(join(root, page), "utf8").matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(
      (found) => found[1] ?? "",
    );
    const local = links.filter((link) => !/^[a-z]+:/.test(link));
    const targets = local.map((link) => join(dirname(page), link));
    return targets
      .filter((path) => !published(path) || !existsSync(join(root, path)))
      .map((path) => `${page}: ${path}`);
  });
  expect(dead).toEqual([]);
});

it("every script that runs random suites does so through the one that prints their seed", () => {
  const running = Object.entries(scripts).filter(([, command]) => /vitest|scripts\/test\.ts/.test(command));
  expect(running.map(([name]) => name)).toEqual(expect.arrayContaining(["test", "test:full", "cover"]));
  expect(running.filter(([, command]) => !command.startsWith("node scripts/test.ts"))).toEqual([]);
});

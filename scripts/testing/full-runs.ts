/**
 * When the large sizes of each part of the suite last ran, and with what result: `.ci/full-runs.json`, which
 * `npm run test:full [-- PART...]` writes and the gate prints. A part is a layer with the tests beside it and those of its
 * name in `test/`, or `laws` (of the pure layers), or `whole` (all other tests, of everything).
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { pureFolders } from "../mutation/sources.ts";

export type Part = {
  readonly name: string;
  /** Folders and files whose tests are the part's, relative to the repository. */
  readonly tests: readonly string[];
  /** Folders whose content the result is about. */
  readonly about: readonly string[];
};

export type FullRun = {
  /** Digest of the sources of the part, when it ran. */
  readonly tree: string;
  readonly date: string;
  readonly cases: number;
  readonly seed: string;
  readonly result: string;
};
export type FullRuns = { readonly [part: string]: FullRun };

export function partsOf(root: string): readonly Part[] {
  const layers = readdirSync(join(root, "src"), { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isDirectory()) return [];
    const folders = [`src/${entry.name}/`, `test/${entry.name}/`].filter((folder) => existsSync(join(root, folder)));
    return [{ name: entry.name, tests: folders, about: folders }];
  });
  const laws = {
    name: "laws",
    tests: ["test/laws/"],
    about: ["test/laws/", ...pureFolders.map((folder) => `${folder}/`)],
  };
  const named = [...layers, laws];
  const taken = new Set(named.flatMap((part) => part.tests));
  const others = readdirSync(join(root, "test"), { withFileTypes: true })
    .map((entry) => (entry.isDirectory() ? `test/${entry.name}/` : `test/${entry.name}`))
    .filter((path) => !taken.has(path));
  return [...named, { name: "whole", tests: others.toSorted(), about: ["src/", "test/"] }];
}

/** The part that a test file belongs to. */
export function partOf(parts: readonly Part[], file: string): Part | undefined {
  return parts.find((part) =>
    part.tests.some((path) => file === path || (path.endsWith("/") && file.startsWith(path))),
  );
}

/** Digest of names and contents of all files below the folders. */
export function treeOf(root: string, folders: readonly string[]): string {
  const digest = createHash("sha256");
  for (const folder of folders) {
    const files = readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted();
    for (const file of files) {
      const content = readFileSync(file);
      digest.update(`${relative(root, file)}\0${content.length}\0`).update(content);
    }
  }
  return digest.digest("hex").slice(0, 16);
}

const fileOf = (root: string): string => join(root, ".ci/full-runs.json");

export function readFullRuns(root: string): FullRuns {
  return existsSync(fileOf(root)) ? (JSON.parse(readFileSync(fileOf(root), "utf8")) as FullRuns) : {};
}

export function writeFullRuns(root: string, runs: FullRuns): void {
  const sorted = Object.fromEntries(Object.entries(runs).toSorted(([a], [b]) => a.localeCompare(b)));
  writeFileSync(fileOf(root), `${JSON.stringify(sorted, null, 2)}\n`);
}

/** One line a part: whether the present sources were tried at large sizes. */
export function fullRunLines(parts: readonly Part[], runs: FullRuns, tree: (part: Part) => string): readonly string[] {
  const width = Math.max(...parts.map((part) => part.name.length));
  return parts.map((part) => {
    const run = runs[part.name];
    const label = part.name.padEnd(width);
    if (run === undefined) return `${label}  no full run is on record`;
    const when = `the full run of ${run.date} (${run.cases} cases: ${run.result})`;
    return run.tree === tree(part) ? `${label}  as in ${when}` : `${label}  changed since ${when}`;
  });
}

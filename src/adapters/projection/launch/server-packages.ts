/** Finds the root of a server's code by names of files: packages of Node, environments and projects of Python. */
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isWithin } from "../../../core/isolation/scope-patterns.ts";

/** Number of folders above a file that are examined. */
const foldersMax = 64;

const projectFiles = ["package.json", "pyproject.toml", "deno.json", "setup.py"];

/**
 * The nearest folder with a project's file; never a home folder or one above it, which hold more than code. In a
 * `node_modules` it is the outermost one, because packages load each other from beside and above themselves.
 */
export function packageRoot(file: string, home: string, exists: (path: string) => boolean): string | undefined {
  const modules = file.indexOf("/node_modules/");
  if (modules >= 0) return file.slice(0, modules + "/node_modules".length);
  return foldersAbove(file, home).find((folder) => projectFiles.some((name) => exists(join(folder, name))));
}

/** Folders `node_modules` above a script, for a workspace of several packages. */
export function nodeModules(file: string, home: string, exists: (path: string) => boolean): readonly string[] {
  if (!/\.[cm]?[jt]s$/.test(file)) return [];
  return foldersAbove(file, home)
    .map((folder) => join(folder, "node_modules"))
    .filter(exists);
}

/**
 * The folders that a Python interpreter or script needs: its virtual environment with the installation under it, the
 * installation of `pyenv` and similar managers, the packages of the user, and the folder of a script, from which it
 * imports.
 */
export function pythonFolders(file: string, home: string): readonly string[] {
  const folder = dirname(file);
  const name = basename(file);
  const above = dirname(folder);
  const found: string[] = [];
  if (name.endsWith(".py") && mayBind(folder, home)) found.push(folder);
  if (basename(folder) !== "bin" || !mayBind(above, home)) return found;
  const environment = join(above, "pyvenv.cfg");
  if (existsSync(environment)) {
    const base = /^home\s*=\s*(\/.*)$/m.exec(readFileSync(environment, "utf8"))?.[1]?.trim();
    return [...found, above, ...(base !== undefined && mayBind(dirname(base), home) ? [dirname(base)] : [])];
  }
  if (/^python[\d.]*$/.test(name)) found.push(above);
  // Packages that pip put beside the programs of the user.
  if (above === join(home, ".local")) found.pop();
  const own = join(home, ".local", "lib");
  if (folder === join(home, ".local", "bin") && existsSync(own)) found.push(own);
  return found;
}

function foldersAbove(file: string, home: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = dirname(file); folders.length < foldersMax; folder = dirname(folder)) {
    if (!mayBind(folder, home)) break;
    folders.push(folder);
  }
  return folders;
}

/** False for the root, for system folders that are bound anyway or never, and for the home folder and its parents. */
function mayBind(folder: string, home: string): boolean {
  return folder.split("/").length > 2 && !isWithin(home, folder) && !["/usr/local", "/var/tmp"].includes(folder);
}

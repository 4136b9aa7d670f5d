/** The files in which users keep their settings for npm and pip. */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { attempt } from "../attempt.ts";
import type { ProcessTarget } from "../process/launch.ts";
import { boundedText } from "./bounded-text.ts";
import { findProgram } from "./find-program.ts";
import type { NpmFiles } from "./npm-settings.ts";

const settingsBytesMax = 1024 * 1024;
const foldersMax = 64;

export function npmFiles(target: ProcessTarget, home: string): NpmFiles {
  const own = named(target, "npm_config_userconfig") ?? join(home, ".npmrc");
  const shared = named(target, "npm_config_globalconfig");
  const project = projectFolder(target.workingDirectory);
  const user = text(own);
  const places = shared === undefined ? prefixes(target).map((prefix) => join(prefix, "etc", "npmrc")) : [shared];
  const global = places.map(text).find((one) => one !== undefined);
  // A home folder with a `package.json` is no project: its file is the user's own, and is read as that.
  const isOwn = project === undefined || join(project, ".npmrc") === own;
  return { user, global, project: isOwn ? undefined : text(join(project, ".npmrc")) };
}

/** npm's `globalconfig` is `etc/npmrc` below the folder that holds `bin/node`, or that npm itself was installed into. */
function prefixes(target: ProcessTarget): readonly string[] {
  const [node, npm] = (["node", "npm"] as const).map((name) => {
    const path = findProgram(name, target);
    return path === undefined ? undefined : attempt(() => realpathSync(path), path);
  });
  const ofNpm = npm?.replace(/\/lib\/node_modules\/npm\/.*$/, "");
  return [...(node === undefined ? [] : [dirname(dirname(node))]), ...(ofNpm === undefined ? [] : [ofNpm]), "/usr"];
}

/** The nearest folder with a package, as npm finds the project that it works for. */
export function projectFolder(from: string): string | undefined {
  let folder = resolve(from);
  for (let count = 0; count < foldersMax; count += 1) {
    if (existsSync(join(folder, "package.json")) || existsSync(join(folder, "node_modules"))) return folder;
    if (dirname(folder) === folder) return undefined;
    folder = dirname(folder);
  }
  return undefined;
}

/** Settings files of pip, the least specific first. */
export function pipFiles({ env }: ProcessTarget, home: string): readonly string[] {
  const config = env["XDG_CONFIG_HOME"] ?? join(home, ".config");
  const own = env["PIP_CONFIG_FILE"];
  const places = ["/etc/pip.conf", join(home, ".pip", "pip.conf"), join(config, "pip", "pip.conf"), own ?? ""];
  return places.flatMap((place) => (place === "" ? [] : (text(place) ?? [])));
}

function text(path: string): string | undefined {
  return boundedText(path, settingsBytesMax);
}

function named({ env }: ProcessTarget, name: string): string | undefined {
  const found = env[name] ?? env[name.toUpperCase()];
  return found === "" ? undefined : found;
}

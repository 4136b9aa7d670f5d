/**
 * Finds the files that a server's command needs to start: its program, the interpreter behind it, and the packages it
 * loads. Everything is bound read-only, so that a server cannot change its own code. Nothing found here is executed,
 * except that `pyenv` is run to find the interpreter behind a shim.
 */
import { attempt } from "../../attempt.ts";
import { execFileSync } from "node:child_process";
import { accessSync, closeSync, constants, existsSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { err, ok, type Result } from "../../../core/result.ts";
import { isWithin } from "../../../core/isolation/scope-patterns.ts";
import { printable } from "../../net/printable.ts";
import type { ProcessTarget } from "../../process/launch.ts";
import { nodeModules, packageRoot, pythonFolders } from "./server-packages.ts";

export type ServerCode = {
  /** Absolute path of the program to run, and its arguments. */
  readonly file: string;
  readonly args: readonly string[];
  /** Files and folders, absolute, that must be readable. */
  readonly paths: readonly string[];
  /** The programs that are started one after the other until the server runs: its own and its interpreters. */
  readonly programs: readonly string[];
  /** Number of programs that start before the server's own: `env` of `#!/usr/bin/env node`. */
  readonly starters: number;
  /** The server's runtime, if hooks exist for it. */
  readonly runtime: "node" | "python" | undefined;
  /** Folders of programs, for PATH. */
  readonly programFolders: readonly string[];
};

const shebangBytesMax = 256;
const shimAnswerMsMax = 5_000;
const pathDefault = "/usr/local/bin:/usr/bin:/bin";
/** Interpreters that start interpreters: `#!/usr/bin/env node` is one step. */
const interpretersMax = 3;

/**
 * Commands that fetch code when they start or talk to a daemon; the code that they run would not be inside of the
 * projection.
 */
const fetchers: ReadonlyMap<string, string> = new Map([
  ...(["npx", "bunx", "pnpx"] as const).map((name) => [name, "fetches its package at every start"] as const),
  ...(["npm", "pnpm", "yarn"] as const).map((name) => [name, "may fetch packages at its start"] as const),
  ...(["uvx", "uv", "pipx"] as const).map((name) => [name, "may fetch its package at its start"] as const),
  ...(["docker", "podman", "nerdctl"] as const).map((name) => [name, "lets a daemon outside run the server"] as const),
]);

/** Reason why a command cannot be projected, as part of a sentence; undefined if it can. */
export function unprojectable(command: string): string | undefined {
  const name = basename(command).replace(/\.(js|cmd)$/, "");
  const reason = fetchers.get(name);
  return reason === undefined ? undefined : `\`${name}\` ${reason}`;
}

/** An error is a sentence. */
export function serverCode(target: ProcessTarget, home: string): Result<ServerCode, string> {
  const folders = (target.env["PATH"] ?? pathDefault).split(delimiter).filter(isAbsolute);
  const command = findCommand(target.command, target.workingDirectory, folders);
  if (command === undefined) {
    return err(
      `The command \`${printable(target.command, 80)}\` was not found. Install it, or give its absolute path.`,
    );
  }
  const paths = new Set<string>();
  const programFolders = new Set<string>();
  const programs = new Set<string>();
  let starters = 0;
  const program = followShim(command);
  let runtime: ServerCode["runtime"];
  let current: string | undefined = program;
  for (let step = 0; current !== undefined && step < interpretersMax; step += 1) {
    for (const path of codeAround(current, home)) paths.add(path);
    programFolders.add(dirname(current));
    for (const name of [current, real(current)]) programs.add(name);
    if (startsByEnv(current)) starters += 1;
    runtime = runtimeOf(basename(real(current)));
    current = interpreterOf(current, folders);
  }
  const script = scriptOf(target);
  if (script !== undefined) for (const path of codeAround(script, home)) paths.add(path);
  const module = target.args[0] === "-m" ? target.workingDirectory : undefined;
  if (module !== undefined && module !== home && !isWithin(home, module)) paths.add(module);
  // Real paths after links are included, because events name those. The home folder is not code.
  const linked = [...paths].map(real).filter((path) => !isWithin(home, path));
  const outside = [...new Set([...paths, ...linked])].filter((path) => !isWithin(path, "/usr"));
  const found = { runtime, programFolders: [...programFolders], programs: [...programs], starters };
  return ok({ file: program, args: target.args, paths: outside, ...found });
}

function runtimeOf(name: string): ServerCode["runtime"] {
  if (/^node\d*$/.test(name)) return "node";
  return /^python[\d.]*$/.test(name) ? "python" : undefined;
}

function findCommand(command: string, directory: string, folders: readonly string[]): string | undefined {
  const candidates = command.includes("/")
    ? [resolve(directory, command)]
    : folders.map((folder) => join(folder, command));
  return candidates.find((path) => isExecutable(path));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * The interpreter behind a `pyenv` shim, or `command` itself. A shim is a script that runs its manager, which a
 * projection does not contain.
 */
function followShim(command: string): string {
  if (!dirname(command).endsWith("/shims")) return command;
  try {
    const question = "import sys; print(sys.executable)";
    const answer = execFileSync(command, ["-I", "-c", question], {
      timeout: shimAnswerMsMax,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
    return isExecutable(answer) ? answer : command;
  } catch {
    return command;
  }
}

/** The program that `#!` names, looked up as `env` would; undefined for a binary. */
function interpreterOf(path: string, folders: readonly string[]): string | undefined {
  const line = firstLine(path);
  if (!line.startsWith("#!")) return undefined;
  const words = line.slice(2).trim().split(/\s+/);
  const [first, ...rest] = words;
  if (first === undefined) return undefined;
  if (basename(first) !== "env") return isExecutable(first) ? first : undefined;
  const name = rest.find((word) => !word.startsWith("-") && !word.includes("="));
  const found = name === undefined ? undefined : findCommand(name, "/", folders);
  return found === undefined ? undefined : followShim(found);
}

/** True iff the kernel starts `env` for the file, which then starts the interpreter. */
function startsByEnv(path: string): boolean {
  return /^#!\s*\S*\/env(?:\s|$)/.test(firstLine(path));
}

function firstLine(path: string): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, "r");
    const bytes = Buffer.alloc(shebangBytesMax);
    const length = readSync(descriptor, bytes, 0, shebangBytesMax, 0);
    return bytes.subarray(0, length).toString("latin1").split("\n", 1)[0] ?? "";
  } catch {
    return "";
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** The first argument that is not an option and names a file: the script that the interpreter runs. */
function scriptOf({ args, workingDirectory }: ProcessTarget): string | undefined {
  const first = args.find((one) => !one.startsWith("-"));
  const path = first === undefined ? undefined : resolve(workingDirectory, first);
  return attempt(() => (path !== undefined && statSync(path).isFile() ? path : undefined), undefined);
}

/** A file with the package around it, under its own name and under the one that links lead to. */
function codeAround(path: string, home: string): readonly string[] {
  const names = new Set([path, real(path)]);
  return [...names].flatMap((name) => {
    const root = packageRoot(name, home, existsSync);
    return [
      name,
      ...(root === undefined ? [] : [root]),
      ...nodeModules(name, home, existsSync),
      ...pythonFolders(name, home),
    ];
  });
}

function real(path: string): string {
  return attempt(() => realpathSync(path), path);
}

/**
 * Which program a trial was about: the command, the files that it names, and what its package was resolved to. A module that
 * such a file loads is not in it, so the card says what the verdict is bound to.
 */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { attempt } from "../../../adapters/attempt.ts";
import { fetchCommand } from "../../../adapters/packages/fetch-command.ts";
import { readLock } from "../../../adapters/packages/lock-file.ts";
import type { ServerCommand } from "../../client/driven-server.ts";
import { fileBytes } from "../../state/text-file.ts";

/** Files of up to this size are read; of a larger one, such as a runtime, size and time of its last change count. */
const fileBytesMax = 8 * 1024 * 1024;

/** Files that hold a program; what else an argument names is data, which may change at any time. */
const code = /\.(?:[cm]?[jt]sx?|py|pyc|pyz|rb|php|pl|lua|sh|bash|ps1|jar|wasm|exe)$/i;

/** `packages`: the state folder with the lock of resolved packages. */
export function programDigest({ command, args, env, workingDirectory }: ServerCommand, packages: string): string {
  const first = args.find((word) => !word.startsWith("-"));
  const named = [command, ...args.filter((word) => word === first || code.test(word))];
  const files = named.map((word) => fileText(resolve(workingDirectory ?? "/", word)));
  const program = [command, args, Object.keys(env).toSorted(), files, contentsOf(command, args, packages)];
  return createHash("sha256").update(JSON.stringify(program)).digest("hex");
}

/** Empty for a word that names no file. */
function fileText(path: string): string {
  const found = attempt(() => statSync(path), undefined);
  if (found?.isFile() !== true) return "";
  if (found.size > fileBytesMax) return `${found.size} ${found.mtimeMs}`;
  const bytes = fileBytes(path, fileBytesMax);
  return bytes.ok ? createHash("sha256").update(bytes.value).digest("hex") : `${found.size} ${found.mtimeMs}`;
}

/** Digests of the installed packages that a command such as `npx` runs. */
function contentsOf(command: string, args: readonly string[], packages: string): readonly string[] {
  const fetched = fetchCommand(command, args);
  if (fetched?.kind !== "fetch") return [];
  const lock = readLock(packages);
  if (!lock.ok) return [];
  const wanted = JSON.stringify(fetched.packages);
  const entries = [...lock.value.values()].filter((entry) => JSON.stringify(entry.wanted) === wanted);
  return entries.map(({ content }) => content).toSorted();
}

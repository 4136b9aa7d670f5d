/**
 * Looks at an installed folder without running anything of it. What is installed is foreign data: the walk is bounded,
 * follows no link, and refuses what no package needs.
 */
import { createHash, hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readdir, readlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { isWithin } from "../../core/isolation/scope-patterns.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { printable } from "../net/printable.ts";

/** A large server with a browser driver has some ten thousand files and 300 MB. */
export const filesMax = 200_000;
export const bytesMax = 2 * 1024 * 1024 * 1024;
const depthMax = 64;
/** Files that are looked at together. */
const atOnce = 32;

export type InstalledFile = {
  /** Relative to the folder. */
  readonly path: string;
  readonly kind: "file" | "link";
  readonly size: number;
  /** Times of the last change of content and of facts, in ns; the system sets the second, whatever a program wants. */
  readonly times: string;
  /** Where a link leads, as written. */
  readonly to?: string;
};

export type FileRules = {
  /** Links that may lead out of the folder, such as a virtual environment's interpreter. */
  readonly mayLeave: (path: string) => boolean;
};

/** All files in order of their paths. The error is a part of a sentence about the package. */
export async function installedFiles(
  folder: string,
  { mayLeave }: FileRules,
): Promise<Result<readonly InstalledFile[], string>> {
  const found: InstalledFile[] = [];
  let bytes = 0;
  const open = [{ path: "", depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.depth > depthMax) return err("has folders that are too deep");
    const names = await readdir(join(folder, next.path)).catch(() => undefined);
    if (names === undefined) return err("has a folder that cannot be read");
    if (names.length + found.length > filesMax) return err(`has more than ${filesMax} files`);
    for (let index = 0; index < names.length; index += atOnce) {
      const paths = names.slice(index, index + atOnce).map((name) => join(next.path, name));
      const looked = await Promise.all(paths.map((path) => fileAt(folder, path, mayLeave)));
      for (const one of looked) {
        if (typeof one === "string") return err(one);
        if (one.kind === "folder") open.push({ path: one.path, depth: next.depth + 1 });
        else {
          found.push(one);
          bytes += one.size;
        }
      }
      if (bytes > bytesMax) return err(`is larger than ${bytesMax / 1_048_576} MiB`);
    }
  }
  return ok(found.toSorted((left, right) => (left.path < right.path ? -1 : 1)));
}

/** A text is the reason to refuse the package. */
async function fileAt(
  folder: string,
  path: string,
  mayLeave: (path: string) => boolean,
): Promise<InstalledFile | { readonly kind: "folder"; readonly path: string } | string> {
  const whole = join(folder, path);
  const facts = await lstat(whole, { bigint: true }).catch(() => undefined);
  const shown = printable(path, 60);
  if (facts === undefined) return `has a file \`${shown}\` that cannot be read`;
  if (facts.isDirectory()) return { kind: "folder", path };
  const times = `${facts.mtimeNs} ${facts.ctimeNs}`;
  if (facts.isSymbolicLink()) {
    const to = await readlink(whole).catch(() => "");
    const within = isWithin(resolve(dirname(whole), to), folder);
    if (!within && !mayLeave(path)) return `has a link \`${shown}\` that leads out of its folder`;
    return { kind: "link", path, size: 0, times, to };
  }
  if (!facts.isFile()) return `has a device or socket \`${shown}\``;
  if ((facts.mode & 0o6000n) !== 0n) return `has a set-user-id file \`${shown}\``;
  return { kind: "file", path, size: Number(facts.size), times };
}

/** Digest of sizes and times: equal as long as no file of the folder was touched. */
export function seenDigest(files: readonly InstalledFile[]): string {
  const lines = files.map(({ path, kind, size, times, to }) => [path, kind, size, times, to ?? ""].join("\0"));
  return `sha256-${hash("sha256", lines.join("\n"))}`;
}

/** Digest of what the files hold; `counts` leaves out what differs from install to install. */
export async function contentDigest(
  folder: string,
  files: readonly InstalledFile[],
  counts: (path: string) => boolean,
): Promise<Result<string, string>> {
  const whole = createHash("sha256");
  for (const file of files.filter(({ path }) => counts(path))) {
    const digest = file.kind === "link" ? (file.to ?? "") : await fileDigest(join(folder, file.path));
    if (digest === undefined) return err(`has a file \`${printable(file.path, 60)}\` that cannot be read`);
    whole.update(`${file.path}\0${file.kind}\0${digest}\n`);
  }
  return ok(`sha256-${whole.digest("hex")}`);
}

async function fileDigest(path: string): Promise<string | undefined> {
  const digest = createHash("sha256");
  try {
    await pipeline(createReadStream(path), digest);
    return digest.digest("hex");
  } catch {
    return undefined;
  }
}

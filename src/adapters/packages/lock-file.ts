/**
 * `sluicegate.lock` in the state folder: the exact version and the digests of every package that was resolved for a
 * server. An installed folder counts only if an entry names it, so a half-finished install is never started.
 */
import { hash } from "node:crypto";
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { join } from "node:path";
import { isPlainObject } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { attempt } from "../attempt.ts";
import { takeLock } from "../daemon/lock.ts";
import { makeFolder } from "../make-folder.ts";
import { boundedText } from "./bounded-text.ts";
import type { Ecosystem } from "./fetch-command.ts";

/** One resolved package. */
export type LockEntry = {
  readonly ecosystem: Ecosystem;
  /** The packages as the command names them, and the registry that they came from. */
  readonly wanted: readonly string[];
  readonly registry: string;
  /** Pre-releases were asked for. */
  readonly preReleases?: true;
  readonly name: string;
  readonly version: string;
  /** npm: the digest of the registry for the package (SRI). PyPI: `content`, since an index has no digest of a package. */
  readonly integrity: string;
  /** SHA-256 of every installed file, path by path; equal for equal installs anywhere. */
  readonly content: string;
  /** SHA-256 of sizes and times of the files here, by which later starts see that nothing was changed. */
  readonly seen: string;
  /** The installed folder, relative to the folder of packages; a former one may still be in use by a running server. */
  readonly folder: string;
  readonly former?: string;
  /** Programs by name: paths relative to `folder`. */
  readonly programs: Readonly<Record<string, string>>;
  /** The program that runs where the command names none. */
  readonly main?: string;
  /** Packages whose install scripts were not run. */
  readonly scripts: readonly string[];
  /** Every installed package with its version, for the report of an update. */
  readonly packages: Readonly<Record<string, string>>;
  readonly resolvedAt: string;
};

const lockBytesMax = 16 * 1024 * 1024;
const entriesMax = 1_000;
/** Wait for another process that writes the lock file, which takes milliseconds. */
const writeWaitMsMax = 10_000;
const askEveryMs = 25;

export const lockFileName = "sluicegate.lock";

/** The folder of installed packages. */
export const packagesFolder = (home: string): string => join(home, "packages");

/** The name of an entry: registry and packages as they were asked for. */
export function lockKey(
  asked: Pick<LockEntry, "ecosystem" | "wanted" | "registry"> & { readonly preReleases?: boolean },
): string {
  const { ecosystem, wanted, registry } = asked;
  return [ecosystem, registry, ...wanted, ...(asked.preReleases === true ? ["pre-releases"] : [])].join(" ");
}

/** All entries by key; empty without a file. The error is a sentence: a damaged lock is never taken for an empty one. */
export function readLock(home: string): Result<ReadonlyMap<string, LockEntry>, string> {
  const path = join(home, lockFileName);
  if (!existsSync(path)) return ok(new Map());
  const text = boundedText(path, lockBytesMax);
  const value: unknown = text === undefined ? undefined : attempt(() => JSON.parse(text) as unknown, undefined);
  const packages = isPlainObject(value) && value["version"] === 1 ? value["packages"] : undefined;
  const entries = isPlainObject(packages) ? Object.entries(packages) : undefined;
  const read = entries?.map(([key, entry]) => [key, entryFrom(entry)] as const);
  if (read === undefined || read.length > entriesMax) return err(damaged);
  const whole = read.flatMap(([key, entry]) => (entry === undefined ? [] : [[key, entry] as const]));
  return whole.length === read.length ? ok(new Map(whole)) : err(damaged);
}

const damaged =
  "`sluicegate.lock` of the state folder cannot be read, so no package can be vouched for: restore it, or remove it to resolve every package again.";

/** Changes the file as one step, while no other process does. The error is a sentence. */
export async function changeLock(
  home: string,
  change: (entries: Map<string, LockEntry>) => void,
): Promise<Result<void, string>> {
  const held = await waitForLock(home, "lock-file", writeWaitMsMax);
  if (!held.ok) return held;
  try {
    const before = readLock(home);
    if (!before.ok) return before;
    const entries = new Map(before.value);
    change(entries);
    const path = join(home, lockFileName);
    const sorted = [...entries].toSorted(([left], [right]) => (left < right ? -1 : 1));
    const text = `${JSON.stringify({ version: 1, packages: Object.fromEntries(sorted) }, undefined, 2)}\n`;
    writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true });
    renameSync(`${path}.new`, path);
    return ok(undefined);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
    return err(`\`sluicegate.lock\` cannot be written (${code}): free disk space, or check the state folder.`);
  } finally {
    held.value.release();
  }
}

type Held = { readonly release: () => void };

/** A lock that the kernel lets go of when its holder ends, so that two starts at once resolve a package once. */
export async function waitForLock(home: string, name: string, waitMsMax: number): Promise<Result<Held, string>> {
  const folder = join(packagesFolder(home), "locks");
  const made = attempt(() => (makeFolder(folder, 0o700), true), false);
  if (!made) return err("The folder of packages cannot be made: check the state folder and the free space.");
  const path = join(folder, `${hash("sha256", name).slice(0, 24)}.db`);
  for (const until = performance.now() + waitMsMax; ;) {
    const taken = takeLock(path);
    if (taken.ok) return taken;
    if (taken.error !== "held") return err(`The folder of packages cannot be used: check the state folder.`);
    if (performance.now() > until) {
      return err("Another start of this package takes too long: wait for it, or end it, then start again.");
    }
    await wait(askEveryMs);
  }
}

function entryFrom(value: unknown): LockEntry | undefined {
  if (!isPlainObject(value)) return undefined;
  const text = (key: string): string => {
    const found = Object.hasOwn(value, key) ? value[key] : undefined;
    return typeof found === "string" ? found : "";
  };
  const ecosystem = value["ecosystem"];
  const [wanted, scripts] = [texts(value["wanted"]), texts(value["scripts"])];
  const [programs, packages] = [textMap(value["programs"]), textMap(value["packages"])];
  if (ecosystem !== "npm" && ecosystem !== "pypi") return undefined;
  if (wanted === undefined || scripts === undefined || programs === undefined || packages === undefined)
    return undefined;
  const folders = [text("folder"), ...(value["former"] === undefined ? [] : [text("former")])];
  if (folders.some((folder) => !/^[a-z0-9-]{1,80}$/.test(folder))) return undefined;
  if (Object.values(programs).some((path) => path.startsWith("/") || path.split("/").includes(".."))) return undefined;
  const needed = ["registry", "name", "version", "integrity", "content", "seen"].map(text);
  if (needed.includes("")) return undefined;
  const [registry = "", name = "", version = "", integrity = "", content = "", seen = ""] = needed;
  const [folder = "", former] = folders;
  const found = { ecosystem, wanted, registry, name, version, integrity, content, seen, folder } as const;
  const kept = former === undefined ? {} : { former };
  const main = value["main"] === undefined ? {} : { main: text("main") };
  const pre = value["preReleases"] === true ? { preReleases: true as const } : {};
  return { ...found, ...pre, ...kept, ...main, programs, scripts, packages, resolvedAt: text("resolvedAt") };
}

function texts(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((one) => typeof one === "string") ? value : undefined;
}

function textMap(value: unknown): Readonly<Record<string, string>> | undefined {
  if (!isPlainObject(value) || !Object.values(value).every((one) => typeof one === "string")) return undefined;
  return value as Readonly<Record<string, string>>; // each value was just seen to be a text
}

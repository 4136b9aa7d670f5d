/**
 * The steps between a command and an entry of the lock: is the installed folder what the lock says, install what is not
 * there, and put it on record as the last step. A folder that no entry names does not count.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Result, err, ok } from "../../core/result.ts";
import { attempt } from "../attempt.ts";
import { makeFolder } from "../make-folder.ts";
import { printable } from "../net/printable.ts";
import type { ProcessTarget } from "../process/launch.ts";
import type { FetchCommand } from "./fetch-command.ts";
import type { RunStep } from "./install-step.ts";
import { contentDigest, installedFiles, seenDigest } from "./installed-files.ts";
import type { InstallOrder, Kind } from "./kind.ts";
import { type LockEntry, changeLock, packagesFolder, readLock } from "./lock-file.ts";
import { npmKind } from "./npm-install.ts";
import { pythonKind } from "./python-install.ts";

export type PackageSetup = {
  /** State folder: the lock, and the folder of packages. */
  readonly home: string;
  /** Home folder of the user, with the settings of npm and pip. */
  readonly userHome: string;
  readonly run: RunStep;
  /** Wall clock, for the record of when a package was resolved. */
  readonly now: () => Date;
  /** One line for the operator. */
  readonly notice: (text: string) => void;
};

export const kinds: Readonly<Record<FetchCommand["ecosystem"], Kind>> = { npm: npmKind, pypi: pythonKind };

/** An entry with its folder, or one whose folder is gone. */
export type Known = { readonly whole?: LockEntry; readonly gone?: LockEntry };

/** The entry, if its folder is there unchanged; a changed folder is an error, an absent one is not. */
export async function checkedEntry(key: string, { home }: PackageSetup): Promise<Result<Known, string>> {
  const lock = readLock(home);
  if (!lock.ok) return lock;
  const entry = lock.value.get(key);
  if (entry === undefined) return ok({});
  const folder = join(packagesFolder(home), entry.folder);
  if (attempt(() => readdirSync(folder).length, 0) === 0) return ok({ gone: entry });
  const { rules, counts } = kinds[entry.ecosystem];
  const files = await installedFiles(folder, rules);
  if (files.ok && seenDigest(files.value) === entry.seen) return ok({ whole: entry });
  const content = files.ok ? await contentDigest(folder, files.value, counts) : files;
  if (!files.ok || !content.ok || content.value !== entry.content) {
    return err(
      `The installed files of ${named(entry)} are not those of \`sluicegate.lock\`, so it does not start. Run \`sluicegate packages update ${entry.name}\` to install it again.`,
    );
  }
  // Copied or restored: the same content under new times.
  const seen = seenDigest(files.value);
  const changed = await changeLock(home, (entries) => void entries.set(key, { ...entry, seen }));
  return changed.ok ? ok({ whole: { ...entry, seen } }) : changed;
}

type Wanted = {
  readonly target: ProcessTarget;
  readonly command: FetchCommand;
  readonly registry: string;
  /** Entry whose folder is gone: the same versions are installed again. */
  readonly exact: LockEntry | undefined;
};

/**
 * Installs into a folder of its own and makes the entry for it, which is not on record yet. `fits` may refuse the entry.
 * The error is a sentence; then nothing is left of the install.
 */
export async function installEntry(
  { target, command, registry, exact }: Wanted,
  setup: PackageSetup,
  fits: (entry: LockEntry) => Result<unknown, string>,
): Promise<Result<LockEntry, string>> {
  const { home, userHome } = setup;
  const folderName = `${command.ecosystem}-${randomBytes(8).toString("hex")}`;
  const folder = join(packagesFolder(home), folderName);
  const scratch = attempt(() => {
    makeFolder(packagesFolder(home), 0o700);
    mkdirSync(folder, { mode: 0o755 });
    return mkdtempSync(join(tmpdir(), "sluicegate-install-"));
  }, undefined);
  if (scratch === undefined) {
    return err("The folder of packages cannot be made: check the state folder and the free space.");
  }
  const order: InstallOrder = { target, command, home: userHome, folder, scratch, ...(exact && { exact }) };
  try {
    const fresh = await installedEntry(order, { registry, folderName, setup });
    const fitting = fresh.ok ? fits(fresh.value) : fresh;
    const entry = fresh.ok && fitting.ok ? agreeing(fresh.value, exact) : fresh;
    const refused = fitting.ok ? (entry.ok ? undefined : entry.error) : fitting.error;
    if (refused === undefined) return entry;
    remove(folder);
    return err(refused);
  } finally {
    remove(scratch);
    clearAbandoned(home);
  }
}

/** Puts an entry on record; the error is a sentence, and then its folder is gone. */
export async function keptEntry(
  key: string,
  entry: LockEntry,
  { home }: PackageSetup,
): Promise<Result<LockEntry, string>> {
  const kept = await changeLock(home, (entries) => void entries.set(key, entry));
  if (kept.ok) return ok(entry);
  remove(join(packagesFolder(home), entry.folder));
  return kept;
}

/** A folder that cannot be removed is left to a later install. */
function remove(folder: string): void {
  attempt(() => rmSync(folder, { recursive: true, force: true }), undefined);
}

type Making = { readonly registry: string; readonly folderName: string; readonly setup: PackageSetup };

async function installedEntry(
  order: InstallOrder,
  { registry, folderName, setup }: Making,
): Promise<Result<LockEntry, string>> {
  const { command, folder } = order;
  const kind = kinds[command.ecosystem];
  const installed = await kind.install(order, setup.run);
  if (!installed.ok) return installed;
  const files = await installedFiles(folder, kind.rules);
  const content = files.ok ? await contentDigest(folder, files.value, kind.counts) : files;
  if (!files.ok || !content.ok) {
    const why = [files, content].flatMap((one) => (one.ok ? [] : [one.error]))[0] ?? "";
    const name = `\`${printable(command.packages[0] ?? "", 60)}\``;
    return err(`${name} ${why}, so it is not installed. Install it yourself and name its file as the command.`);
  }
  const { integrity = content.value, main, ...facts } = installed.value;
  return ok({
    ecosystem: command.ecosystem,
    wanted: command.packages,
    registry,
    ...(command.preReleases ? { preReleases: true as const } : {}),
    ...facts,
    ...(main === undefined ? {} : { main }),
    integrity,
    content: content.value,
    seen: seenDigest(files.value),
    folder: folderName,
    resolvedAt: setup.now().toISOString(),
  });
}

/** What is installed again must be what was locked, whatever the registry says by now. */
function agreeing(fresh: LockEntry, locked: LockEntry | undefined): Result<LockEntry, string> {
  if (locked === undefined) return ok(fresh);
  if (fresh.integrity !== locked.integrity || fresh.content !== locked.content) {
    return err(
      `The registry now has other content for ${named(locked)} than \`sluicegate.lock\` says, so it was not installed. Look at what changed; \`sluicegate packages update ${locked.name}\` takes it.`,
    );
  }
  return ok({ ...locked, folder: fresh.folder, seen: fresh.seen });
}

export function named({ name, version }: Pick<LockEntry, "name" | "version">): string {
  return `\`${printable(name, 60)}\` ${printable(version, 24)}`;
}

/** Removes folders that no entry names and no install is filling: those of a start that was killed. */
function clearAbandoned(home: string): void {
  const lock = readLock(home);
  if (!lock.ok) return;
  const kept = new Set([...lock.value.values()].flatMap(({ folder, former }) => [folder, former]));
  const folder = packagesFolder(home);
  for (const name of attempt(() => readdirSync(folder), [])) {
    if (!/^(?:npm|pypi)-[0-9a-f]{16}$/.test(name) || kept.has(name)) continue;
    attempt(() => removeIfOld(join(folder, name)), undefined);
  }
}

/** An install ends within minutes; what is older was left by a start that was killed. */
const abandonedMs = 3_600_000;

function removeIfOld(folder: string): void {
  if (Date.now() - statSync(folder).mtimeMs > abandonedMs) rmSync(folder, { recursive: true, force: true });
}

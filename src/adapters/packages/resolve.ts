/**
 * Makes an installed program of a command that would fetch one (`npx`, `uvx`, ...): from the lock where it has an entry,
 * else by one install in a projection that reaches the registry and nothing else. Later starts need no network.
 */
import { join } from "node:path";
import { type Result, err, ok } from "../../core/result.ts";
import { printable } from "../net/printable.ts";
import type { ProcessTarget } from "../process/launch.ts";
import { type FetchCommand, isProgram } from "./fetch-command.ts";
import { checkedEntry, type Known, type PackageSetup, installEntry, keptEntry, kinds, named } from "./install-entry.ts";
import { localProgram } from "./local-program.ts";
import { type LockEntry, lockKey, packagesFolder, readLock, waitForLock } from "./lock-file.ts";

/** Another start of the same package may be installing it. */
const turnMsMax = 600_000;

/** Why a package cannot be fetched from inside of a projection, as a part of a sentence; undefined where it can. */
export function unreachableSource(target: ProcessTarget, command: FetchCommand, home: string): string | undefined {
  return kinds[command.ecosystem].source({ target, command, home }).unreachable;
}

/**
 * The target with the installed program as its command. An error is a sentence; then nothing is installed that was not
 * before, and the lock is as it was.
 */
export async function resolveCommand(
  target: ProcessTarget,
  command: FetchCommand,
  setup: PackageSetup,
): Promise<Result<ProcessTarget, string>> {
  const own = localProgram(target, command);
  if (own !== undefined) return ok({ ...target, command: own, args: command.args });
  const entry = await entryFor(target, command, setup);
  if (!entry.ok) return entry;
  const program = programOf(command, entry.value);
  if (!program.ok) return program;
  const path = join(packagesFolder(setup.home), entry.value.folder, program.value);
  return ok({ ...target, command: path, args: command.args });
}

async function entryFor(
  target: ProcessTarget,
  command: FetchCommand,
  setup: PackageSetup,
): Promise<Result<LockEntry, string>> {
  const { ecosystem, packages: wanted, preReleases } = command;
  const { registry } = kinds[ecosystem].source({ target, command, home: setup.userHome });
  const key = lockKey({ ecosystem, wanted, registry, preReleases });
  const known = await checkedEntry(key, setup);
  if (!known.ok || known.value.whole !== undefined) return wholeOf(known);
  const turn = await waitForLock(setup.home, key, turnMsMax);
  if (!turn.ok) return turn;
  try {
    // Another start may have installed it meanwhile.
    const now = await checkedEntry(key, setup);
    if (!now.ok || now.value.whole !== undefined) return wholeOf(now);
    const exact = now.value.gone;
    const fresh = await installEntry({ target, command, registry, exact }, setup, (entry) => programOf(command, entry));
    const kept = fresh.ok ? await keptEntry(key, fresh.value, setup) : fresh;
    if (kept.ok && exact === undefined) for (const line of newsOf(kept.value, command)) setup.notice(line);
    return kept;
  } finally {
    turn.value.release();
  }
}

function wholeOf(known: Result<Known, string>): Result<LockEntry, string> {
  if (!known.ok) return known;
  return known.value.whole === undefined ? err("The package is not installed.") : ok(known.value.whole);
}

export type Update = { readonly before: LockEntry; readonly after: LockEntry };

/** Looks for what fits an entry now, and takes it. The error is a sentence; then the entry is as it was. */
export async function updateEntry(
  key: string,
  target: ProcessTarget,
  setup: PackageSetup,
): Promise<Result<Update, string>> {
  const turn = await waitForLock(setup.home, key, turnMsMax);
  if (!turn.ok) return turn;
  try {
    const lock = readLock(setup.home);
    if (!lock.ok) return lock;
    const before = lock.value.get(key);
    if (before === undefined) return err("The package is not in the lock any more. Look at `sluicegate packages`.");
    const { ecosystem, wanted: packages, registry, preReleases = false } = before;
    const runner = ecosystem === "npm" ? "npx" : "uvx";
    const command = { kind: "fetch", runner, ecosystem, packages, program: undefined, args: [], preReleases } as const;
    const order = { target, command: { ...command, registry }, registry, exact: undefined };
    const fresh = await installEntry(order, setup, () => ok(""));
    if (!fresh.ok) return fresh;
    const { folder } = before;
    const kept = await keptEntry(key, { ...fresh.value, former: folder }, setup);
    return kept.ok ? ok({ before, after: kept.value }) : kept;
  } finally {
    turn.value.release();
  }
}

function programOf(command: FetchCommand, entry: LockEntry): Result<string, string> {
  const { programs, main } = entry;
  const name = command.program ?? main;
  const path = name !== undefined && isProgram(name) && Object.hasOwn(programs, name) ? programs[name] : undefined;
  if (path !== undefined) return ok(path);
  const all = Object.keys(programs).slice(0, 6);
  const has = all.length === 0 ? "it has none" : `it has ${printable(all.join(", "), 60)}`;
  const wanted = command.program === undefined ? "a program of its own name" : `a program \`${command.program}\``;
  const way = command.ecosystem === "npm" ? "-p" : "--from";
  const remedy = `Name one: \`${command.runner} ${way} ${printable(entry.name, 50)} PROGRAM\`.`;
  return err(`${named(entry)} does not have ${printable(wanted, 50)}: ${has}. ${remedy}`.slice(0, 240));
}

function newsOf(entry: LockEntry, { runner }: FetchCommand): readonly string[] {
  const { scripts } = entry;
  const news = `Installed ${named(entry)} for \`${runner}\`, pinned in sluicegate.lock: later starts use it without the network. \`sluicegate packages update\` looks for a newer one.`;
  if (scripts.length === 0) return [news];
  const names = printable(scripts.join(", "), 60);
  const line = `npm install ${entry.name}@${entry.version}`;
  return [
    news,
    `${named(entry)} has install scripts that were not run (${names}). If it fails without them, run \`${printable(line, 50)}\` and name its file as the command.`,
  ];
}

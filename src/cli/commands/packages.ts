/** `sluicegate packages [update [NAME]]`: the packages that were resolved for servers, and newer ones on request. */
import { homedir } from "node:os";
import type { Command } from "commander";
import { stateHome } from "../../adapters/daemon/paths.ts";
import { defaultTransportLimits } from "../../adapters/net/net-limits.ts";
import { stepRunner } from "../../adapters/packages/install-step.ts";
import { type LockEntry, readLock } from "../../adapters/packages/lock-file.ts";
import { type Update, updateEntry } from "../../adapters/packages/resolve.ts";
import { probeSupport } from "../../adapters/projection/launch/support.ts";
import { tierOf } from "../../adapters/projection/launch/tiers.ts";
import { type Outcome, failure } from "../../app/state/outcome.ts";
import { shown, table } from "../../app/state/sentences.ts";
import { acts } from "../output.ts";

const usage = "Use `sluicegate packages`, or `sluicegate packages update [NAME]` with a name of that list.";

/** Changed packages that a report names. */
const changesMax = 12;

export function register(program: Command): void {
  const command = program
    .command("packages [word] [name]")
    .description(
      "show the packages that `npx`, `uvx` and the like were resolved to; `packages update [NAME]` renews them",
    );
  acts(command, {}, (_options, word?: string, name?: string) => packages(word, name));
}

function packages(word: string | undefined, name: string | undefined): Promise<Outcome> | Outcome {
  const lock = readLock(stateHome(process.env));
  if (!lock.ok) return failure("SG-PACKAGES", lock.error);
  if ((word === undefined || word === "list") && name === undefined) return list(lock.value);
  if (word !== "update") return failure("SG-USAGE", usage);
  const chosen = [...lock.value].filter(([, entry]) => name === undefined || entry.name === name);
  if (chosen.length > 0) return update(chosen);
  if (name === undefined) return { exitCode: 0, json: { updated: [], failed: [] }, text: nothing };
  return failure(
    "SG-USAGE",
    `No package \`${shown(name, 60)}\` was resolved. Run \`sluicegate packages\` for the list.`,
  );
}

const nothing = "No package was resolved yet: the first start of a server behind `npx`, `uvx` or `pipx run` does it.";

function list(entries: ReadonlyMap<string, LockEntry>): Outcome {
  const facts = [...entries.values()].map(({ seen: _seen, ...fact }) => fact);
  if (facts.length === 0) return { exitCode: 0, json: { packages: [] }, text: nothing };
  const rows = facts.map(({ name, version, wanted, registry, resolvedAt, packages: all, scripts }) => [
    shown(name, 60),
    shown(version, 30),
    `${Object.keys(all).length}`,
    resolvedAt.slice(0, 10),
    shown(wanted.join(" "), 60),
    shown(registry, 60),
    scripts.length === 0 ? "" : shown(scripts.join(", "), 60),
  ]);
  const head = ["package", "version", "packages", "resolved", "asked for", "from", "scripts not run"];
  return { exitCode: 0, json: { packages: facts }, text: table([head, ...rows]) };
}

async function update(chosen: readonly (readonly [string, LockEntry])[]): Promise<Outcome> {
  const home = stateHome(process.env);
  const { tier, notes } = tierOf(await probeSupport(), { net: { mode: "list" } });
  if (tier !== "A") {
    return failure(
      "SG-PACKAGES",
      `An install needs isolation tier A, and this machine gives ${tier}. ${notes[0] ?? ""}`,
    );
  }
  const env = Object.fromEntries(Object.entries(process.env).map(([key, value]) => [key, value ?? ""]));
  const target = { kind: "stdio", command: "npx", args: [], env, workingDirectory: process.cwd() } as const;
  const run = stepRunner(home, defaultTransportLimits);
  const setup = { home, userHome: homedir(), run, now: () => new Date(), notice: () => {} };
  const lines: string[] = [];
  const updated: object[] = [];
  const failed: object[] = [];
  for (const [key, { name, version }] of chosen) {
    const done = await updateEntry(key, target, setup);
    if (done.ok) {
      updated.push(changesOf(done.value));
      lines.push(...sentences(done.value));
    } else {
      failed.push({ name, version, why: done.error });
      lines.push(`${shown(name, 60)} stays at ${shown(version, 30)}. ${shown(done.error, 240)}`);
    }
  }
  return { exitCode: failed.length === 0 ? 0 : 1, json: { updated, failed }, text: lines.join("\n") };
}

type Changed = { readonly package: string; readonly from: string | undefined; readonly to: string | undefined };

function changedPackages({ before, after }: Update): readonly Changed[] {
  const all = new Set([...Object.keys(before.packages), ...Object.keys(after.packages)]);
  return [...all]
    .map((name) => ({ package: name, from: before.packages[name], to: after.packages[name] }))
    .filter(({ from, to }) => from !== to);
}

function changesOf(update: Update): object {
  const { name, version, content } = update.after;
  const same = content === update.before.content;
  return { name, from: update.before.version, to: version, same, changed: changedPackages(update) };
}

function sentences(update: Update): readonly string[] {
  const { before, after } = update;
  const name = shown(after.name, 60);
  if (before.content === after.content) return [`${name} ${shown(after.version, 30)} is the newest that fits.`];
  const changed = changedPackages(update);
  const told = changed.slice(0, changesMax).map(({ package: one, from, to }) => {
    const plain = one.slice(one.lastIndexOf("node_modules/") + (one.includes("node_modules/") ? 13 : 0));
    return `  ${shown(plain, 60)}: ${shown(from ?? "new", 30)} to ${shown(to ?? "gone", 30)}`;
  });
  const more = changed.length > changesMax ? [`  and ${changed.length - changesMax} more`] : [];
  const head = `${name}: ${shown(before.version, 30)} to ${shown(after.version, 30)}. Its next start is a new admission: what its tools say is looked at again.`;
  return [head, ...told, ...more];
}

/** What the fault tests share: a gateway with one server that makes trouble on demand, and a look at what is left of it. */
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../src/core/json.ts";

export const serverProgram = fileURLToPath(new URL("server.ts", import.meta.url));

const toolLabels: Readonly<Record<string, JsonObject>> = {
  echo: { effects: ["read.local"], args: { text: "content" } },
  read: { effects: ["read.local"], args: { path: "path" } },
  write: { effects: ["write.local"], args: { path: "path", text: "content" } },
  write_many: { effects: ["write.local"], args: { path: "path", count: "content" } },
  wait: { effects: ["write.local"], args: { path: "path", count: "content" } },
  fill: { effects: ["write.local"], args: { path: "path", count: "content" } },
  churn: { effects: ["write.local"], args: { path: "path", count: "content" } },
  open_files: { effects: ["read.local"], args: { count: "content" } },
  memory: { effects: ["read.local"], args: { count: "content" } },
  processes: { effects: ["read.local"], args: { count: "content" } },
  spin: { effects: ["read.local"], args: { count: "content" } },
  junk: { effects: ["read.local"], args: { count: "content" } },
  endless: { effects: ["read.local"], args: { count: "content" } },
  forge: { effects: ["read.local"], args: {} },
};

const output = { confidentiality: "public", trust: "trusted" };

/** Trusts the servers, so that what is refused is refused for the fault alone. `isolation` by server. */
export function policyFor(servers: Readonly<Record<string, JsonObject>>): JsonObject {
  const names = Object.keys(servers);
  const labels = names.flatMap((name) =>
    Object.entries(toolLabels).map(([tool, label]) => [`${name}.${tool}`, { ...label, output }] as const),
  );
  return {
    version: 1,
    extends: ["default"],
    servers: Object.fromEntries(names.map((name) => [name, { trust: "trusted" }])),
    labels: Object.fromEntries(labels),
    isolation: { servers: { ...servers } },
  };
}

export type Fact = { readonly pid: number; readonly parent: number; readonly session: number; readonly born: string };

function factOf(pid: number): Fact | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1")
      .replace(/^.*\) /, "")
      .split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return undefined;
    return { pid, parent: Number(fields[1]), session: Number(fields[3]), born: fields[19] ?? "" };
  } catch {
    return undefined;
  }
}

/** Every living process. */
export function allProcesses(): readonly Fact[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => factOf(Number(name)) ?? []);
}

/** A process and everything that it has started, and what those started in sessions of their own. */
export function family(root: number): readonly Fact[] {
  const all = allProcesses();
  const found = new Map(all.filter(({ pid }) => pid === root).map((fact) => [fact.pid, fact]));
  for (let before = -1; before !== found.size;) {
    before = found.size;
    const sessions = new Set([...found.values()].map(({ session, pid }) => (session === pid ? session : -1)));
    for (const fact of all)
      if (found.has(fact.parent) || (sessions.has(fact.session) && fact.session > 0)) found.set(fact.pid, fact);
  }
  return [...found.values()];
}

export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").trim();
  } catch {
    return "";
  }
}

function mountsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/mountinfo`, "latin1");
  } catch {
    return "";
  }
}

/** Processes that carry a word in their command line or whose mounts name it; this one and its own mounts left out. */
export function left(word: string): readonly Fact[] {
  return allProcesses().filter(
    ({ pid }) => pid !== process.pid && (commandOf(pid).includes(word) || mountsOf(pid).includes(word)),
  );
}

/** Waits until none of these lives any more; those that still do, as command lines. */
export async function goneOf(find: () => readonly Fact[], waitMsMax = 8_000): Promise<readonly string[]> {
  const until = Date.now() + waitMsMax;
  for (;;) {
    const living = find();
    if (living.length === 0 || Date.now() > until) return living.map(({ pid }) => `${pid}: ${commandOf(pid)}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** Of these those that still live: a number that was given again belongs to another. */
export function surviving(facts: readonly Fact[]): readonly Fact[] {
  return facts.filter(({ pid, born }) => factOf(pid)?.born === born);
}

/** Names, kinds and contents of everything below a folder, as one word. */
export function treeHash(folder: string): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted()) {
    const facts = lstatSync(join(folder, name));
    hash.update(`${name}\0${facts.mode}\0`);
    if (facts.isFile()) hash.update(readFileSync(join(folder, name)));
  }
  return hash.digest("hex");
}

/** The one process of a family whose command line has this word; that is an error where there is none. */
export function memberOf(root: number, word: RegExp): number {
  const found = family(root).find(({ pid }) => pid !== root && word.test(commandOf(pid)));
  if (found === undefined) throw new Error(`no process of ${root} matches ${String(word)}`);
  return found.pid;
}

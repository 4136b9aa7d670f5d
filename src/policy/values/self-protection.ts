/**
 * Self-protection (docs/decisions/0018) in three parts: `app/state/self-protection.ts` finds the files of the installation,
 * this file tells which calls touch them, `gateway/decision/self-protection.ts` makes a deny or a question of that. Files
 * of the user that programs execute are another matter: `core/isolation/execution-hooks.ts`. Paths are compared as text,
 * without case; links are not followed here.
 */
import type { Role, ToolContract } from "../../core/contract.ts";
import { type EffectRange, mayCover } from "../../core/effect.ts";
import { type Json, isArray, isObject } from "../../core/json.ts";
import type { CallMoment } from "../../core/moment.ts";
import { canonicalPath, isInside } from "./path.ts";

/** Absolute paths; a folder stands for everything below it. */
export type ProtectedPlaces = {
  /** Its log, keys and sockets: no other program may use them. */
  readonly kept: readonly string[];
  /** Files that it obeys: policies and their parts, its configuration, its program. */
  readonly obeyed: readonly string[];
  /** Home folder of the user, for `~`. */
  readonly home: string;
  /** Folder from which servers may have been started, beside the folders of the workspace. */
  readonly base: string;
};

/** The own place that a call touches, as it was given in `ProtectedPlaces`, and the member that lists it. */
export type Touched = { readonly place: string; readonly stake: keyof Pick<ProtectedPlaces, "kept" | "obeyed"> };

export type SelfProtection = {
  /** The own place that a call would touch. */
  readonly touched: (call: Pick<CallMoment, "contract" | "arguments" | "workspace">) => Touched | undefined;
  /** Whether an absolute path is one of these places, or in one. */
  readonly holds: (path: string) => boolean;
};

export function selfProtection({ kept, obeyed, home, base }: ProtectedPlaces): SelfProtection {
  const known = knownIn(home);
  const own = { kept: kept.map(known), obeyed: obeyed.map(known) };
  const holds = (path: string): boolean => {
    const plain = folded(canonicalPath(path) ?? path);
    return [...own.kept, ...own.obeyed].some((place) => isInside(plain, place.path));
  };
  const touched: SelfProtection["touched"] = ({ contract, arguments: given, workspace }) => {
    const changes = mayDo(contract, "write") || mayDo(contract, "execute");
    const named: string[] = [];
    const commands: string[] = [];
    let paths = 0;
    for (const [name, value] of Object.entries(given)) {
      const { role } = contract.arguments.get(name) ?? contract.rest;
      if (role === "content") continue;
      const texts = textsIn(value);
      if (role === "path") paths += texts.length;
      if (role === "command") for (const text of texts) commands.push(folded(text));
      const roots = [...workspace, base];
      for (const text of texts) for (const path of pathsOf(text, role, { roots, home })) named.push(path);
    }
    // Of two paths one may be moved to the other, with everything in it.
    const moves = changes && (paths > 1 || mayDelete(contract));
    const hit = (places: readonly Known[]): Known | undefined =>
      places.find(
        (place) =>
          named.some((one) => isInside(one, place.path) || (moves && isInside(place.path, one))) ||
          commands.some((command) => mentions(command, place)),
      );
    const inKept = hit(own.kept);
    if (inKept !== undefined) return { place: inKept.given, stake: "kept" };
    if (commands.some((command) => ownCommand.test(command))) return { place: "sluicegate", stake: "obeyed" };
    const changed = changes ? hit(own.obeyed) : undefined;
    return changed === undefined ? undefined : { place: changed.given, stake: "obeyed" };
  };
  return { touched, holds };
}

/** A command of ours: a caller that may run it approves its own calls, and ends its own runs. */
const ownCommand = /(?:^|[^\w.-])sluicegate(?:\.js|@[\w.-]+)?["']?\s+["']?[a-z]/;

type Known = {
  readonly given: string;
  readonly path: string;
  /** How a command can name it: as a whole, below `~`, and a file by its name alone. */
  readonly words: readonly string[];
};

function knownIn(home: string): (given: string) => Known {
  const inHome = `${folded(canonicalPath(home) ?? home)}/`;
  return (given) => {
    const path = folded(canonicalPath(given) ?? given);
    const name = path.slice(path.lastIndexOf("/") + 1);
    const below = path.startsWith(inHome) ? [`/${path.slice(inHome.length)}`] : [];
    return { given, path, words: [path, ...below, ...(name.includes(".") ? [name] : [])] };
  };
}

/** The command holds one of the words, and not as a part of a longer name. */
function mentions(command: string, { words }: Known): boolean {
  return words.some((word) => {
    for (let at = command.indexOf(word); at >= 0; at = command.indexOf(word, at + 1)) {
      const before = word.startsWith("/") ? "" : command.slice(Math.max(0, at - 1), at);
      const after = command.slice(at + word.length, at + word.length + 1);
      if (!/[\w.-]/.test(before) && !/[\w-]/.test(after)) return true;
    }
    return false;
  });
}

/** As the least exact file system compares names. */
function folded(path: string): string {
  return path.toLowerCase();
}

function ranges({ effects, cases }: ToolContract): readonly EffectRange[] {
  return [effects, ...cases.flatMap((one) => one.effects ?? [])];
}

function mayDo(contract: ToolContract, base: "write" | "execute"): boolean {
  return ranges(contract).some(({ may }) => mayCover(base, may));
}

function mayDelete(contract: ToolContract): boolean {
  return ranges(contract).some(({ may }) => may.some((effect) => effect.endsWith(".delete")));
}

/** Every text of a value, of a member name as well: servers take paths in lists and in objects. */
function textsIn(value: Json): readonly string[] {
  const texts: string[] = [];
  const open: Json[] = [value];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (typeof part === "string") texts.push(part);
    // One by one: a list is as long as its sender wants, and the arguments of a function are not.
    else if (isArray(part)) for (const one of part) open.push(one);
    else if (isObject(part)) for (const [name, one] of Object.entries(part)) open.push(name, one);
  }
  return texts;
}

type Places = { readonly roots: readonly string[]; readonly home: string };

const absolute = /^(?:[/~\\]|file:|[A-Za-z]:[\\/])/i;
/** Links of the system to the folders of a process; behind them is an ordinary path. */
const throughProcess = /^\/proc\/[^/]+(?:\/task\/[^/]+)?\/(root|cwd)\/(.*)$/;

/** Where a text leads if it is a path: a relative one from each root, and only where its role says that it is a path. */
function pathsOf(text: string, role: Role, { roots, home }: Places): readonly string[] {
  const plain = text === "~" || text.startsWith("~/") ? `${home}${text.slice(1)}` : text;
  const whole = absolute.test(plain) ? canonicalPath(plain) : undefined;
  const [, link, rest = ""] = throughProcess.exec(whole ?? "") ?? [];
  if (link === "root") return canonicalIn(`/${rest}`);
  if (link === "cwd") return roots.flatMap((root) => canonicalIn(rest, root));
  if (whole !== undefined) return [folded(whole)];
  return role === "path" ? roots.flatMap((root) => canonicalIn(plain, root)) : [];
}

function canonicalIn(text: string, base?: string): readonly string[] {
  const path = canonicalPath(text, base);
  return path === undefined ? [] : [folded(path)];
}

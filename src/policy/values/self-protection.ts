/**
 * Self-protection (docs/decisions/0018) in three parts: `app/state/self-protection.ts` finds the files of the installation,
 * this file tells which calls touch them, `gateway/decision/self-protection.ts` makes a deny or a question of that. Files
 * of the user that programs execute are another matter: `core/isolation/execution-hooks.ts`. Paths are compared as text,
 * without case; links and commands are read by the functions that the caller hands in.
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
  /** An absolute path without the links on its way; undefined where it has none. Without it none are followed. */
  readonly resolve?: (path: string) => string | undefined;
  /** The commands of a text, each as its words; undefined where no shell reads it. Without it texts are searched as they stand. */
  readonly commandWords?: (text: string) => readonly (readonly CommandWord[])[] | undefined;
};

/** A word of a command; where `glob`, a pattern for names of files. */
type CommandWord = { readonly text: string; readonly glob: boolean };

/** Commands of one call that are read as a shell does; the others are searched as texts. */
const commandsReadMax = 64;

/** Words of one call whose links are followed: each costs a look at the disk. */
const resolvedMax = 256;

/** The own place that a call touches, as it was given in `ProtectedPlaces`, and the member that lists it. */
export type Touched = { readonly place: string; readonly stake: keyof Pick<ProtectedPlaces, "kept" | "obeyed"> };

export type SelfProtection = {
  /** The own place that a call would touch. */
  readonly touched: (call: Pick<CallMoment, "contract" | "arguments" | "workspace">) => Touched | undefined;
  /** Whether an absolute path is one of these places, or in one. */
  readonly holds: (path: string) => boolean;
};

export function selfProtection({ kept, obeyed, home, base, resolve, commandWords }: ProtectedPlaces): SelfProtection {
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
    const globs: string[] = [];
    let readMax = commandsReadMax;
    const places = { roots: [...workspace, base], home };
    let paths = 0;
    for (const [name, value] of Object.entries(given)) {
      const { role } = contract.arguments.get(name) ?? contract.rest;
      if (role === "content") continue;
      const texts = textsIn(value);
      if (role === "path") paths += texts.length;
      for (const text of texts) for (const path of pathsOf(text, role, places)) named.push(path);
      if (role !== "command") continue;
      for (const text of texts) {
        const read = readingOf(text, readMax > 0 ? commandWords : undefined);
        readMax -= 1;
        commands.push(folded(text));
        for (const one of read.texts) commands.push(folded(one));
        for (const { text: word, glob } of read.words) {
          if (glob) for (const pattern of patternsOf(word, places)) globs.push(pattern);
          else for (const path of pathsOf(word, "path", places)) named.push(path);
        }
      }
    }
    // The disk knows names as they are written, and our comparison does not care.
    const real = resolve === undefined ? [] : named.slice(0, resolvedMax).flatMap(behind(resolve));
    const seen = named.concat(real).map(folded);
    // Of two paths one may be moved to the other, with everything in it.
    const moves = changes && (paths > 1 || mayDelete(contract));
    const hit = (places: readonly Known[]): Known | undefined =>
      places.find(
        (place) =>
          seen.some((one) => isInside(one, place.path) || (moves && isInside(place.path, one))) ||
          globs.some((pattern) => mayMean(pattern, place.path)) ||
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

/** What a text for a shell says: its commands with quotes, escapes and variables gone, and each word. */
function readingOf(
  text: string,
  commandWords: ProtectedPlaces["commandWords"],
): { readonly texts: readonly string[]; readonly words: readonly CommandWord[] } {
  const commands = commandWords?.(text);
  // What cannot be read is searched without its quotes and escapes, which hide a name from no shell.
  if (commands === undefined) return { texts: [text.replace(/[\\'"]/g, "")], words: [] };
  return { texts: commands.map((words) => words.map((word) => word.text).join(" ")), words: commands.flat() };
}

/** Where a pattern leads: below a root each, as it stands where it is absolute. A bare `*` names no place by itself. */
function patternsOf(word: string, { roots, home }: Places): readonly string[] {
  const plain = folded(word.startsWith("~/") ? `${home}${word.slice(1)}` : word.replace(/^\$\{?HOME\}?(?=\/)/, home));
  if (plain.startsWith("/")) return [plain];
  return [...roots.map((root) => folded(`${root}/${plain}`)), `**/${plain}`];
}

/** Whether a pattern may come out as a place or something in it; one that begins with `**` may begin anywhere. */
function mayMean(pattern: string, place: string): boolean {
  const wanted = place.split("/").filter((part) => part !== "");
  const parts = pattern.split("/").filter((part) => part !== "" && part !== ".");
  if (parts[0] !== "**") return fits(parts, wanted, 0);
  const free = parts.slice(1);
  // Where it starts is unknown, so some part of it has to name the place itself in more than a star.
  return wanted.some((_part, from) => {
    const own = free[wanted.length - 1 - from];
    return own !== undefined && /[^*?[\]]/.test(own) && fits(free, wanted, from);
  });
}

function fits(parts: readonly string[], wanted: readonly string[], from: number): boolean {
  const over = parts.length - (wanted.length - from);
  // A file has nothing below it.
  if (over < 0 || (over > 0 && /\.(?:ya?ml|json|[jt]s)$/.test(wanted.at(-1) ?? ""))) return false;
  return wanted.slice(from).every((name, index) => globFits(parts[index] ?? "", name));
}

/** One segment of a pattern; brackets stand for any letter, which is never less than they mean. */
function globFits(part: string, name: string): boolean {
  const pieces = part.replace(/\[[^\]]*\]/g, "?").split("*");
  const [first = "", ...rest] = pieces;
  if (!alike(first, name.slice(0, first.length))) return false;
  let at = first.length;
  for (const [index, piece] of rest.entries()) {
    const last = index === rest.length - 1;
    let found = last ? name.length - piece.length : at;
    while (!last && found + piece.length <= name.length && !alike(piece, name.slice(found, found + piece.length)))
      found += 1;
    if (found < at || found + piece.length > name.length) return false;
    if (!alike(piece, name.slice(found, found + piece.length))) return false;
    at = found + piece.length;
  }
  return rest.length > 0 || at === name.length;
}

function alike(piece: string, text: string): boolean {
  return piece.length === text.length && [...piece].every((letter, index) => letter === "?" || letter === text[index]);
}

/** The path behind the links on the way to another; the same path adds nothing. */
function behind(resolve: NonNullable<ProtectedPlaces["resolve"]>): (path: string) => readonly string[] {
  return (path) => {
    const real = resolve(path);
    return real === undefined ? [] : canonicalIn(real);
  };
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
  if (whole !== undefined) return [whole];
  return role === "path" ? roots.flatMap((root) => canonicalIn(plain, root)) : [];
}

function canonicalIn(text: string, base?: string): readonly string[] {
  const path = canonicalPath(text, base);
  return path === undefined ? [] : [path];
}

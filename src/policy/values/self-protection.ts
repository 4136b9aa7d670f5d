/**
 * Self-protection (docs/decisions/0018) in three parts: `app/state/self-protection.ts` finds the files of the installation,
 * this file tells which calls touch them, `gateway/decision/self-protection.ts` makes a deny or a question of that. Files
 * of the user that programs execute are another matter: `core/isolation/execution-hooks.ts`. Paths are compared as text,
 * without case; links and commands are read by the functions that the caller hands in.
 */
import { type ArgumentRole, type ToolContract, mayHaveRole } from "../../core/contract.ts";
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

/** Paths of one call whose links are followed: each costs a look at the disk. A call with more is asked about. */
const resolvedMax = 4_096;

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
    const around: string[] = [];
    let [readMax, runsOwn, texts] = [commandsReadMax, false, 0];
    const places = { roots: [...workspace, base], home };
    let paths = 0;
    for (const [name, value] of Object.entries(given)) {
      const { role } = contract.arguments.get(name) ?? contract.rest;
      if (role === "content") continue;
      const given = textsIn(value);
      texts += given.length;
      if (mayHaveRole(role, "path")) paths += given.length;
      for (const text of given) for (const path of pathsOf(text, role, places)) named.push(path);
      if (!mayHaveRole(role, "command")) continue;
      for (const text of given) {
        const read = readingOf(text, readMax > 0 ? commandWords : undefined);
        readMax -= 1;
        commands.push(folded(text));
        for (const one of read.texts) commands.push(folded(one));
        const inside = { ...places, roots: [...places.roots, ...entered(read.words, places)] };
        for (const words of read.words) {
          runsOwn ||= mayRunOwn(words);
          const takes = takesAway(words);
          for (const { text: word, glob } of words) {
            const found = glob ? patternsOf(word, inside) : pathsOf(word, "path", inside);
            for (const one of found) (glob ? globs : named).push(one);
            if (takes) for (const one of found) around.push(folded(one));
          }
        }
      }
    }
    const different = resolve === undefined ? [] : [...new Set(named)];
    // What is behind the rest is unknown, and any of it may be a link to here.
    if (different.length > resolvedMax) return { place: "sluicegate", stake: "kept" };
    // The disk knows names as they are written, and our comparison does not care.
    const real = resolve === undefined ? [] : different.flatMap(behind(resolve));
    const seen = named.concat(real).map(folded);
    // Of two paths one may be moved to the other, with everything in it.
    const moves = changes && (paths > 1 || mayDelete(contract));
    // One path and a new name beside it; what is done in a folder of the workspace names that folder, too.
    const renames = paths === 1 && texts > 1 && mayDo(contract, "write");
    const holdsIt = (one: string, { path }: Known): boolean =>
      isInside(path, one) && (moves || (renames && !places.roots.some((root) => isInside(folded(root), one))));
    const hit = (places: readonly Known[]): Known | undefined =>
      places.find(
        (place) =>
          seen.some((one) => isInside(one, place.path) || holdsIt(one, place)) ||
          around.some((one) => mayTakeAway(one, place.path)) ||
          globs.some((pattern) => mayMean(pattern, place.path)) ||
          commands.some((command) => mentions(command, place)),
      );
    const inKept = hit(own.kept);
    if (inKept !== undefined) return { place: inKept.given, stake: "kept" };
    if (runsOwn || commands.some((command) => ownCommand.test(command)))
      return { place: "sluicegate", stake: "obeyed" };
    const changed = changes ? hit(own.obeyed) : undefined;
    return changed === undefined ? undefined : { place: changed.given, stake: "obeyed" };
  };
  return { touched, holds };
}

/** What a text for a shell says: its commands with quotes, escapes and variables gone, and each word. */
function readingOf(
  text: string,
  commandWords: ProtectedPlaces["commandWords"],
): { readonly texts: readonly string[]; readonly words: readonly (readonly CommandWord[])[] } {
  const commands = commandWords?.(text);
  // What cannot be read is searched without its quotes and escapes, which hide a name from no shell.
  if (commands === undefined) return { texts: [text.replace(/[\\'"]/g, "")], words: [] };
  return { texts: commands.map((words) => words.map((word) => word.text).join(" ")), words: commands };
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
const ownCommand = /(?:^|[^\w.-])sluice(?:gate)?(?:\.js|@[\w.-]+)?["']?\s+["']?[a-z]/;

/** Names that our program is started by. */
const ownNames = ["sluicegate", "sluice", "sluicegate.js"];

/** Words by which it consents, loosens or changes what it obeys. */
const ownWords = ["approve", "cards", "runs", "stores", "changes", "factor", "hook", "daemon", "audit", "learn"];

/** What a shell puts in place of a word, or of a part of it, that the line itself does not tell. */
const unknownPart = /\$\(\.\.\.\)|\$\(\(\.\.\.\)\)|\$\{[^{}]*\}|\$\w+|\$[@*#?!$-]/g;

/** Programs that run another one, which their words name. */
const runners = /^(?:env|sudo|doas|npx|node|exec|command|nohup|xargs|time|timeout|nice|setsid|eval|bash|sh|dash|zsh)$/;

/** Whether a command may run our program under a name, or with a word, that only the shell can put together. */
function mayRunOwn(words: readonly CommandWord[]): boolean {
  return words.some(({ text, glob }, index) => {
    const next = words[index + 1]?.text;
    const pattern = folded(text).replace(unknownPart, "*");
    const name = pattern.slice(pattern.lastIndexOf("/") + 1);
    // A word that is unknown as a whole counts where a program is named.
    if (index > 0 && /^[*]+$/.test(name) && !runners.test(words[0]?.text ?? "")) return false;
    if (next === undefined || (!glob && !pattern.includes("*")) || !ownNames.some((own) => globFits(name, own)))
      return false;
    const word = folded(next).replace(unknownPart, "*");
    // Where both are unknown, every command with two variables would be asked about.
    return ownWords.some((own) => (/^[*]+$/.test(name + word) ? false : globFits(word, own)));
  });
}

/** Programs that take a folder away, or give it another name, with everything in it. */
const removers = /^(?:rm|rmdir|mv|rename|unlink|shred|trash|trash-put|trash-rm)$/;

function takesAway(words: readonly CommandWord[]): boolean {
  const names = words.map(({ text }) => text.slice(text.lastIndexOf("/") + 1));
  return names.some((name) => removers.test(name)) || (names.includes("find") && names.includes("-delete"));
}

/** Whether a path or pattern may be a place, or a folder around it; one that begins with `**` may begin anywhere. */
function mayTakeAway(pattern: string, place: string): boolean {
  if (isInside(place, pattern)) return true;
  if (!/[*?[]/.test(pattern)) return false;
  const wanted = place.split("/").filter((part) => part !== "");
  const [first, ...rest] = pattern.split("/").filter((part) => part !== "" && part !== ".");
  const parts = first === undefined || first === "**" ? rest : [first, ...rest];
  // Where it starts is unknown then, so its last part has to name a folder in more than a star.
  if (first === "**" && !/[^*?[\]]/.test(parts.at(-1) ?? "")) return false;
  return wanted.some((_part, from) => {
    if (first !== "**" && from > 0) return false;
    const names = wanted.slice(from, from + parts.length);
    return names.length === parts.length && names.every((name, index) => globFits(parts[index] ?? "", name));
  });
}

/** Folders that the line changes to before its other commands. */
function entered(commands: readonly (readonly CommandWord[])[], places: Places): readonly string[] {
  const targets = commands.flatMap(([program, ...rest]) =>
    program !== undefined && /^(?:cd|pushd)$/.test(program.text)
      ? rest.filter(({ text }) => !text.startsWith("-"))
      : [],
  );
  return targets.flatMap(({ text }) => pathsOf(text, "path", places));
}

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
function pathsOf(text: string, role: ArgumentRole, { roots, home }: Places): readonly string[] {
  const plain = text === "~" || text.startsWith("~/") ? `${home}${text.slice(1)}` : text;
  const whole = absolute.test(plain) ? canonicalPath(plain) : undefined;
  const [, link, rest = ""] = throughProcess.exec(whole ?? "") ?? [];
  if (link === "root") return canonicalIn(`/${rest}`);
  if (link === "cwd") return roots.flatMap((root) => canonicalIn(rest, root));
  if (whole !== undefined) return [whole];
  return mayHaveRole(role, "path") ? roots.flatMap((root) => canonicalIn(plain, root)) : [];
}

function canonicalIn(text: string, base?: string): readonly string[] {
  const path = canonicalPath(text, base);
  return path === undefined ? [] : [path];
}

/**
 * Reading of commands: whether a text, or a list of words, only reads. Stricter than the effects of a command
 * (`shell/effects.ts`), which this reader asks as well: every command must be a listed program with listed options, and
 * nothing may stand in the text that a shell expands, redirects into a file or runs. It takes the text for that of a
 * POSIX shell.
 */
import { type Json, isArray } from "../../../core/json.ts";
import type { Reading, ReadingLanguage } from "../../../core/reading.ts";
import { covers } from "../../../core/effect.ts";
import { effectsOfCommand } from "../shell/effects.ts";
import { readCommandLine } from "../shell/grammar.ts";
import { nameMatches } from "../../../policy/semantics/patterns.ts";
import { canonicalPath } from "../../../policy/values/path.ts";
import { mayHoldSecret } from "../shell/paths.ts";
import type { Command, Redirection, Script, Word } from "../shell/syntax.ts";
import { docker, kubectl } from "./listed-clusters.ts";
import { git } from "./listed-git.ts";
import { localPrograms } from "./listed-programs.ts";
import { type Listing, faultIn, shown } from "./listing.ts";

export type CommandLanguage = Extract<ReadingLanguage, "docker" | "git" | "kubectl" | "shell" | "ssh">;

/** UTF-16 units of one value. */
export const commandReadUnitsMax = 4_096;
/** Words of a list. */
const wordsMax = 256;

/** Programs besides the local ones, by language. */
const programs: { readonly [language in CommandLanguage]: { readonly [program: string]: Listing } } = {
  docker: { docker },
  git: { git },
  kubectl: { kubectl },
  shell: {},
  ssh: {},
};

/** The value is a command line of the language, or a list of words that is one word by word and joined by blanks. */
export function readCommand(language: CommandLanguage, value: Json): Reading {
  if (typeof value === "string") return readText(language, value);
  if (
    !isArray(value) ||
    value.length === 0 ||
    value.length > wordsMax ||
    !value.every((one) => typeof one === "string")
  )
    return unread("it is neither a text nor a list of words");
  // Some servers run the words as they are, others as one line.
  const words = value.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const apart = readText(language, words);
  return apart.kind === "reads" ? readText(language, value.join(" ")) : apart;
}

function unread(because: string): Reading {
  return { kind: "unread", because };
}

/** Characters that some shell or terminal takes for more than they look like. */
const odd = /[^\t\n\x20-\x7e\u00a1-\u024f\u0370-\u1fff\u3040-\u9fff\uac00-\ud7a3]/;

function readText(language: CommandLanguage, text: string): Reading {
  if (text.length > commandReadUnitsMax) return unread("it is too long");
  if (odd.test(text)) return unread("it holds characters that are not plain text");
  const line = withProgram(language, text);
  const script = readCommandLine(line);
  if (script === undefined) return unread("no shell reads it as commands");
  if (script.length === 0) return unread("it is empty");
  const because = faultOfScript(language, script) ?? faultOfEffects(language, line);
  if (because === undefined) return { kind: "reads" };
  return surelyActs(line) ? { kind: "acts", because } : unread(because);
}

/** Tools for one program are often given its arguments alone; a word that begins them is a subcommand first. */
function withProgram(language: CommandLanguage, text: string): string {
  if (language === "shell" || language === "ssh") return text;
  const first = /^\s*'?([^\s']*)/.exec(text)?.[1] ?? "";
  if (first === language) return text;
  const subcommand = Object.hasOwn(programs[language][language]?.subcommands ?? {}, first);
  return Object.hasOwn(localPrograms, first) && !subcommand ? text : `${language} ${text}`;
}

function faultOfScript(language: CommandLanguage, script: Script): string | undefined {
  let moved = false;
  for (const command of script.flat()) {
    const fault = faultOfCommand(language, command, moved);
    if (fault !== undefined) return fault;
    moved ||= command.words[0]?.text === "cd";
  }
  return undefined;
}

function faultOfCommand(language: CommandLanguage, command: Command, moved: boolean): string | undefined {
  if (command.assignments.length > 0) return "it sets a variable";
  if (command.bodies.length > 0) return "it has a command of several commands";
  if (command.inner.length > 0) return "it runs a command inside of another";
  const redirected = command.redirections.find((one) => !isHarmless(one));
  if (redirected !== undefined) return `it redirects by ${redirected.operator}`;
  const wrong = command.words.map(faultOfWord).find((fault) => fault !== undefined);
  if (wrong !== undefined) return wrong;
  const [program, ...args] = command.words;
  const opened = command.redirections.filter(({ operator }) => operator === "<").map(({ target }) => target);
  const places = lookers.has(program?.text ?? "") ? opened : [...args, ...opened];
  const place = places.map((word) => faultOfPlace(word, moved)).find((fault) => fault !== undefined);
  if (place !== undefined) return place;
  if (program === undefined) return "it names no program";
  return faultOfProgram(language, { program, args, moved });
}

/** Into nothing, from a file, or into another stream. */
function isHarmless({ operator, target, body }: Redirection): boolean {
  if (body !== undefined || !target.exact || target.glob) return false;
  if (operator.endsWith("&") && /^\d$/.test(target.text)) return true;
  if (operator === "<") return faultOfWord(target) === undefined && !/^[^/]*\/dev\//.test(target.text);
  return /^(?:>>?|&>>?)$/.test(operator) && target.text === "/dev/null";
}

/** A pattern may stand for a name that begins with a dash, unless its own beginning says otherwise. */
function faultOfWord(word: Word): string | undefined {
  if (!word.exact) return "a part of it is only known while it runs";
  if (word.glob && !/^(?:[\w./~]|--[a-z-]+=)/.test(word.text)) return "a pattern of names may stand for an option";
  return mayHoldSecret(word.text, word.glob) ? `${shown(word.text)} may hold a secret` : undefined;
}

/** Programs that open none of the files that they are given. */
const lookers: ReadonlySet<string> = new Set(
  "ls stat df du find readlink realpath basename dirname echo printf which tree".split(" "),
);

const plainDevice = /^\/dev\/(?:null|zero|full|u?random|stdin|fd\/\d+)$/;
/** Pipes of the kernel, which give each line to one reader alone. */
const drained = /^\/sys\/kernel\/|^\/proc\/(?:kmsg$|sys\/)/;

/**
 * A device does more when it is opened or read than give data: a watchdog restarts the machine, a tape moves, a line of a
 * pipe is gone. A path that begins with two slashes names another machine on some systems.
 */
function faultOfPlace({ text, glob }: Word, moved: boolean): string | undefined {
  const [value = ""] = text.startsWith("-") ? text.split("=").slice(1) : [text];
  if (/^(?:\/\/|\\\\)[^/\\]/.test(value)) return `${shown(value)} may be on another machine`;
  const path = canonicalPath(value) ?? value;
  // From a folder of the call's choice any relative path may lead there.
  const absolute = path.startsWith("/")
    ? path
    : moved || path.startsWith("..")
      ? `/${path.replace(/^(?:\.\.\/)+/, "")}`
      : "";
  const isDevice = /^\/dev(?:\/|$)/.test(absolute) && !plainDevice.test(absolute);
  if (isDevice || drained.test(absolute)) return `${shown(value)} is a device`;
  const first = /^\/[^/]*/.exec(absolute)?.[0] ?? "";
  return glob && nameMatches(first.replace(/\[.*|\?/g, "*"), "/dev") ? `${shown(value)} may be a device` : undefined;
}

type Call = { readonly program: Word; readonly args: readonly Word[]; readonly moved: boolean };

function faultOfProgram(language: CommandLanguage, { program, args, moved }: Call): string | undefined {
  const name = program.text;
  if (language === "ssh" && name === "ssh") return faultOfRemote(args);
  if (name === "cd")
    return args.length <= 1 && args.every(({ text }) => !text.startsWith("-")) ? undefined : "it runs cd";
  const special = programs[language];
  // A repository of the call's choice has settings of its own, which may name programs.
  if (moved && Object.hasOwn(special, name)) return `it runs ${name} in a folder of its choice`;
  const listing = Object.hasOwn(special, name) ? special[name] : undefined;
  const local = Object.hasOwn(localPrograms, name) ? localPrograms[name] : undefined;
  const listed = listing ?? local;
  return listed === undefined ? `it runs ${shown(name)}` : faultIn(name, listed, args);
}

const host = /^(?:[\w][\w.-]*@)?[A-Za-z0-9][\w.-]*$/;

/** A command on another machine, which a shell there reads again. */
function faultOfRemote(args: readonly Word[]): string | undefined {
  let at = 0;
  for (; args[at]?.text.startsWith("-") === true; at += 1) {
    const { text } = args[at] ?? { text: "" };
    if (text === "-p" && /^\d{1,5}$/.test(args[at + 1]?.text ?? "")) at += 1;
    else if (!/^-[qT46nx]+$/.test(text)) return `the option ${shown(text)} of ssh is not listed`;
  }
  const [machine, ...words] = args.slice(at);
  if (machine === undefined || !host.test(machine.text)) return "ssh names no plain host";
  if (words.length === 0) return "ssh opens a shell";
  const inner = readText("shell", words.map(({ text }) => text).join(" "));
  return inner.kind === "reads" ? undefined : inner.because;
}

/** The reader of effects knows more of what programs do with their words than a listing says, and less of git. */
function faultOfEffects(language: CommandLanguage, line: string): string | undefined {
  if (language !== "shell" && language !== "git") return undefined;
  const { effects, flags, destinations } = effectsOfCommand(line);
  const foreseen = language === "git" ? ["read.local", "write.local"] : ["read.local"];
  const beyond = effects.find((effect) => !foreseen.includes(effect));
  if (beyond === undefined && flags.length === 0 && destinations.length === 0) return undefined;
  return `it does ${beyond ?? "more than read"}`;
}

function surelyActs(line: string): boolean {
  const { effects, flags } = effectsOfCommand(line);
  return flags.length === 0 && effects.some((effect) => covers("write", effect));
}

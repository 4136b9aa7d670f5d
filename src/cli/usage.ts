/** The fault of a command line, in one sentence that names the nearest correct word. */
import type { Command, CommanderError } from "commander";
import { nearestWord } from "../policy/document/nearest.ts";
import { many, sentenceMax, shown } from "../app/state/sentences.ts";

/** Other words that users try first, from the commands of like tools. */
const synonyms: Readonly<Record<string, string>> = {
  log: "audit tail",
  logs: "audit tail",
  verify: "audit verify",
  check: "policy check",
  explain: "policy explain",
  lint: "policy check",
  wrap: "run",
  serve: "gateway",
  start: "gateway",
  allow: "approve",
  status: "daemon status",
  diff: "changes",
  review: "changes",
  version: "--version",
};

export function unknownCommand(word: string, names: readonly string[]): string {
  const meant = Object.hasOwn(synonyms, word) ? synonyms[word] : nearestWord(word, names);
  const way = meant === undefined ? "`sluicegate --help` lists them" : `did you mean \`sluicegate ${meant}\`?`;
  return `\`${shown(word, 60)}\` is not a command: ${way}${way.endsWith("?") ? "" : "."}`;
}

/** The framework's complaint as one sentence; the command that `words` name says which help to read. */
export function usageSentence(
  error: Pick<CommanderError, "code" | "message">,
  program: Command,
  words: readonly string[],
): string {
  const [complaint = "", ...hints] = error.message
    .replace(/^error: /, "")
    .replace(surplus, taken)
    .split("\n");
  const meant = /Did you mean (?:one of )?(.+?)\?/.exec(hints.join(" "))?.[1];
  const what = shown(complaint.replaceAll("'", "`").replace(/\.$/, ""), 120);
  // The help of a command that is none would be that of its group under another name.
  const group = program.commands.find((each) => each.name() === words[0] && each.commands.length > 0);
  const count = group !== undefined && error.code !== "commander.unknownCommand" ? 2 : 1;
  const command = words.filter((word) => /^[a-z][a-z-]*$/.test(word)).slice(0, count);
  const help = ["sluicegate", ...command, "--help"].join(" ");
  const way = meant === undefined ? `\`${shown(help, 60)}\` shows the use.` : `did you mean \`${shown(meant, 40)}\`?`;
  return `${what.charAt(0).toUpperCase()}${what.slice(1)}: ${way}`.slice(0, sentenceMax);
}

/** The framework's message about surplus arguments: two sentences that repeat all of them. */
const surplus = /^too many arguments for ('[^']*')\. Expected (\d+) arguments? but got (\d+).*$/s;

function taken(_said: string, command: string, count: string, got: string): string {
  return `${command} takes ${count === "0" ? "no arguments" : many(Number(count), "argument")}, and got ${got}`;
}

/**
 * An option whose value was left out and that would take the next option for it: `--out --json` wrote a file `--json`.
 * Undefined where there is none.
 */
export function withoutValue(program: Command, words: readonly string[]): string | undefined {
  const own = words.includes("--") ? words.slice(0, words.indexOf("--")) : words;
  const { options } = named(program, own);
  for (const [index, word] of own.entries()) {
    const option = options.find(({ long, short }) => word === long || word === short);
    const next = own[index + 1];
    if (option?.required !== true || next === undefined) continue;
    if (next !== "--help" && !options.some(({ long, short }) => next === long || next === short)) continue;
    return usageSentence({ code: "", message: `option '${option.flags}' argument missing` }, program, words);
  }
  return undefined;
}

/** The message for a group of commands that was named alone; undefined where a command was named. */
export function withoutCommand(program: Command, words: readonly string[]): string | undefined {
  const command = named(program, words);
  const asksOtherwise = words.some((word) => ["--help", "-h", "--version"].includes(word));
  // A command with arguments of its own does something without one of its commands.
  if (command.commands.length === 0 || command.registeredArguments.length > 0 || asksOtherwise) return undefined;
  const plain = words.filter((word) => !word.startsWith("-"));
  if (command === program)
    return plain.length > 0 ? undefined : "No command was named: `sluicegate --help` lists them.";
  const names = command.commands.map((each) => each.name());
  return plain.length > 1 ? undefined : `\`${command.name()}\` needs one of its commands: ${names.join(", ")}.`;
}

/** The command that a line names, as far as it is known. */
function named(program: Command, words: readonly string[]): Command {
  const [first, ...rest] = words;
  const found = program.commands.find((each) => each.name() === first);
  return found === undefined ? program : named(found, rest);
}

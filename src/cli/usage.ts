/** What is wrong with a command line, in one sentence that names the nearest word that would be right. */
import type { CommanderError } from "commander";
import { nearestWord } from "../policy/language/nearest.ts";
import { sentenceMax, shown } from "./output.ts";

/** Other words people try first, from the commands of like tools. */
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
  return `\`${shown(word, 60)}\` is no command: ${way}${way.endsWith("?") ? "" : "."}`;
}

/** The framework's complaint as one sentence; `words` are the command line, whose command names the help to read. */
export function usageSentence(error: Pick<CommanderError, "message">, words: readonly string[]): string {
  const [complaint = "", ...hints] = error.message.replace(/^error: /, "").split("\n");
  const meant = /Did you mean (?:one of )?(.+?)\?/.exec(hints.join(" "))?.[1];
  const what = shown(complaint.replaceAll("'", "`").replace(/\.$/, ""), 120);
  const command = words.filter((word) => /^[a-z][a-z-]*$/.test(word)).slice(0, isGroup(words[0]) ? 2 : 1);
  const help = ["sluicegate", ...command, "--help"].join(" ");
  const way = meant === undefined ? `\`${shown(help, 60)}\` shows the use.` : `did you mean \`${shown(meant, 40)}\`?`;
  return `${what.charAt(0).toUpperCase()}${what.slice(1)}: ${way}`.slice(0, sentenceMax);
}

function isGroup(word: string | undefined): boolean {
  return word === "policy" || word === "proof" || word === "audit" || word === "stpa";
}

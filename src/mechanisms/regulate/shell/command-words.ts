/**
 * The words of a command line as its programs get them: quotes and escapes removed, variables and lists of the line
 * written out, commands inside of others (substitutions, bodies, a text for another shell) among them.
 */
import { readCommandLine } from "./grammar.ts";
import { type Variables, spelled, spellings, spellingsMax } from "./spelling.ts";
import { type Command, type Script, type Word, literal } from "./syntax.ts";

/** A word; where `glob`, an unquoted pattern that a shell replaces by names of files. */
export type CommandWord = { readonly text: string; readonly glob: boolean };

/** Texts within texts that are read; deeper ones stand as they are. */
const textsWithinMax = 3;

/** Words of one command line in all. */
const wordsMax = 4_096;

type Gathering = { readonly commands: CommandWord[][]; readonly variables: Variables; words: number };

/** Commands of a text, each as its words; undefined if no shell would read it, or it is too much. */
export function commandWords(text: string): readonly (readonly CommandWord[])[] | undefined {
  const gathering: Gathering = { commands: [], variables: new Map(), words: 0 };
  return gather(text, gathering, textsWithinMax) ? gathering.commands : undefined;
}

function gather(text: string, gathering: Gathering, depth: number): boolean {
  const script = readCommandLine(text);
  return script !== undefined && gatherScript(script, gathering, depth);
}

function gatherScript(script: Script, gathering: Gathering, depth: number): boolean {
  return script.flat().every((command) => gatherCommand(command, gathering, depth));
}

function gatherCommand(command: Command, gathering: Gathering, depth: number): boolean {
  for (const word of command.assignments) assign(word, gathering.variables);
  setByWords(command.words, gathering.variables);
  const redirected = command.redirections.flatMap(({ target, body }) =>
    body === undefined ? [target] : [target, body],
  );
  for (const words of [[...command.assignments, ...command.words], redirected]) {
    if (!gatherWords(words, gathering, depth)) return false;
  }
  return [...command.inner, ...command.bodies].every((script) => gatherScript(script, gathering, depth));
}

function gatherWords(words: readonly Word[], gathering: Gathering, depth: number): boolean {
  if (words.length === 0) return true;
  const plain = spelled(words, gathering.variables);
  if (plain === "too much") return false;
  const found = plain ?? words;
  gathering.words += found.length;
  if (gathering.words > wordsMax) return false;
  gathering.commands.push(found.map(({ text, glob }) => ({ text, glob })));
  if (depth === 0) return true;
  // What another shell, `find -exec` or an interpreter is given as one word; one that is no command is a mere word.
  for (const { text } of found) if (/\s/.test(text)) gather(text, gathering, depth - 1);
  return gathering.words <= wordsMax;
}

/** Programs of a shell that set variables by words like `NAME=value`. */
const setters = /^(?:export|declare|typeset|local|readonly|env|let)$/;

/** Variables that the words of a command set: also by the value that `read` or `printf -v` gets on the same line. */
function setByWords(words: readonly Word[], variables: Variables): void {
  const [program, ...rest] = words;
  if (program === undefined) return;
  if (setters.test(program.text)) {
    for (const word of rest) if (/^[A-Za-z_]\w*\+?=/.test(word.text)) assign(word, variables);
  } else if (program.text === "printf" && rest[0]?.text === "-v" && rest[1] !== undefined) {
    for (const { text } of rest.slice(2)) assign(literal(`${rest[1].text}=${text}`), variables);
  }
}

/** What a variable may hold from now on: every value that the line gives it. */
function assign(word: Word, variables: Variables): void {
  const at = word.text.indexOf("=");
  const name = word.text.slice(0, at).replace(/(?:\[.*)?\+?$/, "");
  const values = spellings({ ...literal(word.text.slice(at + 1)), exact: word.exact }, variables);
  const known = variables.get(name) ?? [];
  variables.set(name, values === undefined ? known : [...new Set([...known, ...values])].slice(0, spellingsMax));
}

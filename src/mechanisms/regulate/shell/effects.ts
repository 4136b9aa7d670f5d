/**
 * What a shell command would do (foresight.md 2, the symbolic world model): the command is read as a shell reads it, and
 * each program in it is looked up. What is not known counts as running code; what cannot be read counts as everything.
 */
import { add, addEverything, addRead, addWrite, noFindings, noteSecret, plainFindings } from "./findings.ts";
import type { CommandEffects, Findings } from "./findings.ts";
import { readCommandLine } from "./grammar.ts";
import type { Invocation, Program } from "./invocation.ts";
import { placeOf } from "./paths.ts";
import { filePrograms } from "./programs-files.ts";
import { isDownload, networkPrograms, socketHost } from "./programs-network.ts";
import { runPrograms, runsInput } from "./programs-run.ts";
import { systemPrograms } from "./programs-system.ts";
import type { Command, Pipeline, Redirection, Script, Word } from "./syntax.ts";
import { literal } from "./syntax.ts";

/** Scripts in strings in scripts, and wrappers around wrappers. */
const textDepthMax = 8;

/** Words looked at for one command line, over all ways in which it can be taken. */
const wordsMax = 20_000;

type Walk = { readonly found: Findings; readonly depth: number; readonly work: { words: number } };

/** Effects of a command line. Total, in time that grows with its length only; see `commandUnitsMax`. */
export function effectsOfCommand(text: string): CommandEffects {
  return walked((walk) => {
    const script = readCommandLine(text);
    if (script === undefined) addEverything(walk.found, "unreadable");
    else walkScript(script, walk);
  });
}

/** What separates commands where a server hands a list of words to a shell. */
const operator = /^(?:\|\|?|\|&|&&?|;|\n|[0-9]?(?:>>?|<)|&>>?|[0-9]>&[0-9])$/;

/** Effects of a list of words: one program, or several where a word is an operator of the shell. */
export function effectsOfWords(words: readonly string[]): CommandEffects {
  return effectsOfCommand(words.map((word) => (operator.test(word) ? word : quoted(word))).join(" "));
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function walked(look: (walk: Walk) => void): CommandEffects {
  const found = noFindings();
  look({ found, depth: 0, work: { words: 0 } });
  return plainFindings(found, !found.flags.has("unreadable"));
}

function walkScript(script: Script, walk: Walk): void {
  for (const pipeline of script) {
    // Nothing can be added to everything.
    if (walk.found.flags.has("unreadable")) return;
    walkPipeline(pipeline, walk);
  }
}

/** What flows through a pipe: text of strangers, text that was only just made readable, text that stands in the script. */
type Flow = { readonly download: boolean; readonly decoded: boolean; readonly said: Word | undefined };

const nothingFlows: Flow = { download: false, decoded: false, said: undefined };

function walkPipeline(pipeline: Pipeline, walk: Walk): void {
  let flow = nothingFlows;
  for (const command of pipeline) {
    walkCommand(command, flow, walk);
    if (pipeline.length === 1) return;
    const program = command.words[0] === undefined ? "" : programName(command.words[0].text);
    const names = new Set(programsIn(command));
    flow = {
      download: flow.download || [...names].some(isDownload),
      decoded: flow.decoded || [...names].some(decodes),
      said: says.test(program) ? saidBy(command.words.slice(1)) : program === "cat" ? fedTo(command) : undefined,
    };
  }
}

/** The text of a here-document or here-string. */
function fedTo(command: Command): Word | undefined {
  return command.redirections.findLast((one) => one.body !== undefined)?.body;
}

const says = /^(?:echo|printf)$/;

function decodes(program: string): boolean {
  return /^(?:base64|base32|xxd|openssl|gunzip|zcat|rev|uudecode|gpg|tr)$/.test(program);
}

function saidBy(words: readonly Word[]): Word {
  const own = words.filter(({ text }) => !/^-[neE]+$/.test(text));
  return { ...literal(own.map(({ text }) => text).join(" ")), exact: own.every(({ exact }) => exact) };
}

/** Programs of a command and of everything inside it, as far as their names stand there. */
function programsIn(command: Command): readonly string[] {
  const names = command.words.map(({ text }) => programName(text));
  const inside = [...command.bodies, ...command.inner].flatMap((script) => script.flat().flatMap(programsIn));
  // Behind `sudo` or `timeout 5` the program is a later word; a file of that name costs no more than a question.
  return [...names, ...inside];
}

function walkCommand(command: Command, flow: Flow, walk: Walk): void {
  for (const script of [...command.inner, ...command.bodies]) walkScript(script, walk);
  for (const word of command.assignments) walkAssignment(word, walk);
  for (const redirection of command.redirections) walkRedirection(redirection, walk);
  for (const word of command.words) noteWord(word, walk);
  if (command.words.length > 0) runWords(command.words, walk);
  walkInput(command, flow, walk);
}

/** A shell or interpreter that gets its program through the pipe, a here-document or a substitution. */
function walkInput(command: Command, flow: Flow, walk: Walk): void {
  const { found } = walk;
  const downloads = command.inner.some((script) => script.flat().flatMap(programsIn).some(isDownload));
  if (downloads && takesCode(command.words)) return addEverything(found, "runs-download");
  const from = firstInterpreter(command.words);
  if (from === undefined && !compoundRuns(command)) return;
  const body = fedTo(command);
  if (from === "interpreter") {
    if (flow.download) addEverything(found, "runs-download");
    else add(found, "execute.local");
  } else if (body !== undefined) runText(body, walk);
  else if (flow.download) addEverything(found, "runs-download");
  else if (flow.decoded) addEverything(found, "hidden");
  else if (flow.said !== undefined) runText(flow.said, walk);
  else add(found, "execute.local");
}

/** Some word of the command is run as code: the texts of `sh -c`, `eval`, `source`, `python -c`. */
function takesCode(words: readonly Word[]): boolean {
  const wrapped = runPrograms.has(programName(words[0]?.text ?? ""));
  return words.some(({ text }, index) => {
    if (index > 0 && !wrapped) return false;
    const name = programName(text);
    if (/^(?:sh|bash|dash|zsh|ksh|ash|mksh|fish|eval|source|\.|xargs)$/.test(name)) return true;
    return runsInput(name, [], 0) === "interpreter" && words.some((word) => /^-\w*[cer]|^--eval/.test(word.text));
  });
}

/** The interpreter, behind wrappers too, that reads its program from the input. */
function firstInterpreter(words: readonly Word[]): ReturnType<typeof runsInput> {
  for (const [index, word] of words.entries()) {
    const kind = runsInput(programName(word.text), words, index);
    if (kind !== undefined) return kind;
    // Behind any other program the name of an interpreter is only a word.
    if (index === 0 && !runPrograms.has(programName(word.text))) return undefined;
  }
  return undefined;
}

/** `( ... ; sh )` takes what flows in just as `sh` does. */
function compoundRuns(command: Command): boolean {
  return command.bodies.some((script) =>
    script.some(
      ([first]) => first !== undefined && (firstInterpreter(first.words) !== undefined || compoundRuns(first)),
    ),
  );
}

/** Variables by which the programs that follow run other code than their own. */
const codeVariable =
  /^(?:LD_\w+|DYLD_\w+|PATH|BASH_ENV|ENV|IFS|PYTHON\w+|NODE_OPTIONS|NODE_PATH|PERL5\w+|RUBY\w+|GIT_\w+|PROMPT_COMMAND|PS4|.*PAGER|.*EDITOR|VISUAL|BROWSER|SHELL)$/;

function walkAssignment({ text, exact, glob }: Word, walk: Walk): void {
  const end = text.indexOf("=");
  noteSecret(walk.found, text.slice(end + 1), glob);
  if (!codeVariable.test(text.slice(0, end).replace(/[[+].*$/, ""))) return;
  add(walk.found, "execute.local");
  walk.found.flags.add("environment");
  // Some of them hold a whole command.
  if (exact && /\s/.test(text)) runText(literal(text.slice(end + 1)), walk);
}

function walkRedirection({ operator, target }: Redirection, walk: Walk): void {
  const { found } = walk;
  if (operator.startsWith("<<")) return;
  // Numbers and `-` are other streams, not files.
  if (operator.endsWith("&") && /^(?:\d+-?|-)$/.test(target.text)) return;
  const socket = socketHost(target.text);
  if (socket !== undefined) {
    addSocket(found, socket);
    return;
  }
  if (operator.startsWith("<")) addRead(found, target);
  if (operator !== "<" && operator !== "<&") addWrite(found, target);
}

/** Opened either way, a connection can be written to. */
function addSocket(found: Findings, host: string): void {
  found.destinations.add(host);
  add(found, "read.external", "write.external.send");
}

function runText(word: Word, walk: Walk): void {
  if (!word.exact || walk.depth >= textDepthMax) return addEverything(walk.found, "hidden");
  const script = readCommandLine(word.text);
  if (script === undefined) return addEverything(walk.found, "unreadable");
  walkScript(script, { ...walk, depth: walk.depth + 1 });
}

/** `/usr/bin/python3.11` is `python3`. */
function programName(text: string): string {
  const name = text
    .slice(text.lastIndexOf("/") + 1)
    .toLowerCase()
    .replace(/\.exe$/, "");
  return programs.has(name) ? name : name.replace(/[-.]\d[\d.]*$/, "");
}

const programs: ReadonlyMap<string, Program> = new Map([
  ...filePrograms,
  ...runPrograms,
  ...networkPrograms,
  ...systemPrograms,
]);

/** Folders whose programs are those of the system; what lies elsewhere may have any name. */
const systemProgram = /^(?:\/(?:usr\/)?(?:local\/)?s?bin\/|\/opt\/homebrew\/bin\/)?[^/]+$/;

function runWords(words: readonly Word[], walk: Walk): void {
  const { found, work } = walk;
  work.words += words.length;
  const [first, ...args] = words;
  if (work.words > wordsMax || walk.depth >= textDepthMax) return addEverything(found, "unreadable");
  if (first === undefined) return;
  // A program that is only named while it runs may be any; so may one that a glob or a list stands for.
  if (!first.exact || (first.glob && first.text !== "[")) return addEverything(found, "hidden");
  const name = programName(first.text);
  const program = programs.get(name);
  if (program === undefined) for (const word of args) notePlace(word, walk);
  if (program === undefined || !systemProgram.test(first.text)) add(found, "execute.local");
  const inside: Walk = { ...walk, depth: walk.depth + 1 };
  const call: Invocation = {
    program: name,
    args,
    found,
    run: (own) => runInner(own, inside),
    assign: (word) => walkAssignment(word, inside),
    script: (word) => runText(word, inside),
  };
  program?.(call);
}

/** `ssh` joins its words to one text; every other program hands on words. */
function runInner(words: readonly Word[], walk: Walk): void {
  const [only] = words;
  if (words.length === 1 && only !== undefined && /[\s;&|<>]/.test(only.text)) runText(only, walk);
  else runWords(words, walk);
}

/** A word without the option that it is the value of. */
function valueOf(text: string): string {
  return text.replace(/^(?:-{1,2}[\w-]+=|-[A-Za-z](?=[~/.])|@)/, "");
}

/** Any word may name a key, a variable that holds one, or a connection. */
function noteWord(word: Word, { found }: Walk): void {
  const text = valueOf(word.text);
  noteSecret(found, text, word.glob);
  const socket = socketHost(text);
  if (socket !== undefined) addSocket(found, socket);
}

/** What an unknown program does with a place that means more than a file is not known, so it may change it. */
function notePlace(word: Word, { found }: Walk): void {
  const text = valueOf(word.text);
  const place = placeOf(text, word.glob);
  if (place !== undefined && !["nothing", "credential", "system"].includes(place)) addWrite(found, { ...word, text });
}

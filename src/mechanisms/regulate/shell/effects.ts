/**
 * The effects of a shell command (foresight.md 2, the symbolic world model): the command is parsed as by a shell, and
 * each program in it is looked up. An unknown program counts as running code; an unreadable command counts as
 * everything.
 */
import {
  add,
  addEverything,
  addRead,
  addWrite,
  noFindings,
  noteSecret,
  plainFindings,
  type CommandEffects,
  type Findings,
} from "./findings.ts";
import { addDestination } from "./destinations.ts";
import { readCommandLine } from "./grammar.ts";
import type { Invocation, Program } from "./invocation.ts";
import { placeOf } from "./paths.ts";
import { filePrograms } from "./programs-files.ts";
import { isDownload, networkPrograms, socketHost } from "./programs-network.ts";
import { readsInput, runPrograms, runsInput } from "./programs-run.ts";
import { systemPrograms } from "./programs-system.ts";
import { type Variables, spelled, spellings, spellingsMax } from "./spelling.ts";
import { type Command, type Pipeline, type Redirection, type Script, type Word, literal } from "./syntax.ts";

/** Scripts in strings in scripts, and wrappers around wrappers. */
const textDepthMax = 8;

/** Words looked at for one command line, over all ways in which it can be taken. */
const wordsMax = 20_000;

type Walk = {
  readonly found: Findings;
  readonly depth: number;
  readonly work: { words: number };
  readonly variables: Variables;
};

/** Effects of a command line. Total, in time that grows with its length only; see `commandUnitsMax`. */
export function effectsOfCommand(text: string): CommandEffects {
  return walked((walk) => {
    const script = readCommandLine(text);
    if (script === undefined) addEverything(walk.found, "unreadable");
    else walkScript(script, walk);
  });
}

/** Operators between commands where a server hands a list of words to a shell. */
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
  look({ found, depth: 0, work: { words: 0 }, variables: new Map() });
  return plainFindings(found, !found.flags.has("unreadable"));
}

function walkScript(script: Script, walk: Walk): void {
  for (const pipeline of script) {
    // Nothing can be added to everything.
    if (walk.found.flags.has("unreadable")) return;
    walkPipeline(pipeline, walk);
  }
}

/** The text in a pipe: downloaded text, decoded text, text that stands in the script. */
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
  for (const word of command.assignments) walkAssignment(word, walk);
  for (const script of [...command.inner, ...command.bodies]) walkScript(script, walk);
  for (const redirection of command.redirections) walkRedirection(redirection, walk);
  walkWords(command.words, walk);
  walkInput(command, flow, walk);
}

/** The words as they are written, and as they come out where variables and lists of the command line say so. */
function walkWords(words: readonly Word[], walk: Walk): void {
  if (words.length === 0) return;
  const plain = spelled(words, walk.variables);
  if (plain === "too much") return addEverything(walk.found, "hidden");
  for (const some of plain === undefined ? [words] : [words, plain]) {
    for (const word of some) noteWord(word, walk);
    runWords(some, walk);
  }
}

/** A shell or interpreter that gets its program through the pipe, a here-document or a substitution. */
function walkInput(command: Command, flow: Flow, walk: Walk): void {
  const { found } = walk;
  const downloads = command.inner.some((script) => script.flat().flatMap(programsIn).some(isDownload));
  if (downloads && takesCode(command.words)) return addEverything(found, "runs-download");
  walkInner(command, flow, walk);
  const body = fedTo(command);
  const fed =
    flow !== nothingFlows || body !== undefined || command.redirections.some(({ operator }) => operator === "<");
  if (fed && command.words.some(({ text }) => sends.test(programName(text)))) add(found, "write.external.send");
  const from = firstInterpreter(command.words);
  if (from === undefined && !compoundRuns(command)) return;
  if (from === "interpreter") {
    if (flow.download) addEverything(found, "runs-download");
    else add(found, "execute.local");
  } else if (body !== undefined) runText(body, walk);
  else if (flow.download) addEverything(found, "runs-download");
  else if (flow.decoded) addEverything(found, "hidden");
  else if (flow.said !== undefined) runText(flow.said, walk);
  else add(found, "execute.local");
}

/** Programs that hand on what they are fed to another machine. */
const sends = /^(?:ssh|slogin|autossh|mosh)$/;

/** A substitution reads what its command is fed, or what it says. */
function walkInner({ inner, words }: Command, flow: Flow, { found }: Walk): void {
  const reads = inner.some((script) => compoundRuns({ bodies: [script] }));
  if (!reads) return;
  const downloads = flow.download || words.some(({ text }) => isDownload(programName(text)));
  addEverything(found, downloads ? "runs-download" : "hidden");
}

/** Some word of the command is run as code: the texts of `sh -c`, `eval`, `source`, `python -c`. */
function takesCode(words: readonly Word[]): boolean {
  const wrapped = runPrograms.has(programName(words[0]?.text ?? ""));
  // The script itself is what a command says.
  if (wrapped && words.find(({ text }, index) => index > 0 && !text.startsWith("-"))?.text.startsWith("<(") === true)
    return true;
  return words.some(({ text }, index) => {
    if (index > 0 && !wrapped) return false;
    const name = programName(text);
    if (/^(?:sh|bash|dash|zsh|ksh|ash|mksh|fish|eval|source|\.|xargs)$/.test(name)) return true;
    return runsInput(name, [], 0) === "interpreter" && words.some((word) => /^-\w*[cer]|^--eval/.test(word.text));
  });
}

/** The interpreter, behind wrappers too, that reads its program from the input. */
function firstInterpreter(given: readonly Word[]): ReturnType<typeof runsInput> {
  // The end mark of a command of `find` is not one of its words.
  const words = given.filter(({ text }) => text !== ";");
  for (const [index, word] of words.entries()) {
    const kind = runsInput(programName(word.text), words, index);
    if (kind !== undefined) return kind;
    // Behind any other program the name of an interpreter is only a word.
    if (index === 0 && !runsOthers(words)) return undefined;
  }
  return readsInput(programName(words[0]?.text ?? ""), words);
}

function runsOthers([first, ...args]: readonly Word[]): boolean {
  const name = programName(first?.text ?? "");
  return runPrograms.has(name) || (/^g?find$/.test(name) && args.some(({ text }) => /^-(?:exec|ok)/.test(text)));
}

/** `( ... ; sh )` takes what flows in just as `sh` does. */
function compoundRuns(command: Pick<Command, "bodies">): boolean {
  return command.bodies.some((script) =>
    script.some(
      ([first]) => first !== undefined && (firstInterpreter(first.words) !== undefined || compoundRuns(first)),
    ),
  );
}

/** Variables by which the programs that follow run other code than their own, read other settings, or talk to others. */
const codeVariable =
  /^(?:LD_\w+|DYLD_\w+|F?PATH|BASH_ENV|ENV|IFS|HOME|ZDOTDIR|XDG_CONFIG_\w+|PYTHON\w+|NODE_OPTIONS|NODE_PATH|PERL\w+|RUBY\w+|LUA_\w+|GIT_\w+|PROMPT_COMMAND|PS[0-4]|.*PAGER|.*EDITOR|VISUAL|BROWSER|SHELL|MAKEFLAGS|TAR_OPTIONS|GREP_OPTIONS|RIPGREP_CONFIG_PATH|LESS(?:OPEN|CLOSE|KEY\w*)?|.*_ASKPASS|.*_RSH|\w*RUSTC\w*|GOFLAGS|_?J\w*_OPTIONS|npm_config_\w+|NPM_CONFIG_\w+|WGETRC|CURL_HOME|OPENSSL_\w+|DOCKER_HOST|KUBECONFIG)$/;

/** Proxies see what is sent, and choose what comes back. */
const proxyVariable = /^(?:\w+_)?proxy$/i;

function walkAssignment(word: Word, walk: Walk): void {
  const { text, exact, glob } = word;
  const end = text.indexOf("=");
  const name = text.slice(0, end).replace(/[[+].*$/, "");
  const value = { ...word, text: text.slice(end + 1) };
  noteSecret(walk.found, value.text, glob);
  noteIndex(value, walk);
  remember(name, value, walk);
  if (proxyVariable.test(name)) addDestination(walk.found, value);
  else noteVariable(name, walk);
  // Some of them hold a whole command.
  if (codeVariable.test(name) && exact && /\s/.test(text)) runText(literal(value.text), walk);
}

function noteVariable(name: string, { found }: Walk): void {
  if (!codeVariable.test(name)) return;
  add(found, "execute.local");
  found.flags.add("environment");
}

/** Values are kept as they come out, so that each later word needs one step. */
function remember(name: string, value: Word, { found, variables }: Walk): void {
  const texts = spellings(value, variables);
  const all = texts && [...new Set([...(variables.get(name) ?? []), ...texts])];
  if (all === undefined || all.length > spellingsMax) addEverything(found, "hidden");
  else variables.set(name, all);
}

/** Builtins that look at words as names of variables, in whose index a substitution is run, quoted or not. */
const namesVariables =
  /^(?:let|test|\[\[?|read|mapfile|readarray|printf|unset|declare|typeset|local|readonly|export|getopts|wait)$/;

function noteIndex({ text }: Word, { found }: Walk): void {
  // `$(...)` itself stands for one that is run anyway.
  if (/\[[^\]]*(?:\$\((?!\.\.\.\))|`)/.test(text)) addEverything(found, "hidden");
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
  const texts = spellings(target, walk.variables);
  if (texts === undefined) return addEverything(found, "hidden");
  for (const text of new Set([target.text, ...texts])) {
    const own = { text, glob: target.glob || text !== target.text };
    if (operator.startsWith("<")) addRead(found, own);
    if (operator !== "<" && operator !== "<&") addWrite(found, own);
  }
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
  if (programs.has(name)) return name;
  const [apart, joined] = [name.replace(/[-.]\d[\d.]*$/, ""), name.replace(/\d[\d.]*$/, "")];
  return programs.has(apart) ? apart : programs.has(joined) ? joined : apart;
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
  if (namesVariables.test(name))
    for (const word of args) {
      noteIndex(word, walk);
      noteVariable(word.text, walk);
    }
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

/** The act of an unknown program on a special place is unknown, so the program may change the place. */
function notePlace(word: Word, { found }: Walk): void {
  const text = valueOf(word.text);
  const place = placeOf(text, word.glob);
  if (place !== undefined && !["nothing", "credential", "system"].includes(place)) addWrite(found, { ...word, text });
}

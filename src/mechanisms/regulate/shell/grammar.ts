/** Commands, pipelines, lists and compound commands. `readCommandLine` is what everything else calls. */
import {
  type Command,
  type Cursor,
  type Pipeline,
  type Redirection,
  type Script,
  type Word,
  ahead,
  commandUnitsMax,
  literal,
  nested,
  skipBlanks,
  unreadable,
} from "./syntax.ts";
import { type ScriptReader, differsAsArithmetic, readArithmetic, readHereText, readWord } from "./word.ts";

/** The commands of a text; undefined if it is too long, too deep or nothing that a shell would read. */
export function readCommandLine(text: string): Script | undefined {
  if (text.length > commandUnitsMax || text.includes("\0")) return undefined;
  try {
    return readText(text, { depth: 0, work: { steps: 0 } });
  } catch (cause) {
    if (cause !== unreadable) throw cause;
    return undefined;
  }
}

function readText(text: string, within: Pick<Cursor, "depth" | "work">): Script {
  const cursor: Cursor = { text, at: 0, depth: within.depth, work: within.work, waiting: [], inner: [] };
  return readScript(cursor, () => cursor.at >= text.length);
}

const scripts: ScriptReader = {
  inside: (cursor) => {
    const script = readScript(cursor, () => cursor.text[cursor.at] === ")");
    cursor.at += 1;
    return script;
  },
  apart: (text, cursor) => readText(text, cursor),
};

function readScript(cursor: Cursor, ended: () => boolean): Script {
  const pipelines: Pipeline[] = [];
  for (;;) {
    skipSeparators(cursor);
    if (ended()) return pipelines;
    if (cursor.at >= cursor.text.length) throw unreadable;
    pipelines.push(readPipeline(cursor));
    skipBlanks(cursor);
    const operator = ahead(cursor, /&&|\|\||[;&\n]/y);
    if (operator === "&&" || operator === "||") cursor.at += 2;
    // Any other token here must end the list; else two commands would have nothing between them.
    else if (operator === undefined && !ended()) throw unreadable;
  }
}

function skipSeparators(cursor: Cursor): void {
  for (;;) {
    skipBlanks(cursor);
    if (cursor.text[cursor.at] === "\n") readNewline(cursor);
    else if (ahead(cursor, /;(?![;&])|&(?!>)/y) !== undefined) cursor.at += 1;
    else return;
  }
}

/** The end of a line, after which come the lines of its here-documents. */
function readNewline(cursor: Cursor): void {
  cursor.at += 1;
  const { waiting } = cursor;
  cursor.waiting = [];
  for (const { redirection, delimiter, tabs, expands, inner } of waiting) {
    const lines: string[] = [];
    let joined: string | undefined;
    while (cursor.at < cursor.text.length) {
      const end = cursor.text.indexOf("\n", cursor.at);
      const line = cursor.text.slice(cursor.at, end < 0 ? undefined : end);
      cursor.at = end < 0 ? cursor.text.length : end + 1;
      const own = tabs ? line.replace(/^\t+/, "") : line;
      // Shells disagree whether a delimiter ends the document that only shows before or after lines are joined.
      if (joined !== undefined && [own, joined + own, joined + line].includes(delimiter)) throw unreadable;
      if (own === delimiter) break;
      joined = expands && /(?<!\\)(?:\\\\)*\\$/.test(own) ? `${joined ?? ""}${own.slice(0, -1)}` : undefined;
      lines.push(own);
    }
    const text = `${lines.join("\n")}\n`;
    if (!expands) redirection.body = literal(text);
    else {
      const body: Cursor = { text, at: 0, depth: cursor.depth, work: cursor.work, waiting: [], inner };
      redirection.body = readHereText(body, scripts);
    }
  }
}

function skipNewlines(cursor: Cursor): void {
  for (skipBlanks(cursor); cursor.text[cursor.at] === "\n"; skipBlanks(cursor)) readNewline(cursor);
}

function readPipeline(cursor: Cursor): Pipeline {
  const commands: Command[] = [];
  for (;;) {
    skipNewlines(cursor);
    skipPrefixes(cursor);
    commands.push(nested(cursor, () => readCommand(cursor)));
    skipBlanks(cursor);
    const pipe = ahead(cursor, /\|&?(?!\|)/y);
    if (pipe === undefined) return commands;
    cursor.at += pipe.length;
  }
}

/** `!`, `time -p` and `coproc NAME` before a command say nothing of what it does. */
function skipPrefixes(cursor: Cursor): void {
  for (;;) {
    skipBlanks(cursor);
    const prefix = ahead(
      cursor,
      /!(?=[\s;&|()<>])|time(?:[ \t]+-p)?(?=[\s;&|()<>])(?![ \t]+-)|coproc(?:[ \t]+(?!for\b|select\b)\w+(?=[ \t]+(?:\(|\{[\s;&|()<>])))?(?=[\s;&|()<>])/y,
    );
    if (prefix === undefined) return;
    cursor.at += prefix.length;
  }
}

function takeKeyword(cursor: Cursor, word: string): boolean {
  if (!atKeyword(cursor, word)) return false;
  cursor.at += word.length;
  return true;
}

function atKeyword(cursor: Cursor, word: string): boolean {
  const next = cursor.text[cursor.at + word.length];
  return cursor.text.startsWith(word, cursor.at) && (next === undefined || /[\s;&|()<>]/.test(next));
}

function mustTake(cursor: Cursor, word: string): void {
  skipNewlines(cursor);
  if (!takeKeyword(cursor, word)) throw unreadable;
}

function readUntil(cursor: Cursor, word: string): Script {
  const script = readScript(cursor, () => atKeyword(cursor, word));
  cursor.at += word.length;
  return script;
}

function readCommand(cursor: Cursor): Command {
  const outside = cursor.inner;
  cursor.inner = [];
  const { inner } = cursor;
  const assignments: Word[] = [];
  const bodies = readCompound(cursor, assignments);
  const command: Command =
    bodies === undefined
      ? readSimple(cursor)
      : { assignments, words: [], redirections: readRedirections(cursor), bodies, inner };
  cursor.inner = outside;
  return command;
}

/** Bodies of a compound command at the cursor; undefined if there is none. A loop sets its variable. */
function readCompound(cursor: Cursor, assignments: Word[]): readonly Script[] | undefined {
  const { text } = cursor;
  const until = (...words: readonly string[]): Script =>
    readScript(cursor, () => words.some((word) => atKeyword(cursor, word)));
  if (text[cursor.at] === "(") return text[cursor.at + 1] === "(" ? readDouble(cursor) : [readBrackets(cursor)];
  if (takeKeyword(cursor, "{")) return [readUntil(cursor, "}")];
  if (takeKeyword(cursor, "if")) {
    const bodies = [until("then")];
    while (!takeKeyword(cursor, "fi")) {
      if (!["then", "elif", "else"].some((word) => takeKeyword(cursor, word))) throw unreadable;
      bodies.push(until("then", "elif", "else", "fi"));
    }
    return bodies;
  }
  if (takeKeyword(cursor, "while") || takeKeyword(cursor, "until")) {
    return [readUntil(cursor, "do"), readUntil(cursor, "done")];
  }
  if (takeKeyword(cursor, "for") || takeKeyword(cursor, "select")) return readFor(cursor, assignments);
  if (takeKeyword(cursor, "case")) return readCase(cursor);
  if (takeKeyword(cursor, "function")) {
    skipBlanks(cursor);
    if (readWord(cursor, scripts) === undefined) throw unreadable;
    skipBlanks(cursor);
    cursor.at += ahead(cursor, /\([ \t]*\)/y)?.length ?? 0;
    return readFunction(cursor);
  }
  return undefined;
}

function readBrackets(cursor: Cursor): Script {
  cursor.at += 1;
  return scripts.inside(cursor);
}

/** `((`: arithmetic in some shells, brackets in brackets in others. What can be read as commands counts as commands. */
function readDouble(cursor: Cursor): readonly Script[] {
  const { at, depth, inner } = cursor;
  const waiting = [...cursor.waiting];
  const before = inner.length;
  let script: Script;
  try {
    script = readBrackets(cursor);
  } catch (cause) {
    if (cause !== unreadable) throw cause;
    Object.assign(cursor, { at: at + 2, depth, waiting, inner });
    inner.length = before;
    if (!readArithmetic(cursor, scripts)) throw unreadable;
    return [];
  }
  if (differsAsArithmetic(cursor.text.slice(at, cursor.at))) throw unreadable;
  return [script];
}

/** The effects of a function count where it is defined: its calls cannot always be seen. */
function readFunction(cursor: Cursor): readonly Script[] {
  skipNewlines(cursor);
  return [[[nested(cursor, () => readCommand(cursor))]]];
}

function readFor(cursor: Cursor, assignments: Word[]): readonly Script[] {
  skipBlanks(cursor);
  if (cursor.text.startsWith("((", cursor.at)) {
    cursor.at += 2;
    if (!readArithmetic(cursor, scripts)) throw unreadable;
  } else {
    const name = readWord(cursor, scripts);
    if (name === undefined) throw unreadable;
    skipNewlines(cursor);
    if (takeKeyword(cursor, "in")) {
      skipBlanks(cursor);
      for (let word = readWord(cursor, scripts); word !== undefined; word = readWord(cursor, scripts)) {
        assignments.push({ ...word, text: `${name.text}=${word.text}` });
        skipBlanks(cursor);
      }
    }
  }
  skipSeparators(cursor);
  const last = takeKeyword(cursor, "{") ? "}" : "done";
  if (last === "done") mustTake(cursor, "do");
  return [readUntil(cursor, last)];
}

function readCase(cursor: Cursor): readonly Script[] {
  skipBlanks(cursor);
  if (readWord(cursor, scripts) === undefined) throw unreadable;
  mustTake(cursor, "in");
  const bodies: Script[] = [];
  for (;;) {
    skipNewlines(cursor);
    if (takeKeyword(cursor, "esac")) return bodies;
    if (cursor.text[cursor.at] === "(") cursor.at += 1;
    for (let letter = ""; letter !== ")"; cursor.at += 1) {
      skipBlanks(cursor);
      if (readWord(cursor, scripts) === undefined) throw unreadable;
      skipBlanks(cursor);
      letter = cursor.text[cursor.at] ?? "";
      if (letter !== "|" && letter !== ")") throw unreadable;
    }
    const end = /;;&?|;&/y;
    bodies.push(readScript(cursor, () => ahead(cursor, end) !== undefined || atKeyword(cursor, "esac")));
    cursor.at += ahead(cursor, end)?.length ?? 0;
  }
}

/** Words that only continue or end a compound command. */
const misplaced = ["then", "elif", "else", "fi", "do", "done", "esac", "}"];

function readSimple(cursor: Cursor): Command {
  const { inner } = cursor;
  const assignments: Word[] = [];
  const words: Word[] = [];
  const redirections: Redirection[] = [];
  const start = cursor.at;
  // Every shell stops here, and a reading that comes here went wrong before.
  if (misplaced.some((word) => atKeyword(cursor, word))) throw unreadable;
  if (takeKeyword(cursor, "[[")) return { assignments, ...readTest(cursor), inner };
  for (;;) {
    skipBlanks(cursor);
    const redirection = readRedirection(cursor);
    if (redirection !== undefined) {
      redirections.push(redirection);
      continue;
    }
    if (cursor.text[cursor.at] === "(") {
      // Only the brackets after the name of a function can stand here.
      const brackets = ahead(cursor, /\([ \t]*\)/y);
      if (brackets === undefined || words.length !== 1 || assignments.length > 0) throw unreadable;
      cursor.at += brackets.length;
      return { assignments, words: [], redirections, bodies: readFunction(cursor), inner };
    }
    const word = readWord(cursor, scripts);
    if (word === undefined) break;
    if (words.length === 0 && word.assigns) assignments.push(word);
    else words.push(word);
  }
  if (cursor.at === start) throw unreadable;
  return { assignments, words, redirections, bodies: [], inner };
}

/**
 * `[[ ... ]]`. Where it is not a word of the shell, as in `sh`, its operators are those of every command: the words
 * behind `||` are run, and `>` writes. A bracket in it is an error there, so nothing would be.
 */
function readTest(cursor: Cursor): Pick<Command, "words" | "redirections" | "bodies"> {
  const words: Word[] = [literal("[[")];
  const parts: Word[][] = [words];
  const targets: Word[] = [];
  let brackets = false;
  let operator = "";
  skipBlanks(cursor);
  while (!takeKeyword(cursor, "]]")) {
    const word = readWord(cursor, scripts);
    if (word !== undefined) {
      parts.at(-1)?.push(word);
      if (operator === ">") targets.push(word);
    }
    skipBlanks(cursor);
    operator = word === undefined ? (ahead(cursor, /&&|\|\||[|\n()<>]/y) ?? "") : "";
    if (word !== undefined) continue;
    if (operator === "") throw unreadable;
    if (/[()]/.test(operator)) brackets = true;
    else if (!/[<>]/.test(operator)) parts.push([]);
    if (operator === "\n") readNewline(cursor);
    else cursor.at += operator.length;
    skipBlanks(cursor);
  }
  const [, ...later] = parts;
  words.push(...later.flat());
  if (brackets) return { words, redirections: [], bodies: [] };
  const runs = later.filter(([first]) => first?.exact === true && /^[\w./]/.test(first.text));
  return {
    words,
    redirections: targets.map((target) => ({ operator: ">", target })),
    bodies: runs.map((own) => [[{ ...nothingRun, words: own }]]),
  };
}

const nothingRun: Command = { assignments: [], words: [], redirections: [], bodies: [], inner: [] };

function readRedirections(cursor: Cursor): readonly Redirection[] {
  const found: Redirection[] = [];
  for (;;) {
    skipBlanks(cursor);
    const redirection = readRedirection(cursor);
    if (redirection === undefined) return found;
    found.push(redirection);
  }
}

function readRedirection(cursor: Cursor): Redirection | undefined {
  const operator = ahead(cursor, /[0-9]{0,9}(?:<<<|<<-?|<>|<&|>>|>\||>&|&>>?|[<>](?!\())/y);
  if (operator === undefined) return undefined;
  cursor.at += operator.length;
  skipBlanks(cursor);
  const sign = operator.replace(/^[0-9]+/, "");
  const start = cursor.at;
  const target = readWord(cursor, scripts);
  if (target === undefined) throw unreadable;
  const delimited = sign === "<<" || sign === "<<-";
  // Shells disagree where a document ends whose delimiter holds one of these; a carriage return behind it belongs to it.
  if (delimited && (/[$`\t\r\n]/.test(cursor.text.slice(start, cursor.at)) || cursor.text[cursor.at] === "\r"))
    throw unreadable;
  const redirection: Redirection = { operator: sign, target };
  if (sign === "<<<") redirection.body = target;
  else if (delimited) {
    const { text: delimiter, plain: expands } = target;
    cursor.waiting.push({ redirection, delimiter, tabs: sign === "<<-", expands, inner: cursor.inner });
  }
  return redirection;
}

/** Words: quotes, escapes, expansions, and the substitutions inside them. */
import { ansiText } from "./ansi-text.ts";
import { isArithmetic } from "./arithmetic.ts";
import { type Cursor, type Script, type Word, ahead, literal, nested, skipBlanks, unreadable } from "./syntax.ts";

/** Reads a whole script up to `)`, or a text of its own; given by the grammar, which needs words in turn. */
export type ScriptReader = {
  readonly inside: (cursor: Cursor) => Script;
  readonly apart: (text: string, cursor: Cursor) => Script;
};

type Draft = { -readonly [Key in keyof Word]: Word[Key] } & { brace: "none" | "open" | "list" };

function emptyDraft(): Draft {
  return { text: "", exact: true, plain: true, glob: false, assigns: false, brace: "none" };
}

const ends = /[\s;&|()<>]/;
/** The target before the `=` of an assignment. */
const assigned = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?$/;

/** The word at the cursor, or undefined where none begins. */
export function readWord(cursor: Cursor, scripts: ScriptReader): Word | undefined {
  const draft = emptyDraft();
  const start = cursor.at;
  cursor.work.steps += 1;
  while (cursor.at < cursor.text.length && readPart(cursor, draft, scripts));
  if (cursor.at === start) return undefined;
  // To bash an index may hold blanks, and what elsewhere is a comment or an operator; to others it ends with the word.
  const raw = cursor.text.slice(start, cursor.at);
  if (/^[A-Za-z_]\w*\[/.test(raw) && !raw.replace(/\\.|'[^']*'|"[^"]*"/g, "").includes("]")) throw unreadable;
  return draft;
}

/** One character or one quoted or expanded part; false where the word ends. */
function readPart(cursor: Cursor, draft: Draft, scripts: ScriptReader): boolean {
  const { text } = cursor;
  const letter = text[cursor.at] ?? "";
  if (quoted(cursor, draft, scripts)) return true;
  if ((letter === "<" || letter === ">") && text[cursor.at + 1] === "(") {
    cursor.at += 2;
    substitute(cursor, draft, scripts, `${letter}(...)`);
    return true;
  }
  if (letter === "(" && draft.assigns && draft.text.endsWith("=")) {
    nested(cursor, () => readArray(cursor, draft, scripts));
    return true;
  }
  if (ends.test(letter)) return false;
  if (letter === "*" || letter === "?" || letter === "[") draft.glob = true;
  if (letter === "=" && draft.plain && assigned.test(draft.text)) draft.assigns = true;
  braces(draft, letter);
  draft.text += letter;
  cursor.at += 1;
  return true;
}

/** `{a,b}` and `{1..3}` become several words, so what stands there is not what the program gets. */
function braces(draft: Draft, letter: string): void {
  if (letter === "{") draft.brace = "open";
  else if (draft.brace === "open" && (letter === "," || (letter === "." && draft.text.endsWith(".")))) {
    draft.brace = "list";
  } else if (letter === "}") {
    if (draft.brace === "list") draft.exact = false;
    draft.brace = "none";
  }
}

/** Escapes, quotes and expansions at the cursor; false if there is none. */
function quoted(cursor: Cursor, draft: Draft, scripts: ScriptReader): boolean {
  switch (cursor.text[cursor.at] ?? "") {
    case "\\":
      if (cursor.text[cursor.at + 1] !== "\n") {
        draft.text += cursor.text[cursor.at + 1] ?? "\\";
        draft.plain = false;
      }
      cursor.at += 2;
      return true;
    case "'": {
      const end = cursor.text.indexOf("'", cursor.at + 1);
      if (end < 0) throw unreadable;
      draft.text += cursor.text.slice(cursor.at + 1, end);
      draft.plain = false;
      cursor.at = end + 1;
      return true;
    }
    case '"':
      draft.plain = false;
      cursor.at += 1;
      readUntil(cursor, draft, scripts, '"');
      return true;
    case "$":
      readDollar(cursor, draft, scripts, false);
      return true;
    case "`":
      readBackquote(cursor, draft, scripts, false);
      return true;
  }
  return false;
}

/** Text in which only `$` and backquotes mean anything: between double quotes, or a here-document to its end. */
export function readUntil(cursor: Cursor, draft: Draft, scripts: ScriptReader, end: '"' | ""): void {
  const { text } = cursor;
  while (cursor.at < text.length) {
    const letter = text[cursor.at] ?? "";
    if (letter === end) {
      cursor.at += 1;
      return;
    }
    if (letter === "\\") {
      const next = text[cursor.at + 1] ?? "";
      if (next !== "\n") draft.text += '$`"\\'.includes(next) ? next : `\\${next}`;
      cursor.at += 2;
    } else if (letter === "$") readDollar(cursor, draft, scripts, true);
    else if (letter === "`") readBackquote(cursor, draft, scripts, true);
    else {
      draft.text += letter;
      cursor.at += 1;
    }
  }
  if (end !== "") throw unreadable;
}

/** A here-document whose delimiter is not quoted. */
export function readHereText(cursor: Cursor, scripts: ScriptReader): Word {
  const draft = emptyDraft();
  readUntil(cursor, draft, scripts, "");
  return { ...literal(draft.text), exact: draft.exact };
}

function readDollar(cursor: Cursor, draft: Draft, scripts: ScriptReader, inQuotes: boolean): void {
  const { text } = cursor;
  const next = text[cursor.at + 1] ?? "";
  if (next === "(" || next === "{" || next === "[") {
    draft.exact = false;
    nested(cursor, () => readExpansion(cursor, draft, scripts, inQuotes));
  } else if (next === "'" && !inQuotes) {
    const found = ansiText(text, cursor.at + 2);
    if (found === undefined || otherQuotes(text, cursor.at + 2, found.end)) throw unreadable;
    draft.text += found.text;
    draft.plain = false;
    cursor.at = found.end;
  } else if (next === '"' && !inQuotes) cursor.at += 1;
  else {
    const name = /[A-Za-z_]\w*|[0-9@*#?$!-]/y;
    name.lastIndex = cursor.at + 1;
    const found = name.exec(text)?.[0] ?? "";
    if (found !== "") draft.exact = false;
    draft.text += variable(cursor, found);
    cursor.at += 1 + found.length;
  }
}

/**
 * Whether `$'...'` with an escaped quote, which ends it for a shell that knows no such strings, shows that shell another
 * command. It does not where the last quote then opens a string without an end.
 */
function otherQuotes(text: string, start: number, end: number): boolean {
  const escaped = text.indexOf("'", start);
  if (escaped === end - 1) return false;
  return text.includes("'", end) || !/^[\w ,.!?-]*$/.test(text.slice(escaped + 1, end - 1));
}

/** The part of `${...}` that is read as arithmetic: an index, or what follows `:` as a number. */
const counted = /^[!#]?\w*\[[^\]]*$|^[!#]?[\w@*]+(?:\[[^\]]*\])?:(?![-+=?])/;

function readExpansion(cursor: Cursor, draft: Draft, scripts: ScriptReader, inQuotes: boolean): void {
  const opening = cursor.text[cursor.at + 1];
  const start = cursor.at;
  cursor.at += 2;
  if (opening === "(") {
    if (cursor.text[cursor.at] === "(") {
      cursor.at += 1;
      if (readArithmetic(cursor, scripts)) {
        draft.text += "$((...))";
        return;
      }
      cursor.at = start + 2;
    }
    substitute(cursor, draft, scripts, "$(...)");
    if (differsAsArithmetic(cursor.text.slice(start, cursor.at))) throw unreadable;
    return;
  }
  // `${ ...; }` and `${| ...; }` run commands in some shells.
  if (opening === "{" && ahead(cursor, /[\s|(]/y) !== undefined) throw unreadable;
  const end = opening === "{" ? "}" : "]";
  const held = emptyDraft();
  while (cursor.text[cursor.at] !== end) {
    if (cursor.at >= cursor.text.length) throw unreadable;
    // A process substitution is run here by bash alone, and only without quotes.
    if (ahead(cursor, /[<>]\(/y) !== undefined) throw unreadable;
    // Where `$[...]` is not arithmetic, each of these means what it means outside.
    if (opening === "[" && ahead(cursor, /[\n;&|()<>'"\\#]/y) !== undefined) throw unreadable;
    // An index and an offset are arithmetic, where single quotes keep nothing from being run.
    const isCounted = opening === "[" || counted.test(held.text);
    if (isCounted && ahead(cursor, /\$?'[^']*[$`]/y) !== undefined) throw unreadable;
    // Inside double quotes a single quote is only a letter in a word that stands in for the value, and quotes in a pattern.
    if (inQuotes && ahead(cursor, /\$?'/y) !== undefined) {
      if (cursor.text[cursor.at] === "$" || !/^\w+:?[-+=?]/.test(held.text)) throw unreadable;
      held.text += "'";
      cursor.at += 1;
    } else if (cursor.text[cursor.at] === "$" && (inQuotes || isCounted)) readQuotedDollar(cursor, held, scripts);
    else if (!quoted(cursor, held, scripts)) {
      held.text += cursor.text[cursor.at];
      cursor.at += 1;
    }
  }
  cursor.at += 1;
  // The value is expanded once more, as a prompt is, and what it runs stands anywhere.
  if (held.text.endsWith("@P")) throw unreadable;
  if (opening === "[") draft.text += "$[...]";
  else draft.text += held.exact && /^\w+$/.test(held.text) ? variable(cursor, held.text) : `\${${held.text}}`;
}

/** A variable as it stands in the text of its word: in braces where what follows would read as a part of its name. */
function variable(cursor: Cursor, name: string): string {
  return ahead(cursor, /["'\\]*\w/y) === undefined ? `$${name}` : `\${${name}}`;
}

/** An expansion in one that is quoted, or is read as if it were. Shells disagree what a single quote means there. */
function readQuotedDollar(cursor: Cursor, draft: Draft, scripts: ScriptReader): void {
  if (ahead(cursor, /\$\{[^}]*'/y) !== undefined) throw unreadable;
  readDollar(cursor, draft, scripts, true);
}

function substitute(cursor: Cursor, draft: Draft, scripts: ScriptReader, shown: string): void {
  draft.exact = false;
  const { inner, waiting } = cursor;
  cursor.waiting = [];
  const script = nested(cursor, () => scripts.inside(cursor));
  // Lines of a here-document that would only come outside: shells disagree where.
  if (cursor.waiting.length > 0) throw unreadable;
  cursor.waiting = waiting;
  cursor.inner = inner;
  inner.push(script);
  draft.text += shown;
}

function readBackquote(cursor: Cursor, draft: Draft, scripts: ScriptReader, inQuotes: boolean): void {
  const { text } = cursor;
  let held = "";
  let at = cursor.at + 1;
  for (; text[at] !== "`"; at += 1) {
    if (at >= text.length) throw unreadable;
    const next = text[at + 1] ?? "";
    if (text[at] === "\\" && ("\\`$".includes(next) || (inQuotes && next === '"'))) at += 1;
    held += text[at] ?? "";
  }
  cursor.at = at + 1;
  draft.exact = false;
  draft.text += "$(...)";
  cursor.inner.push(nested(cursor, () => scripts.apart(held, cursor)));
}

function readArray(cursor: Cursor, draft: Draft, scripts: ScriptReader): void {
  draft.exact = false;
  cursor.at += 1;
  for (;;) {
    skipBlanks(cursor);
    const letter = cursor.text[cursor.at];
    if (letter === "\n") cursor.at += 1;
    else if (letter === ")") break;
    else {
      const word = readWord(cursor, scripts);
      // Quotes keep nothing in an index from being run; `$(...)` stands for what was read.
      if (word === undefined || /^\[[^\]]*(?:\$\((?!\.\.\.\))|`)/.test(word.text)) throw unreadable;
    }
  }
  cursor.at += 1;
  draft.text += "(...)";
}

/** Arithmetic up to `))`, its substitutions read; false, with the cursor anywhere, if it must be commands. */
export function readArithmetic(cursor: Cursor, scripts: ScriptReader): boolean {
  const before = cursor.inner.length;
  const draft = emptyDraft();
  let open = 0;
  let skeleton = "";
  while (cursor.at < cursor.text.length) {
    const letter = cursor.text[cursor.at] ?? "";
    if (letter === "$" || letter === "`" || letter === "\\") {
      if (letter === "$") readQuotedDollar(cursor, draft, scripts);
      else quoted(cursor, draft, scripts);
      skeleton += "1";
      continue;
    }
    if (letter === "(") open += 1;
    if (letter === ")") open -= 1;
    cursor.at += 1;
    if (open < 0) {
      const closed = cursor.text[cursor.at] === ")" && isArithmetic(skeleton);
      if (closed) cursor.at += 1;
      else cursor.inner.length = before;
      return closed;
    }
    skeleton += letter;
  }
  throw unreadable;
}

/**
 * Whether commands in double brackets hide from their reader what runs where the brackets mean arithmetic: neither single
 * quotes nor comments keep a substitution from being run there, and `<<` begins no document.
 */
export function differsAsArithmetic(text: string): boolean {
  if (!/^\$?\(\([\s\S]*\)(?:\\\n)*\)$/.test(text)) return false;
  return text.includes("<<") || (/'|[\s;&|()]#/.test(text) && /[$`]/.test(text));
}

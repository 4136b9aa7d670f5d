/**
 * Texts of SQL, before any parser sees them. Dialects differ in comments, escapes and quotes, and a parser may differ from
 * the server it stands for; a text passes only if all of them take it apart in the same way. So there is no comment, no
 * backslash, no quoting by dollars, no prefixed string, no variable, and one statement.
 */
import type { SqlDialect } from "../../../core/reading.ts";

/** UTF-16 units of one statement. */
export const sqlUnitsMax = 8_192;
/** Parentheses inside parentheses. */
export const sqlDepthMax = 16;
const wordsMax = 2_048;

export type SqlWords = {
  readonly ok: true;
  /** The statement without its last `;`. */
  readonly text: string;
  /** Words outside of quotes, lower case. */
  readonly words: readonly string[];
  /** Names, quoted ones too, that a parenthesis follows. */
  readonly called: readonly string[];
};

export type SqlFault = { readonly ok: false; readonly acts: boolean; readonly because: string };

/** Statements and clauses that do more than read, whatever stands around them; none is the name of a column unquoted. */
const acting = new Set(
  (
    "into outfile dumpfile insert update delete merge drop alter create truncate grant revoke attach detach pragma vacuum copy exec " +
    "execute call procedure handler nextval setval returning lock shutdown reindex"
  ).split(" "),
);

/** Words with which a statement begins that surely acts. */
const statements =
  /^(?:insert|update|delete|merge|replace|drop|alter|create|truncate|grant|revoke|attach|detach|vacuum|copy|call|exec|execute|do|set|load|lock|reindex|analyze|import|install|shutdown|kill|comment|refresh|cluster|reset|use)$/;

const blank = /[ \t\r\n]*/y;
const word = /[A-Za-z_][A-Za-z0-9_]*/y;
const number = /[0-9][0-9A-Za-z_]*(?:\.[0-9][0-9A-Za-z_]*)?(?:(?<=[eE])[+-][0-9]+)?|\.[0-9]+/y;
const mark = /[(),.+*/%<>=!|&^~-]/y;

const fault = (because: string, acts = false): SqlFault => ({ ok: false, acts, because });

function at(pattern: RegExp, text: string, index: number): string | undefined {
  pattern.lastIndex = index;
  return pattern.exec(text)?.[0];
}

/** The words of a statement, or why it is no read for sure. In time linear in the text. */
export function sqlWords(dialect: SqlDialect, given: string): SqlWords | SqlFault {
  if (given.length > sqlUnitsMax) return fault("it is too long");
  const text = given.trimEnd().replace(/;$/, "");
  const found: { words: string[]; called: string[]; depth: number; last: string | undefined } = {
    words: [],
    called: [],
    depth: 0,
    last: undefined,
  };
  for (let index = 0; index < text.length;) {
    const token = tokenAt(dialect, text, index);
    if (!token.ok) return isStatement(found.words) ?? token;
    index += token.units;
    if (token.kind === "blank") continue;
    const because = noted(token, found);
    if (because !== undefined) return isStatement(found.words) ?? fault(because);
  }
  const wrong = isStatement(found.words) ?? faultOfWords(found.words);
  return wrong ?? { ok: true, text, words: found.words, called: found.called };
}

type Token = {
  readonly ok: true;
  readonly kind: "blank" | "word" | "quoted" | "mark";
  readonly text: string;
  readonly units: number;
};

function tokenAt(dialect: SqlDialect, text: string, index: number): Token | SqlFault {
  const letter = text[index] ?? "";
  const plain = (kind: Token["kind"], found: string): Token => ({ ok: true, kind, text: found, units: found.length });
  const spaces = at(blank, text, index) ?? "";
  if (spaces !== "") return plain("blank", spaces);
  if (letter === "'" || letter === '"' || letter === "`") return quotedAt(dialect, text, index);
  const name = at(word, text, index);
  if (name !== undefined) {
    // `E'...'`, `U&"..."`, `X'...'`, `_utf8'...'`: strings with rules of their own.
    if (/^['"`]|^&['"]/.test(text.slice(index + name.length, index + name.length + 2)))
      return fault("it holds a string with a prefix");
    return plain("word", name.toLowerCase());
  }
  const digits = at(number, text, index);
  if (digits !== undefined) return plain("mark", digits);
  const two = text.slice(index, index + 2);
  if (two === "--" || two === "/*" || two === "*/" || (letter === "#" && dialect !== "postgres"))
    return fault("it holds a comment");
  if (letter === ";") return fault("it is more than one statement");
  // Casts, indices and operators, which nothing else begins with there.
  if (dialect === "postgres" && (two === "::" || /[[\]@#]/.test(letter)))
    return plain("mark", two === "::" ? two : letter);
  if (at(mark, text, index) !== undefined) return plain("mark", letter);
  return fault(`it holds ${/[!-~]/.test(letter) ? `\`${letter}\`` : "a character that is no SQL"}`);
}

function quotedAt(dialect: SqlDialect, text: string, index: number): Token | SqlFault {
  const quote = text[index] ?? "";
  if (quote === "`" && dialect === "postgres") return fault("it holds a quote of another dialect");
  for (let end = index + 1; end < text.length; end += 1) {
    const letter = text[end] ?? "";
    if (letter === "\\" || letter < " " || letter === "\u007f") return fault("it holds an escape in quotes");
    if (letter !== quote) continue;
    if (text[end + 1] === quote) {
      end += 1;
      continue;
    }
    const inner = text.slice(index + 1, end);
    return { ok: true, kind: "quoted", text: inner.toLowerCase(), units: end + 1 - index };
  }
  return fault("it holds a quote without an end");
}

function noted(
  token: Token,
  found: { words: string[]; called: string[]; depth: number; last: string | undefined },
): string | undefined {
  const { kind, text } = token;
  if (kind === "word") found.words.push(text);
  if (found.words.length > wordsMax) return "it has too many words";
  if (kind === "mark" && text === "(") {
    found.depth += 1;
    if (found.last !== undefined) found.called.push(found.last);
    if (found.depth > sqlDepthMax) return "it is nested too deep";
  }
  if (kind === "mark" && text === ")") found.depth -= 1;
  found.last = kind === "word" || kind === "quoted" ? text : undefined;
  return undefined;
}

/** What a text surely is that does not begin as a query. */
function isStatement([first]: readonly string[]): SqlFault | undefined {
  if (first === undefined || !statements.test(first)) return undefined;
  return fault(`it begins with ${first.toUpperCase()}`, true);
}

function faultOfWords(words: readonly string[]): SqlFault | undefined {
  const [first] = words;
  if (first === undefined) return fault("it is empty");
  if (first !== "select" && first !== "with") return fault("it does not begin with SELECT");
  const found = words.find((one) => acting.has(one));
  if (found !== undefined) return fault(`it holds ${found.toUpperCase()}`);
  // Counts a sequence on, with no parenthesis.
  const next = words.some((one, index) => one === "value" && /^(?:next|previous)$/.test(words[index - 1] ?? ""));
  return next ? fault("it takes the next value of a sequence") : undefined;
}

/**
 * Lines of strace(1), as it writes them for `-f -y -o FILE`: a thread, a call with its arguments, and its result.
 * Quoted texts are the traced process's own, with everything unusual escaped, so that no text can end a line or a
 * quote.
 */

/** A call, or the first or second half of one that another thread's line came between. */
export type StraceLine =
  | { readonly kind: "call"; readonly thread: number; readonly name: string; readonly rest: string }
  | { readonly kind: "begun"; readonly thread: number; readonly name: string; readonly rest: string }
  | { readonly kind: "ended"; readonly thread: number; readonly name: string; readonly rest: string };

const whole = /^(\d{1,10}) +([a-z_0-9]{1,64})\((.*)$/su;
const resumed = /^(\d{1,10}) +<\.\.\. ([a-z_0-9]{1,64}) resumed>(.*)$/su;
const unfinished = / <unfinished \.\.\.>$/u;

/** `rest` is all after the opening parenthesis. Undefined for signals, exits and lines that are not strace's. */
export function parseStraceLine(line: string): StraceLine | undefined {
  const second = resumed.exec(line);
  if (second !== null) {
    return { kind: "ended", thread: Number(second[1]), name: second[2] ?? "", rest: second[3] ?? "" };
  }
  const first = whole.exec(line);
  if (first === null) return undefined;
  const [thread, name, rest] = [Number(first[1]), first[2] ?? "", first[3] ?? ""];
  const begun = unfinished.test(rest);
  return { kind: begun ? "begun" : "call", thread, name, rest: begun ? rest.replace(unfinished, "") : rest };
}

export type StraceCall = {
  /** As written, without the spaces around them. */
  readonly args: readonly string[];
  /** Undefined where the call never returned. */
  readonly value: number | undefined;
  readonly error: string | undefined;
  /** Path behind the descriptor that was returned. */
  readonly opened: string | undefined;
};

const result = /^\) *= (-?\d{1,19}|\?|0x[0-9a-f]{1,16})(?:<((?:[^\\>]|\\.)*)>)?(?: (E[A-Z0-9]{1,32}))?/su;

/** Splits arguments and result. Undefined where the text is cut off. */
export function parseStraceCall(rest: string): StraceCall | undefined {
  const args: string[] = [];
  let depth = 0;
  let start = 0;
  for (let place = 0; place < rest.length; place++) {
    const letter = rest[place];
    if (letter === '"') place = skip(rest, place, '"');
    // A descriptor is followed by its path; other angle brackets (shifts) have no closing partner and stand for
    // themselves.
    else if (letter === "<" && /[\dD]/u.test(rest[place - 1] ?? "")) {
      const end = skip(rest, place, ">");
      if (end < rest.length) place = end;
    } else if (letter === "(" || letter === "[" || letter === "{") depth += 1;
    else if (depth > 0 && (letter === ")" || letter === "]" || letter === "}")) depth -= 1;
    else if (depth === 0 && (letter === "," || letter === ")")) {
      const text = rest.slice(start, place).trim();
      if (text !== "" || args.length > 0) args.push(text);
      start = place + 1;
      if (letter === ")") return ended(args, rest.slice(place));
    }
  }
  return undefined;
}

function ended(args: readonly string[], tail: string): StraceCall | undefined {
  const found = result.exec(tail);
  if (found === null) return undefined;
  const value = found[1] === "?" ? undefined : Number(found[1]);
  const opened = found[2] === undefined ? undefined : unescape(found[2]);
  return { args, value, error: found[3], opened };
}

/** The place of the closing mark, or the end of the text. */
function skip(text: string, from: number, mark: string): number {
  for (let place = from + 1; place < text.length; place++) {
    if (text[place] === "\\") place += 1;
    else if (text[place] === mark) return place;
  }
  return text.length;
}

/** The text in quotes; undefined where there is none, as for an address that could not be read. */
export function quoted(argument: string | undefined): string | undefined {
  if (argument === undefined || !argument.startsWith('"')) return undefined;
  return unescape(argument.slice(1, skip(argument, 0, '"')));
}

/** The path behind a descriptor or `AT_FDCWD`, as `-y` shows it. */
export function behind(argument: string | undefined): string | undefined {
  const start = argument?.indexOf("<") ?? -1;
  if (argument === undefined || start === -1) return undefined;
  const path = unescape(argument.slice(start + 1, skip(argument, start, ">")));
  return path.startsWith("/") ? path : undefined;
}

const letters: Readonly<Record<string, number>> = { n: 10, t: 9, r: 13, v: 11, f: 12 };

/** Undoes the escapes of C; bytes become text as UTF-8. */
function unescape(text: string): string {
  if (!text.includes("\\")) return text;
  const bytes = Buffer.alloc(Buffer.byteLength(text));
  let length = 0;
  for (let place = 0; place < text.length; place++) {
    const octal = text[place] === "\\" ? /^[0-7]{1,3}/u.exec(text.slice(place + 1, place + 4))?.[0] : undefined;
    if (octal !== undefined) {
      bytes[length++] = Number.parseInt(octal, 8);
      place += octal.length;
    } else if (text[place] === "\\" && place + 1 < text.length) {
      place += 1;
      const letter = text[place] ?? "";
      const code = letters[letter];
      if (code === undefined) length += bytes.write(letter, length);
      else bytes[length++] = code;
    } else length += bytes.write(text[place] ?? "", length);
  }
  return bytes.toString("utf8", 0, length);
}

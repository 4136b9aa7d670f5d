/**
 * A tolerant look at bytes that were refused: is it a request, a response, and which id does it carry? Without it the
 * other side would wait until its time-out for an answer that we have already decided never to give.
 *
 * Nothing found here is forwarded or judged. A hostile peer can lie about its own ids only, and gains an error for one
 * of its own calls.
 */
import type { RequestId } from "../message.ts";
import type { WireError } from "../wire-error.ts";

export type Recovered = {
  readonly about: WireError["about"];
  readonly id: RequestId | undefined;
  /** The ids of an answer that has more than one. */
  readonly among?: readonly RequestId[];
};

/** Bytes looked at; a refused message may be large, and the time spent on it should not be. */
const recoverBytesMax = 1024 * 1024;

/** Longest id we repeat back. */
const idCharactersMax = 1024;

/** Looks at the outermost members of a refused message; an id given twice counts as none. */
export function recover(bytes: Uint8Array): Recovered {
  return recoverText(lenient(bytes.subarray(0, recoverBytesMax)));
}

function recoverText(text: string): Recovered {
  const ids: string[] = [];
  const names = new Set<string>();
  let depth = 0;
  let index = 0;
  const length = text.length;
  while (index < length) {
    const code = text.charCodeAt(index);
    if (code === 34) {
      const end = skipString(text, index + 1);
      const value = depth === 1 ? valueStart(text, end) : undefined;
      if (value !== undefined) {
        const name = decode(text.slice(index, end));
        names.add(name);
        if (name.toLowerCase() === "id") ids.push(text.slice(value, value + idCharactersMax + 2));
      }
      index = end;
      continue;
    }
    if (code === 123 || code === 91) depth += 1;
    if (code === 125 || code === 93) depth -= 1;
    index += 1;
  }
  const first = ids[0];
  const id = ids.length === 1 && first !== undefined ? readId(first) : undefined;
  const about = aboutOf(names, id);
  return ids.length < 2 || about !== "response"
    ? { about, id }
    : { about, id, among: ids.flatMap((text) => readId(text) ?? []) };
}

/** The same for a line that was dropped while it arrived: `head` and `tail` are its first and last bytes. */
export function recoverSample(head: Uint8Array, tail: Uint8Array): Recovered {
  const start = recoverText(lenient(head));
  if (start.id !== undefined) return start;
  // Some servers write the result first and the id last; then the envelope closes the line.
  const closing = /[,{]\s*"id"\s*:\s*("(?:[^"\\]|\\.){0,1024}"|-?\d{1,16})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;
  const found = closing.exec(lenient(tail))?.[1];
  const id = found === undefined ? undefined : readId(`${found}}`);
  return { about: start.about === "notification" && id !== undefined ? "request" : start.about, id };
}

function lenient(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(bytes);
}

function aboutOf(names: ReadonlySet<string>, id: RequestId | undefined): WireError["about"] {
  const asks = names.has("method");
  const answers = names.has("result") || names.has("error");
  if (asks === answers) return "unknown";
  if (answers) return "response";
  return id === undefined && !names.has("id") ? "notification" : "request";
}

/** Where the value after a name begins, or undefined if the string was no name. */
function valueStart(text: string, afterName: number): number | undefined {
  let index = afterName;
  while (isSpace(text.charCodeAt(index))) index += 1;
  if (text.charCodeAt(index) !== 58) return undefined;
  index += 1;
  while (isSpace(text.charCodeAt(index))) index += 1;
  return index;
}

/** Index after the closing quote of the string whose first character is at `start`. */
function skipString(text: string, start: number): number {
  let index = start;
  while (index < text.length) {
    const code = text.charCodeAt(index);
    if (code === 34) return index + 1;
    index += code === 92 ? 2 : 1;
  }
  return text.length;
}

function isSpace(code: number): boolean {
  return code === 32 || code === 9 || code === 10 || code === 13;
}

function decode(literal: string): string {
  try {
    const value: unknown = JSON.parse(literal);
    return typeof value === "string" ? value : "";
  } catch {
    return "";
  }
}

function readId(text: string): RequestId | undefined {
  if (text.startsWith('"')) {
    const id = decode(text.slice(0, skipString(text, 1)));
    return id.length > 0 && id.length <= idCharactersMax ? id : undefined;
  }
  // Where the text was cut the number may go on, and its first digits are another call's id.
  const digits = /^-?\d{1,16}(?=[\s,}])/.exec(text)?.[0];
  const number = digits === undefined ? Number.NaN : Number(digits);
  return Number.isSafeInteger(number) && String(number) === digits ? number : undefined;
}

/** Reads a file that the user names: bounded, whatever the path leads to, and bytes that are not UTF-8 stay visible. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { isatty } from "node:tty";
import { type Result, err, ok } from "../../core/result.ts";
import { shortPath } from "./sentences.ts";

/** `why` is a clause for the user, to stand behind "cannot be read". */
export type Unread = { readonly kind: "large" } | { readonly kind: "unread"; readonly why: string };

/**
 * Bytes that are not UTF-8 become half of a surrogate pair, which no text may hold: the reader of the document then
 * refuses the value and names its place. Read as U+FFFD it would pass, and a rule that blocks by such a text would
 * match nothing.
 */
export function textFile(file: string, bytesMax: number): Result<string, Unread> {
  const read = fileBytes(file, bytesMax);
  if (!read.ok) return read;
  const text = new TextDecoder().decode(read.value);
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(read.value);
    return ok(text);
  } catch {
    return ok(text.replaceAll("\ufffd", "\ud800"));
  }
}

/** Read in pieces, because a device has no size that could be asked for before. */
export function fileBytes(file: string, bytesMax: number): Result<Buffer, Unread> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    // A pipe without a writer would keep an ordinary open waiting for ever.
    const opened = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      if (fstatSync(opened).isFIFO()) return err({ kind: "unread", why: "it is a pipe: write it into a file" });
      if (isatty(opened)) return err({ kind: "unread", why: "it is a terminal: write it into a file" });
      for (;;) {
        const piece = new Uint8Array(65_536);
        const count = readSync(opened, piece);
        if (count === 0) return ok(Buffer.concat(pieces));
        size += count;
        if (size > bytesMax) return err({ kind: "large" });
        pieces.push(piece.subarray(0, count));
      }
    } finally {
      closeSync(opened);
    }
  } catch (cause) {
    return err({ kind: "unread", why: whyUnread(cause) });
  }
}

/** The system's reason for an unreadable file, in words. */
export function whyUnread(cause: unknown): string {
  const code = codeOf(cause);
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return "there is no such file";
    case "EISDIR":
      return "it is a folder";
    case "EACCES":
    case "EPERM":
      return "this user may not read it";
    case "ELOOP":
      return "its links lead in a circle";
    default:
      return code;
  }
}

/** The same of a file that cannot be written. */
export function whyUnwritten(cause: unknown): string {
  const code = codeOf(cause);
  switch (code) {
    case "ENOENT":
      return "there is no such folder";
    case "ENOTDIR":
      return "what should be a folder is a file";
    case "EISDIR":
      return "it is a folder";
    case "EACCES":
    case "EPERM":
      return "this user may not write there";
    case "EROFS":
      return "the disk is read-only";
    case "ENOSPC":
    case "EDQUOT":
      return "the disk is full";
    default:
      return code;
  }
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "unknown";
}

/** Why a file is of no use, as a sentence: `large` says for what it is too large, `way` what to do where it is not read. */
export function fileSentence(file: string, fault: Unread, large: string, way: string): string {
  return fault.kind === "large"
    ? `${shortPath(file)} is ${large}`
    : `${shortPath(file)} cannot be read (${fault.why}): ${way}`;
}

/**
 * Whether a stretch of trusted text is a run of whole tokens. This decides what an attacker may choose from: cutting
 * `/home/me` out of `/home/me/notes.txt`, or `example.com` out of `bob@example.com`, must not count.
 */
import {
  isDroppedAfter,
  isDroppedBefore,
  isHardSeparator,
  isIdeograph,
  isInAmount,
  isSoftSeparator,
} from "./tokens.ts";
import { occurrencesMax } from "./limits.ts";

/** True iff `value` occurs in `text` with a token boundary on both sides. Tries `occurrencesMax` places. */
export function isRunOf(value: string, text: string): boolean {
  if (value === "") return false;
  let from = 0;
  for (let tries = 0; tries < occurrencesMax; tries += 1) {
    const at = text.indexOf(value, from);
    if (at < 0) return false;
    if (startsToken(text, at) && endsToken(text, at + value.length)) return true;
    from = at + 1;
  }
  return false;
}

/** Units looked at around a boundary; an item longer than this has no inner boundary. */
const itemUnitsMax = 256;

function startsToken(text: string, at: number): boolean {
  if (at === 0) return true;
  const before = text.charAt(at - 1);
  if (isHardSeparator(before) || (before === "(" && text.charAt(at - 2) === "]")) return true;
  if (scriptChanges(text, at)) return true;
  if (isInAmount(text, at - 1)) return false;
  const start = itemStart(text, at);
  if (start === undefined) return false;
  const skipped = text.slice(start, at);
  if (everyCharacter(skipped, isDroppedBefore)) return true;
  if (hasSlash(text, start, at)) return false;
  // `IBAN:DE89...` and `to=bob`: a plain word names what follows.
  return isSoftSeparator(before) || /(?:^|['(,;[{])[\p{L}]+[:=]$/u.test(skipped);
}

function endsToken(text: string, end: number): boolean {
  if (end === text.length) return true;
  const after = text.charAt(end);
  if (isHardSeparator(after) || (after === "]" && text.charAt(end + 1) === "(")) return true;
  if (scriptChanges(text, end) || endsSentence(text, end)) return true;
  if (isInAmount(text, end)) return false;
  const stop = itemEnd(text, end);
  if (stop === undefined) return false;
  if (everyCharacter(text.slice(end, stop), isDroppedAfter)) return true;
  return isSoftSeparator(after) && !hasSlash(text, end, stop) && !hasSlashBefore(text, end);
}

function everyCharacter(text: string, test: (character: string) => boolean): boolean {
  for (const character of text) if (!test(character)) return false;
  return true;
}

/** Scripts without blanks: every ideograph is a token, and a Latin word beside one ends there. */
function scriptChanges(text: string, at: number): boolean {
  const before = text.charAt(at - 1);
  const after = text.charAt(at);
  const sides = [before, after];
  return sides.some(isIdeograph) && sides.every((side) => /[\p{L}\p{N}]/u.test(side));
}

/** `... our-company.com.They sent ...`: a full stop without a blank, recognised by the capital after it. */
function endsSentence(text: string, end: number): boolean {
  return /^\p{Ll}\.\p{Lu}\p{Ll}/u.test(text.slice(end - 1, end + 3));
}

function itemStart(text: string, at: number): number | undefined {
  let start = at;
  while (start > 0 && !isHardSeparator(text.charAt(start - 1))) {
    start -= 1;
    if (at - start > itemUnitsMax) return undefined;
  }
  return start;
}

function itemEnd(text: string, end: number): number | undefined {
  let stop = end;
  while (stop < text.length && !isHardSeparator(text.charAt(stop))) {
    stop += 1;
    if (stop - end > itemUnitsMax) return undefined;
  }
  return stop;
}

function hasSlash(text: string, start: number, at: number): boolean {
  const stop = itemEnd(text, at);
  return stop === undefined || /[/\\]/.test(text.slice(start, stop));
}

function hasSlashBefore(text: string, end: number): boolean {
  const start = itemStart(text, end);
  return start === undefined || /[/\\]/.test(text.slice(start, end));
}

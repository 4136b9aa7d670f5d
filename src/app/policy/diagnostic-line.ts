/** A diagnostic of a policy as one line for users. */
import type { Diagnostic } from "../../policy/document/diagnostic.ts";
import { sentenceMax, shortPath } from "../state/sentences.ts";

/** Least length of a message with a long remedy, in UTF-16 units: enough to name the word at fault. */
const messageUnitsMin = 60;

/** Message and remedy that fit beside a path of any length. */
const remedyUnitsRoomy = 110;

/**
 * One diagnostic as a line: place, sentence, remedy. Too long a message is cut before the way on; a way on that is longer
 * than all that is left is a list of legal words, and loses its end.
 */
export function diagnosticLine(found: Diagnostic): string {
  const long = messageUnitsMin + found.remedy.length > remedyUnitsRoomy;
  const file = long ? shortPath(found.file, 40) : shortPath(found.file);
  const place = found.line === 0 ? file : `${file}:${found.line}:${found.column}`;
  const code = ` [${found.code}]`;
  const room = sentenceMax - place.length - code.length - 4;
  const message = cut(found.message, Math.max(Math.min(messageUnitsMin, room), room - found.remedy.length));
  return `${place}: ${message}: ${cut(found.remedy, room - message.length)}${code}`;
}

function cut(text: string, unitsMax: number): string {
  return text.length <= unitsMax ? text : `${text.slice(0, Math.max(0, unitsMax - 3))}...`;
}

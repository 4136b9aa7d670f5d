/**
 * Text that an approver reads before consenting. Names and values come from models and servers, so nothing in them may
 * end a line, turn its direction or stay unseen, and a long value must not push the recipient out of sight.
 */
import type { JsonObject } from "../../core/json.ts";
import { canonicalJson } from "../../wire/canonical.ts";

/** Name of our question among the `inputRequests` of a result. */
export const consentInputName = "sluicegate-consent";

/** Characters of the arguments that a card or form shows; the digest of the consent binds all of them. */
export const shownArgumentsMax = 2_000;

/** Characters of one argument that are shown at least, however many there are. */
const shownArgumentMin = 60;

/** Text from outside with control and invisible characters as escapes. */
export function escapeForDisplay(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** The arguments as they are where that is short, else the beginning of each with its length. */
export function shownArguments(given: JsonObject): string {
  const whole = escapeForDisplay(canonicalJson(given));
  if (whole.length <= shownArgumentsMax) return whole;
  const names = Object.keys(given).sort();
  const share = Math.max(shownArgumentMin, Math.floor(shownArgumentsMax / names.length));
  const shown: string[] = [];
  let length = 0;
  for (const name of names) {
    const line = clipped(`${JSON.stringify(name)}:${canonicalJson(given[name] ?? null)}`, share);
    length += line.length;
    if (length > shownArgumentsMax + share) break;
    shown.push(line);
  }
  const rest = names.length - shown.length;
  return `{${shown.join(", ")}${rest === 0 ? "" : `, and ${rest} arguments more`}} (${whole.length} characters)`;
}

function clipped(text: string, charactersMax: number): string {
  const seen = escapeForDisplay(text);
  return seen.length <= charactersMax ? seen : `${seen.slice(0, charactersMax)} ... (${seen.length} characters)`;
}

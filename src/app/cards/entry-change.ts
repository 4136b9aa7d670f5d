/** What kind of change an entry of a list is, mildest first, for the card that is opened again (lifecycle.md 1.1). */
import { type JsonObject, member } from "../../core/json.ts";
import { covers } from "../../core/effect.ts";
import { meaningOf } from "../../gateway/lists/entry-form.ts";
import { type ToolReading, readingGroups } from "../../oracles/labels/reading.ts";
import { effectsForm } from "../../policy/document/label-forms.ts";
import { canonicalJson } from "../../wire/canonical.ts";

export const entryChangeKinds = [
  "new",
  "cosmetic",
  "wording",
  "schema",
  "capability widened",
  "instruction added",
] as const;
export type EntryChangeKind = (typeof entryChangeKinds)[number];

export type Before = {
  readonly entry: JsonObject;
  readonly reading: ToolReading;
  readonly findings: readonly string[];
};
export type Now = Before;

/** The gravest kind that holds. */
export function kindOfChange(before: Before | undefined, now: Now): EntryChangeKind {
  if (before === undefined) return "new";
  if (now.findings.some((one) => !before.findings.includes(one))) return "instruction added";
  if (isWider(before, now)) return "capability widened";
  if (differ(member(before.entry, "inputSchema"), member(now.entry, "inputSchema"))) return "schema";
  return differ(meaningOf(before.entry), meaningOf(now.entry)) ? "wording" : "cosmetic";
}

/** More effects than before, a graver group, or a hint of harmlessness that is gone. */
function isWider(before: Before, now: Now): boolean {
  const graver = readingGroups.indexOf(now.reading.group) > readingGroups.indexOf(before.reading.group);
  const effects = (label: ToolReading["label"]): readonly string[] | undefined =>
    label.effects === undefined ? undefined : effectsForm(label.effects).may;
  const [was, is] = [effects(before.reading.label), effects(now.reading.label)];
  const more = was !== undefined && (is === undefined || is.some((one) => !was.some((known) => covers(known, one))));
  const hint = (entry: JsonObject, name: string) => member(member(entry, "annotations"), name);
  const bolder =
    (hint(before.entry, "readOnlyHint") === true && hint(now.entry, "readOnlyHint") !== true) ||
    (hint(before.entry, "destructiveHint") !== true && hint(now.entry, "destructiveHint") === true);
  return graver || more || bolder;
}

function differ(one: JsonObject[string] | undefined, other: JsonObject[string] | undefined): boolean {
  const text = (value: JsonObject[string] | undefined): string =>
    canonicalJson(value === undefined ? null : meaningOf(value));
  return text(one) !== text(other);
}

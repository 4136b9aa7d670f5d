/**
 * Whether the schema, the annotations and the labels of a tool say the same, for authors of servers (docs/labels.md). A
 * finding names a place by JSON Pointer within the list entry, the reason, and what to change.
 */
import { type Effect, covers } from "../../core/effect.ts";
import { type Json, type JsonObject, isObject, member, stringMember } from "../../core/json.ts";
import { escapeToken, unescapeToken } from "../../core/pointer.ts";
import { metaDomain, schemaKeywordPrefix } from "../../policy/contracts/carriers.ts";
import { inferArguments } from "../../policy/contracts/infer.ts";
import { checkShape } from "../../policy/document/check.ts";
import { effectsForm } from "../../policy/document/label-forms.ts";
import { type ToolLabelsText, shippedToolLabels } from "../../policy/document/shapes-labels.ts";
import { isActing } from "./deeds.ts";
import type { ReadingContext } from "./sign.ts";
import { signsOf } from "./signs.ts";

export type LabelFinding = {
  readonly tool: string;
  /** JSON Pointer within the list entry. */
  readonly place: string;
  readonly rule: "form" | "place" | "unlabelled" | "annotation" | "argument" | "field" | "sign";
  readonly reason: string;
  readonly remedy: string;
};

const own = `${metaDomain}/labels`;
const ownPlace = `/_meta/${escapeToken(own)}`;

/** Findings of all tools, in the order of the list. */
export function lintLabels(context: ReadingContext): readonly LabelFinding[] {
  const labelled = context.tools.some((tool) => member(member(tool, "_meta"), own) !== undefined);
  return context.tools.flatMap((tool) => {
    const name = stringMember(tool, "name") ?? "";
    return [...findings(tool, context, labelled)].map((one) => ({ tool: name, ...one }));
  });
}

type Finding = Omit<LabelFinding, "tool">;

function findings(tool: JsonObject, context: ReadingContext, labelled: boolean): readonly Finding[] {
  const misplaced = placeFindings(tool);
  const value = member(member(tool, "_meta"), own);
  if (value === undefined) {
    const reason = "other tools of the list have labels, and this one has none";
    const remedy = `add \`_meta["${own}"]\`, or let \`sluicegate labels MANIFEST --write\` propose it`;
    return labelled ? [...misplaced, { place: "", rule: "unlabelled", reason, remedy }] : misplaced;
  }
  const wrong = checkShape(shippedToolLabels, value).map((problem): Finding => {
    const place = `${ownPlace}${problem.path.map((part) => `/${escapeToken(String(part))}`).join("")}`;
    return { place, rule: "form", reason: problem.message, remedy: problem.remedy };
  });
  if (wrong.length > 0) return [...misplaced, ...wrong];
  const label = value as unknown as ToolLabelsText; // checked against its shape above
  const effects = label.effects === undefined ? undefined : effectsForm(label.effects).may;
  return [
    ...misplaced,
    ...annotationFindings(tool, effects),
    ...argumentFindings(tool, label),
    ...fieldFindings(tool, label),
    ...(effects === undefined ? [] : signFindings(tool, context, effects)),
  ];
}

/** Labels that clients and monitors do not see where they stand, and keywords without a reader. */
function placeFindings(tool: JsonObject): readonly Finding[] {
  const found: Finding[] = [];
  if (member(tool, "labels") !== undefined) {
    const reason = "SDKs drop members of a tool that the protocol does not know";
    found.push({ place: "/labels", rule: "place", reason, remedy: `move them into \`_meta["${own}"]\`` });
  }
  const known = ["role", "sink", "bound"].map((word) => `${schemaKeywordPrefix}${word}`);
  for (const [argument, schema] of Object.entries(properties(tool, "inputSchema"))) {
    for (const keyword of isObject(schema) ? Object.keys(schema) : []) {
      if (!keyword.startsWith(schemaKeywordPrefix) || known.includes(keyword)) continue;
      const place = `/inputSchema/properties/${escapeToken(argument)}/${escapeToken(keyword)}`;
      found.push({
        place,
        rule: "place",
        reason: "no such keyword is read",
        remedy: `write one of ${known.join(", ")}`,
      });
    }
  }
  return found;
}

function properties(tool: JsonObject, schema: string): JsonObject {
  const found = member(member(tool, schema), "properties");
  return isObject(found) ? found : {};
}

function annotationFindings(tool: JsonObject, effects: readonly Effect[] | undefined): readonly Finding[] {
  if (effects === undefined) return [];
  const hint = (name: string): Json | undefined => member(member(tool, "annotations"), name);
  const reads = effects.every((effect) => covers("read", effect));
  const outside = effects.some((effect) => effect.includes(".external"));
  const deletes = effects.some((effect) => effect.endsWith(".delete"));
  const say = (name: string, reason: string, remedy: string): Finding => {
    return { place: `/annotations/${name}`, rule: "annotation", reason, remedy };
  };
  const either = "change the one that is wrong";
  return [
    ...(hint("readOnlyHint") === true && !reads
      ? [say("readOnlyHint", `it says that the tool only reads, and \`effects\` has ${acting(effects)}`, either)]
      : []),
    ...(hint("readOnlyHint") === false && reads
      ? [say("readOnlyHint", "it says that the tool changes something, and `effects` only reads", either)]
      : []),
    ...(hint("destructiveHint") === true && reads
      ? [say("destructiveHint", "it says that the tool destroys something, and `effects` only reads", either)]
      : []),
    ...(hint("destructiveHint") === false && deletes
      ? [say("destructiveHint", "it says that the tool destroys nothing, and `effects` deletes", either)]
      : []),
    ...(hint("openWorldHint") === false && outside
      ? [say("openWorldHint", "it says that the tool stays here, and `effects` reaches outside", either)]
      : []),
    ...(hint("openWorldHint") === true && !outside
      ? [say("openWorldHint", "it says that the tool reaches outside, and `effects` is local", either)]
      : []),
  ];
}

function acting(effects: readonly Effect[]): string {
  return effects
    .filter((effect) => !covers("read", effect))
    .map((effect) => `\`${effect}\``)
    .join(", ");
}

/** Labels of arguments that the schema does not have, and roles that its formats contradict. */
function argumentFindings(tool: JsonObject, { args = {} }: ToolLabelsText): readonly Finding[] {
  const known = inferArguments(tool);
  return Object.entries(args).flatMap(([name, text]): readonly Finding[] => {
    const place = `${ownPlace}/args/${escapeToken(name)}`;
    if (!known.has(name))
      return [
        {
          place,
          rule: "argument",
          reason: `\`inputSchema\` has no argument \`${name}\``,
          remedy: "name it as the schema does",
        },
      ];
    const role = typeof text === "string" ? text : text.role;
    const format = stringMember(member(properties(tool, "inputSchema"), name), "format") ?? "";
    const wanted = /^(uri|url|iri|hostname)$/.test(format)
      ? "destination"
      : format.endsWith("email")
        ? "recipient"
        : undefined;
    if (wanted === undefined || role === undefined || (role !== "content" && role !== "query")) return [];
    const reason = `its format is \`${format}\`, and as \`${role}\` it would decide nothing`;
    return [{ place, rule: "argument", reason, remedy: `label it \`${wanted}\`` }];
  });
}

/** Parts of the result that the `outputSchema` does not have. Schemas that are not plain objects and lists are not followed. */
function fieldFindings(tool: JsonObject, { output }: ToolLabelsText): readonly Finding[] {
  const fields = typeof output === "object" ? (output.fields ?? {}) : {};
  const schema = member(tool, "outputSchema");
  if (schema === undefined) return [];
  return Object.keys(fields).flatMap((pointer): readonly Finding[] => {
    if (reaches(schema, pointer)) return [];
    const reason = "`outputSchema` has no such part";
    const place = `${ownPlace}/output/fields/${escapeToken(pointer)}`;
    return [{ place, rule: "field", reason, remedy: "write a JSON Pointer of the result, with `*` for every element" }];
  });
}

function reaches(schema: Json, pointer: string): boolean {
  let at: Json | undefined = schema;
  for (const token of pointer.split("/").slice(1)) {
    const below: Json | undefined =
      token === "*" ? (member(at, "items") ?? member(at, "additionalProperties")) : undefined;
    const next: Json | undefined = below ?? member(member(at, "properties"), unescapeToken(token));
    // References, choices and open objects may hold anything.
    if (next === undefined) return !isObject(at ?? null) || member(at, "properties") === undefined;
    at = next;
  }
  return true;
}

/** A label of reading alone beside a sign of acting. */
function signFindings(tool: JsonObject, context: ReadingContext, effects: readonly Effect[]): readonly Finding[] {
  if (!effects.every((effect) => covers("read", effect))) return [];
  const [sign] = signsOf(tool, context).filter(({ id }) => isActing(id) && !/Hint=|^name:none$/.test(id));
  if (sign === undefined) return [];
  const reason = `\`effects\` only reads, and ${sign.because} tells of more`;
  const remedy = "add what the call does besides reading, or rename what only sounds so";
  return [{ place: `${ownPlace}/effects`, rule: "sign", reason, remedy }];
}

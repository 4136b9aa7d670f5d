/** Labels of what is released, and the values that redaction leaves behind. */
import { type ResultScope, resultScope, type ToolContract } from "../../core/contract.ts";
import { type Json, type JsonObject, isArray, isObject, member, setOwn } from "../../core/json.ts";
import { type LabelRange, joinRanges } from "../../core/label.ts";
import type { CallOption } from "../../core/moment.ts";
import type { FieldLabel, Obligation } from "../../core/opinion.ts";
import { pointerTokens } from "../../core/pointer.ts";

export type ReleaseLabel = {
  readonly range: LabelRange;
  readonly fields: readonly FieldLabel[];
  readonly scope?: ResultScope;
};

/** The part of a release that says where the names in its value mean something; nothing where only its tool does. */
export function scopeOf({ scope }: Pick<ReleaseLabel, "scope">): { readonly scope?: ResultScope } {
  return scope === undefined ? {} : { scope };
}

/**
 * The label that is recorded for a release: the join of the labels that the mechanisms oblige; without any such
 * obligation the formula of formal.md 4.1 (output of the tool, joined with all of its arguments).
 */
export function releaseLabel(
  obligations: readonly Obligation[],
  contract: ToolContract,
  option: CallOption | undefined,
): ReleaseLabel {
  const known = resultScope(contract);
  const scoped = known.stores.length === 0 && known.types.length === 0 ? {} : { scope: known };
  let range: LabelRange | undefined;
  let fields: readonly FieldLabel[] = [];
  for (const obligation of obligations) {
    if (obligation.kind !== "label") continue;
    // Labels of fields only hold as long as one mechanism speaks; two could disagree, and then the whole counts.
    fields = range === undefined ? obligation.fields : [];
    range = range === undefined ? obligation.range : joinRanges(range, obligation.range);
  }
  if (range !== undefined) return { range, fields, ...scoped };
  range = contract.output.label;
  for (const argument of option?.arguments.values() ?? []) range = joinRanges(range, argument.range);
  return { range, fields: [], ...scoped };
}

/** Blanks every place that the obligations name; undefined when one of them is not there to be blanked. */
export function redacted(value: Json, obligations: readonly Obligation[], schema: Json | undefined): Json | undefined {
  let result: Json = value;
  for (const obligation of obligations) {
    if (obligation.kind !== "redact") continue;
    const tokens = pointerTokens(obligation.pointer);
    const blanked: Json | undefined = tokens === undefined ? undefined : blankAt(result, tokens, schema);
    if (blanked === undefined) return undefined;
    result = blanked;
  }
  return result;
}

function blankAt(value: Json, [token, ...rest]: readonly string[], schema: Json | undefined): Json | undefined {
  if (token === undefined) return blankOf(value, schema);
  if (isArray(value)) {
    const inner = member(schema, "items");
    if (token === "*") {
      const all = value.map((element) => blankAt(element, rest, inner));
      return all.every((element) => element !== undefined) ? all : undefined;
    }
    const index = Number(token);
    const element = value[index];
    const blanked = element === undefined ? undefined : blankAt(element, rest, inner);
    return blanked === undefined ? undefined : value.with(index, blanked);
  }
  if (!isObject(value)) return undefined;
  const names = token === "*" ? Object.keys(value) : [token];
  const copy: Record<string, Json> = { ...value };
  for (const name of names) {
    const found = member(value, name);
    const inner = member(member(schema, "properties"), name);
    // Output schemas describe the structured part; inside the whole result it sits one level down.
    const blanked =
      found === undefined ? undefined : blankAt(found, rest, name === "structuredContent" ? schema : inner);
    if (blanked === undefined) return undefined;
    setOwn(copy, name, blanked);
  }
  return copy;
}

/** Depth to which a schema is followed while a blank is made; schemas are hostile and may be recursive. */
const blankDepthMax = 8;

/** A value that says nothing and still satisfies the schema: official clients drop results that do not. */
export function blankOf(value: Json, schema: Json | undefined, depth = 0): Json {
  const allowed = member(schema, "enum");
  if (isArray(allowed) && allowed[0] !== undefined) return allowed[0];
  const constant = member(schema, "const");
  if (constant !== undefined) return constant;
  if (typeof value === "string") return "";
  if (typeof value === "boolean") return false;
  if (value === null) return null;
  if (isArray(value)) return [];
  if (!isObject(value)) return member(schema, "minimum") ?? 0;
  return blankObject(value, schema, depth);
}

function blankObject(value: JsonObject, schema: Json | undefined, depth: number): Json {
  const required = member(schema, "required");
  if (!isArray(required) || depth >= blankDepthMax) return {};
  const blank: Record<string, Json> = {};
  for (const name of required) {
    if (typeof name !== "string") continue;
    const inner = blankOf(member(value, name) ?? "", member(member(schema, "properties"), name), depth + 1);
    setOwn(blank, name, inner);
  }
  return blank;
}

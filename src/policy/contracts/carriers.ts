/**
 * Labels that a server ships with its tools. One constant holds our `_meta` domain; the paper's top-level `labels` are
 * read and never written, because SDKs strip them (both official clients drop unknown tool keys).
 */
import { type Role, roles } from "../../core/contract.ts";
import {
  type Json,
  type JsonObject,
  isArray,
  isObject,
  member,
  setOwn,
  stringMember,
  isPlainObject,
} from "../../core/json.ts";
import type { ToolLabelsForm } from "../document/long-form.ts";
import { toolLabelsForm } from "../document/label-forms.ts";
import { type LabelText, type OutputText, type ToolLabelsText, toolLabels } from "../document/shapes-labels.ts";
import { checkShape } from "../document/check.ts";
import { argumentsMax } from "../values/limits.ts";

/** Reverse domain of everything of ours in `_meta`. */
export const metaDomain = "io.github.sluicegate";

/** Prefix of our keywords in an `inputSchema`. */
export const schemaKeywordPrefix = "x-sluicegate-";

/** The labels that a server ships for one of its tools, in the policy's own words; undefined if none is readable. */
export function shippedLabels(tool: JsonObject, levels: readonly string[]): ToolLabelsForm | undefined {
  const meta = member(tool, "_meta");
  const own = readLabels(member(meta, `${metaDomain}/labels`));
  const flow = flowLabel(member(meta, "ifc"), levels);
  const paper = paperLabels(member(tool, "labels"));
  const marked = schemaArguments(tool);
  if (own === undefined && flow === undefined && paper === undefined && marked === undefined) return undefined;
  return toolLabelsForm({
    ...paper,
    ...(flow === undefined ? {} : { output: flow }),
    ...own,
    ...(marked === undefined ? {} : { args: { ...own?.args, ...marked } }),
  });
}

/** Cases would need predicates of the policy, which a server must not add. */
function readLabels(value: unknown): ToolLabelsText | undefined {
  if (!isPlainObject(value)) return undefined;
  const { version: _version, cases: _cases, ...rest } = value;
  // Checked against the shape of tool labels on this line; hostile text that does not fit says nothing.
  return checkShape(toolLabels, rest).length === 0 ? (rest as ToolLabelsText) : undefined;
}

/** `_meta.ifc = {integrity, confidentiality}`; readers as a list mean that not everyone may read. */
function flowLabel(value: Json | undefined, levels: readonly string[]): LabelText | undefined {
  const confidentiality = member(value, "confidentiality");
  const integrity = stringMember(value, "integrity");
  const highest = levels.at(-1) ?? "";
  const level = isArray(confidentiality)
    ? highest
    : typeof confidentiality === "string" && levels.includes(confidentiality)
      ? confidentiality
      : undefined;
  if (level === undefined && integrity !== "trusted" && integrity !== "untrusted") return undefined;
  return {
    confidentiality: level ?? "unsure",
    ...(integrity === "trusted" || integrity === "untrusted" ? { trust: integrity } : {}),
  };
}

/** The paper's form: `{capabilities, confidentiality, trust_level}` beside the name of a tool. */
function paperLabels(value: unknown): ToolLabelsText | undefined {
  if (!isPlainObject(value)) return undefined;
  const { capabilities, confidentiality, trust_level } = value;
  const output = {
    ...(confidentiality === undefined ? {} : { confidentiality }),
    ...(trust_level === undefined ? {} : { trust_level }),
  };
  const text = {
    ...(capabilities === undefined ? {} : { capabilities }),
    ...(Object.keys(output).length === 0 ? {} : { output }),
  };
  // As above: what does not fit the shape says nothing.
  return checkShape(toolLabels, text).length === 0 ? (text as { output?: OutputText }) : undefined;
}

function schemaArguments(tool: JsonObject): ToolLabelsText["args"] | undefined {
  const properties = member(member(tool, "inputSchema"), "properties");
  if (!isObject(properties)) return undefined;
  const found: { [name: string]: { role?: Role; sink?: boolean } } = {};
  for (const name of Object.keys(properties).slice(0, argumentsMax)) {
    const schema = member(properties, name);
    const role = roles.find((each) => each === stringMember(schema, `${schemaKeywordPrefix}role`));
    const sink = member(schema, `${schemaKeywordPrefix}sink`);
    if (role === undefined && typeof sink !== "boolean") continue;
    const said = { ...(role === undefined ? {} : { role }), ...(typeof sink === "boolean" ? { sink } : {}) };
    setOwn(found, name, said);
  }
  return Object.keys(found).length === 0 ? undefined : found;
}

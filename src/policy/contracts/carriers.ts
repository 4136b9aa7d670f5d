/**
 * Labels that a server ships with its tools. One constant holds our `_meta` domain; the paper's top-level `labels` are
 * read and never written, because SDKs strip them (both official clients drop unknown tool keys).
 */
import { roles } from "../../core/contract.ts";
import { given } from "../../core/given.ts";
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
import type { Lattice } from "../../core/label.ts";
import type { ToolLabelsForm } from "../document/long-form.ts";
import { toolLabelsForm } from "../document/label-forms.ts";
import {
  type ArgumentObject,
  type BoundText,
  type LabelText,
  type OutputText,
  type ToolLabelsText,
  toolLabels,
} from "../document/shapes-labels.ts";
import { checkShape } from "../document/check.ts";
import { argumentsMax } from "../values/limits.ts";

/** Reverse domain of everything of ours in `_meta`. */
export const metaDomain = "io.github.sluicegate";

/** Prefix of our keywords in an `inputSchema`. */
export const schemaKeywordPrefix = "x-sluicegate-";

/** Names of the policy's lattice. */
type Words = Pick<Lattice, "levels" | "categories">;

/** The labels that a server ships for one of its tools, in the policy's own words; undefined if none is readable. */
export function shippedLabels(tool: JsonObject, lattice: Words): ToolLabelsForm | undefined {
  const { levels } = lattice;
  const meta = member(tool, "_meta");
  const own = readLabels(member(meta, `${metaDomain}/labels`));
  const flow = flowLabel(member(meta, "ifc"), levels);
  const paper = paperLabels(member(tool, "labels"));
  const marked = schemaArguments(tool, lattice, own?.args);
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

type ArgumentsText = NonNullable<ToolLabelsText["args"]>;

/**
 * Labels inside the `inputSchema`: our keywords, and `labels` of a property, the form of the paper. They are added to what
 * `stated` says of the same argument.
 */
function schemaArguments(tool: JsonObject, words: Words, stated: ArgumentsText = {}): ArgumentsText | undefined {
  const properties = member(member(tool, "inputSchema"), "properties");
  if (!isObject(properties)) return undefined;
  const found: { [name: string]: ArgumentObject } = {};
  for (const name of Object.keys(properties).slice(0, argumentsMax)) {
    const said = schemaArgument(member(properties, name), words);
    if (Object.keys(said).length === 0) continue;
    const other = Object.hasOwn(stated, name) ? stated[name] : undefined;
    setOwn(found, name, { ...(typeof other === "string" ? { role: other } : other), ...said });
  }
  return Object.keys(found).length === 0 ? undefined : found;
}

function schemaArgument(schema: Json | undefined, words: Words): ArgumentObject {
  const labels = member(schema, "labels");
  // What must be trusted steers the call; the paper has no roles.
  const wanted = stringMember(labels, "trust_level") === "trusted" ? "query" : undefined;
  const role = roles.find((each) => each === stringMember(schema, `${schemaKeywordPrefix}role`)) ?? wanted;
  const sink = member(schema, `${schemaKeywordPrefix}sink`);
  const bound = boundOf(member(schema, `${schemaKeywordPrefix}bound`), words) ?? paperBound(labels, words);
  return given<ArgumentObject>({ role, sink: typeof sink === "boolean" ? sink : undefined, bound });
}

/** The paper's `confidentiality` of an input: the most that may be sent there. `inferred` and `unsure` state nothing. */
function paperBound(labels: Json | undefined, words: Words): BoundText | undefined {
  const level = member(labels, "confidentiality");
  return level === "inferred" || level === "unsure" ? undefined : boundOf(level, words);
}

/** A bound in words that the policy does not have admits the lowest level alone, which no reading of it goes below. */
function boundOf(said: Json | undefined, { levels, categories }: Words): BoundText | undefined {
  if (said === undefined) return undefined;
  const level = typeof said === "string" ? said : stringMember(said, "confidentiality");
  const named = member(said, "categories");
  const admitted = isArray(named) ? named.filter((name) => categories.some((known) => known === name)) : [];
  const known = levels.find((each) => each === level);
  if (known === undefined) return { confidentiality: levels[0] ?? "", categories: [] };
  return { confidentiality: known, categories: admitted.filter((name) => typeof name === "string") };
}

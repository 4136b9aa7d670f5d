/** The published JSON Schemas of the policy document and of labels that servers ship: draft-07, which is what editors understand. */
import type { JsonObject } from "../../core/json.ts";
import type { ObjectNode, ShapeNode } from "../document/shape.ts";
import { shippedToolLabels } from "../document/shapes-labels.ts";
import { policyShape } from "./policy-document.ts";

const schemaId = "https://sluicegate.github.io/schema/policy.schema.json";
/** Also names the extension of the protocol's capabilities. */
export const labelsSchemaId = "https://sluicegate.github.io/schema/labels.schema.json";

/** Generated from the shapes that the parser checks with, so that both accept the same documents. */
export function policySchema(): JsonObject {
  return published(policyShape, { id: schemaId, title: "Sluicegate policy" });
}

/** Schema of the labels that a server ships in the `_meta` of a tool (docs/labels.md). */
export function labelsSchema(): JsonObject {
  return published(shippedToolLabels, { id: labelsSchemaId, title: "Labels of a tool" });
}

function published(shape: ShapeNode, { id, title }: { readonly id: string; readonly title: string }): JsonObject {
  const definitions: Definitions = { shared: sharedNames(shape), written: new Map() };
  const root = bodyOf(shape, definitions);
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    $id: id,
    title,
    ...root,
    definitions: Object.fromEntries([...definitions.written].toSorted(([left], [right]) => (left < right ? -1 : 1))),
  };
}

type Definitions = { readonly shared: ReadonlyMap<ShapeNode, string>; readonly written: Map<string, JsonObject> };

/** Shapes that are used in several places get a name, so that the file stays small enough to read. */
function sharedNames(root: ShapeNode): ReadonlyMap<ShapeNode, string> {
  const uses = new Map<ShapeNode, number>();
  const walk = (shape: ShapeNode): void => {
    const before = uses.get(shape) ?? 0;
    uses.set(shape, before + 1);
    if (before === 0) for (const child of childrenOf(shape)) walk(child);
  };
  walk(root);
  const names = new Map<ShapeNode, string>();
  const taken = new Set<string>();
  for (const [shape, count] of uses) {
    if (count < 2 || (shape.kind !== "object" && shape.kind !== "union" && shape.kind !== "named")) continue;
    const base = shape.kind === "named" ? shape.name : shape.what.replace(/[^a-z]+/g, "-").replace(/^-+|-+$/g, "");
    let name = base;
    for (let index = 2; taken.has(name); index += 1) name = `${base}-${index}`;
    taken.add(name);
    names.set(shape, name);
  }
  return names;
}

function childrenOf(shape: ShapeNode): readonly ShapeNode[] {
  switch (shape.kind) {
    case "array":
      return [shape.items];
    case "record":
      return [shape.values];
    case "object":
      return Object.values(shape.fields).map((field) => field.shape);
    case "union":
      return shape.options;
    case "named":
      return [shape.get()];
    case "any":
    case "null":
    case "boolean":
    case "string":
    case "enum":
    case "const":
    case "number":
      return [];
  }
}

function schemaOf(shape: ShapeNode, definitions: Definitions): JsonObject {
  const name = definitions.shared.get(shape);
  if (name === undefined) return bodyOf(shape, definitions);
  if (!definitions.written.has(name)) {
    // Reserved first: a recursive shape refers to itself while it is being written.
    definitions.written.set(name, {});
    definitions.written.set(name, bodyOf(shape, definitions));
  }
  return { $ref: `#/definitions/${name}` };
}

function bodyOf(shape: ShapeNode, definitions: Definitions): JsonObject {
  switch (shape.kind) {
    case "any":
      return {};
    case "null":
    case "boolean":
      return { type: shape.kind };
    case "string":
      return { type: "string", ...(shape.pattern === undefined ? {} : { pattern: shape.pattern }) };
    case "enum":
      return { enum: shape.values };
    case "const":
      return { const: shape.value };
    case "number":
      return {
        type: shape.integer ? "integer" : "number",
        ...(shape.min === undefined ? {} : { minimum: shape.min }),
        ...(shape.max === undefined ? {} : { maximum: shape.max }),
      };
    case "array":
      return {
        type: "array",
        items: schemaOf(shape.items, definitions),
        ...(shape.min === 0 ? {} : { minItems: shape.min }),
        ...(shape.max === undefined ? {} : { maxItems: shape.max }),
      };
    case "record":
      return {
        type: "object",
        ...(shape.pattern === undefined ? {} : { propertyNames: { pattern: shape.pattern } }),
        ...(shape.notEmpty === undefined ? {} : { minProperties: 1 }),
        additionalProperties: schemaOf(shape.values, definitions),
      };
    case "object":
      return objectSchema(shape, definitions);
    case "union":
      return { anyOf: shape.options.map((option) => schemaOf(option, definitions)) };
    case "named":
      return schemaOf(shape.get(), definitions);
  }
}

function objectSchema(shape: ObjectNode, definitions: Definitions): JsonObject {
  const fields = Object.entries(shape.fields);
  const properties = fields.map(([name, field]) => {
    const schema = schemaOf(field.shape, definitions);
    // In draft-07 whatever stands beside a `$ref` is ignored, so the description goes around it.
    return [
      name,
      "$ref" in schema ? { description: field.says, allOf: [schema] } : { description: field.says, ...schema },
    ];
  });
  const needed = fields.filter(([, field]) => field.required).map(([name]) => name);
  return {
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(properties),
    ...(needed.length === 0 ? {} : { required: needed }),
    ...(shape.notEmpty === true ? { minProperties: 1 } : {}),
    ...(shape.oneOf === undefined ? {} : { oneOf: shape.oneOf.map((name) => ({ required: [name] })) }),
  };
}

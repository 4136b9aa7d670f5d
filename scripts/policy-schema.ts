/** Writes the published JSON Schemas of policies and of labels: `node scripts/policy-schema.ts`, after a change of shapes. */
import { writeFileSync } from "node:fs";
import { labelsSchema, policySchema } from "../src/policy/canonical/schema.ts";

for (const [name, schema] of [
  ["policy", policySchema()],
  ["labels", labelsSchema()],
] as const) {
  const file = new URL(`../schema/${name}.schema.json`, import.meta.url);
  writeFileSync(file, `${JSON.stringify(schema, undefined, 2)}\n`);
}

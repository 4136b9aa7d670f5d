/** Writes the published JSON Schema of the policy document: `node scripts/policy-schema.ts`, after a change of shapes. */
import { writeFileSync } from "node:fs";
import { policySchema } from "../src/policy/canonical/schema.ts";

writeFileSync(
  new URL("../schema/policy.schema.json", import.meta.url),
  `${JSON.stringify(policySchema(), undefined, 2)}\n`,
);

/**
 * Proves the starter policy of every pack and writes the certificates beside it, one bundle for each pack:
 * `node scripts/prove-packs.ts`. A hazard that is not proved fails the script; a bundle that is out of date fails a test.
 */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { proofInput } from "../src/app/proof/subject-tools.ts";
import { packageFolder } from "../src/app/policy/policy-source.ts";
import { bundle } from "../src/app/proof/bundle.ts";
import { verify } from "../src/app/proof/verify.ts";

const policies = join(packageFolder, "packs/policies");
const certificates = join(packageFolder, "packs/certificates");

// A certificate speaks of the policy as it is written, whatever isolation the machine that checks it gives by default.
process.env["SLUICEGATE_ISOLATION"] = "off";

mkdirSync(certificates, { recursive: true });
for (const file of readdirSync(policies).toSorted()) {
  const input = proofInput(join(policies, file), undefined);
  if (!input.ok) throw new Error(`${file}: ${input.error.sentence}`);
  const verified = verify(input.value.policy, input.value.manifest, { rulesOnly: true });
  const open = verified.properties.filter(({ verdict }) => verdict !== "proved").map(({ id }) => id);
  if (!verified.ok) throw new Error(`${file}: not proved: ${open.join(", ") || "an expected trace does not hold"}`);
  const made = verified.properties.flatMap(({ certificate }) => (certificate === undefined ? [] : [certificate]));
  const name = file.replace(/\.yaml$/, ".json");
  writeFileSync(join(certificates, name), `${JSON.stringify(bundle(made))}\n`);
  process.stdout.write(`${name}: ${made.length} proofs\n`);
}

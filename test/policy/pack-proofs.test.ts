// Every starter policy is proved, and the shipped certificates are those proofs: checked by the checker that shares
// nothing with the engine, against the policy and the tools that are there now.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { member } from "../../src/core/json.ts";
import { checkCertificate } from "../../src/proof/check/check.ts";
import { makeProver, proveHazard } from "../../src/proof/prove/prove.ts";
import { tableEntry } from "../../src/proof/prove/table.ts";
import { proofInput, subjectOf } from "../../src/app/proof/subject-tools.ts";
import { packageFolder, sha256 } from "../../src/app/policy/policy-source.ts";
import { readCertificates } from "../../src/app/proof/bundle.ts";

const policies = join(packageFolder, "packs/policies");
const names = readdirSync(policies).map((file) => file.replace(/\.yaml$/, ""));

/** The packs that the project promises; more may come. */
const promised = [
  "airtable",
  "aws",
  "azure",
  "browserbase",
  "calendar",
  "drive",
  "exa",
  "fetch",
  "filesystem",
  "gcp",
  "git",
  "github",
  "gitlab",
  "google-drive",
  "hubspot",
  "mail",
  "memory",
  "mongodb",
  "obsidian",
  "payments",
  "playwright",
  "postgres",
  "puppeteer",
  "redis",
  "shell",
  "slack",
  "sqlite",
  "tavily",
  "todoist",
];

test("every promised pack has a starter policy", () => {
  expect(names).toEqual(expect.arrayContaining(promised));
});

describe.each(names)("%s", (name) => {
  const input = proofInput(join(policies, `${name}.yaml`), undefined);
  if (!input.ok) throw new Error(input.error.sentence);
  const { policy, manifest } = input.value;
  const subject = subjectOf(policy, manifest);

  test("each hazard is proved by rules alone, and would be possible without them", () => {
    const prover = makeProver(subject);
    for (const hazard of policy.ir.hazards) {
      const proof = proveHazard(prover, hazard);
      expect({ id: hazard.id, verdict: proof.verdict }).toEqual({ id: hazard.id, verdict: "proved" });
      if (hazard.consent === "never") expect(proof.enforcedBy, hazard.id).toBe("rules");
      expect(proof.without.verdict, hazard.id).toBe("refuted");
    }
  });

  test("the shipped certificates hold for this policy and these tools (else: node scripts/prove-packs.ts)", () => {
    const shipped = readCertificates(join(packageFolder, "packs/certificates", `${name}.json`));
    if (!shipped.ok) throw new Error(shipped.error);
    const tools = subject.contracts.map((contract) => tableEntry(policy.ir, contract));
    const checked = shipped.value.map(({ certificate }) =>
      checkCertificate(certificate, { hash: sha256, policyDigest: policy.digest, tools }),
    );
    expect(checked.filter(({ ok }) => !ok)).toEqual([]);
    expect(shipped.value.map(({ certificate }) => member(certificate, "hazard"))).toEqual(
      policy.ir.hazards.map(({ id }) => id),
    );
  });
});

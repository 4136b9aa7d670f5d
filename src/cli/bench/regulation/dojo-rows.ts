/** AgentDojo with regulation and without: regulation must stop no fewer attacks, and no honest call that was let through. */
import { resolve } from "node:path";
import type { Json } from "../../../core/json.ts";
import type { Result } from "../../../core/result.ts";
import { err, ok } from "../../../core/result.ts";
import { digest } from "../../../wire/canonical.ts";
import { loadPolicyFor } from "../../loaded-policy.ts";
import { packageFolder, sha256 } from "../../policy-source.ts";
import type { DojoRow } from "../agentdojo.ts";
import { runVariant } from "../agentdojo.ts";
import { readSuite } from "../agentdojo-data.ts";
import { rulesOnly } from "./world.ts";

const valueDigest = (value: Json): string => digest(value, sha256);

export function dojoRows(data: string): Result<readonly DojoRow[], string> {
  const rows: DojoRow[] = [];
  for (const part of ["banking", "slack"]) {
    const suite = readSuite(data, part);
    if (!suite.ok) return suite;
    for (const labels of ["hand", "inferred"] as const) {
      const file = resolve(packageFolder, "examples/agentdojo", labels === "hand" ? `${part}.yaml` : "inferred.yaml");
      const policy = loadPolicyFor(file, { flow: "provenance" });
      if (!policy.ok) return err(policy.error);
      const common = { instruction: true, digest: valueDigest };
      const bare = { ...policy.value, engine: rulesOnly(policy.value.engine) };
      rows.push(runVariant(suite.value, { ...common, name: `regulate, ${labels} labels`, policy: policy.value }));
      rows.push(runVariant(suite.value, { ...common, name: `rules only, ${labels} labels`, policy: bare }));
    }
  }
  return ok(rows);
}

import fc from "fast-check";
import { it } from "vitest";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { decideCore, makeProver } from "../../../src/proof/prove.ts";
import { certificateOf } from "../../../src/proof/certificate.ts";
import { checkCertificate } from "../../../src/proof/check/check.ts";
import { textOf } from "../../../src/proof/check/json.ts";
import { coreOf, documents, hazardId, subjectOf } from "./random-policy.ts";
const hash = (text: string) => createHash("sha256").update(text, "utf8").digest("hex");
it("probe", () => {
  const reasons = new Map<string, number>();
  let saved = 0;
  fc.assert(
    fc.property(documents, fc.nat(), ({ document, tools }, choice) => {
      const subject = subjectOf(document, tools);
      if (subject === undefined) return;
      const whole = coreOf(subject);
      for (const core of [whole, [], whole.filter((_, i) => ((choice >> i) & 1) === 1)]) {
        const found = decideCore(makeProver(subject), hazardId, core);
        if (!found.ok) {
          reasons.set("engine: " + found.error, 1);
          continue;
        }
        if (found.value.distance !== undefined) {
          reasons.set("refuted", (reasons.get("refuted") ?? 0) + 1);
          continue;
        }
        const c = certificateOf({
          subject,
          hazard: hazardId,
          core,
          explored: found.value,
          manifests: {},
          expect: [{ verdict: "allow", holds: true }],
        });
        const cert = JSON.parse(JSON.stringify(c));
        cert.policy.expect = [{ trace: [], verdict: "allow" }];
        cert.digest = hash(textOf(cert.policy));
        const t = performance.now();
        const r = checkCertificate(cert, { hash });
        const ms = performance.now() - t;
        if (ms > 500) console.error("slow", ms);
        const key = r.ok
          ? "ok"
          : r.reason
              .replace(/"[^"]*"/g, "X")
              .replace(/node \d+/, "node N")
              .replace(/label \d+/, "label N");
        reasons.set(key, (reasons.get(key) ?? 0) + 1);
        if (!r.ok && !r.reason.includes("vacuous") && saved < 12)
          writeFileSync(`/tmp/bad-${saved++}.json`, JSON.stringify({ reason: r.reason, cert, core }, null, 1));
      }
    }),
    { numRuns: 2500, seed: Number(process.env.SEED ?? 1) },
  );
  console.error(reasons);
}, 600000);

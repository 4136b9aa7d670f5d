/** Strict flows: once untrusted data is held no act without values is permitted, in engine, explorer and checker alike. */
import { expect, it } from "vitest";
import { decideCore, makeProver } from "../prove/prove.ts";
import { certified, checkedFor } from "../../../test/kit/proof/certified.ts";
import { exploreExplicitly } from "../../../test/kit/proof/explicit.ts";
import { hazardId, subjectOf } from "../../../test/kit/proof/random-policy.ts";

const effects = [
  ["write.local.delete", true],
  ["write.external.publish", true],
  ["write.local", false],
] as const;

it.each(effects)(
  "%s without control arguments after untrusted data: proved by the default alone: %s",
  (effect, proved) => {
    const subject = subjectOf(
      {
        version: 1,
        flow: { mode: "strict" },
        servers: { s: { trust: "trusted" } },
        host: { tools: "none" },
        hazards: { [hazardId]: { never: { call: { tool: "s.wipe", held: { trust: "untrusted" } } } } },
        labels: {
          "s.read": { effects: ["read.local"], output: { confidentiality: "public", trust: "untrusted" } },
          "s.wipe": { effects: [effect], output: { confidentiality: "public", trust: "trusted" } },
        },
      },
      ["s.read", "s.wipe"],
    );
    if (subject === undefined) throw new Error("the policy does not load");
    const core = ["default"];
    const found = decideCore(makeProver(subject), hazardId, core);
    if (!found.ok) throw new Error(found.error);
    expect(found.value.distance === undefined).toBe(proved);
    expect(exploreExplicitly(subject, hazardId, core)?.steps === undefined).toBe(proved);
    const certificate = certified(subject, core, found.value);
    if (proved) expect(checkedFor(subject, certificate)).toMatchObject({ ok: true });
  },
);

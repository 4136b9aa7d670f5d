// `--require-proof` while the gateway runs: each list of tools is a new question, and what is not proved is not admitted.
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { begin } from "../../src/core/mechanism.ts";
import type { Settled } from "../../src/core/opinion.ts";
import type { CompiledPolicy } from "../../src/policy/compile/compile.ts";
import { contractOfTool } from "../../src/policy/contracts/contracts.ts";
import { compiledFrom } from "../../src/app/policy/named-policy.ts";
import { engineOf } from "../../src/app/policy/loaded-policy.ts";
import { requireProofs } from "../../src/app/proof/required.ts";
import { toolDigest } from "../../src/app/policy/policy-source.ts";
import { slotsOf } from "../../src/policy/semantics/monitors.ts";

const compiled = compiledFrom({
  file: "test",
  document: {
    version: 1,
    servers: { mail: { operator: "anyone" }, notes: { reach: "local" } },
    labels: {
      "notes.read": { effects: "read.local", output: { confidentiality: "private", trust: "trusted" } },
      "mail.send": { effects: "write.external.send", args: { body: "content" }, output: "public" },
      "mail.post": { effects: "write.external.publish", args: { body: "content" }, output: "public" },
    },
    hazards: { H1: { never: { flow: { from: { confidentiality: "private" }, to: { effect: "write.external" } } } } },
    rules: [
      { id: "R1", tier: "block", when: { tool: "mail.send", data: { confidentiality: "private" } }, why: "stays" },
      { id: "R2", tier: "allow", when: { tool: ["mail.send", "mail.post"] }, why: "nobody is asked" },
    ],
    expect: [{ trace: ["notes.read"], verdict: "allow" }],
  },
});
if (!compiled.ok) throw new Error(compiled.error);
const policy: CompiledPolicy = compiled.value;

function admitting(): { readonly admit: (server: string, ...names: readonly string[]) => Settled } {
  const mechanism = requireProofs(undefined).mechanism(policy);
  const run = begin(engineOf({ ir: policy.ir, slots: slotsOf(policy.ir) }), "run", undefined);
  return {
    admit: (server, ...names) => {
      const listed = names.map((name): JsonObject => ({ name, inputSchema: { type: "object" } }));
      const contracts = listed.map((tool) => contractOfTool(policy.table, server, tool, toolDigest));
      const moment = { kind: "admit", at: 0, server, manifestDigest: names.join(), contracts } as const;
      const opinion = mechanism.consider({ moment, option: undefined }, run, null, new Map());
      if (opinion.kind !== "settled") throw new Error("the mechanism asks nothing");
      return opinion;
    },
  };
}

describe("admission on proofs", () => {
  test("servers are admitted one after the other as long as the hazard is proved for all of them", () => {
    const { admit } = admitting();
    expect(admit("notes", "read").verdict).toBe("allow");
    expect(admit("mail", "send").verdict).toBe("allow");
  });

  test("a manifest that changes is asked about again, and the old one stays admitted", () => {
    const { admit } = admitting();
    admit("notes", "read");
    expect(admit("mail", "send").verdict).toBe("allow");
    const refused = admit("mail", "send", "post");
    expect(refused.verdict).toBe("deny");
    expect(refused.reasons).toEqual([
      expect.objectContaining({
        code: "SG-UNPROVED",
        facts: expect.objectContaining({ server: "mail", hazard: "H1" }),
      }),
    ]);
    expect(admit("mail", "send").verdict).toBe("allow");
  });

  test("what leaks only together is refused to whoever comes second", () => {
    const first = admitting();
    expect(first.admit("mail", "post").verdict).toBe("deny");
    expect(first.admit("notes", "read").verdict).toBe("allow");
  });

  test("certificates are not believed for another hazard or for nothing at all", () => {
    const mechanism = requireProofs([null, { hazard: "H1" }, 3]).mechanism(policy);
    const run = begin(engineOf({ ir: policy.ir, slots: slotsOf(policy.ir) }), "run", undefined);
    const moment = { kind: "admit", at: 0, server: "mail", manifestDigest: "d", contracts: [] } as const;
    const opinion = mechanism.consider({ moment, option: undefined }, run, null, new Map());
    expect(opinion).toMatchObject({ kind: "settled", verdict: "deny" });
  });
});

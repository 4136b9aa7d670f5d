// `--require-proof` with contracts that count on an enclosed process: a certificate is about one tier and one order.
import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { begin } from "../../src/core/mechanism.ts";
import { engineOf, loadedPolicy } from "../../src/app/policy/loaded-policy.ts";
import { compiledFrom } from "../../src/app/policy/named-policy.ts";
import { requireProofs } from "../../src/app/proof/required.ts";
import { slotsOf } from "../../src/policy/semantics/monitors.ts";

const compiled = compiledFrom({
  file: "test",
  document: {
    version: 1,
    servers: { mail: { operator: "anyone" } },
    stores: { "proc:notes": { label: { confidentiality: "private" } } },
    labels: { "mail.send": { effects: "write.external.send", args: { body: "content" }, output: "public" } },
    hazards: { H1: { never: { flow: { from: { confidentiality: "private" }, to: { effect: "write.external" } } } } },
    rules: [
      {
        id: "R1",
        tier: "block",
        when: { effect: "write.external", data: { confidentiality: "private" } },
        why: "stays",
      },
    ],
    expect: [{ trace: ["mail.send"], verdict: "allow" }],
    isolation: {},
  },
});
if (!compiled.ok) throw new Error(compiled.error);
const policy = compiled.value;
const loaded = loadedPolicy(policy, "test");

/** The verdict on the list of an unlabelled server that runs in this tier, with the certificates that count. */
function admitted(tier: "A" | "A-" | "none", proofs: ReturnType<typeof requireProofs>): string {
  const order = loaded.isolation("notes")?.digest ?? "";
  const listed: JsonObject = { name: "frob", inputSchema: { type: "object" } };
  const contracts = [loaded.contractOfTool("notes", listed, undefined, { tier, order })];
  const moment = { kind: "admit", at: 0, server: "notes", manifestDigest: tier, contracts } as const;
  const run = begin(engineOf({ ir: policy.ir, slots: slotsOf(policy.ir) }), "run", undefined);
  const opinion = proofs.mechanism(policy).consider({ moment, option: undefined }, run, null, new Map());
  return opinion.kind === "settled" ? opinion.verdict : opinion.kind;
}

test("the proof of an enclosed process is made and checked, and holds for no other tier", () => {
  const own = requireProofs(undefined);
  expect(admitted("none", own)).toBe("allow");
  const [bare] = own.made.values();
  expect(admitted("A", own)).toBe("allow");
  const [made] = own.made.values();
  expect(JSON.stringify(made)).toContain("Server notes runs in isolation tier A under the order ");
  const certified = (certificate: JsonObject | undefined): ReturnType<typeof requireProofs> =>
    requireProofs(certificate === undefined ? [] : [certificate as Json]);
  expect(admitted("A", certified(made))).toBe("allow");
  expect(admitted("A-", certified(made))).toBe("deny");
  expect(admitted("none", certified(made))).toBe("deny");
  expect(admitted("A", certified(bare))).toBe("deny");
});

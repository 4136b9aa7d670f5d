// What a policy lets through that another one kept back, rules aside: those are compared in `proof diff` as users meet it.
import { describe, expect, it } from "vitest";
import { type Small, secret, sink, small, tools } from "../../../test/kit/proof/small.ts";
import { type ProofDiff, diffText, proofDiff } from "./diff.ts";

const labels = {
  "s.read": tools.reads(secret),
  "s.send": { ...tools.sends(), effects: "read.local", args: { text: { ...sink, bound: "private" } } },
} as const;
const never: Small["never"] = { flow: { from: "private", to: "s.send" } };
const nothing = "Nothing that the old policy stops or asks about goes ahead under the new one.";

/** Policies without any rule, for servers that list these tools. */
function difference(old: Partial<Small>, present: Partial<Small>, listed: readonly [string[], string[]]): ProofDiff {
  const side = (part: Partial<Small>, names: readonly string[]) => ({
    policy: small({ labels, never, ...part }).policy,
    manifest: { s: names.map((name) => ({ name })) },
  });
  const found = proofDiff(side(old, listed[0]), side(present, listed[1]));
  if (!found.ok) throw new Error(found.error);
  return found.value;
}

describe("a difference of two policies", () => {
  const both = ["read", "send"];
  it.each<[string, Partial<Small>, readonly [string[], string[]], string]>([
    ["none", {}, [both, both], nothing],
    ["a policy that only observes", { mode: "observe" }, [both, both], "mode: everything is only observed"],
    ["a hazard that only observes", { hazard: { mode: "observe" } }, [both, both], "hazard h: it is only observed"],
    ["a tool that brings a hazard about", {}, [["read"], both], "Hazard h was vacuous and is refuted now."],
    ["no tool that could", {}, [["read"], ["read"]], nothing],
    ["fewer tools", {}, [both, ["read"]], nothing],
  ])("is told: %s", (_what, present, listed, line) => {
    const found = difference({}, present, listed);
    expect(diffText(found)).toContain(line);
    expect(found.ok).toBe(line === nothing);
  });
});

/** Labels that hold for a call by its argument `a`, as the policy compiles them. */
import { createHash } from "node:crypto";
import type { OutputContract } from "../../../src/core/contract.ts";
import type { EffectRange } from "../../../src/core/effect.ts";
import { type Json, type JsonObject, member } from "../../../src/core/json.ts";
import type { PolicyDocument } from "../../../src/policy/canonical/policy-document.ts";
import { loadPolicy } from "../../../src/policy/load.ts";
import { evaluateTest } from "../../../src/policy/semantics/argument-tests.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

export type ToolText = NonNullable<PolicyDocument["labels"]>[string];
export type Held = { readonly output: OutputContract | undefined; readonly effects: EffectRange | undefined };

/** What holds for a call by its argument `a`, undefined for a call without it, and its others; undefined where the labels are refused. */
export function heldFor(
  labels: ToolText,
  stores: PolicyDocument["stores"] = {},
): ((a: Json | undefined, others?: JsonObject) => Held) | undefined {
  const document: PolicyDocument = {
    version: 1,
    lattice: { categories: ["x", "y"] },
    labels: { "s.t": labels },
    stores,
  };
  const { policy } = loadPolicy({ file: "p.ts", document }, { loader: () => undefined, hash });
  const statement = policy?.table.entries[0]?.statement;
  if (policy === undefined || statement === undefined) return undefined;
  return (a, others = {}) => {
    const holding = (statement.cases ?? []).filter(({ predicates }) =>
      predicates.every((index) => {
        const asked = policy.ir.predicates[index];
        if (asked?.kind !== "argument") return false;
        const value = asked.argument === "a" ? a : member(others, asked.argument);
        return value === undefined ? asked.ifAbsent : evaluateTest(asked.test, value);
      }),
    );
    return {
      output: holding.find((one) => one.output !== undefined)?.output ?? statement.output,
      effects: holding.find((one) => one.effects !== undefined)?.effects ?? statement.effects,
    };
  };
}

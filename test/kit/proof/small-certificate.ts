/** Small certificates around one hazard and one rule, for what formal.md example 1 does not have. */
import { assumptionsUnder } from "../../../src/proof/check/assumptions.ts";
import type { Policy } from "../../../src/proof/check/model.ts";
import { textOf, type Json } from "../../../src/proof/check/json.ts";
import { type Members, policy, sha256, tools } from "./first-example.ts";

export type Small = {
  readonly never: Json;
  readonly rules?: readonly Members[];
  /** All rules where it is left out. */
  readonly core?: readonly string[];
  readonly tools?: readonly Members[];
  readonly policy?: Members;
  readonly variables?: readonly string[];
  readonly nodes?: readonly (readonly number[])[];
  /** True everywhere where it is left out. */
  readonly root?: number;
};

export function small(parts: Small): Members {
  const rules = parts.rules ?? [];
  const its: Members = {
    ...policy,
    stores: {},
    hazards: { h: { loss: "", consent: "never", why: "", mode: "enforce", never: parts.never } },
    rules,
    ...parts.policy,
  };
  return {
    version: 1,
    policy: its,
    digest: sha256(textOf(its)),
    manifests: {},
    tools: parts.tools ?? ["a", "b", "c"].map((name) => tool(name)),
    hazard: "h",
    core: parts.core ?? rules.map(({ id }) => (typeof id === "string" ? id : "")),
    variables: parts.variables ?? [],
    nodes: parts.nodes ?? [],
    root: parts.root ?? 1,
    expect: [{ verdict: "allow", holds: true }],
    assumptions: [...assumptionsUnder(its as unknown as Policy, [])], // the checker reads the same two members of it
  };
}

export function tool(name: string, change: Members = {}): Members {
  const [contract] = tools;
  return { ...contract, server: "s", tool: name, output: { label: 0, fields: [] }, consequential: true, ...change };
}

export function rule(id: string, body: Members, tier = "block"): Members {
  return { id, tier, why: "", serves: [], mode: "enforce", ...body };
}

export const of = (name: string): { readonly tool: readonly string[] } => ({ tool: [`s.${name}`] });

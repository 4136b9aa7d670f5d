/** From what an operator declared to what holds: through the policy language, so that the catalogue is valid policy. */
import { createHash } from "node:crypto";
import { stringify } from "yaml";
import type { Effect } from "../../../../src/core/effect.ts";
import type { EffectTrace } from "../../../../src/core/isolation/effect-trace.ts";
import type { IsolationOrder } from "../../../../src/core/isolation/scope.ts";
import { groundsOf, type Finding } from "../../../../src/mechanisms/projection/grounds.ts";
import { judgeTrace } from "../../../../src/mechanisms/projection/judgement.ts";
import { loadPolicy } from "../../../../src/policy/load.ts";
import type { Declared } from "./catalogue.ts";

const server = "fixture";
const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

export function orderFor(declared: Declared): IsolationOrder {
  const labels = Object.fromEntries(Object.entries(declared.labels).map(([tool, text]) => [`${server}.${tool}`, text]));
  const text = stringify({ version: 1, labels, isolation: { servers: { [server]: declared.isolation } } });
  const loaded = loadPolicy({ file: "fixture.yaml", text }, { loader: () => undefined, hash });
  const order = loaded.policy?.isolation?.orderOf(server);
  if (order === undefined) throw new Error(loaded.diagnostics.map((one) => one.message).join("; "));
  return order;
}

/** What the mechanism holds against a call, by rules alone. */
export function violationsOf(
  order: IsolationOrder,
  declared: Declared,
  tool: string,
  trace: EffectTrace,
): readonly Finding[] {
  const { effects } = declared.labels[tool] ?? {};
  const all: readonly Effect[] = typeof effects === "string" ? [effects] : Array.isArray(effects) ? effects : [];
  const called = { tool, effects: all, source: "operator", enclosed: false, paths: undefined, allow: [] } as const;
  return judgeTrace(groundsOf(order, trace, called)).violations;
}

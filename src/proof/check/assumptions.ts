/**
 * Section 8 of the specification: what every proof under a policy takes for granted. The checker derives the sentences
 * itself, so a certificate cannot leave out what its conclusion rests on.
 */
import type { Json } from "./json.ts";
import type { Contract, Policy } from "./model.ts";

const always = [
  "Every call and every result passes through the gateway.",
  "The labels of tools and stores are upper bounds of what they return and hold.",
  "Runs are not split: all users of a run share its data, and only stores carry data between runs.",
  "Stores begin as the policy says, and every run that shares them follows this policy.",
  "Whoever endorses, declassifies or accepts a risk knows what they do; a proof never counts on it.",
];

const byMode: { readonly [mode: string]: string } = {
  provenance: "Data flows by values: what the model rephrases beyond recognition is not followed (mode `provenance`).",
  none: "No data is followed (mode `none`).",
};

/** @returns one sentence for each assumption, in the order in which a certificate records them. */
export function assumptionsUnder({ host, flow }: Policy, tools: readonly Contract[]): readonly string[] {
  const gated = [
    ...(closed(host.send) ? ["send"] : []),
    ...(closed(host.read) ? ["read"] : []),
    ...(host.execute === "gated" ? ["execute"] : []),
  ];
  const byFlow = byMode[flow.mode];
  return [
    ...always,
    ...(gated.length === 0 ? [] : [`The client asks the person before it uses its own ${gated.join(", ")}.`]),
    ...(byFlow === undefined ? [] : [byFlow]),
    ...processes(tools),
  ];
}

/** One sentence for each server whose entries count on its projection, by the names of the servers. */
function processes(tools: readonly Contract[]): readonly string[] {
  const known = new Map(tools.flatMap(({ server, process }) => (process === undefined ? [] : [[server, process]])));
  return [...known.entries()]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([server, { tier, order }]) => `Server ${server} runs in isolation tier ${tier} under the order ${order}.`);
}

/** Open to nothing: `gated`, or a list without a member. */
function closed(capability: Json): boolean {
  if (capability === "gated") return true;
  const open = typeof capability === "object" && capability !== null && "open" in capability ? capability.open : null;
  return Array.isArray(open) && open.length === 0;
}

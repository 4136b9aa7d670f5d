/**
 * Certificates (docs/semantics.md 8): all data with which a third party can check that a hazard cannot happen, by an
 * invariant instead of a search. The invariant is the complement of the states that lead to a bad move.
 */
import type { Json, JsonObject } from "../../core/json.ts";
import type { Graph } from "./diagram.ts";
import type { Explored } from "./fixpoint.ts";
import type { Space } from "./space.ts";
import type { Subject } from "./subject.ts";
import { tableEntry } from "./table.ts";

export type CertificateRequest = {
  readonly subject: Subject;
  readonly hazard: string;
  readonly core: readonly string[];
  /** The model of the core, explored to the end at the upper ends. */
  readonly explored: Explored;
  /** Digest of each server's list of tools. */
  readonly manifests: { readonly [server: string]: string };
  readonly expect: readonly { readonly verdict: string; readonly holds: boolean }[];
};

/** The certificate of a proof; undefined where there is no proof to certify. */
export function certificateOf(request: CertificateRequest): JsonObject | undefined {
  const { subject, explored } = request;
  const { diagram, variables } = explored.model.space;
  const bad = explored.layers.at(-1);
  if (explored.distance !== undefined || bad === undefined) return undefined;
  const invariant = withConstants(diagram.graph(bad, true), constantsOf(explored.model.space));
  const { policy, ir } = subject.policy;
  return {
    version: 1,
    // The canonical policy is JSON; its type is only narrower.
    policy: policy as unknown as Json,
    digest: subject.policy.digest,
    manifests: { ...request.manifests },
    tools: subject.contracts.map((contract) => tableEntry(ir, contract)),
    hazard: request.hazard,
    core: [...request.core].toSorted(),
    variables: [...invariant.constants.map(({ name }) => name), ...variables.map((variable) => variable.name)],
    nodes: invariant.nodes.map((node) => [...node]),
    root: invariant.root,
    expect: request.expect.map(({ verdict, holds }) => ({ verdict, holds })),
    assumptions: assumptionsOf(subject),
  };
}

type Constant = { readonly name: string; readonly value: boolean };

/**
 * State that no entry of the label table can change: the model leaves it out, so the certificate has to state that it
 * is constant.
 */
function constantsOf({ question }: Space): readonly Constant[] {
  const { subject, mattering } = question;
  const { lattice, stores } = subject.policy.ir;
  return stores.flatMap((store) => {
    const opens = subject.contracts.flatMap((one) => one.opens).filter((open) => open.store === store.name);
    const touched = opens.length > 0 || subject.contracts.some((one) => one.writes.includes(store.name));
    const bits = (length: number): readonly number[] => Array.from({ length }, (_, bit) => bit);
    const closed = bits(lattice.groups.length).filter(
      (bit) => !opens.some((open) => open.audience.includes(lattice.groups[bit] ?? "")),
    );
    const labels = touched ? [] : bits(lattice.bitCount).filter((bit) => (mattering & (1 << bit)) !== 0);
    const at = (value: number, bit: number): boolean => (value & (1 << bit)) !== 0;
    return [
      ...labels.map((bit) => ({ name: `S:${store.name}:${bit}`, value: at(store.initial.hi, bit) })),
      ...closed.map((bit) => ({ name: `A:${store.name}:${bit}`, value: at(store.audience, bit) })),
      ...closed.map((bit) => ({ name: `O:${store.name}:${bit}`, value: false })),
    ];
  });
}

/** The invariant with the constants above it, each tested once. */
function withConstants(
  { nodes, root }: Graph,
  constants: readonly Constant[],
): Graph & { readonly constants: readonly Constant[] } {
  const all: (readonly [number, number, number])[] = nodes.map(([level, low, high]) => [
    level + constants.length,
    low,
    high,
  ]);
  let top = root;
  for (const [index, { value }] of [...constants.entries()].reverse()) {
    top = all.push(value ? [index, 0, top] : [index, top, 0]) + 1;
  }
  return { nodes: all, root: top, constants };
}

/** Assumptions of a proof, one sentence each; printed with every proof (formal.md 4.4). */
export function assumptionsOf({ policy: { policy, ir }, contracts }: Subject): readonly string[] {
  const { host } = ir;
  const gated = [
    ...(host.send === 0 ? ["send"] : []),
    ...(host.read === "gated" ? ["read"] : []),
    ...(host.execute ? [] : ["execute"]),
  ];
  return [
    "Every call and every result passes through the gateway.",
    "The labels of tools and stores are upper bounds of what they return and hold.",
    "Runs are not split: all users of a run share its data, and only stores carry data between runs.",
    "Stores begin as the policy says, and every run that shares them follows this policy.",
    "Whoever endorses, declassifies or accepts a risk knows what they do; a proof never counts on it.",
    ...(gated.length === 0 ? [] : [`The client asks the person before it uses its own ${gated.join(", ")}.`]),
    ...(policy.flow.mode === "provenance"
      ? ["Data flows by values: what the model rephrases beyond recognition is not followed (mode `provenance`)."]
      : []),
    ...(policy.flow.mode === "none" ? ["No data is followed (mode `none`)."] : []),
    ...[...new Map(contracts.map(({ server, process }) => [server, process]))]
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .flatMap(([server, process]) =>
        process === undefined
          ? []
          : [`Server ${server} runs in isolation tier ${process.tier} under the order ${process.order}.`],
      ),
  ];
}

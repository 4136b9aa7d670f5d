/**
 * Certificates (docs/semantics.md 8): everything that a stranger needs to see for themselves that a hazard cannot happen,
 * with an invariant instead of a search. The complement of what leads to something bad is that invariant.
 */
import type { Json, JsonObject } from "../core/json.ts";
import type { Explored } from "./fixpoint.ts";
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
  const { nodes, root } = diagram.graph(diagram.not(bad));
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
    variables: variables.map((variable) => variable.name),
    nodes: nodes.map((node) => [...node]),
    root,
    expect: request.expect.map(({ verdict, holds }) => ({ verdict, holds })),
    assumptions: assumptionsOf(subject),
  };
}

/** What a proof takes for granted; printed with every proof (formal.md 4.4). */
export function assumptionsOf({ policy: { policy, ir } }: Subject): readonly string[] {
  const { host } = ir;
  const gated = [
    ...(host.send === 0 ? ["send"] : []),
    ...(host.read === "gated" ? ["read"] : []),
    ...(host.execute ? [] : ["execute"]),
  ];
  return [
    "Every call and every result passes through the gateway.",
    "The labels of tools and stores are upper bounds of what they return and hold.",
    "Runs are not split: whoever shares a run shares what it holds, and nothing else carries data between runs but stores.",
    "Whoever endorses, declassifies or accepts a risk knows what they do; a proof never counts on it.",
    ...(gated.length === 0 ? [] : [`The client asks the person before it uses its own ${gated.join(", ")}.`]),
    ...(policy.flow.mode === "provenance"
      ? ["Data flows by values: what the model rephrases beyond recognition is not followed (mode `provenance`)."]
      : []),
    ...(policy.flow.mode === "none" ? ["No data is followed (mode `none`)."] : []),
  ];
}

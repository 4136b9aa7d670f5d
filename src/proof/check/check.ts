/**
 * The independent checker of certificates, written from `docs/semantics.md` alone. It trusts no part of a certificate
 * that it cannot derive again: the invariant is a claim, and every move of the specification is tried on it. A refusal
 * is a sentence; nothing is thrown, and every limit has a name.
 */
import { assumptionsUnder } from "./assumptions.ts";
import { classesOf } from "./classes.ts";
import { type DiagramLimits, diagramWithin } from "./diagram.ts";
import { type Json, plainCopy, textOf } from "./json.ts";
import { contractShape, modelOf, policyShape, tooLarge } from "./model.ts";
import { tooManyChoices } from "./carried.ts";
import { movesOf } from "./moves.ts";
import { type Typed, misfit } from "./shape.ts";
import { type Space, spaceOf, startOf } from "./space.ts";

export type CheckLimits = DiagramLimits & { readonly variablesMax: number; readonly nodesMax: number };
export const checkLimits: CheckLimits = {
  variablesMax: 1024,
  nodesMax: 262_144,
  diagramNodesMax: 1_000_000,
  diagramStepsMax: 20_000_000,
  cacheSlots: 262_144,
};

/**
 * The gateway's present policy and tools, as far as the caller knows them: given members must equal the proved ones.
 */
export type Present = {
  /** SHA-256 of a text's UTF-8 bytes, written as in the certificate. */
  readonly hash: (text: string) => string;
  readonly policyDigest?: string;
  readonly tools?: unknown;
  readonly manifests?: { readonly [server: string]: string };
  /** How the traces that the policy expects are judged, in their order. */
  readonly expect?: readonly { readonly verdict: string; readonly holds: boolean }[];
  readonly limits?: Partial<CheckLimits>;
};
/**
 * A certificate that holds speaks of the policy and the labels that it carries, and rests on `assumptions`, which the
 * checker derives. Whether these are the gateway's is known only of the members that the caller gives in `Present`.
 */
export type Checked =
  | {
      readonly ok: true;
      readonly hazard: string;
      readonly core: readonly string[];
      readonly assumptions: readonly string[];
    }
  | { readonly ok: false; readonly reason: string };

const texts = { list: "text" } as const;
const expectationShape = { fields: { verdict: { words: ["allow", "confirm", "deny"] }, holds: "flag" } } as const;
const certificateShape = {
  fields: {
    version: "whole",
    policy: policyShape,
    digest: "text",
    manifests: { map: "text" },
    tools: { list: contractShape },
    hazard: "text",
    core: texts,
    variables: texts,
    nodes: { list: { list: "whole" } },
    root: "whole",
    expect: { list: expectationShape },
    assumptions: texts,
  },
} as const;
type Certificate = Typed<typeof certificateShape>;

const reasonLengthMax = 240;
/** An unforeseen failure, such as a getter that throws, is a refusal too. */
export const unreadable = "the certificate could not be read to its end; make it anew from the policy in force";

/** @returns whether the hazard cannot happen under the core, by the specification; or why that is not shown. */
export function checkCertificate(certificate: unknown, present: Present): Checked {
  try {
    const copy = plainCopy(certificate);
    if (copy === undefined) return refused("the certificate is not JSON, or is too deep or too large");
    const reason = misfit(copy, certificateShape, "certificate");
    if (reason !== undefined) return refused(reason);
    const read = copy as unknown as Certificate; // the shape was found to fit
    const wrong =
      differs(read, copy, present) ?? expectations(read) ?? unassumed(read) ?? disproved(read, present.limits ?? {});
    if (wrong !== undefined) return refused(wrong);
    return { ok: true, hazard: read.hazard, core: read.core, assumptions: assumptionsUnder(read.policy, read.tools) };
  } catch {
    return refused(unreadable);
  }
}

const refused = (reason: string): Checked => ({ ok: false, reason: reason.slice(0, reasonLengthMax) });

/** A sentence if the certificate is not about the gateway's policy and tools. */
function differs(read: Certificate, copy: Json, present: Present): string | undefined {
  if (read.version !== 1) return "the certificate has a version other than 1";
  const { policy } = copy as { readonly policy: Json }; // the shape was found to fit
  if (present.hash(textOf(policy)) !== read.digest) return "the digest is not that of the certificate's policy";
  if (present.policyDigest !== undefined && present.policyDigest !== read.digest) {
    return "the certificate is about another policy than the one in force";
  }
  const same = (ours: unknown, theirs: unknown): boolean => {
    const [mine, other] = [plainCopy(ours), plainCopy(theirs)];
    return mine !== undefined && other !== undefined && textOf(mine) === textOf(other);
  };
  if (present.tools !== undefined && !same(present.tools, read.tools)) {
    return "the certificate is about other tools or labels than those in force";
  }
  if (present.manifests !== undefined && !same(present.manifests, read.manifests)) {
    return "the certificate is about other manifests than those of the servers";
  }
  if (present.expect !== undefined && !same(present.expect, read.expect)) {
    return "the certificate records another outcome of the expected traces than they have";
  }
  return undefined;
}

/** A policy that lets nothing through is trivially safe: it must have an `expect` that is allowed. */
function expectations({ policy, expect }: Certificate): string | undefined {
  const same = policy.expect.length === expect.length;
  if (!same || policy.expect.some(({ verdict }, index) => expect[index]?.verdict !== verdict)) {
    return "the recorded expectations are not those of the policy";
  }
  if (!expect.some(({ verdict }) => verdict === "allow"))
    return "the policy expects nothing to be allowed: the proof is vacuous";
  return expect.every(({ holds }) => holds) ? undefined : "an expectation of the policy does not hold";
}

/** A proof that does not say what it takes for granted would be read as one that takes nothing for granted. */
function unassumed({ policy, tools, assumptions }: Certificate): string | undefined {
  const due = assumptionsUnder(policy, tools);
  const same = due.length === assumptions.length && due.every((one, index) => one === assumptions[index]);
  return same ? undefined : "the recorded assumptions are not those on which a proof of this policy rests";
}

function disproved(read: Certificate, limits: Partial<CheckLimits>): string | undefined {
  const within = { ...checkLimits, ...limits };
  if (read.variables.length > within.variablesMax) return `more than ${within.variablesMax} variables`;
  if (read.nodes.length > within.nodesMax) return `more than ${within.nodesMax} nodes`;
  const large = tooLarge(read);
  if (large !== undefined) return large;
  const reasons: string[] = [];
  const model = modelOf(read, (reason) => void reasons.push(reason));
  if (reasons[0] !== undefined) return reasons[0];
  const diagram = diagramWithin(within);
  const space = spaceOf(model, read.variables, diagram);
  if (typeof space === "string") return space;
  const invariant = invariantOf(read, space);
  if (typeof invariant === "string") return invariant;
  const unsafe = notInvariant(space, invariant, reasons);
  // Past a limit the diagram's answers are invalid, and reading the subject lazily may have found a reason to refuse.
  if (reasons[0] !== undefined) return reasons[0];
  return diagram.exhausted() ? "checking takes more steps or nodes than the limit allows" : unsafe;
}

type Invariant = { readonly node: number; readonly support: ReadonlySet<string> };

function invariantOf({ nodes, root, variables }: Certificate, { diagram, levels, fixed }: Space): Invariant | string {
  const built = [0, 1];
  const support = new Set<string>();
  for (const [index, given] of nodes.entries()) {
    const [asked = -1, low = -1, high = -1] = given;
    const name = variables[asked];
    const [ifFalse, ifTrue] = [built[low], built[high]];
    if (given.length !== 3 || name === undefined || ifFalse === undefined || ifTrue === undefined) {
      return `node ${index + 2} names a variable or a child that does not come before it`;
    }
    const above = (child: number): boolean => child < 2 || asked < (nodes[child - 2]?.[0] ?? -1);
    if (!above(low) || !above(high)) return `node ${index + 2} asks its variable after one of its children`;
    const always = fixed.get(name);
    const node =
      always === undefined ? diagram.node(levels.get(name) ?? 0, ifFalse, ifTrue) : [ifFalse, ifTrue][always];
    built.push(node ?? 0);
    support.add(name);
  }
  const node = built[root];
  return node === undefined ? "the root is not among the nodes" : { node, support };
}

function notInvariant(space: Space, { node, support }: Invariant, reasons: readonly string[]): string | undefined {
  const { diagram, model, levels } = space;
  if (!startHolds(space, node)) return "the start is outside the invariant";
  const classes = classesOf(model, model.lattice.refuse);
  const reason = reasons[0] ?? classes.map((one) => tooManyChoices(space, one)).find((one) => one !== undefined);
  if (reason !== undefined) return reason;
  let triggered = false;
  for (const move of movesOf(space, classes)) {
    triggered ||= move.bad !== 0;
    const here = diagram.and(node, move.when);
    if (diagram.and(here, move.bad) !== 0) return `${move.name} is not refused and does what the hazard forbids`;
    const by = new Map(
      [...move.next].filter(([name]) => support.has(name)).map(([name, to]) => [levels.get(name) ?? 0, to]),
    );
    const after = by.size === 0 ? node : diagram.replace(node, by);
    if (diagram.and(here, diagram.not(after)) !== 0) return `${move.name} leads out of the invariant`;
    if (diagram.exhausted()) return undefined;
  }
  return triggered ? undefined : "no tool and nothing else can bring the hazard about: the proof is vacuous";
}

function startHolds({ diagram, levels, model }: Space, node: number): boolean {
  const start = new Set([...startOf(model)].map((name) => levels.get(name)));
  return diagram.holds(node, (level) => start.has(level));
}

/** The contract of one tool under a policy, its sources, and the rules that apply to it: for users and as JSON. */
import type { ArgumentContract, FieldType, ToolContract } from "../../core/contract.ts";
import type { JsonObject } from "../../core/json.ts";
import { type LabelRange, type Lattice, describe } from "../../core/label.ts";
import type { CompiledPolicy } from "../compile/compile.ts";
import { type ToolDigest, contractOfTool } from "../contracts/contracts.ts";
import { inferTool } from "../contracts/infer.ts";
import { orderSentences } from "../isolation/words.ts";
import { type BeliefSources, beliefOf, effectsText } from "./belief.ts";
import type { Pattern } from "../ir/ir.ts";
import { patternsOf } from "../semantics/monitors.ts";
import { conditionText } from "../semantics/readings.ts";
import { staticMatch } from "../semantics/patterns.ts";
import { hazardPatterns } from "../semantics/relevance.ts";

export type ToolExplanation = {
  readonly server: string;
  readonly tool: string;
  readonly source: string;
  readonly effects: { readonly must: readonly string[]; readonly may: readonly string[] };
  readonly flags: readonly string[];
  readonly output: string;
  readonly fields: readonly { readonly pointer: string; readonly label: string }[];
  readonly arguments: readonly {
    readonly name: string;
    readonly role: string;
    readonly seenBy: readonly string[];
    readonly bound: string;
    /** Kind of name that it takes, where the policy or a pack says. */
    readonly type?: string;
  }[];
  /** Kinds of names in its results. */
  readonly types: readonly FieldType[];
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** `program`: the function that has to agree, where the rule asks one. */
  readonly rules: readonly {
    readonly id: string;
    readonly tier: string;
    readonly why: string;
    readonly program?: string;
  }[];
  readonly hazards: readonly { readonly id: string; readonly why: string }[];
  /** Evidence of inference; it counts only where no better source states the fact. */
  readonly inferredFrom: readonly string[];
  /** One sentence for each source of belief (docs/semantics.md 10). */
  readonly sources: BeliefSources;
  /** What it is believed to do while the process of its server is enclosed; absent where that has a way out. */
  readonly enclosed?: Pick<ToolExplanation, "source" | "effects" | "flags" | "output">;
  /** The access of its server, where the policy isolates servers. */
  readonly isolation: readonly string[];
  readonly sentences: readonly string[];
};

export type ExplainRequest = {
  readonly server: string;
  readonly tool: string;
  /** The tool as its server lists it, where that is known. */
  readonly listed?: JsonObject;
  readonly digestOf: ToolDigest;
};

export function explainTool(policy: CompiledPolicy, request: ExplainRequest): ToolExplanation {
  const listed = request.listed ?? { name: request.tool };
  const contract = contractOfTool(policy.table, request.server, listed, request.digestOf);
  const { lattice } = policy.ir;
  const { server, tool, toolDigest } = contract;
  const { sources, enclosed } = beliefOf(policy, { server, tool, listed, toolDigest });
  // Name, effects and flags fit; arguments and labels are known only when a call is made.
  const fits = (pattern: Pattern): boolean => staticMatch(pattern, contract, "restrict", "hi");
  const rules = policy.ir.rules.filter((rule) =>
    rule.kind === "plain" ? fits(rule.when) : patternsOf(rule.temporal).some(fits),
  );
  const checks = policy.ir.checks.filter(({ rule }) => fits(rule.when));
  const hazards = policy.ir.hazards.filter((hazard) => hazardPatterns(hazard).some(fits));
  const explanation = {
    server,
    tool,
    ...coreOf(lattice, contract),
    fields: contract.output.fields.map(({ pointer, label }) => ({ pointer, label: rangeText(lattice, label) })),
    arguments: [...contract.arguments].map(([name, argument]) => argumentText(lattice, name, argument)),
    types: contract.types ?? [],
    reads: contract.reads,
    writes: contract.writes,
    rules: [
      ...rules.map(({ id, tier, why }) => ({ id, tier, why })),
      ...checks.map(({ rule: { id, tier, why }, name: program }) => ({ id, tier, why, program })),
    ],
    hazards: hazards.map(({ id, why }) => ({ id, why })),
    inferredFrom: inferTool(listed).because,
    sources,
    ...(enclosed === undefined ? {} : { enclosed: coreOf(lattice, enclosed) }),
    isolation: isolationSentences(policy, contract),
  };
  const [first = "", ...others] = sentencesOf(explanation);
  return { ...explanation, sentences: [first, ...caseSentences(policy, contract), ...others] };
}

/** Effects that depend on arguments: a sentence for each case. */
function caseSentences({ ir }: CompiledPolicy, { cases }: ToolContract): readonly string[] {
  return cases.flatMap(({ predicates, effects }) => {
    if (effects === undefined) return [];
    const when = conditionText(predicates.flatMap((index) => ir.predicates[index] ?? []));
    return [`Where ${when}, it may do: ${effects.may.join(", ") || "nothing"}.`];
  });
}

/** The parts of a contract that the process of its server can change. */
function coreOf(
  lattice: Lattice,
  { source, effects, flags, output }: ToolContract,
): Pick<ToolExplanation, "source" | "effects" | "flags" | "output"> {
  return {
    source,
    effects,
    flags: [...(flags.irreversible ? ["irreversible"] : []), ...(flags.openWorld ? ["open_world"] : [])],
    output: rangeText(lattice, output.label),
  };
}

function isolationSentences(policy: CompiledPolicy, { server, tool }: ToolContract): readonly string[] {
  const order = policy.isolation?.orderOf(server);
  return order === undefined ? [] : orderSentences(order, tool);
}

function argumentText(
  lattice: Lattice,
  name: string,
  argument: ArgumentContract,
): ToolExplanation["arguments"][number] {
  const seenBy = lattice.groups.filter((_, index) => (argument.audience & (1 << index)) !== 0);
  const levels = lattice.levels.filter((_, index) => (argument.forbidden & ((1 << index) - 1)) === 0);
  const categories = lattice.categories.filter(
    (_, index) => (argument.forbidden & (1 << (lattice.levels.length - 1 + index))) === 0,
  );
  const bound = argument.sink ? [levels.at(-1) ?? "nothing", ...categories].join(", ") : "everything";
  const { role, type } = argument;
  return { name, role, seenBy, bound, ...(type === undefined ? {} : { type }) };
}

function rangeText(lattice: Lattice, range: LabelRange): string {
  const low = describe(lattice, range.lo);
  const high = describe(lattice, range.hi);
  return low === high ? low : `between "${low}" and "${high}"`;
}

const sourceText: { readonly [source: string]: string } = {
  operator: "your policy says so",
  pack: "a label pack says so",
  card: "you accepted its card",
  evidence: "its behaviour showed it",
  enforced: "its projection permits nothing else",
  server: "its server says so",
  inference: "its name and schema suggest it",
  unknown: "unlabelled, so the worst is assumed",
};

function sentencesOf(found: Omit<ToolExplanation, "sentences">): readonly string[] {
  const name = `${found.server}.${found.tool}`;
  const everything = found.effects.may.length > 12 ? "anything" : found.effects.may.join(", ") || "nothing";
  const sentences = [
    `${name} may do: ${everything}; ${sourceText[found.source] ?? "source unknown"}.`,
    `What it returns is ${found.output}.`,
  ];
  for (const { pointer, type } of found.types) sentences.push(`At ${pointer} stands a name of the type ${type}.`);
  for (const field of found.fields) sentences.push(`At ${field.pointer} it returns ${field.label}.`);
  for (const argument of found.arguments) {
    const seen = argument.seenBy.length === 0 ? "stays here" : `is seen by ${argument.seenBy.join(" and ")}`;
    const bound = argument.seenBy.length === 0 ? "" : `; up to ${argument.bound} may go there`;
    const article = argument.role === "content" ? "" : /^[aeiou]/.test(argument.role) ? "an " : "a ";
    const what = argument.role === "unsure" ? "of a role in doubt, counts as the worst" : `${article}${argument.role}`;
    const kind = argument.type === undefined ? "" : ` of the type ${argument.type}`;
    sentences.push(`Argument ${argument.name} is ${what}${kind} and ${seen}${bound}.`);
  }
  for (const store of found.reads) sentences.push(`It reads the store ${store}.`);
  for (const store of found.writes) sentences.push(`It writes to the store ${store}.`);
  for (const { id, tier, why, program } of found.rules) {
    const asks = program === undefined ? "" : ` if its program \`${program}\` says so`;
    sentences.push(`Rule ${id} (${tier}) can speak${asks}: ${why}.`);
  }
  for (const hazard of found.hazards)
    sentences.push(`Hazard ${hazard.id} is watched: ${hazard.why || "no reason given"}.`);
  if (found.rules.length === 0) sentences.push("No rule names it; the default decides.");
  return [...sentences, ...beliefSentences(found), ...found.isolation];
}

function beliefSentences({ sources, enclosed }: Pick<ToolExplanation, "sources" | "enclosed">): readonly string[] {
  const { declared, inferred, observed, enforced } = sources;
  const said = [`Declared: ${declared}`, `Inferred: ${inferred}`, `Observed: ${observed}`, `Enforced: ${enforced}`];
  if (enclosed === undefined) return said;
  const { effects, source, output, flags } = enclosed;
  const flagged = flags.length === 0 ? "" : `, ${flags.join(" and ")}`;
  const does = `${effectsText(effects.may)}${flagged}; ${sourceText[source] ?? "source unknown"}`;
  return [...said, `While its process is enclosed it may do: ${does}; what it returns is ${output}.`];
}

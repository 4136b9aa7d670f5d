/**
 * The subject of a certificate: one policy, one label table, one hazard and a core, read according to sections 1 to 5
 * of the specification. A reason to refuse ends the check; values returned with one are never used.
 */
import { type Automaton, automatonOf, bodyNames } from "./automata.ts";
import { type Json, quoted } from "./json.ts";
import {
  type Lattice,
  type Refuse,
  bit,
  bitCount,
  bitsOf,
  isLevelBit,
  join,
  labelShape,
  levelsUpTo,
  untrusted,
  upperBound,
  dataShape,
} from "./labels.ts";
import { type Pattern, type PatternForm, atomsOf, meaningOf, patternOf, patternShape } from "./patterns.ts";
import { type Typed, misfit } from "./shape.ts";

const texts = { list: "text" } as const;
const mode = { words: ["enforce", "observe"] } as const;
const effectsShape = { fields: { must: texts, may: texts } } as const;
const argumentShape = { fields: { role: "text", sink: "flag", audience: "whole", forbidden: "whole" } } as const;
const outputShape = { fields: { label: "whole", fields: { list: "whole" } } } as const;
const caseShape = {
  fields: { predicates: { list: "any" } },
  optional: { output: outputShape, effects: effectsShape },
} as const;
export const contractShape = {
  fields: {
    server: "text",
    tool: "text",
    effects: effectsShape,
    flags: { fields: { irreversible: "flag", openWorld: "flag" } },
    arguments: { map: argumentShape },
    rest: argumentShape,
    output: outputShape,
    cases: { list: caseShape },
    reads: texts,
    writes: texts,
    opens: { list: { fields: { store: "text", audience: "whole" } } },
    consequential: "flag",
  },
  optional: { answers: "flag", process: { fields: { tier: { words: ["A", "A-"] }, order: "text" } } },
} as const;
export const policyShape = {
  open: true,
  fields: {
    mode,
    lattice: { open: true, fields: { confidentiality: texts, categories: texts, groups: texts } },
    host: { open: true, fields: { send: "any", read: "any", execute: "any" } },
    servers: { map: { open: true, fields: {}, optional: { mode } } },
    stores: { map: { fields: { audience: texts }, optional: { label: labelShape } } },
    hazards: { map: { open: true, fields: { never: "any" } } },
    rules: { list: { open: true, fields: { id: "text", tier: "text", mode } } },
    flow: { fields: { mode: { words: ["none", "strict", "provenance", "handles"] } } },
    expect: { list: { open: true, fields: { verdict: { words: ["allow", "confirm", "deny"] } } } },
  },
} as const;
export type Contract = Typed<typeof contractShape>;
export type ArgumentContract = Typed<typeof argumentShape>;
export type Policy = Typed<typeof policyShape>;
type Rule = Policy["rules"][number];

export type Hazard =
  | { readonly kind: "match"; readonly patterns: readonly number[] }
  | { readonly kind: "automaton"; readonly automaton: Automaton };
/** The extent of a host capability: nothing, everything, or the listed groups or stores. */
export type Opening = "nothing" | "everything" | readonly string[];

export type Model = {
  readonly lattice: Lattice;
  readonly policy: Policy;
  readonly tools: readonly Contract[];
  readonly patterns: readonly Pattern[];
  readonly plain: readonly number[];
  /** Undefined where the default is not in the core. */
  readonly allow: readonly number[] | undefined;
  readonly enforced: readonly Automaton[];
  readonly automata: readonly Automaton[];
  readonly hazard: Hazard;
  readonly key: string | undefined;
  /** The restrictions that matter, their bits, and the labels that can be held, all cut to them. */
  readonly matters: bigint;
  readonly bits: readonly number[];
  readonly basic: (bit: number) => bigint;
  readonly holdable: readonly bigint[];
  readonly startLabel: (store: string) => bigint;
  readonly host: { readonly send: Opening; readonly read: Opening; readonly execute: Opening };
};

export type Subject = {
  readonly policy: Policy;
  readonly tools: readonly Contract[];
  readonly hazard: string;
  readonly core: readonly string[];
};

/** A label in the table is a JSON number, hence exact up to this many bits. */
const labelBitsMax = 52;
const coreRulesMax = 1024;
const labelsMax = 2048;

/** Input from which the subject is built. */
export function tooLarge({ policy, core }: Subject): string | undefined {
  const { confidentiality: levels, categories, groups } = policy.lattice;
  const bits = levels.length + categories.length + groups.length;
  if (levels.length === 0 || bits > labelBitsMax) {
    return `the lattice has no level or more than ${labelBitsMax} restrictions`;
  }
  if (core.length > coreRulesMax) return `the core has more than ${coreRulesMax} rules`;
  return new Set(core).size === core.length ? undefined : "the core names a rule twice";
}

export function modelOf({ policy, tools, hazard: id, core }: Subject, refuse: Refuse): Model {
  const { confidentiality: levels, categories, groups } = policy.lattice;
  const lattice: Lattice = { levels, categories, groups, refuse };
  const count = bitCount(lattice);
  const patterns: Pattern[] = [];
  let atoms = 0;
  const add = (form: PatternForm, restricts: boolean): number =>
    patterns.push(patternOf({ lattice, nextDataIndex: () => (atoms += 1) }, form, restricts)) - 1;
  const meaning = (index: number): string => {
    const read = patterns[index];
    return read === undefined ? "" : meaningOf(read);
  };
  const reader = { refuse, add, meaning };
  const hazard = hazardOf(policy, id, reader);
  const rules = coreRules(policy, core, refuse);
  const plain = rules.flatMap((rule) => plainPattern(rule, reader, true));
  const enforced = rules.flatMap((rule) => temporal(rule, reader));
  const allow = core.includes("default") ? allowPatterns(policy, reader) : undefined;
  const own = hazard.kind === "automaton" ? [hazard.automaton] : [];
  const key = own[0]?.key;
  if (enforced.some((one) => one.key !== undefined && one.key !== key))
    refuse("a rule of the core follows a key that the hazard does not");
  if (enforced.some((one) => one.id === id)) refuse("a rule of the core has the id of the hazard");

  const sinks = tools.flatMap((tool) => [...Object.values(tool.arguments), tool.rest]).filter(({ sink }) => sink);
  const bounds = core.includes("bounds") && allow !== undefined ? sinks.map(({ forbidden }) => BigInt(forbidden)) : [];
  const spoken = patterns.flatMap(atomsOf).map(({ bits }) => bits);
  const trust = allow === undefined ? 0n : untrusted(lattice);
  const matters = join([...spoken, trust, ...bounds]) & (bit(count) - 1n);
  const basic = (index: number): bigint => (isLevelBit(lattice, index) ? levelsUpTo(index) : bit(index)) & matters;
  const bits = bitsOf(matters);
  const outputs = tools.flatMap((tool) => [tool.output, ...tool.cases.flatMap(({ output }) => output ?? [])]);
  const whole = outputs.flatMap(({ label, fields }) => [label, ...fields]).map((label) => BigInt(label) & matters);
  const holdable = [...new Set([...bits.map(basic), matters, ...whole])].filter((label) => label !== 0n);
  if (holdable.length > labelsMax) refuse(`more than ${labelsMax} labels can be held`);
  const startLabel = (store: string): bigint => upperBound(lattice, policy.stores[store]?.label) & matters;
  const opening = (value: Json): Opening => openingOf(value, refuse);
  const { send, read, execute } = policy.host;
  const host = { send: opening(send), read: opening(read), execute: opening(execute) };
  const automata = [...enforced, ...own];
  checkStores(policy, tools, { patterns, read: host.read, refuse });
  checkProcesses(policy, tools, refuse);
  return {
    lattice, policy, tools, patterns, plain, allow, enforced, automata, hazard, key,
    matters, bits, basic, holdable, startLabel, host,
  }; // prettier-ignore
}

/** A store without a known start could hold any label and have any audience: only declared ones may be used. */
function checkStores(
  { stores }: Policy,
  tools: readonly Contract[],
  other: { readonly patterns: readonly Pattern[]; readonly read: Opening; readonly refuse: Refuse },
): void {
  const used = tools.flatMap(({ reads, writes, opens }) => [...reads, ...writes, ...opens.map(({ store }) => store)]);
  const asked = other.patterns.flatMap((one) => one.stores.map(({ store }) => store));
  const unknown = [...used, ...asked, ...(typeof other.read === "string" ? [] : other.read)].find(
    (store) => !Object.hasOwn(stores, store),
  );
  if (unknown !== undefined) other.refuse(`the store ${quoted(unknown)} is used, but the policy does not declare it`);
}

/** The store of section 10 for the memory of a server's process. */
export const memoryOf = (server: string): string => `proc:${server}`;

/** Section 10: one process serves all entries of a server, and each of them reaches what it remembers. */
function checkProcesses({ stores }: Policy, tools: readonly Contract[], refuse: Refuse): void {
  const first = new Map<string, string>();
  for (const { server, process, writes } of tools) {
    const text = JSON.stringify(process === undefined ? [] : [process.tier, process.order]);
    if ((first.get(server) ?? text) !== text) refuse(`the entries of ${quoted(server)} are about different processes`);
    first.set(server, text);
    const memory = memoryOf(server);
    if (Object.hasOwn(stores, memory) && !writes.includes(memory)) {
      refuse(`an entry of ${quoted(server)} does not write ${quoted(memory)}, which remembers what it gets`);
    }
  }
}

type Reader = {
  readonly refuse: Refuse;
  readonly add: (form: PatternForm, restricts: boolean) => number;
  readonly meaning: (index: number) => string;
};

function pattern({ refuse, add }: Reader, form: Json | undefined, restricts: boolean): number {
  const reason = misfit(form, patternShape, "a pattern of the policy");
  if (reason !== undefined) refuse(reason);
  return add(reason === undefined ? (form as PatternForm) : {}, restricts); // the shape fits
}

function hazardOf(policy: Policy, id: string, reader: Reader): Hazard {
  const none: Hazard = { kind: "match", patterns: [] };
  const never = Object.hasOwn(policy.hazards, id) ? policy.hazards[id]?.never : undefined;
  const [name, form] = Object.entries(never ?? {})[0] ?? ["", null];
  if (never === undefined || Object.keys(never ?? {}).length !== 1) {
    reader.refuse(`the policy has no hazard ${quoted(id)} of exactly one form`);
    return none;
  }
  if (name === "call") return { kind: "match", patterns: [pattern(reader, form, true)] };
  if (name === "flow") {
    const reason = misfit(form, { fields: { from: dataShape, to: patternShape } }, "the flow of the hazard");
    if (reason !== undefined) reader.refuse(reason);
    if (reason !== undefined) return none;
    const flow = form as { readonly from: Typed<typeof dataShape>; readonly to: PatternForm }; // the shape fits
    return { kind: "match", patterns: [reader.add(flow.to, true), reader.add({ data: [flow.from] }, true)] };
  }
  const kind = temporalHazards.get(name);
  if (kind === undefined) reader.refuse(`the hazard has the unknown form ${quoted(name)}`);
  const automaton = kind === undefined ? undefined : automatonOf(reader, id, kind, form);
  return automaton === undefined ? none : { kind: "automaton", automaton };
}

const temporalHazards: ReadonlyMap<string, string> = new Map([
  ["sequence", "absence"],
  ["unless", "unless"],
  ["atMost", "atMost"],
]);

function coreRules(policy: Policy, core: readonly string[], refuse: Refuse): readonly Rule[] {
  const byId = Map.groupBy(policy.rules, ({ id }) => id);
  return core.flatMap((id) => {
    const rules = byId.get(id) ?? [];
    const word = id === "default" || id === "bounds";
    if (word && rules.length === 0) return [];
    const [rule] = rules;
    const fits = rules.length === 1 && rule?.mode === "enforce" && !word;
    if (!fits) refuse(`the core names ${quoted(id)}, which is not one enforced rule of the policy`);
    const stranger = Object.keys(rule ?? {}).find((name) => !ruleMembers.has(name));
    if (stranger !== undefined) {
      refuse(`the rule ${quoted(id)} of the core has the unknown member ${quoted(stranger)}`);
    }
    return rule === undefined ? [] : [rule];
  });
}

/** Any other member may narrow the rule, as `predicate` does, which calls a program. */
const ruleHead = ["id", "tier", "why", "serves", "mode", "when", "budget"];
const ruleMembers: ReadonlySet<string> = new Set([...ruleHead, ...bodyNames]);
/** The restriction of every rule of the core must be known. */
const whenTiers = ["block", "confirm"];
const form = (rule: Rule, name: string): Json | undefined => (rule as { readonly [key: string]: Json })[name]; // JSON

function plainPattern(rule: Rule, reader: Reader, restricts: boolean): readonly number[] {
  const when = form(rule, "when");
  if (when === undefined) return [];
  if (restricts && !whenTiers.includes(rule.tier)) {
    reader.refuse(`the core names ${quoted(rule.id)}, a rule that neither blocks nor asks`);
  }
  return [pattern(reader, when, restricts)];
}

function temporal(rule: Rule, reader: Reader): readonly Automaton[] {
  const names = bodyNames.filter((name) => name !== "unless" && form(rule, name) !== undefined);
  if (names.length > 0 && (rule.tier === "allow" || form(rule, "when") !== undefined || names.length > 1)) {
    reader.refuse(`the rule ${quoted(rule.id)} of the core mixes forms`);
  }
  return names.flatMap((name) => automatonOf(reader, rule.id, name, form(rule, name) ?? null) ?? []);
}

function allowPatterns(policy: Policy, reader: Reader): readonly number[] {
  const rules = policy.rules.filter((rule) => rule.tier === "allow" && rule.mode === "enforce");
  if (rules.some((rule) => form(rule, "when") === undefined))
    reader.refuse("an allow rule of the policy has no `when`");
  return rules.flatMap((rule) => plainPattern(rule, reader, false));
}

function openingOf(value: Json, refuse: Refuse): Opening {
  if (value === "gated") return "nothing";
  if (value === "open") return "everything";
  const one = misfit(value, { fields: { open: "text" } }, "open") === undefined;
  if (one) return [(value as { readonly open: string }).open]; // the shape fits
  const reason = misfit(value, { fields: { open: texts } }, "a host capability of the policy");
  if (reason !== undefined) refuse(reason);
  return reason === undefined ? (value as { readonly open: readonly string[] }).open : "everything"; // the shape fits
}

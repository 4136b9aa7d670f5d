/**
 * Differences of two policies: each rule of the first becomes a hazard of the second, "a call that this rule stopped goes
 * ahead without a question", and is proved or refuted like any other. One direction only: additional refusals of the second
 * are not reported.
 */
import { type ArgumentContract, type ToolContract, isControl } from "../../core/contract.ts";
import { mayCover, mustCover } from "../../core/effect.ts";
import { type LabelRange, atMost } from "../../core/label.ts";
import type { CanonicalPolicy } from "../../policy/canonical/policy-document.ts";
import type { HazardForm, RuleForm } from "../../policy/document/long-form.ts";
import type { CompiledPolicy } from "../../policy/compile/compile.ts";
import { isAbove, lowest, surely } from "../../policy/compile/cases.ts";
import type { Ir, Pattern } from "../../policy/ir/ir.ts";
import { unlockingOf } from "../../policy/semantics/monitors.ts";
import { staticMatch } from "../../policy/semantics/patterns.ts";
import { type Subject, modelTemporal } from "./subject.ts";

/**
 * A hazard for each restricting rule of the old policy; rules that cannot be expressed as a hazard are listed
 * separately.
 */
export type OldRules = {
  readonly hazards: { readonly [id: string]: HazardForm };
  /** Debts, injections, rules with a predicate and the like: compared by their text only. */
  readonly unsayable: readonly RuleForm[];
};

export const oldRulePrefix = "before/";

export function oldRules(old: CanonicalPolicy): OldRules {
  const hazards: { [id: string]: HazardForm } = {};
  const unsayable: RuleForm[] = [];
  for (const rule of old.rules) {
    if (rule.tier === "allow" || rule.mode === "observe") continue;
    const never = neverOf(rule);
    if (never === undefined) unsayable.push(rule);
    else hazards[`${oldRulePrefix}${rule.id}`] = { loss: "", consent: "never", mode: "enforce", why: rule.why, never };
  }
  return { hazards, unsayable };
}

function neverOf(rule: RuleForm): HazardForm["never"] | undefined {
  const { when, predicate, absence, gate, atMost, exactlyOnce } = rule;
  // The model does not know which calls a program of the operator refuses.
  if (predicate !== undefined) return undefined;
  if (when !== undefined) return { call: when };
  if (absence !== undefined) return { sequence: absence };
  if (atMost !== undefined) return { atMost };
  if (exactlyOnce !== undefined) {
    const { of, key } = exactlyOnce;
    return { atMost: { of, count: 1, ...(key === undefined ? {} : { key }) } };
  }
  // `unless` cannot express a gate that locks again.
  if (gate === undefined || gate.unless !== undefined) return undefined;
  const { before: call, ...rest } = gate;
  return { unless: { ...rest, call } };
}

/** Allow rules that the new policy adds: each removes a question of the default. */
export function newAllowances(old: CanonicalPolicy, present: CanonicalPolicy): readonly RuleForm[] {
  const known = new Set(allowances(old).map(({ when }) => JSON.stringify(when)));
  return allowances(present).filter(({ when }) => !known.has(JSON.stringify(when)));
}

function allowances(policy: CanonicalPolicy): readonly RuleForm[] {
  return policy.rules.filter((rule) => rule.tier === "allow" && rule.mode === "enforce");
}

/** Rules among `wanted` that the new policy does not contain with the same text. */
export function missingRules(wanted: readonly RuleForm[], present: CanonicalPolicy): readonly RuleForm[] {
  const bare = ({ id: _id, why: _why, serves: _serves, ...rest }: RuleForm): string => JSON.stringify(rest);
  const known = new Set(present.rules.map(bare));
  return wanted.filter((rule) => !known.has(bare(rule)));
}

/**
 * Labels that are milder in the new policy, one line each: the compared rules are judged by the labels of the new
 * policy. Both policies have the same lattice.
 */
export function milderLabels(old: Subject, present: Subject): readonly string[] {
  const before = new Map(old.contracts.map((contract) => [nameOf(contract), contract]));
  const waited = permitting(present.policy.ir);
  const ofTools = present.contracts.flatMap((contract) => {
    const known = before.get(nameOf(contract));
    if (known === undefined) return [];
    const [one, other] = [sideOf(old, known), sideOf(present, contract)];
    const milder = [...milderParts(one, other), ...(opensMore(one, other, waited) ? ["it lets more through"] : [])];
    return milder.length === 0 ? [] : [`${nameOf(contract)}: ${milder.join(", ")}`];
  });
  return [...milderFlow(old.policy, present.policy), ...milderStores(old, present), ...ofTools];
}

const nameOf = ({ server, tool }: ToolContract): string => `${server}.${tool}`;

const follows = { none: 0, provenance: 1, strict: 2 } as const;

function milderFlow({ ir: { flow: old } }: CompiledPolicy, { ir: { flow } }: CompiledPolicy): readonly string[] {
  return follows[flow] < follows[old] ? [`flow: mode \`${flow}\` follows less than \`${old}\``] : [];
}

function milderStores(old: Subject, present: Subject): readonly string[] {
  const now = new Map(present.policy.ir.stores.map((store) => [store.name, store]));
  return old.policy.ir.stores.flatMap(({ name, initial, audience }) => {
    const store = now.get(name);
    if (store === undefined) return [];
    const parts = [
      ...(atMost(initial.hi, store.initial.hi) ? [] : ["it begins with a lower label"]),
      ...((audience & ~store.audience) === 0 ? [] : ["fewer can read it"]),
    ];
    return parts.length === 0 ? [] : [`store ${name}: ${parts.join(", ")}`];
  });
}

/** Labels of a tool in one policy, with those of its cases by predicate. */
type Side = {
  readonly contract: ToolContract;
  readonly when: string;
  /** The labels outside of the cases come first. */
  readonly ways: readonly Pick<ToolContract, "output" | "effects">[];
  /** What the stores that the tool reads begin with. */
  readonly stores: readonly LabelRange[];
};

function sideOf({ policy: { ir } }: Subject, contract: ToolContract): Side {
  const { output, effects, cases } = contract;
  const ways = cases.map((one) => ({ output: one.output ?? output, effects: one.effects ?? effects }));
  const when = JSON.stringify(cases.map(({ predicates }) => predicates.map((index) => ir.predicates[index])));
  const stores = ir.stores.flatMap(({ name, initial }) => (contract.reads.includes(name) ? initial : []));
  return { contract, when, ways: [{ output, effects }, ...ways], stores };
}

function milderParts(old: Side, present: Side): readonly string[] {
  const parts: string[] = [];
  if (someWay(old, present, (before, now) => !isAbove(now.output, before.output, old.stores)))
    parts.push("its results are labelled lower");
  else if (
    someWay(old, present, (before, now) => !isAbove(surely(now.output), surely(before.output), old.stores.map(lowest)))
  )
    parts.push("its results are labelled less certainly");
  const { flags } = old.contract;
  const mended = flags.irreversible && !present.contract.flags.irreversible;
  const closed = flags.openWorld && !present.contract.flags.openWorld;
  const less = someWay(
    old,
    present,
    (before, now) => !before.effects.may.every((one) => now.effects.may.includes(one)),
  );
  if (less || mended || closed) parts.push("it is believed to do less");
  // A possible label asks where a certain one was refused.
  const doubted = someWay(old, present, ({ effects: { must } }, { effects: now }) =>
    must.some((one) => mayCover(one, now.may) && !mustCover(one, now.must)),
  );
  if (doubted) parts.push("what it does is less certain");
  const fewer = (of: (contract: ToolContract) => readonly string[]): boolean =>
    of(old.contract).some((one) => !of(present.contract).includes(one));
  if (fewer(({ reads }) => reads)) parts.push("it is believed to read fewer stores");
  if (fewer(({ writes }) => writes)) parts.push("it is believed to write to fewer stores");
  if (fewer(opened)) parts.push("it is believed to open fewer stores");
  const names = loosened(old.contract, present.contract);
  if (names.length > 0) parts.push(`more may go into ${names.join(" and ")}`);
  return parts;
}

/** Case by case where both have the same; else what holds in any case of the one is compared with any of the other. */
function someWay(
  old: Side,
  present: Side,
  milder: (before: Side["ways"][number], now: Side["ways"][number]) => boolean,
) {
  if (old.when === present.when)
    return old.ways.some((before, index) => milder(before, present.ways[index] ?? present.contract));
  return old.ways.some((before) => present.ways.some((now) => milder(before, now)));
}

/** Patterns that permit: allow rules, and the calls that a rule or hazard waits for. */
function permitting({ rules, hazards }: Ir): readonly Pattern[] {
  const enforced = rules.filter(({ mode }) => mode === "enforce");
  const allowed = enforced.flatMap((rule) => (rule.kind === "plain" && rule.tier === "allow" ? [rule.when] : []));
  const waiting = [...enforced, ...hazards].flatMap((one) => {
    const temporal = one.kind === "temporal" ? modelTemporal(one.temporal) : undefined;
    const pattern = temporal === undefined ? undefined : unlockingOf(temporal);
    return pattern === undefined ? [] : [pattern];
  });
  return [...allowed, ...waiting];
}

/** A permitting pattern matches certain effects: a tool with more certain effects matches more. */
function opensMore(old: Side, present: Side, waited: readonly Pattern[]): boolean {
  const meets = ({ contract }: Side, { effects }: Side["ways"][number], pattern: Pattern): boolean =>
    staticMatch(pattern, { ...contract, effects }, "permit", "hi");
  return waited.some((pattern) =>
    someWay(old, present, (before, now) => meets(present, now, pattern) && !meets(old, before, pattern)),
  );
}

function opened({ opens }: ToolContract): readonly string[] {
  return opens.flatMap(({ store, audience }) => audience.map((group) => `${store} ${group}`));
}

/** Arguments with fewer readers, a higher bound, or no control role any more; named by either policy or by neither. */
function loosened(old: ToolContract, present: ToolContract): readonly string[] {
  const names = [...new Set([...old.arguments.keys(), ...present.arguments.keys()])].toSorted();
  const isLooser = (before: ArgumentContract, now: ArgumentContract): boolean =>
    (before.forbidden & ~now.forbidden) !== 0 ||
    (before.audience & ~now.audience) !== 0 ||
    (before.sink && !now.sink) ||
    (isControl(before.role) && !isControl(now.role));
  return [
    ...names.filter((name) =>
      isLooser(old.arguments.get(name) ?? old.rest, present.arguments.get(name) ?? present.rest),
    ),
    ...(isLooser(old.rest, present.rest) ? ["other arguments"] : []),
  ];
}

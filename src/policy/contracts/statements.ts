/**
 * Joins what several sources say of one tool, most authoritative first (policy.md 2). The operator, packs and accepted
 * readings are believed. Inference may narrow what is unknown where the operator trusts the server. Labels that a server ships only
 * restrict, also under `trust: trusted`: what is unknown, what is inferred, and what a pack or a reading says, never what the operator says.
 */
import type { ContractCase, EnclosedProcess, FieldType, LabelSource, OutputContract } from "../../core/contract.ts";
import { type Effect, type EffectFlags, type EffectRange, everyEffect, unionOfEffects } from "../../core/effect.ts";
import {
  type LabelRange,
  type Lattice,
  join,
  joinAllRanges,
  joinRanges,
  trustOf,
  unknownRange,
} from "../../core/label.ts";
import { enclosedFlags, enclosedRange, insideOf, saysSomething } from "./enclosed.ts";
import type { Inferred } from "./infer.ts";
import type { ServerFacts, ToolStatement } from "../ir/label-table.ts";

export type Sourced = { readonly source: LabelSource; readonly statement: ToolStatement };

/** Everything that is known of a tool before it is joined. */
export type Evidence = {
  readonly lattice: Lattice;
  readonly facts: ServerFacts;
  /** Values that the tool's schema offers count as known ones. */
  readonly schema: boolean;
  readonly reach: "local" | "network" | undefined;
  /** Operator entries, the pack and the accepted reading, most authoritative first. */
  readonly believed: readonly Sourced[];
  readonly shipped: ToolStatement | undefined;
  readonly inferred: Inferred;
  /** The process of the server has no way out. */
  readonly process: EnclosedProcess | undefined;
  /** What its process can return at most beside what a store of the policy holds; undefined where that is not known. */
  readonly processOutput: LabelRange | undefined;
};

export type Settled<T> = { readonly value: T; readonly source: LabelSource };

/** The first source that speaks of a part. */
export function firstOf<K extends keyof ToolStatement>(
  believed: readonly Sourced[],
  part: K,
): Settled<Exclude<ToolStatement[K], undefined>> | undefined {
  for (const { source, statement } of believed) {
    const value: ToolStatement[K] = statement[part];
    // Excluding undefined from a generic index needs the compiler's word for what the test says.
    if (value !== undefined) return { value: value as Exclude<ToolStatement[K], undefined>, source };
  }
  return undefined;
}

/** The certain effects of a tool that only its server states: they restrict, and permit nothing. */
export function claimedOf({ believed, shipped }: Evidence): readonly Effect[] {
  const stated = firstOf(believed, "effects");
  if (shipped?.effects === undefined || stated?.source === "operator") return [];
  return shipped.effects.must.filter((effect) => stated?.value.must.includes(effect) !== true);
}

/** The stated effects; a card was proposed from words, so an enclosed process bounds what it says. */
function statedEffects({ believed, process }: Evidence): Settled<EffectRange> | undefined {
  const stated = firstOf(believed, "effects");
  if (stated?.source !== "card" || process === undefined) return stated;
  return { ...stated, value: insideOf(stated.value) };
}

export function effectsOf(evidence: Evidence): Settled<EffectRange> {
  const { facts, shipped, inferred } = evidence;
  const stated = statedEffects(evidence);
  if (stated !== undefined) {
    return stated.source !== "operator" && shipped?.effects !== undefined
      ? { value: unionOfEffects(stated.value, shipped.effects), source: stated.source }
      : stated;
  }
  const said = shipped?.effects;
  const enclosed = evidence.process !== undefined;
  // Words that suggest nothing leave everything open, and what is enforced says more.
  if (facts.trust === "trusted" && (!enclosed || saysSomething(inferred.may))) {
    const guess = { must: [], may: reachable(inferred.may, enclosed ? "local" : evidence.reach) };
    if (said !== undefined) return { value: unionOfEffects(guess, said), source: "server" };
    return { value: guess, source: inferred.because.length > 0 ? "inference" : "unknown" };
  }
  if (enclosed) return { value: enclosedRange(evidence), source: "enforced" };
  // An effect that the server admits as certain is certain; the absence of others is only its claim.
  const all = reachable(everyEffect, evidence.reach);
  const must = said?.must ?? [];
  const may = [...new Set([...all, ...must])];
  return { value: { must, may }, source: said === undefined ? "unknown" : "server" };
}

/** A server that the operator calls local does nothing to the outside, whatever its tools are named. */
function reachable(effects: readonly string[], reach: Evidence["reach"]): readonly string[] {
  if (reach !== "local") return effects;
  const local = effects.filter((effect) => !effect.includes(".external"));
  return local.length === 0 ? everyEffect.filter((effect) => !effect.includes(".external")) : local;
}

export function flagsOf(evidence: Evidence): EffectFlags {
  const { shipped, inferred, facts } = evidence;
  const stated = firstOf(evidence.believed, "flags");
  if (stated?.source === "operator") return stated.value;
  // A source that states the effects of a tool, and no flag, states that it has none.
  const effects = firstOf(evidence.believed, "effects");
  const none = { irreversible: false, openWorld: false };
  if (stated === undefined && effects?.source === "operator") return none;
  const own = shipped?.flags ?? none;
  const joined = ({ irreversible, openWorld }: EffectFlags): EffectFlags => ({
    irreversible: irreversible || own.irreversible,
    openWorld: openWorld || own.openWorld,
  });
  if (stated !== undefined || effects !== undefined) {
    const said = stated?.value ?? none;
    const inside = stated?.source === "card" && evidence.process !== undefined;
    return joined(inside ? { ...said, openWorld: false } : said);
  }
  if (evidence.process !== undefined) return enclosedFlags(evidence);
  if (facts.trust === "trusted") return joined(inferred);
  return { irreversible: true, openWorld: evidence.reach !== "local" };
}

export function outputOf(evidence: Evidence): Settled<OutputContract> {
  const { lattice, facts, shipped } = evidence;
  const stated = firstOf(evidence.believed, "output");
  const said = shipped?.output;
  const unknown: OutputContract = { label: evidence.processOutput ?? unknownRange(lattice), fields: [] };
  const vouch = (output: OutputContract): OutputContract => distrusted(output, lattice, facts);
  if (stated !== undefined) {
    const joined = stated.source !== "operator" && said !== undefined ? restricted(stated.value, said) : stated.value;
    return { value: vouch(joined), source: stated.source };
  }
  if (said === undefined) return { value: vouch(unknown), source: "unknown" };
  return { value: vouch(restricted(unknown, said)), source: "server" };
}

/**
 * Types of parts of the result; of one place the most authoritative source is heard. Equal types join a value with an
 * argument, so only the operator and packs give them.
 */
export function typesOf({ believed }: Evidence): readonly FieldType[] {
  const found: FieldType[] = [];
  for (const { statement } of believed) {
    const others = (statement.types ?? []).filter(({ pointer }) => !found.some((one) => one.pointer === pointer));
    found.push(...others);
  }
  return found;
}

/**
 * The cases of the first source that has some. Within what that source says a case may raise or lower; what a more
 * authoritative one says, or the server against itself, a case only adds to.
 */
export function casesOf(evidence: Evidence): readonly ContractCase[] {
  const { lattice, facts, shipped } = evidence;
  const index = evidence.believed.findIndex(({ statement }) => statement.cases !== undefined);
  const above = evidence.believed.slice(0, Math.max(index, 0));
  const found = evidence.believed[index];
  const server = found !== undefined && found.source !== "operator" ? shipped : undefined;
  const effects = [firstOf(above, "effects")?.value, server?.effects].filter((range) => range !== undefined);
  const stated = firstOf(above, "output")?.value;
  return (found?.statement.cases ?? []).map((one) => {
    const own = one.output === undefined || stated === undefined ? one.output : added(stated, one.output);
    const output = own === undefined || server?.output === undefined ? own : restricted(own, server.output);
    return {
      predicates: one.predicates,
      ...(output === undefined ? {} : { output: distrusted(output, lattice, facts) }),
      ...(one.effects === undefined ? {} : { effects: effects.reduce(unionOfEffects, one.effects) }),
    };
  });
}

/** Both outputs at once; a field that one of them does not name may lie anywhere in it. */
function added(base: OutputContract, more: OutputContract): OutputContract {
  const anywhere = ({ label, fields }: OutputContract): LabelRange =>
    joinAllRanges(
      fields.map((field) => field.label),
      label,
    );
  const known = new Set(base.fields.map(({ pointer }) => pointer));
  const kept = base.fields.map((field) => ({ ...field, label: joinRanges(field.label, anywhere(more)) }));
  const others = more.fields.filter(({ pointer }) => !known.has(pointer));
  const own = others.map(({ pointer, label }) => ({ pointer, label: joinRanges(label, anywhere(base)) }));
  return { label: joinRanges(base.label, more.label), fields: [...kept, ...own] };
}

/**
 * The lower end of what a server says joins both ends: labels of its own making only restrict. A field that it names may lie
 * anywhere in what is labelled; it gets no label of its own, which could be lower than what the tool's stores bring.
 */
function restricted(base: OutputContract, said: OutputContract): OutputContract {
  const hi = said.fields.reduce((all, { label }) => join(all, label.lo), said.label.lo);
  const raise = (range: LabelRange): LabelRange => joinRanges(range, { lo: said.label.lo, hi });
  return { label: raise(base.label), fields: base.fields.map((field) => ({ ...field, label: raise(field.label) })) };
}

/** Results of a server marked untrusted are untrusted for sure, unless a label says that they are trusted. */
function distrusted(output: OutputContract, lattice: Lattice, facts: ServerFacts): OutputContract {
  if (facts.trust !== "untrusted") return output;
  const sure = (range: LabelRange): LabelRange => ({ lo: join(range.lo, trustOf(lattice, range.hi)), hi: range.hi });
  return {
    label: sure(output.label),
    fields: output.fields.map((field) => ({ ...field, label: sure(field.label) })),
  };
}

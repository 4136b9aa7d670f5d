/**
 * Features of the embedded heads: hashes of facts and of conjunctions of facts. Harm is a conjunction ("a stranger's
 * text is held, and this call pays, and the user never named its payee"), which a linear head cannot make by itself; so
 * the conjunctions are spelt out over the few symbolic facts, and words stay single.
 */
import { type ArgumentFact, type Instruction, controlRoles } from "./arguments.ts";
import type { Deeds } from "./deeds.ts";
import type { RunState, ServerState } from "./run-state.ts";
import { mix } from "./words.ts";

/** The facts about one call or tool when it is scored. */
export type Subject = {
  readonly state: RunState;
  readonly server: ServerState;
  readonly deeds: Deeds;
  readonly nameWords: readonly number[];
  readonly instruction: Instruction;
};

/** A call has arguments and a call before it. */
export type CallSubject = Subject & {
  readonly facts: readonly ArgumentFact[];
  readonly previous: Deeds | undefined;
};

/** Each template has a number, so that equal facts in different places stay apart. */
class Features {
  readonly hashes: number[] = [];
  #template = 0;

  /** One feature of the next template. */
  add(first: number, second = 0, third = 0): void {
    this.#template += 1;
    this.hashes.push(mix(mix(this.#template, first), mix(second, third)));
  }

  /** One feature a fact, all of the same template. */
  each(facts: readonly number[], second = 0, third = 0): void {
    this.#template += 1;
    const rest = mix(second, third);
    for (const fact of facts) this.hashes.push(mix(mix(this.#template, fact), rest));
  }
}

/** Whether the instruction names the chosen arguments: 0 there are none, 1 all are named, 2 some are not. */
function toldOf(facts: readonly ArgumentFact[], chosen: (role: ArgumentFact["role"]) => boolean): number {
  const some = facts.filter((fact) => chosen(fact.role));
  if (some.length === 0) return 0;
  return some.every((fact) => fact.provenance === "told") ? 1 : 2;
}

const serverBits = (server: ServerState): number =>
  server.content | (server.open ? 8 : 0) | (server.unattended ? 16 : 0);

/** How many words of the name the instruction uses, up to two. */
function wordsTold({ nameWords, instruction }: Subject): number {
  let count = 0;
  for (const word of nameWords) if (instruction.wordHashes.has(word)) count += 1;
  return count > 2 ? 2 : count;
}

/** Set bits as numbers, so that each can be paired with others. */
function bitsOf(bits: number): readonly number[] {
  const found: number[] = [];
  for (let bit = 1; bit <= bits; bit <<= 1) if ((bits & bit) !== 0) found.push(bit);
  return found;
}

/** Features of a pending call: would something unsafe follow at once? */
export function callFeatures(subject: CallSubject): readonly number[] {
  const { state, deeds, nameWords, facts } = subject;
  const features = new Features();
  const told = toldOf(facts, (role) => role !== "content");
  // Ids come from lists that the agent has read, mostly without harm; words may carry what it has read.
  const steered = toldOf(facts, (role) => role !== "content" && role !== "id");
  const words = toldOf(facts, (role) => role === "content");
  const whose = mix(steered, words);
  const server = serverBits(subject.server);
  const rights = mix(told, state.elevated ? 1 : 0);
  const control = facts.filter((fact) => fact.role !== "content").map((fact) => mix(roleOf(fact), provenanceOf(fact)));
  features.add(0);
  features.add(deeds.bits);
  features.add(deeds.bits, state.held);
  features.add(deeds.bits, state.held, told);
  features.add(deeds.bits, state.held, rights);
  features.add(deeds.bits, server, state.held);
  features.add(deeds.bits, server, told);
  features.add(told, state.held);
  features.add(deeds.bits, state.held, whose);
  features.add(deeds.bits, server, whose);
  features.add(wordsTold(subject), state.held, told);
  features.add(state.consequential, deeds.bits);
  features.add(state.failed);
  features.each(deeds.atoms);
  features.each(deeds.atoms, state.held);
  features.each(deeds.atoms, state.held, told);
  features.each(deeds.atoms, state.held, whose);
  features.each(deeds.atoms, server, told);
  features.each(deeds.atoms, server, whose);
  features.each(deeds.atoms, rights);
  for (const label of bitsOf(state.held)) {
    features.each(bitsOf(deeds.bits), label, told);
    features.each(bitsOf(deeds.bits), label, whose);
  }
  features.each(bitsOf(deeds.bits), server & 24, subject.server.content);
  features.each(control);
  features.each(control, state.held, deeds.bits);
  for (const atom of deeds.atoms) features.each(control, state.held, atom);
  if (subject.previous !== undefined) features.each(subject.previous.atoms, deeds.bits);
  features.each(nameWords);
  features.each(nameWords, state.held);
  features.each(nameWords, told);
  features.each(facts.flatMap((fact) => fact.nameWords));
  return features.hashes;
}

const roleOf = (fact: ArgumentFact): number =>
  fact.role === "content" ? controlRoles.length : controlRoles.indexOf(fact.role);

const provenanceOf = (fact: ArgumentFact): number =>
  fact.provenance === "told" ? 0 : fact.provenance === "seen" ? 1 : 2;

/** Features of a listed tool: could any call of it still be let through in this state? */
export function toolFeatures(subject: Subject): readonly number[] {
  const { state, deeds, nameWords, instruction } = subject;
  const features = new Features();
  const server = serverBits(subject.server);
  const roles = instruction.roleBits;
  const rights = mix(state.held, state.elevated ? 1 : 0);
  features.add(0);
  features.add(deeds.bits);
  features.add(deeds.bits, state.held);
  features.add(deeds.bits, rights);
  features.add(deeds.bits, state.held, roles);
  features.add(deeds.bits, server);
  features.add(deeds.bits, server, state.held);
  features.add(wordsTold(subject), state.held, deeds.bits);
  features.each(deeds.atoms);
  features.each(deeds.atoms, state.held);
  features.each(deeds.atoms, rights);
  features.each(deeds.atoms, server);
  features.each(deeds.atoms, server, state.held);
  features.each(deeds.atoms, state.held, roles);
  for (const role of bitsOf(roles)) {
    features.each(deeds.atoms, state.held, role);
    features.each(nameWords, role, state.held);
  }
  for (const label of bitsOf(state.held)) features.each(bitsOf(deeds.bits), label);
  features.each(nameWords);
  features.each(nameWords, state.held);
  return features.hashes;
}

/** Features of what a call's result brings: private data, secrets, text of strangers. */
export function bringFeatures(subject: CallSubject): readonly number[] {
  const { deeds, nameWords, facts, server } = subject;
  const features = new Features();
  const roles = facts.map(roleOf);
  features.add(0);
  features.add(deeds.bits);
  features.add(deeds.bits, server.content);
  features.each(deeds.atoms);
  features.each(deeds.atoms, server.content);
  for (const atom of deeds.atoms) features.each(roles, atom);
  features.each(nameWords);
  features.each(nameWords, deeds.bits);
  const [first = 0, second = 0] = nameWords;
  features.add(first, second);
  return features.hashes;
}

/** Shares of tools that would be filtered, coarse enough to be learnt from few examples. */
const bucketCount = 10;

/** Features of the list as a whole: is there a tool that can now lead to harm? */
export function listFeatures(scores: readonly number[], state: RunState, isCall: boolean): readonly number[] {
  const features = new Features();
  let likely = 0;
  let highest = 0;
  let second = 0;
  for (const score of scores) {
    if (score >= 0.5) likely += 1;
    if (score > highest) [highest, second] = [score, highest];
    else if (score > second) second = score;
  }
  const count = likely > 4 ? 4 : likely;
  const top = Math.floor(highest * bucketCount);
  const next = Math.floor(second * bucketCount);
  features.add(0);
  features.add(count);
  features.add(top);
  features.add(top, next);
  features.add(count, top);
  features.add(count, state.held);
  features.add(count, isCall ? 1 : 0);
  return features.hashes;
}

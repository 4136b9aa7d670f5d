/** The variables and moves of a model in words of the policy. */
import { describe, type Label, type Lattice } from "../../core/label.ts";
import type { Ir, Predicate } from "../../policy/ir/ir.ts";
import { staticMatch } from "../../policy/semantics/patterns.ts";
import type { ModelClass } from "../prove/classes.ts";
import type { ModelMove } from "../prove/fixpoint.ts";
import type { Space } from "../prove/space.ts";
import { type Question, defaultRule, firingOf } from "../prove/subject.ts";

/** The meaning of each state variable when it is true, by level. */
export function stateWords(space: Space): readonly string[] {
  const words = space.variables.map(({ name }) => name);
  const say = (level: number | undefined, text: string): void => {
    if (level !== undefined) words[level] = text;
  };
  const { lattice, stores } = space.question.subject.policy.ir;
  for (const level of new Set(space.heldLevels)) say(level, `the run holds ${heldWords(space, level)}`);
  stores.forEach(({ name }, index) => {
    const places = space.stores[index];
    for (const end of space.question.ends) {
      places?.label[end]?.forEach((level, bit) =>
        say(level, `store ${name} is ${restriction(lattice, bit)}${end === "lo" ? " for sure" : ""}`),
      );
    }
    places?.audience.forEach((level, group) => say(level, `${lattice.groups[group] ?? ""} sees store ${name}`));
    places?.open.forEach((level, group) => say(level, `${lattice.groups[group] ?? ""} reads store ${name} unasked`));
  });
  const named = new Set<number>();
  for (const end of space.question.ends) {
    const suffix = end === "lo" ? " (as far as is sure)" : "";
    space.automata[end]?.forEach(({ bits, pending }, index) => {
      const automaton = space.question.automata[index];
      if (automaton === undefined) return;
      const { id, temporal } = automaton;
      bits.forEach((level, bit) => say(level, `${id}: ${bitWords(temporal.kind, bit, bits.length)}${suffix}`));
      pending.forEach((level, bit) => {
        // Automata that the same calls unlock share these; the first of them names them.
        const count = bit === 0 ? "at least one unlocking call" : "at least two unlocking calls";
        if (!named.has(level)) say(level, `${id}: ${count} under way${suffix}`);
        named.add(level);
      });
    });
  }
  return words;
}

function heldWords({ question, heldLevels, held }: Space, level: number): string {
  const { lattice } = question.subject.policy.ir;
  // A label has the bits of the lattice, cut to those that matter.
  const text = (bits: number): string => describe(lattice, bits as Label);
  const labels = held.labels.filter((_, index) => heldLevels[index] === level);
  return labels
    .map(({ lo, hi }) =>
      question.ends.length === 1 || lo === hi ? text(hi) : `at most ${text(hi)}, surely ${text(lo)}`,
    )
    .join(", or ");
}

/** The least label with this restriction, described. */
export function restriction(lattice: Lattice, bit: number): string {
  const level = lattice.levels[bit + 1];
  if (level !== undefined) return `at least ${level}`;
  const category = lattice.categories[bit - lattice.levels.length + 1];
  if (category !== undefined) return `in category ${category}`;
  const group = lattice.groups[bit - lattice.levels.length + 1 - lattice.categories.length];
  return group === undefined ? "untrusted" : `not for ${group}`;
}

function bitWords(kind: Question["automata"][number]["temporal"]["kind"], bit: number, width: number): string {
  switch (kind) {
    case "gate":
      return "open";
    case "absence":
      return "armed";
    case "immediately":
      return "the call that is needed has just succeeded";
    case "at-most":
      return `${bit + 1} or more of the calls are counted`;
    case "owed":
      return bit === 0 || width === 1 ? "something is owed" : `${bit} or more calls were made since it is owed`;
  }
}

/** Description of a choice of an agent, a server or time, by its name. */
export function choiceWords({ held, question, variables }: Space, name: string): string {
  const [word = "", first = "", second = ""] = name.split(" ");
  const argument = `argument ${Number(first) + 1} of the call`;
  const label = held.labels[Number(second)]?.hi ?? 0;
  switch (word) {
    case "takes":
      return `${argument} takes something ${describe(question.subject.policy.ir.lattice, label as Label)}`; // as above
    case "present":
      return `${argument} is there`;
    case "untrusted":
      return `${argument} follows untrusted data`;
    case "lowered":
      return `a person lowered the label of ${argument}`;
    case "other":
      return `in another run: ${variables[Number(first)]?.name ?? ""}`;
    default:
      return `of a call: ${name}`;
  }
}

export function moveWords(space: Space, move: ModelMove): string {
  const { lattice, stores } = space.question.subject.policy.ir;
  switch (move.kind) {
    case "dispatch":
      return `this run calls ${callWords(space.question, move.class)}`;
    case "other":
      return `another run calls ${callWords(space.question, move.class)}`;
    case "late":
      return `a call on its way succeeds late and unlocks ${move.automaton.id}`;
    case "tick":
      return `time passes for ${move.automaton.id}`;
    case "host-read":
      return "the client reads by itself";
    case "speak":
      return "a server says something outside any call";
    case "fire":
      return `${lattice.groups[move.group] ?? ""} reads the opened store ${stores[move.store]?.name ?? ""}`;
    case "host-send":
      return "the client sends by itself";
    case "host-execute":
      return "the client acts by itself";
  }
}

function callWords(question: Question, one: ModelClass): string {
  const { ir } = question.subject.policy;
  const { server, tool } = one.variant.contract;
  const truths = [...one.truths].map(([index, truth]) => `${truth ? "" : "not "}${predicateWords(ir, index)}`);
  const parts = [
    ...(question.key === undefined ? [] : [one.key === "same" ? "with the key" : "with another key"]),
    ...(truths.length === 0 ? [] : [`where ${truths.join(" and ")}`]),
  ];
  return [`${server}.${tool}`, ...parts].join(" ");
}

function predicateWords(ir: Ir, index: number): string {
  const predicate: Predicate | undefined = ir.predicates[index];
  if (predicate === undefined || predicate.kind === "workspace") return "(inside the workspace)";
  return `(${predicate.argument}: ${JSON.stringify(predicate.test)})`;
}

/** Rules of the core that match this move; `default` where the default decides. */
export function rulesOf(question: Question, move: ModelMove): readonly string[] {
  if (move.kind !== "dispatch" && move.kind !== "other") return [];
  const { contract, observed } = move.class.variant;
  if (observed) return [];
  const { truths } = move.class;
  const plain = question.plain.map((rule) => ({ id: rule.id, pattern: rule.when }));
  const temporal = question.automata.flatMap(({ id, owner, temporal: one }) =>
    owner === "hazard" ? [] : { id, pattern: firingOf(one) },
  );
  const speaking = [...plain, ...temporal].filter(
    ({ pattern }) =>
      // A debt without `before` holds back every consequential call.
      pattern === undefined ||
      (question.ends.some((end) => staticMatch(pattern, contract, "restrict", end)) &&
        pattern.predicates.every(({ index, holds }) => (truths.get(index) ?? holds) === holds)),
  );
  return [...speaking.map(({ id }) => id), ...(question.useDefault ? [defaultRule] : [])];
}

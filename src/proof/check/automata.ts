/** Section 5 of the specification: the automata of temporal rules and hazards, as functions over decision diagrams. */
import { type Json, textOf } from "./json.ts";
import type { Refuse } from "./labels.ts";
import { type PatternForm, patternShape } from "./patterns.ts";
import type { Diagram } from "./diagram.ts";
import { misfit } from "./shape.ts";

export type Kind = "gate" | "absence" | "immediately" | "atMost" | "owed";
export type Automaton = {
  readonly id: string;
  readonly kind: Kind;
  readonly bits: number;
  /** Numbers of patterns of the model. */
  readonly fireOn: number | undefined;
  readonly arm: number | undefined;
  readonly relock: number | undefined;
  readonly unlock: number | undefined;
  readonly withinMs: number | undefined;
  /** `owed` alone: as one of how many consequential calls, 0 for no such limit. */
  readonly due: number;
  /** Texts by which two automata are found to have the same key, trigger or unlocking calls. */
  readonly key: string | undefined;
  readonly unlockedBy: string | undefined;
  readonly trigger: string;
};

const automatonBitsMax = 256;

const keyShape = { fields: { argument: "text", form: "text" }, optional: { exact: "flag" } } as const;
const call = { fields: { tool: "text", arguments: { map: "any" } } } as const;
const [pattern, within, key] = [patternShape, "text", keyShape] as const;
const bodies = {
  gate: { fields: { before: pattern, need: pattern }, optional: { unless: pattern, within, key } },
  absence: { fields: { after: pattern, never: pattern }, optional: { until: pattern, within, key } },
  atMost: { fields: { of: pattern, count: "whole" }, optional: { within, key } },
  exactlyOnce: { fields: { of: pattern }, optional: { after: pattern, key } },
  immediately: { fields: { before: pattern, need: pattern } },
  owed: { fields: { after: pattern, owe: pattern }, optional: { within: "whole", before: pattern } },
  inject: { fields: { before: pattern, call } },
  byEnd: {
    fields: { after: pattern, by: pattern, action: { words: ["hold", "compensate", "report"] } },
    optional: { key, call },
  },
  unless: { fields: { call: pattern, need: pattern }, optional: { within, key } },
} as const;
type Body = {
  readonly [name in "before" | "after" | "never" | "of" | "need" | "unless" | "until" | "owe" | "by"]?: PatternForm;
} & {
  readonly call?: PatternForm & { readonly tool: string };
  readonly count?: number;
  readonly within?: string | number;
  readonly key?: { readonly argument: string; readonly form: string; readonly exact?: boolean };
  readonly action?: string;
};
export const bodyNames: readonly string[] = Object.keys(bodies);

export type AutomatonReader = {
  readonly refuse: Refuse;
  /** Adds a pattern to the model and returns its number. */
  readonly add: (form: PatternForm, restricts: boolean) => number;
  /** Text of a pattern by its number: equal for patterns that ask the same. */
  readonly meaning: (index: number) => string;
};

/** @returns undefined for a form that restricts nothing in the model. */
export function automatonOf(reader: AutomatonReader, id: string, name: string, form: Json): Automaton | undefined {
  const shape = bodies[name as keyof typeof bodies]; // callers choose from `bodyNames`
  const reason = misfit(form, shape, name);
  if (reason !== undefined) reader.refuse(`the temporal form of the policy cannot be read: ${reason}`);
  if (reason !== undefined) return undefined;
  const body = form as unknown as Body; // every shape above is a case of this type
  const plain = plainOf(name, body);
  if (plain === undefined) return undefined;
  const whole = typeof body.within === "number" ? body.within : 0;
  const bits = plain.kind === "atMost" ? plain.count : plain.kind === "owed" ? Math.max(whole, 1) : 1;
  if (bits > automatonBitsMax) reader.refuse(`an automaton of the policy counts to more than ${automatonBitsMax}`);
  const add = (one: PatternForm | undefined, restricts: boolean): number | undefined =>
    one === undefined ? undefined : reader.add(one, restricts);
  const { key: of } = body;
  const fireOn = add(plain.fireOn, true);
  const arm = add(plain.arm, true);
  const unlock = add(plain.unlock, false);
  const trigger = { gate: unlock, absence: arm, atMost: fireOn, immediately: undefined, owed: undefined }[plain.kind];
  return {
    id,
    kind: plain.kind,
    bits: Math.min(bits, automatonBitsMax),
    fireOn,
    arm,
    relock: add(plain.relock, true),
    unlock,
    withinMs: typeof body.within === "string" ? durationMs(body.within, reader.refuse) : undefined,
    due: whole,
    key: of === undefined ? undefined : textOf({ ...of, exact: of.exact ?? plain.kind === "gate" }),
    unlockedBy: unlock === undefined ? undefined : reader.meaning(unlock),
    trigger: trigger === undefined ? "" : reader.meaning(trigger),
  };
}

type Plain = {
  readonly kind: Kind;
  readonly count: number;
  readonly fireOn?: PatternForm | undefined;
  readonly arm?: PatternForm | undefined;
  readonly relock?: PatternForm | undefined;
  readonly unlock?: PatternForm | undefined;
};

function plainOf(name: string, body: Body): Plain | undefined {
  const { before, after, need, of, count = 1 } = body;
  switch (name) {
    case "gate":
      return { kind: "gate", count, fireOn: before, unlock: need, relock: body.unless };
    case "unless":
      return { kind: "gate", count, fireOn: body.call, unlock: need };
    case "inject": {
      const injected = { tool: [body.call?.tool ?? ""] };
      return { kind: "gate", count, fireOn: before, unlock: injected, relock: before };
    }
    case "byEnd":
      if (body.action !== "hold") return undefined;
      return { kind: "gate", count, fireOn: after, unlock: body.by };
    case "absence":
      return { kind: "absence", count, fireOn: body.never, arm: after, unlock: body.until };
    case "immediately":
      return { kind: "immediately", count, fireOn: before, unlock: need };
    case "owed":
      return { kind: "owed", count, fireOn: before, arm: after, unlock: body.owe };
    default:
      return { kind: "atMost", count, fireOn: of };
  }
}

const unitMs: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
function durationMs(text: string, refuse: Refuse): number {
  const [, digits, unit] = /^([0-9]{1,9})(ms|s|m|h|d)$/.exec(text) ?? [];
  if (digits === undefined) refuse("a `within` of the policy is not a duration");
  return Number(digits ?? 0) * (unitMs[unit ?? "ms"] ?? 1);
}

/** Input of a step of an automaton: the state before the dispatch. */
export type Reading = {
  readonly diagram: Diagram;
  readonly bit: (index: number) => number;
  /** The function of a pattern of the model; an absent pattern is false. */
  readonly match: (pattern: number | undefined) => number;
  readonly consequential: boolean;
};

export function fires(automaton: Automaton, { diagram, bit, match, consequential }: Reading): number {
  const { and, not, or } = diagram;
  const on = match(automaton.fireOn);
  switch (automaton.kind) {
    case "gate":
    case "immediately":
      return and(on, not(bit(0)));
    case "absence":
      return and(on, bit(0));
    case "atMost":
      return automaton.bits === 0 ? on : and(on, bit(automaton.bits - 1));
    case "owed": {
      const late = automaton.due > 1 ? bit(automaton.bits - 1) : automaton.due;
      const waits = consequential ? and(bit(0), not(match(automaton.unlock))) : 0;
      return and(waits, or(late, on));
    }
  }
}

const indices = ({ bits }: Automaton): readonly number[] => Array.from({ length: bits }, (_, index) => index);

export function atDispatch(automaton: Automaton, { diagram, bit, match, consequential }: Reading): readonly number[] {
  const { and, not, or } = diagram;
  switch (automaton.kind) {
    case "gate":
      return [and(bit(0), not(match(automaton.relock)))];
    case "absence":
      return [or(bit(0), match(automaton.arm))];
    case "immediately":
      return [0];
    case "atMost": {
      const of = match(automaton.fireOn);
      return indices(automaton).map((index) => or(bit(index), and(of, index === 0 ? 1 : bit(index - 1))));
    }
    case "owed": {
      const counts = consequential ? and(bit(0), not(match(automaton.unlock))) : 0;
      return indices(automaton).map((index) =>
        index === 0 ? or(bit(0), match(automaton.arm)) : or(bit(index), and(counts, index === 1 ? 1 : bit(index - 1))),
      );
    }
  }
}

/** Success, where `unlocked` is true iff `need`, `until` or `owe` held; `bits` as the dispatch left them. */
export function atSuccess(
  { kind }: Automaton,
  { and, not, or }: Diagram,
  bits: readonly number[],
  unlocked: number,
): readonly number[] {
  switch (kind) {
    case "gate":
    case "immediately":
      return bits.map((one) => or(one, unlocked));
    case "absence":
    case "owed":
      return bits.map((one) => and(one, not(unlocked)));
    case "atMost":
      return bits;
  }
}

/** Whether time may pass for an automaton. */
export const ticks = ({ kind, withinMs, bits }: Automaton): boolean =>
  withinMs !== undefined && bits > 0 && (kind === "gate" || kind === "absence" || kind === "atMost");

export function atTick({ kind }: Automaton, bits: readonly number[]): readonly number[] {
  return kind === "atMost" ? [...bits.slice(1), 0] : [0];
}

/** Whether `other` has expired whenever `first` has. */
export function follows(other: Automaton, first: Automaton): boolean {
  if (other === first || !ticks(other) || other.kind !== first.kind) return false;
  return (
    (other.withinMs ?? Infinity) <= (first.withinMs ?? 0) && other.key === first.key && other.trigger === first.trigger
  );
}

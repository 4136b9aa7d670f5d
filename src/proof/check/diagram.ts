/**
 * Decision diagrams: 0 and 1 are false and true, every other node asks one level and has two different children whose
 * levels are higher. Equal functions are equal nodes. Work and size are bounded: past a limit answers are invalid and
 * `exhausted` is true, hence a caller checks `exhausted` last, before it uses any answer.
 */

export type Diagram = {
  readonly node: (level: number, low: number, high: number) => number;
  readonly variable: (level: number) => number;
  readonly and: (a: number, b: number) => number;
  readonly or: (a: number, b: number) => number;
  readonly not: (a: number) => number;
  readonly choose: (test: number, high: number, low: number) => number;
  /** Replaces levels by functions, all at once. */
  readonly replace: (node: number, by: ReadonlyMap<number, number>) => number;
  readonly holds: (node: number, truth: (level: number) => boolean) => boolean;
  readonly exhausted: () => boolean;
};
export type DiagramLimits = {
  readonly diagramNodesMax: number;
  readonly diagramStepsMax: number;
  /** A power of two. Evicted entries are computed again. */
  readonly cacheSlots: number;
};

/** Two node numbers in one exact floating-point integer: 26 bits each. */
const pairBase = 2 ** 26;
const unknown = -1;
/** Spreads neighbouring pairs; the slot of a pair only affects speed. */
const slotOf = (pair: number): number =>
  Math.imul(pair % pairBase, 0x9e3779b1) ^ (Math.imul(pair / pairBase, 0x85ebca6b) >>> 7);

export function diagramWithin(limits: DiagramLimits): Diagram {
  const levels = [Infinity, Infinity];
  const lows = [0, 1];
  const highs = [0, 1];
  const unique = new Map<number, Map<number, number>>();
  const pairs = new Float64Array(limits.cacheSlots);
  const conjunctions = new Int32Array(limits.cacheSlots);
  const negations = [1, 0];
  let steps = 0;
  let spent = false;

  const level = (node: number): number => levels[node] ?? Infinity;
  const low = (node: number, at: number): number => (level(node) === at ? (lows[node] ?? 0) : node);
  const high = (node: number, at: number): number => (level(node) === at ? (highs[node] ?? 0) : node);
  const step = (): boolean => {
    steps += 1;
    spent ||= steps > limits.diagramStepsMax || levels.length > limits.diagramNodesMax;
    return spent;
  };

  const node = (at: number, ifFalse: number, ifTrue: number): number => {
    if (ifFalse === ifTrue) return ifFalse;
    const same = unique.get(at) ?? new Map<number, number>();
    unique.set(at, same);
    const key = ifFalse * pairBase + ifTrue;
    const known = same.get(key);
    if (known !== undefined) return known;
    if (step()) return 0;
    same.set(key, levels.length);
    lows.push(ifFalse);
    highs.push(ifTrue);
    negations.push(unknown);
    return levels.push(at) - 1;
  };
  const and = (a: number, b: number): number => {
    if (step() || a === 0 || b === 0) return 0;
    if (a === b || b === 1) return a;
    if (a === 1) return b;
    const key = a < b ? a * pairBase + b : b * pairBase + a;
    const slot = slotOf(key) & (limits.cacheSlots - 1);
    if (pairs[slot] === key) return conjunctions[slot] ?? 0;
    const at = Math.min(level(a), level(b));
    const both = node(at, and(low(a, at), low(b, at)), and(high(a, at), high(b, at)));
    pairs[slot] = key;
    conjunctions[slot] = both;
    return both;
  };
  const not = (a: number): number => {
    const known = negations[a] ?? unknown;
    if (known !== unknown) return known;
    if (step()) return 0;
    const at = level(a);
    const negated = node(at, not(low(a, at)), not(high(a, at)));
    negations[a] = negated;
    return negated;
  };
  const child = (at: number, truth: boolean): number => (truth ? highs[at] : lows[at]) ?? 0;
  return finished({ node, and, not, level, child, exhausted: () => spent });
}

type Basis = Pick<Diagram, "node" | "and" | "not" | "exhausted"> & {
  readonly level: (node: number) => number;
  readonly child: (node: number, truth: boolean) => number;
};

/** Operations derived from nodes, conjunction and negation. */
function finished({ node, and, not, level, child, exhausted }: Basis): Diagram {
  const or = (a: number, b: number): number => not(and(not(a), not(b)));
  const choose = (test: number, ifTrue: number, ifFalse: number): number =>
    or(and(test, ifTrue), and(not(test), ifFalse));
  const replace = (from: number, by: ReadonlyMap<number, number>): number => {
    const done = new Map<number, number>();
    const visit = (at: number): number => {
      if (at < 2) return at;
      const known = done.get(at);
      if (known !== undefined) return known;
      const test = by.get(level(at)) ?? node(level(at), 0, 1);
      const replaced = choose(test, visit(child(at, true)), visit(child(at, false)));
      done.set(at, replaced);
      return replaced;
    };
    return visit(from);
  };
  const holds = (from: number, truth: (level: number) => boolean): boolean => {
    let at = from;
    while (at > 1) at = child(at, truth(level(at)));
    return at === 1;
  };
  const variable = (at: number): number => node(at, 0, 1);
  return { node, variable, and, or, not, choose, replace, holds, exhausted };
}

/**
 * Reduced ordered decision diagrams: Boolean functions as shared graphs in which equal functions are equal numbers.
 * The instance of the policy's algebra over which a proof is made (formal.md 4.4).
 *
 * A node is a number; 0 is false and 1 is true. Nothing is ever freed: one diagram serves one question about one hazard
 * and is then dropped whole. When it holds `nodesMax` nodes, or the effort of its question is spent, it is *exhausted*:
 * it stops growing and its results are invalid from then on, so every caller checks `exhausted` before it uses a
 * result.
 */
import type { Algebra } from "../../policy/ir/algebra.ts";

/** A node of one diagram. Nodes of different diagrams must not meet. */
export type Node = number;

/** Remaining steps, shared by all diagrams of one hazard: a measure of time without a clock. */
export type Effort = { left: number };

/** A function for export; see `graph`. */
export type Graph = { readonly nodes: readonly (readonly [number, number, number])[]; readonly root: number };

/** Level of the two constants: below every variable. */
const constantLevel = 0x7fff_ffff;

export class Diagram implements Algebra<Node> {
  readonly #nodesMax: number;
  readonly #effort: Effort;
  #level: Int32Array = new Int32Array(1_024);
  #low: Int32Array = new Int32Array(1_024);
  #high: Int32Array = new Int32Array(1_024);
  #count = 2;
  /** Open addressing: node + 1 by hash of (level, low, high); 0 = free. */
  #unique: Int32Array = new Int32Array(4_096);
  /** Results of `ite`, direct mapped: condition, then, else, result. */
  #iteMemo: Int32Array = new Int32Array(4 * 8_192);
  #exhausted = false;

  constructor(nodesMax: number, effort: Effort = { left: Number.POSITIVE_INFINITY }) {
    this.#nodesMax = nodesMax;
    this.#effort = effort;
    this.#level.fill(constantLevel, 0, 2);
    this.#iteMemo.fill(-1);
  }

  get exhausted(): boolean {
    return this.#exhausted;
  }

  /** Nodes made so far. */
  get size(): number {
    return this.#count;
  }

  constant(value: boolean): Node {
    return value ? 1 : 0;
  }

  /** The function of one variable; smaller levels are tested first. */
  variable(level: number): Node {
    return this.#make(level, 0, 1);
  }

  not(value: Node): Node {
    return this.ite(value, 0, 1);
  }

  and(left: Node, right: Node): Node {
    return left <= right ? this.ite(left, right, 0) : this.ite(right, left, 0);
  }

  or(left: Node, right: Node): Node {
    return left <= right ? this.ite(left, 1, right) : this.ite(right, 1, left);
  }

  ite(condition: Node, whenTrue: Node, whenFalse: Node): Node {
    if (condition === 1 || whenTrue === whenFalse) return whenTrue;
    if (condition === 0) return whenFalse;
    const positive = whenTrue === condition ? 1 : whenTrue;
    const negative = whenFalse === condition ? 0 : whenFalse;
    if (positive === 1 && negative === 0) return condition;
    const memo = this.#iteMemo;
    const slot = 4 * (hash(condition, positive, negative) & (memo.length / 4 - 1));
    if (memo[slot] === condition && memo[slot + 1] === positive && memo[slot + 2] === negative) {
      return memo[slot + 3] ?? 0;
    }
    if (this.#spent()) return 0;
    const level = Math.min(this.#levelOf(condition), this.#levelOf(positive), this.#levelOf(negative));
    const low = this.ite(this.#lowAt(condition, level), this.#lowAt(positive, level), this.#lowAt(negative, level));
    const high = this.ite(this.#highAt(condition, level), this.#highAt(positive, level), this.#highAt(negative, level));
    const result = this.#make(level, low, high);
    // The table may have grown meanwhile.
    this.#remember(condition, positive, negative, result);
    return result;
  }

  /** True for an assignment to the other variables iff some assignment to the variables from `level` on makes it true. */
  existsFrom(value: Node, level: number): Node {
    const memo = new Map<Node, Node>();
    const walk = (node: Node): Node => {
      if (node < 2) return node;
      // A node that is not false can be made true; below the first quantified level that is all that is asked.
      if (this.#levelOf(node) >= level) return 1;
      const known = memo.get(node);
      if (known !== undefined) return known;
      if (this.#spent()) return 0;
      const result = this.#make(this.#levelOf(node), walk(this.#low[node] ?? 0), walk(this.#high[node] ?? 0));
      memo.set(node, result);
      return result;
    };
    return walk(value);
  }

  /** The function with every variable of `substitutes` replaced by a function, all at once. */
  compose(value: Node, substitutes: ReadonlyMap<number, Node>): Node {
    const memo = new Map<Node, Node>();
    const walk = (node: Node): Node => {
      if (node < 2) return node;
      const known = memo.get(node);
      if (known !== undefined) return known;
      if (this.#spent()) return 0;
      const level = this.#levelOf(node);
      const low = walk(this.#low[node] ?? 0);
      const high = walk(this.#high[node] ?? 0);
      const result = this.ite(substitutes.get(level) ?? this.variable(level), high, low);
      memo.set(node, result);
      return result;
    };
    return walk(value);
  }

  /** Levels that the function depends on. */
  support(value: Node): ReadonlySet<number> {
    const seen = new Set<Node>();
    const levels = new Set<number>();
    const walk = (node: Node): void => {
      if (node < 2 || seen.has(node)) return;
      seen.add(node);
      levels.add(this.#levelOf(node));
      walk(this.#low[node] ?? 0);
      walk(this.#high[node] ?? 0);
    };
    walk(value);
    return levels;
  }

  evaluate(value: Node, assignment: (level: number) => boolean): boolean {
    let node = value;
    while (node > 1) node = (assignment(this.#levelOf(node)) ? this.#high[node] : this.#low[node]) ?? 0;
    return node === 1;
  }

  /** An assignment that makes it true, preferring the low branch, hence with few variables set; undefined for false. */
  satisfy(value: Node): ReadonlySet<number> | undefined {
    if (value === 0) return undefined;
    const set = new Set<number>();
    let node = value;
    while (node > 1) {
      const low = this.#low[node] ?? 0;
      if (low !== 0) node = low;
      else {
        set.add(this.#levelOf(node));
        node = this.#high[node] ?? 0;
      }
    }
    return set;
  }

  /**
   * The graph below a node for export: children before parents, as `[level, low, high]`, node n at index n - 2. Negated,
   * it is that of the complement, for which nothing has to be made: only the constants change places.
   */
  graph(value: Node, negated = false): Graph {
    const numbers = new Map<Node, number>(
      negated
        ? [
            [0, 1],
            [1, 0],
          ]
        : [
            [0, 0],
            [1, 1],
          ],
    );
    const nodes: [number, number, number][] = [];
    const walk = (node: Node): number => {
      const known = numbers.get(node);
      if (known !== undefined) return known;
      const low = walk(this.#low[node] ?? 0);
      const high = walk(this.#high[node] ?? 0);
      const number = nodes.push([this.#levelOf(node), low, high]) + 1;
      numbers.set(node, number);
      return number;
    };
    const root = walk(value);
    return { nodes, root };
  }

  /** Counts one step; true once none is left. */
  #spent(): boolean {
    this.#effort.left -= 1;
    if (this.#effort.left < 0) this.#exhausted = true;
    return this.#exhausted;
  }

  #levelOf(node: Node): number {
    return this.#level[node] ?? constantLevel;
  }

  #lowAt(node: Node, level: number): Node {
    return this.#levelOf(node) === level ? (this.#low[node] ?? 0) : node;
  }

  #highAt(node: Node, level: number): Node {
    return this.#levelOf(node) === level ? (this.#high[node] ?? 0) : node;
  }

  #make(level: number, low: Node, high: Node): Node {
    if (low === high) return low;
    const mask = this.#unique.length - 1;
    let slot = hash(level, low, high) & mask;
    for (;;) {
      const node = (this.#unique[slot] ?? 0) - 1;
      if (node < 0) break;
      if (this.#level[node] === level && this.#low[node] === low && this.#high[node] === high) return node;
      slot = (slot + 1) & mask;
    }
    if (this.#count >= this.#nodesMax) {
      this.#exhausted = true;
      return 0;
    }
    const node = this.#count;
    if (node >= this.#level.length) this.#widen();
    this.#count += 1;
    this.#level[node] = level;
    this.#low[node] = low;
    this.#high[node] = high;
    this.#unique[slot] = node + 1;
    if (2 * this.#count > this.#unique.length) this.#rehash();
    return node;
  }

  #widen(): void {
    const wider = (old: Int32Array): Int32Array => {
      const made = new Int32Array(2 * old.length);
      made.set(old);
      return made;
    };
    this.#level = wider(this.#level);
    this.#low = wider(this.#low);
    this.#high = wider(this.#high);
  }

  #rehash(): void {
    const unique = new Int32Array(2 * this.#unique.length);
    const mask = unique.length - 1;
    for (let node = 2; node < this.#count; node += 1) {
      let slot = hash(this.#level[node] ?? 0, this.#low[node] ?? 0, this.#high[node] ?? 0) & mask;
      while (unique[slot] !== 0) slot = (slot + 1) & mask;
      unique[slot] = node + 1;
    }
    this.#unique = unique;
    if (this.#iteMemo.length < 2 * unique.length) {
      this.#iteMemo = new Int32Array(2 * unique.length);
      this.#iteMemo.fill(-1);
    }
  }

  #remember(condition: Node, whenTrue: Node, whenFalse: Node, result: Node): void {
    const memo = this.#iteMemo;
    const slot = 4 * (hash(condition, whenTrue, whenFalse) & (memo.length / 4 - 1));
    memo[slot] = condition;
    memo[slot + 1] = whenTrue;
    memo[slot + 2] = whenFalse;
    memo[slot + 3] = result;
  }
}

function hash(first: number, second: number, third: number): number {
  const mixed = Math.imul(first, 0x9e37_79b1) ^ Math.imul(second, 0x85eb_ca6b) ^ Math.imul(third, 0xc2b2_ae35);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

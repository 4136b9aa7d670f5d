/**
 * The Boolean algebra that the semantics is written over. With `booleans` it is what the gateway runs; with decision
 * diagrams it is what the prover explores. The code in between is the same, so there is no second model (system.md 3).
 */
import type { Label } from "../../core/label.ts";

export interface Algebra<B> {
  constant(value: boolean): B;
  not(value: B): B;
  and(left: B, right: B): B;
  or(left: B, right: B): B;
  ite(condition: B, whenTrue: B, whenFalse: B): B;
}

export const booleans: Algebra<boolean> = {
  constant: (value) => value,
  not: (value) => !value,
  and: (left, right) => left && right,
  or: (left, right) => left || right,
  ite: (condition, whenTrue, whenFalse) => (condition ? whenTrue : whenFalse),
};

/** A label whose bits are elements of the algebra; element i is restriction i of the lattice. */
export type Vector<B> = readonly B[];

export function vectorOf<B>(algebra: Algebra<B>, bits: number, length: number): Vector<B> {
  const vector: B[] = [];
  for (let index = 0; index < length; index += 1) vector.push(algebra.constant((bits & (1 << index)) !== 0));
  return vector;
}

/** Back from booleans to bits. */
export function bitsOf(vector: Vector<boolean>): number {
  let bits = 0;
  vector.forEach((set, index) => {
    if (set) bits |= 1 << index;
  });
  return bits;
}

export function joinVectors<B>(algebra: Algebra<B>, left: Vector<B>, right: Vector<B>): Vector<B> {
  return left.map((bit, index) => {
    const other = right[index];
    return other === undefined ? bit : algebra.or(bit, other);
  });
}

/** A vector that counts only where `present` holds. */
export function gated<B>(algebra: Algebra<B>, present: B, vector: Vector<B>): Vector<B> {
  return vector.map((bit) => algebra.and(present, bit));
}

/** All restrictions of `mask` are in the vector. */
export function hasAll<B>(algebra: Algebra<B>, vector: Vector<B>, mask: Label | number): B {
  let all = algebra.constant(true);
  vector.forEach((bit, index) => {
    if ((mask & (1 << index)) !== 0) all = algebra.and(all, bit);
  });
  return all;
}

/** Some restriction of `mask` is in the vector. */
export function hasAny<B>(algebra: Algebra<B>, vector: Vector<B>, mask: Label | number): B {
  let any = algebra.constant(false);
  vector.forEach((bit, index) => {
    if ((mask & (1 << index)) !== 0) any = algebra.or(any, bit);
  });
  return any;
}

export function every<B>(algebra: Algebra<B>, values: readonly B[]): B {
  return values.reduce((all, value) => algebra.and(all, value), algebra.constant(true));
}

export function some<B>(algebra: Algebra<B>, values: readonly B[]): B {
  return values.reduce((any, value) => algebra.or(any, value), algebra.constant(false));
}

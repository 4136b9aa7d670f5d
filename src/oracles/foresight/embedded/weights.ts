/**
 * The numbers of the embedded model and their file. A file comes from outside: everything in it is bounded and checked
 * before it is used, so that a broken one is refused and never gives a prediction.
 *
 * Layout, little endian: "SGFW", u32 version, u32 head count; for each head u32 bits, f64 scale, f64 shift; then the
 * weights of every head, f32, in the same order. Nothing follows.
 */
import { type Result, err, ok } from "../../../core/result.ts";
import { probability } from "./arithmetic.ts";

/** The predicted quantities, in the order of the file. */
export const headNames = ["unsafe", "critical", "filter", "private", "secret", "untrusted"] as const;
export type HeadName = (typeof headNames)[number];

export type Head = {
  /** The table has 2^bits weights. */
  readonly bits: number;
  readonly table: Float32Array;
  /** Calibration: probability = 1 / (1 + e^-(scale * score + shift)). */
  readonly scale: number;
  readonly shift: number;
};

export type Weights = { readonly [name in HeadName]: Head };

/** Sizes of the tables, as powers of two. */
export const tableBits: { readonly [name in HeadName]: number } = {
  unsafe: 14,
  critical: 8,
  filter: 14,
  private: 12,
  secret: 12,
  untrusted: 12,
};

export const weightsVersion = 1;
const magic = 0x57464753; // "SGFW"
const headerBytes = 12;
const headBytes = 20;
const bitsMax = 18;
/** No honest weight or calibration comes near it; larger ones could only serve to drown all others. */
const magnitudeMax = 1e4;
export const weightsBytesMax = 1_048_576;

/** Sum of the weights of the features, before calibration. */
export function scoreOf(table: ArrayLike<number>, features: ArrayLike<number>): number {
  const mask = table.length - 1;
  let sum = 0;
  for (let at = 0; at < features.length; at += 1) sum += table[(features[at] ?? 0) & mask] ?? 0;
  return sum;
}

/** Calibrated probability of a head. */
export function judged(head: Head, features: ArrayLike<number>): number {
  return probability(head.scale * scoreOf(head.table, features) + head.shift);
}

/** The file of some weights; equal weights give equal bytes. */
export function encodeWeights(weights: Weights): Uint8Array {
  const heads = headNames.map((name) => weights[name]);
  const values = heads.reduce((sum, head) => sum + head.table.length, 0);
  const bytes = new Uint8Array(headerBytes + heads.length * headBytes + values * 4);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, magic, true);
  view.setUint32(4, weightsVersion, true);
  view.setUint32(8, heads.length, true);
  let at = headerBytes;
  for (const head of heads) {
    view.setUint32(at, head.bits, true);
    view.setFloat64(at + 4, head.scale, true);
    view.setFloat64(at + 12, head.shift, true);
    at += headBytes;
  }
  for (const head of heads) {
    for (const weight of head.table) {
      view.setFloat32(at, weight, true);
      at += 4;
    }
  }
  return bytes;
}

/** Reads a file of weights; the error names its fault. */
export function decodeWeights(bytes: Uint8Array): Result<Weights, string> {
  if (bytes.length > weightsBytesMax) return err(`the weights have more than ${weightsBytesMax} bytes`);
  if (bytes.length < headerBytes + headNames.length * headBytes) return err("the weights end too early");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0, true) !== magic) return err("this is not a file of weights");
  const version = view.getUint32(4, true);
  if (version !== weightsVersion)
    return err(`the weights have version ${version}, this program reads ${weightsVersion}`);
  if (view.getUint32(8, true) !== headNames.length) return err("the weights are for other questions");
  const heads: Head[] = [];
  let at = headerBytes + headNames.length * headBytes;
  for (const [index, name] of headNames.entries()) {
    const head = decodeHead(view, headerBytes + index * headBytes, at);
    if (!head.ok) return err(`the weights of \`${name}\` ${head.error}`);
    heads.push(head.value);
    at += head.value.table.length * 4;
  }
  if (at !== bytes.length) return err("the weights have bytes that belong to nothing");
  const [unsafe, critical, filter, isPrivate, secret, untrusted] = heads;
  // All six are there: the loop above has made one for each name.
  if (!unsafe || !critical || !filter || !isPrivate || !secret || !untrusted) return err("the weights are incomplete");
  return ok({ unsafe, critical, filter, private: isPrivate, secret, untrusted });
}

function decodeHead(view: DataView, header: number, from: number): Result<Head, string> {
  const bits = view.getUint32(header, true);
  if (bits < 1 || bits > bitsMax) return err("have an impossible size");
  const count = 2 ** bits;
  if (from + count * 4 > view.byteLength) return err("end too early");
  const scale = view.getFloat64(header + 4, true);
  const shift = view.getFloat64(header + 12, true);
  if (!isSane(scale) || !isSane(shift) || scale < 0) return err("have an impossible calibration");
  const table = new Float32Array(count);
  for (let index = 0; index < count; index += 1) {
    const weight = view.getFloat32(from + index * 4, true);
    if (!isSane(weight)) return err("hold a number that is not finite or far too large");
    table[index] = weight;
  }
  return ok({ bits, table, scale, shift });
}

const isSane = (value: number): boolean => value >= -magnitudeMax && value <= magnitudeMax;

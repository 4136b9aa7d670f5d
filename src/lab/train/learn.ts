/**
 * Training of one head: logistic regression over hashed features with AdaGrad, in a fixed order, in exactly rounded
 * arithmetic. Nothing here depends on the machine, so the same examples give the same bits.
 */
import { probability } from "../../oracles/foresight/embedded/arithmetic.ts";
import { type Head, scoreOf } from "../../oracles/foresight/embedded/weights.ts";
import { makeRandom } from "./random.ts";

/** One example of one head: features, and whether the answer is yes. */
export type Sample = { readonly features: Int32Array; readonly yes: boolean };

export type Settings = {
  readonly bits: number;
  readonly epochs: number;
  readonly rate: number;
  /** Pull towards zero at each touch of a weight. */
  readonly decay: number;
  readonly seed: number;
};

/** Weights far from zero say no more than these, and would only slow the calibration. */
const squaresStart = 0.1;

/** The table after all epochs, rounded to what is shipped. */
export function learn(samples: readonly Sample[], settings: Settings): Float32Array {
  const size = 2 ** settings.bits;
  const table = new Float64Array(size);
  const squares = new Float64Array(size).fill(squaresStart);
  const order = Int32Array.from(samples.keys());
  const random = makeRandom(settings.seed);
  for (let epoch = 0; epoch < settings.epochs; epoch += 1) {
    shuffle(order, random.below);
    for (const index of order) {
      const sample = samples[index];
      if (sample !== undefined) descend(sample, { table, squares, mask: size - 1, ...settings });
    }
  }
  return Float32Array.from(table);
}

type Tables = Settings & { readonly table: Float64Array; readonly squares: Float64Array; readonly mask: number };

function descend({ features, yes }: Sample, { table, squares, mask, rate, decay }: Tables): void {
  const error = probability(scoreOf(table, features)) - (yes ? 1 : 0);
  // A step that cannot move a weight is not worth its time, and most examples soon are of that kind.
  if (error < 0.001 && error > -0.001) return;
  for (let index = 0; index < features.length; index += 1) {
    const at = (features[index] ?? 0) & mask;
    const weight = table[at] ?? 0;
    const gradient = error + decay * weight;
    const sum = (squares[at] ?? 0) + gradient * gradient;
    squares[at] = sum;
    // A square root is exactly rounded by IEEE 754, unlike the other functions of `Math`.
    table[at] = weight - (rate * gradient) / Math.sqrt(sum);
  }
}

function shuffle(order: Int32Array, below: (count: number) => number): void {
  for (let at = order.length - 1; at > 0; at -= 1) {
    const other = below(at + 1);
    const kept = order[at] ?? 0;
    order[at] = order[other] ?? 0;
    order[other] = kept;
  }
}

const newtonStepsMax = 30;
/** Keeps the Hessian from vanishing where a head makes no mistake at all. */
const ridge = 1e-3;
const scaleMax = 20;

/** Platt's calibration on samples that were not trained on: scale and shift of the score, by Newton's method. */
export function calibrate(table: Float32Array, bits: number, samples: readonly Sample[]): Head {
  const scores = samples.map(({ features }) => scoreOf(table, features));
  const count = samples.filter(({ yes }) => yes).length;
  // Platt's targets: a class seen n times is believed with (n + 1) / (n + 2), so that no score becomes certain.
  const high = (count + 1) / (count + 2);
  const low = 1 / (samples.length - count + 2);
  let scale = 1;
  let shift = 0;
  for (let step = 0; step < newtonStepsMax; step += 1) {
    let [gradientScale, gradientShift] = [ridge * (scale - 1), ridge * shift];
    let [scaleScale, scaleShift, shiftShift] = [ridge, 0, ridge];
    for (const [index, sample] of samples.entries()) {
      const score = scores[index] ?? 0;
      const p = probability(scale * score + shift);
      const error = p - (sample.yes ? high : low);
      const curve = p * (1 - p);
      gradientScale += error * score;
      gradientShift += error;
      scaleScale += curve * score * score;
      scaleShift += curve * score;
      shiftShift += curve;
    }
    const determinant = scaleScale * shiftShift - scaleShift * scaleShift;
    if (!(determinant > 1e-12)) break;
    scale -= (shiftShift * gradientScale - scaleShift * gradientShift) / determinant;
    shift -= (scaleScale * gradientShift - scaleShift * gradientScale) / determinant;
    scale = scale < 0.05 ? 0.05 : scale > scaleMax ? scaleMax : scale;
    shift = shift < -scaleMax ? -scaleMax : shift > scaleMax ? scaleMax : shift;
  }
  return { bits, table, scale, shift };
}

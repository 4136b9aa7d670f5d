/** The weights of the embedded model that ship with the package, in `training/`. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Result, err, ok } from "../../core/result.ts";
import { type Weights, decodeWeights, weightsBytesMax } from "../../oracles/foresight/embedded/weights.ts";
import { shortPath } from "../state/sentences.ts";
import { packageFolder } from "../policy/policy-source.ts";

export const trainingFolder = join(packageFolder, "training");
export const weightsFile = "embedded.weights";

/** The shipped weights, ready for `makeEmbedded`; the error is a sentence for the user. */
export function shippedWeights(folder: string = trainingFolder): Result<Weights, string> {
  const bytes = shippedFile(join(folder, weightsFile), weightsBytesMax);
  if (!bytes.ok) return bytes;
  const weights = decodeWeights(bytes.value);
  if (weights.ok) return weights;
  return err(
    `The embedded model cannot be used: ${weights.error}. Reinstall, or make it with \`sluicegate train --out\`.`,
  );
}

/** The bytes of the shipped weights, as they lie there. */
export function shippedBytes(folder: string = trainingFolder): Result<Uint8Array, string> {
  return shippedFile(join(folder, weightsFile), weightsBytesMax);
}

/** A shipped file, refused above its size. */
export function shippedFile(file: string, bytesMax: number): Result<Buffer, string> {
  try {
    if (statSync(file).size > bytesMax)
      return err(`${shortPath(file)} is larger than ${bytesMax} bytes: put the shipped file back.`);
    return ok(readFileSync(file));
  } catch {
    return err(`${shortPath(file)} cannot be read: reinstall the package, which brings it.`);
  }
}

/** The files of the embedded model that ship with the package, in `training/`: table of tools, weights, manifest. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Result } from "../../core/result.ts";
import { err, ok } from "../../core/result.ts";
import type { Weights } from "../../oracles/foresight/embedded/weights.ts";
import { decodeWeights, weightsBytesMax } from "../../oracles/foresight/embedded/weights.ts";
import { shortPath } from "../output.ts";
import { packageFolder } from "../policy-source.ts";
import type { Family } from "./catalogue.ts";
import { catalogueBytesMax, parseCatalogue } from "./catalogue.ts";
import type { DataManifest } from "./dataset.ts";

export const trainingFolder = join(packageFolder, "training");
export const weightsFile = "embedded.weights";
export const manifestFile = "manifest.json";

/** What is said beside the weights, so that anybody can make them again. */
export type TrainingManifest = {
  readonly data: DataManifest & { readonly table: string };
  readonly weights: { readonly file: string; readonly bytes: number; readonly sha256: string };
  /** Version of Node that made them; others are expected to give the same bits, this one is tested to. */
  readonly node: string;
};

export type Table = { readonly text: string; readonly families: readonly Family[] };

/** The shipped weights, ready for `makeEmbedded`; the error is a sentence for the user. */
export function shippedWeights(folder: string = trainingFolder): Result<Weights, string> {
  const bytes = bounded(join(folder, weightsFile), weightsBytesMax);
  if (!bytes.ok) return bytes;
  const weights = decodeWeights(bytes.value);
  if (weights.ok) return weights;
  return err(
    `The embedded model cannot be used: ${weights.error}. Reinstall, or make it with \`sluicegate train --out\`.`,
  );
}

/** The bytes of the shipped weights, as they lie there. */
export function shippedBytes(folder: string = trainingFolder): Result<Uint8Array, string> {
  return bounded(join(folder, weightsFile), weightsBytesMax);
}

export function shippedTable(folder: string = trainingFolder): Result<Table, string> {
  const bytes = bounded(join(folder, "tools.txt"), catalogueBytesMax);
  if (!bytes.ok) return bytes;
  const text = bytes.value.toString("utf8");
  const families = parseCatalogue(text);
  return families.ok ? ok({ text, families: families.value }) : err(`${families.error}: put the shipped file back.`);
}

function bounded(file: string, bytesMax: number): Result<Buffer, string> {
  try {
    if (statSync(file).size > bytesMax)
      return err(`${shortPath(file)} is larger than ${bytesMax} bytes: put the shipped file back.`);
    return ok(readFileSync(file));
  } catch {
    return err(`${shortPath(file)} cannot be read: reinstall the package, which brings it.`);
  }
}

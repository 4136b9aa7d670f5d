/** One training from end to end: data, weights, manifest, comparison with what ships, quality. */
import { hash } from "node:crypto";
import { type Result, ok } from "../../core/result.ts";
import { encodeWeights } from "../../oracles/foresight/embedded/weights.ts";
import { makeDataset, manifestOf } from "./dataset.ts";
import { type QualityRow, evaluateFolds } from "./evaluate.ts";
import { fit, prepare } from "./fit.ts";
import type { Example } from "./scenario.ts";
import { type TrainingManifest, shippedTable } from "./shipped-table.ts";
import { shippedBytes, weightsFile } from "../../app/oracles/shipped-weights.ts";

export type Trained = {
  readonly examples: readonly Example[];
  readonly bytes: Uint8Array;
  readonly manifest: TrainingManifest;
  /** Whether the shipped weights are these, bit for bit. */
  readonly sameAsShipped: boolean;
  /** Why there was nothing to compare with. */
  readonly unread: string | undefined;
  readonly quality: readonly QualityRow[];
};

export type TrainingData = { readonly examples: readonly Example[]; readonly manifest: TrainingManifest["data"] };

const sha256 = (data: string | Uint8Array): string => hash("sha256", data);

/** The data set of a seed over the shipped table. */
export function trainingData(seed: number): Result<TrainingData, string> {
  const table = shippedTable();
  if (!table.ok) return table;
  const { families, text } = table.value;
  const examples = makeDataset(families, seed);
  return ok({ examples, manifest: { ...manifestOf(examples, { seed, families, sha256 }), table: sha256(text) } });
}

/** `folds: false` leaves out the quality, which takes five more trainings. */
export function trainAll(seed: number, folds: boolean): Result<Trained, string> {
  const data = trainingData(seed);
  if (!data.ok) return data;
  const { examples, manifest } = data.value;
  const prepared = prepare(examples);
  const bytes = encodeWeights(fit(prepared));
  const shipped = shippedBytes();
  return ok({
    examples,
    bytes,
    manifest: {
      data: manifest,
      weights: { file: weightsFile, bytes: bytes.length, sha256: sha256(bytes) },
      node: process.versions.node,
    },
    // A missing file is like none: `--out` makes it.
    unread: shipped.ok ? undefined : shipped.error,
    sameAsShipped: shipped.ok && Buffer.compare(shipped.value, bytes) === 0,
    quality: folds ? evaluateFolds(prepared) : [],
  });
}

/** The table of tools and the manifest that ship beside the weights of the embedded model, in `training/`. */
import { join } from "node:path";
import { type Result, err, ok } from "../../core/result.ts";
import { shippedFile, trainingFolder } from "../../app/oracles/shipped-weights.ts";
import { type Family, catalogueBytesMax, parseCatalogue } from "./catalogue.ts";
import type { DataManifest } from "./dataset.ts";

export const manifestFile = "manifest.json";

/** Metadata of the weights, sufficient to reproduce them. */
export type TrainingManifest = {
  readonly data: DataManifest & { readonly table: string };
  readonly weights: { readonly file: string; readonly bytes: number; readonly sha256: string };
  /** Version of Node that made them; others are expected to give the same bits, this one is tested to. */
  readonly node: string;
};

export type Table = { readonly text: string; readonly families: readonly Family[] };

export function shippedTable(folder: string = trainingFolder): Result<Table, string> {
  const bytes = shippedFile(join(folder, "tools.txt"), catalogueBytesMax);
  if (!bytes.ok) return bytes;
  const text = bytes.value.toString("utf8");
  const families = parseCatalogue(text);
  return families.ok ? ok({ text, families: families.value }) : err(`${families.error}: put the shipped file back.`);
}

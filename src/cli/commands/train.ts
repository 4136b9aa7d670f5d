/** `sluicegate train`: makes the weights of the embedded world model again, and says how good they are. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import type { Outcome } from "../output.ts";
import { acts, failure, shortPath } from "../output.ts";
import { defaultSeed } from "../train/dataset.ts";
import { trainingText } from "../train/report.ts";
import { manifestFile, weightsFile } from "../train/shipped.ts";
import type { Trained } from "../train/train.ts";
import { trainAll } from "../train/train.ts";

const seedMax = 2_147_483_647;

export function register(program: Command): void {
  const command = program
    .command("train")
    .description("make the embedded world model again from the shipped table of tools, and measure it")
    .option("--check", "only compare with the shipped weights, bit for bit; exit code 1 if they differ")
    .option("--out <folder>", "write the weights and their manifest there")
    .option("--seed <number>", "play other scenarios", String(defaultSeed));
  acts(command, (options) => {
    const seed = Number(options["seed"]);
    if (!/^\d{1,10}$/.test(String(options["seed"])) || seed > seedMax) {
      return failure(
        "SG-USAGE",
        `\`--seed\` takes a whole number up to ${seedMax}: leave it out for the shipped weights.`,
      );
    }
    return train(seed, options["check"] === true, options["out"]);
  });
}

function train(seed: number, checkOnly: boolean, out: unknown): Outcome {
  const trained = trainAll(seed, !checkOnly);
  if (!trained.ok) return failure("SG-TRAIN", trained.error);
  const { manifest, sameAsShipped, quality } = trained.value;
  if (typeof out === "string" && !written(resolve(out), trained.value)) {
    return failure("SG-TRAIN", `${shortPath(resolve(out))} cannot be written: name another folder with --out.`);
  }
  const expected = seed === defaultSeed && typeof out !== "string";
  return {
    exitCode: expected && !sameAsShipped ? 1 : 0,
    json: {
      ...manifest,
      sameAsShipped,
      quality: quality.map((row) => ({ ...row, ...row.quality, quality: undefined })),
    },
    text: trainingText(trained.value, verdict(sameAsShipped, seed, out)),
  };
}

function verdict(same: boolean, seed: number, out: unknown): string {
  const written = typeof out === "string" ? ` They are in ${shortPath(resolve(out))}.` : "";
  if (same) return `The shipped weights are these, bit for bit.${written}`;
  if (seed !== defaultSeed) return `Another seed gives other weights than the shipped ones.${written}`;
  if (written !== "") return `The shipped weights differ.${written}`;
  return "The shipped weights differ: the table, the generator or this Node is another; `--out` writes the new ones.";
}

function written(folder: string, { bytes, manifest }: Trained): boolean {
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, weightsFile), bytes);
    writeFileSync(join(folder, manifestFile), `${JSON.stringify(manifest, undefined, 2)}\n`);
    return true;
  } catch {
    return false;
  }
}

/** `sluicegate train`: makes the weights of the embedded world model again, and says how good they are. */
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { makeFolder } from "../../adapters/make-folder.ts";
import { type Outcome, failure } from "../../app/state/outcome.ts";
import { acts } from "../output.ts";
import { shortPath } from "../../app/state/sentences.ts";
import { defaultSeed } from "../../lab/train/dataset.ts";
import { engines, exportStages } from "../../lab/train/export.ts";
import { trainingText } from "../../lab/train/report.ts";
import { manifestFile } from "../../lab/train/shipped-table.ts";
import { weightsFile } from "../../app/oracles/shipped-weights.ts";
import { type Trained, trainAll, trainingData } from "../../lab/train/train.ts";

const seedMax = 2_147_483_647;

const trainOptions = {
  "--check": "only compare with the shipped weights, bit for bit; exit code 1 if they differ",
  "--out <folder>": "write the weights and their manifest there",
  "--seed <number>": ["play other scenarios", String(defaultSeed)],
  "--export <folder>": "write training files for a language model instead; needs --engine",
  "--engine <name>": `who reads them: ${engines.join(", ")}`,
  "--serve-reward <port>": "answer training engines that ask for rewards, on loopback, until stopped",
} as const;

export function register(program: Command): void {
  const command = program
    .command("train")
    .description("make the embedded world model again from the shipped table of tools, and measure it");
  acts(command, trainOptions, (options) => {
    const seed = Number(options.seed);
    if (!/^\d{1,10}$/.test(options.seed) || seed > seedMax) {
      return failure(
        "SG-USAGE",
        `\`--seed\` takes a whole number up to ${seedMax}: leave it out for the shipped weights.`,
      );
    }
    if (options.serveReward !== undefined) return serve(options.serveReward);
    if (options.export !== undefined || options.engine !== undefined) {
      return exported(seed, options.export, options.engine);
    }
    return train(seed, options.check === true, options.out);
  });
}

function exported(seed: number, folder: string | undefined, name: string | undefined): Outcome {
  const engine = engines.find((one) => one === name);
  if (folder === undefined || engine === undefined) {
    return failure(
      "SG-USAGE",
      `An export needs a folder and an engine: add \`--export DIR --engine ${engines.join("|")}\`.`,
    );
  }
  const data = trainingData(seed);
  if (!data.ok) return failure("SG-TRAIN", data.error);
  const { examples, manifest } = data.value;
  const files = exportStages(resolve(folder), engine, { examples, digest: manifest.digest });
  if (!files.ok) return failure("SG-TRAIN", files.error);
  const lines = files.value.map(({ file, rows }) => `${file}  ${rows} rows`);
  return { exitCode: 0, json: { engine, data: manifest, files: files.value }, text: lines.join("\n") };
}

/** Serves until the process is stopped. Standard output is not a protocol stream here. */
async function serve(text: string): Promise<Outcome> {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) {
    return failure("SG-USAGE", "`--serve-reward` takes a port, 0 to 65535: leave it to 0 for any free one.");
  }
  const { serveRewards } = await import("../../lab/train/reward-server.ts");
  const serving = await serveRewards(port);
  if (!serving.ok) return failure("SG-TRAIN", serving.error);
  process.stdout.write(`Rewards are at ${serving.value.url}; Ctrl-C ends it.\n`);
  await new Promise<void>((done) => {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => done());
  });
  await serving.value.close();
  return { exitCode: 0, json: undefined, text: "" };
}

function train(seed: number, checkOnly: boolean, out: string | undefined): Outcome {
  const started = process.cpuUsage();
  const trained = trainAll(seed, !checkOnly);
  const { user, system } = process.cpuUsage(started);
  const cpuSeconds = (user + system) / 1e6;
  if (!trained.ok) return failure("SG-TRAIN", trained.error);
  const { manifest, sameAsShipped, quality } = trained.value;
  if (out !== undefined && !written(resolve(out), trained.value)) {
    return failure("SG-TRAIN", `${shortPath(resolve(out))} cannot be written: name another folder with --out.`);
  }
  const expected = seed === defaultSeed && out === undefined;
  return {
    exitCode: expected && !sameAsShipped ? 1 : 0,
    json: {
      ...manifest,
      sameAsShipped,
      cpuSeconds,
      quality: quality.map((row) => ({ ...row, ...row.quality, quality: undefined })),
    },
    text: trainingText(trained.value, cpuSeconds, verdict(trained.value, seed, out)),
  };
}

function verdict({ sameAsShipped, unread }: Trained, seed: number, out: string | undefined): string {
  const written = out === undefined ? "" : ` They are in ${shortPath(resolve(out))}.`;
  if (sameAsShipped) return `The shipped weights are these, bit for bit.${written}`;
  if (seed !== defaultSeed) return `Another seed gives other weights than the shipped ones.${written}`;
  if (unread !== undefined) return `There is nothing to compare with: ${unread}${written}`;
  if (written !== "") return `The shipped weights differ.${written}`;
  return "The shipped weights differ: the table, the generator or this Node is another; `--out` writes the new ones.";
}

function written(folder: string, { bytes, manifest }: Trained): boolean {
  try {
    makeFolder(resolve(folder));
    writeFileSync(join(folder, weightsFile), bytes);
    writeFileSync(join(folder, manifestFile), `${JSON.stringify(manifest, undefined, 2)}\n`);
    return true;
  } catch {
    return false;
  }
}

/** `sluicegate train`: makes the weights of the embedded world model again, and says how good they are. */
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { makeFolder } from "../../adapters/make-folder.ts";
import type { Outcome } from "../output.ts";
import { acts, failure, shortPath } from "../output.ts";
import { defaultSeed } from "../train/dataset.ts";
import { engines, exportStages } from "../train/export.ts";
import { trainingText } from "../train/report.ts";
import { manifestFile, weightsFile } from "../train/shipped.ts";
import type { Trained } from "../train/train.ts";
import { trainAll, trainingData } from "../train/train.ts";

const seedMax = 2_147_483_647;

export function register(program: Command): void {
  const command = program
    .command("train")
    .description("make the embedded world model again from the shipped table of tools, and measure it")
    .option("--check", "only compare with the shipped weights, bit for bit; exit code 1 if they differ")
    .option("--out <folder>", "write the weights and their manifest there")
    .option("--seed <number>", "play other scenarios", String(defaultSeed))
    .option("--export <folder>", "write training files for a language model instead; needs --engine")
    .option("--engine <name>", `who reads them: ${engines.join(", ")}`)
    .option("--serve-reward <port>", "answer training engines that ask for rewards, on loopback, until stopped");
  acts(command, (options) => {
    const seed = Number(options["seed"]);
    if (!/^\d{1,10}$/.test(String(options["seed"])) || seed > seedMax) {
      return failure(
        "SG-USAGE",
        `\`--seed\` takes a whole number up to ${seedMax}: leave it out for the shipped weights.`,
      );
    }
    const port = options["serveReward"];
    if (typeof port === "string") return serve(port);
    if (options["export"] !== undefined || options["engine"] !== undefined)
      return exported(seed, options["export"], options["engine"]);
    return train(seed, options["check"] === true, options["out"]);
  });
}

function exported(seed: number, folder: unknown, name: unknown): Outcome {
  const engine = engines.find((one) => one === name);
  if (typeof folder !== "string" || engine === undefined) {
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

/** Serves until the process is told to stop. Standard output is no protocol stream here. */
async function serve(text: string): Promise<Outcome> {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) {
    return failure("SG-USAGE", "`--serve-reward` takes a port, 0 to 65535: leave it to 0 for any free one.");
  }
  const { serveRewards } = await import("../train/reward-server.ts");
  const serving = await serveRewards(port);
  if (!serving.ok) return failure("SG-TRAIN", serving.error);
  process.stdout.write(`Rewards are at ${serving.value.url}; Ctrl-C ends it.\n`);
  await new Promise<void>((done) => {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => done());
  });
  await serving.value.close();
  return { exitCode: 0, json: undefined, text: "" };
}

function train(seed: number, checkOnly: boolean, out: unknown): Outcome {
  const started = process.cpuUsage();
  const trained = trainAll(seed, !checkOnly);
  const { user, system } = process.cpuUsage(started);
  const cpuSeconds = (user + system) / 1e6;
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
      cpuSeconds,
      quality: quality.map((row) => ({ ...row, ...row.quality, quality: undefined })),
    },
    text: trainingText(trained.value, cpuSeconds, verdict(trained.value, seed, out)),
  };
}

function verdict({ sameAsShipped, unread }: Trained, seed: number, out: unknown): string {
  const written = typeof out === "string" ? ` They are in ${shortPath(resolve(out))}.` : "";
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

/** Training files for engines that train language models: TRL, OpenRLHF, verl. Each row is one line of JSON. */
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeFolder } from "../../adapters/make-folder.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { protocolVersion } from "../../oracles/foresight/llm-protocol.ts";
import { shortPath } from "../../app/state/sentences.ts";
import type { Example } from "./scenario.ts";
import { type Row, type Stages, stagesOf } from "./stages.ts";

export const engines = ["trl", "openrlhf", "verl"] as const;
export type Engine = (typeof engines)[number];

type Stage = keyof Stages;

/** Name of the data set in rows of verl, which picks rewards by it. */
export const dataSource = "sluicegate/foresight";

export type Exported = { readonly file: string; readonly rows: number };

/** Writes the files of one engine, and `about.json` with their source; the error is a sentence for the user. */
export function exportStages(
  folder: string,
  engine: Engine,
  from: { readonly examples: readonly Example[]; readonly digest: string },
): Result<readonly Exported[], string> {
  const stages = stagesOf(from.examples);
  const files = (["stage1", "stage2", "stage3", "test"] as const).map((stage) => ({
    file: `${stage}.${engine === "verl" ? "json" : "jsonl"}`,
    lines: stages[stage].map((row, index) => JSON.stringify(rowFor(engine, stage, row, index))),
  }));
  const exported = files.map(({ file, lines }) => ({ file, rows: lines.length }));
  const about = { engine, protocol: protocolVersion, data: from.digest, files: exported };
  try {
    makeFolder(resolve(folder));
    for (const { file, lines } of files) writeFileSync(join(folder, file), `${lines.join("\n")}\n`);
    writeFileSync(join(folder, "about.json"), `${JSON.stringify(about, undefined, 2)}\n`);
  } catch {
    return err(`${shortPath(folder)} cannot be written: name another folder with --export.`);
  }
  return ok(exported);
}

/** One row as the engine reads it. Stages 1 and 2 imitate answers; stage 3 and the test ask and know the truth. */
export function rowFor(engine: Engine, stage: Stage, { prompt, answer, truth }: Row, index: number): object {
  const imitates = stage === "stage1" || stage === "stage2";
  const completion = [{ role: "assistant", content: answer }];
  switch (engine) {
    case "trl":
      return imitates ? { prompt, completion } : { prompt, ground_truth: JSON.stringify(truth) };
    case "openrlhf":
      return imitates ? { input: prompt, output: completion } : { input: prompt, label: JSON.stringify(truth) };
    case "verl":
      return imitates
        ? { messages: [...prompt, ...completion] }
        : {
            data_source: dataSource,
            prompt,
            ability: "foresight",
            reward_model: { style: "rule", ground_truth: truth },
            extra_info: { index, split: stage === "test" ? "test" : "train" },
          };
  }
}

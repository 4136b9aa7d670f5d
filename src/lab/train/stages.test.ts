// What is exported for language models: shares, separation, and answers that the rewards pay in full.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readJson } from "../../gateway/log/json-text.ts";
import { member } from "../../core/json.ts";
import { rewardOf } from "../../oracles/foresight/reward.ts";
import { defaultSeed } from "./dataset.ts";
import { dataSource, engines, exportStages, rowFor } from "./export.ts";
import { stage2Rows, stagesOf } from "./stages.ts";
import { trainingData } from "./train.ts";

const data = trainingData(defaultSeed);
if (!data.ok) throw new Error(data.error);
const { examples, manifest } = data.value;
const stages = stagesOf(examples);
const [row] = stages.stage2;
if (row === undefined) throw new Error("stage 2 has rows");

describe("stages", () => {
  test("the second has the three classes in equal shares", () => {
    expect(stages.stage2).toHaveLength(stage2Rows);
    for (const [index, name] of (["safe", "critical", "unsafe"] as const).entries())
      expect(stages.stage2.filter(({ truth }) => truth.safety === name)).toHaveLength(index < 2 ? 667 : 666);
  });

  test("no prompt is in two of them, and the test asks about other families", () => {
    const prompts = [...stages.stage2, ...stages.stage3, ...stages.test].map(({ prompt }) => prompt[1]?.content);
    expect(new Set(prompts).size).toBe(prompts.length);
    expect(stages.test).toHaveLength(1_200);
  });

  test("every whole answer is paid in full", () => {
    for (const { answer, truth } of [...stages.stage2, ...stages.stage3, ...stages.test]) {
      const { total } = rewardOf(answer, { safety: truth.safety, filteredTools: truth.filtered_tools });
      expect(total, answer).toBeCloseTo(3, 9);
    }
  });

  test("the first asks for one part at a time", () => {
    const [next, risks] = stages.stage1;
    expect(next?.prompt[1]?.content.endsWith("\nANSWER: next")).toBe(true);
    expect(next?.answer).toMatch(/^<\|next_state\|>[^<]+<\|next_state\|>$/);
    expect(risks?.prompt[1]?.content.endsWith("\nANSWER: risks")).toBe(true);
    expect(risks?.answer).toMatch(/^<\|filtered_tools\|>\[.*\]<\|filtered_tools\|>$/);
  });
});

describe("rows", () => {
  test("as each engine reads them", () => {
    expect(Object.keys(rowFor("trl", "stage2", row, 0))).toEqual(["prompt", "completion"]);
    expect(Object.keys(rowFor("trl", "stage3", row, 0))).toEqual(["prompt", "ground_truth"]);
    expect(Object.keys(rowFor("openrlhf", "stage1", row, 0))).toEqual(["input", "output"]);
    expect(rowFor("openrlhf", "test", row, 0)).toMatchObject({ label: JSON.stringify(row.truth) });
    expect(rowFor("verl", "stage2", row, 0)).toMatchObject({
      messages: [{ role: "system" }, { role: "user" }, { role: "assistant" }],
    });
    expect(rowFor("verl", "test", row, 7)).toMatchObject({
      data_source: dataSource,
      reward_model: { style: "rule", ground_truth: row.truth },
      extra_info: { index: 7, split: "test" },
    });
  });
});

describe("files", () => {
  const folder = mkdtempSync(join(tmpdir(), "sg-export-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("hold one row a line, and say what they were made from", () => {
    for (const engine of engines) {
      const written = exportStages(join(folder, engine), engine, {
        examples: examples.slice(0, 900),
        digest: manifest.digest,
      });
      if (!written.ok) throw new Error(written.error);
      for (const { file, rows } of written.value) {
        const lines = readFileSync(join(folder, engine, file), "utf8").trimEnd();
        expect(lines === "" ? 0 : lines.split("\n").length, file).toBe(rows);
      }
      const about = readJson(readFileSync(join(folder, engine, "about.json"), "utf8"));
      expect(member(about, "data")).toBe(manifest.digest);
    }
  });

  test("a folder that cannot be written is an error with a way on", () => {
    const written = exportStages(join(folder, "trl", "about.json"), "trl", { examples: [], digest: "" });
    expect(written).toMatchObject({ ok: false, error: expect.stringContaining("--export") });
  });
});

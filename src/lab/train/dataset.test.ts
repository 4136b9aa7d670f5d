// The shipped data and weights are made again, bit for bit.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readJson } from "../../gateway/log/json-text.ts";
import { parseCatalogue } from "./catalogue.ts";
import { defaultSeed, makeDataset } from "./dataset.ts";
import { manifestFile, shippedTable } from "./shipped-table.ts";
import { shippedBytes, shippedWeights, trainingFolder } from "../../app/oracles/shipped-weights.ts";
import { trainAll } from "./train.ts";

const trained = trainAll(defaultSeed, true);
if (!trained.ok) throw new Error(trained.error);
const { examples, manifest, quality, sameAsShipped } = trained.value;

describe("training", () => {
  test("gives the shipped weights, bit for bit", () => {
    expect(sameAsShipped).toBe(true);
    expect(readJson(readFileSync(join(trainingFolder, manifestFile), "utf8"))).toEqual({
      ...manifest,
      node: expect.any(String),
    });
  });

  test("is better than every baseline on families it has not seen", () => {
    const [embedded, ...rest] = quality;
    const baselines = rest.filter(({ variant }) => variant !== "embedded");
    expect(baselines.map(({ variant }) => variant)).toEqual([
      "majority",
      "effect rule",
      "length",
      "filter-none",
      "filter-all",
    ]);
    for (const { variant, quality: theirs } of baselines) {
      for (const metric of ["accuracy", "macroF1", "unsafeF1", "auc", "filterF1"] as const)
        expect(embedded?.quality[metric], `${metric} of ${variant}`).toBeGreaterThan(theirs[metric] + 0.15);
    }
  });
});

describe("data", () => {
  test("have the classes and folds that the manifest says", () => {
    expect(manifest.data).toMatchObject({ examples: 6_000, classes: { safe: 2_100, critical: 2_400, unsafe: 1_500 } });
    for (let fold = 1; fold <= 5; fold += 1)
      expect(examples.filter((example) => example.fold === fold)).toHaveLength(1_200);
    expect(Object.values(manifest.data.families).every((count) => count > 100)).toBe(true);
  });

  test("labels agree with themselves", () => {
    for (const { context, label, filtered } of examples) {
      expect(filtered.length > 0).toBe(label !== "safe");
      const names = context.tools.map(({ name }) => name);
      expect(filtered.every((name) => names.includes(name))).toBe(true);
      if (label === "unsafe") expect(filtered).toContain(`${context.pending?.server}.${context.pending?.tool}`);
    }
  });

  test("other seeds play other scenarios", () => {
    const table = shippedTable();
    if (!table.ok) throw new Error(table.error);
    expect(makeDataset(table.value.families, 1)[0]).not.toEqual(examples[0]);
  });

  test("a table that cannot fill a class is a bug, not an endless loop", () => {
    const parsed = parseCatalogue("@family calm fold 1 holds - servers calm\nlook | read.local | - | -\n");
    if (!parsed.ok) throw new Error(parsed.error);
    expect(() => makeDataset(parsed.value, 1)).toThrow("fold 1 cannot be filled");
  });
});

test("missing and broken files are refused with a way on", () => {
  expect(shippedWeights("/nowhere")).toMatchObject({ ok: false, error: expect.stringContaining("reinstall") });
  expect(shippedTable("/nowhere")).toMatchObject({ ok: false, error: expect.stringContaining("cannot be read") });
  expect(shippedBytes("/nowhere").ok).toBe(false);
  expect(shippedWeights().ok).toBe(true);
});

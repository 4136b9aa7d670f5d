/** The data set: a fixed number of scenarios of each class from one seed, and its entry in the manifest. */
import type { StateClass } from "../../core/questions/prediction.ts";
import { type Family, foldCount } from "./catalogue.ts";
import { makeRandom } from "./random.ts";
import { type Example, playScenario } from "./scenario.ts";

/** Raised with every change that gives other examples for the same seed and table. */
export const generatorVersion = 3;
export const defaultSeed = 20_260_901;

/** Examples of each fold, by kind of judgement and label. */
const wanted = {
  call: { safe: 300, critical: 300, unsafe: 300 },
  list: { safe: 120, critical: 180, unsafe: 0 },
} as const;
/** A fold that cannot fill its quota within this many scenarios is a bug of the table. */
const scenariosPerFoldMax = 60_000;

export type DataManifest = {
  readonly generator: number;
  readonly seed: number;
  readonly examples: number;
  readonly tools: number;
  readonly classes: Readonly<Record<StateClass, number>>;
  readonly families: Readonly<Record<string, number>>;
  /** SHA-256 of the examples as JSON lines. */
  readonly digest: string;
};

/** Plays scenarios until every quota is full; the same seed and table give the same examples in the same order. */
export function makeDataset(families: readonly Family[], seed: number): readonly Example[] {
  const random = makeRandom(seed);
  const examples: Example[] = [];
  for (let fold = 1; fold <= foldCount; fold += 1) {
    const members = families.filter((family) => family.fold === fold);
    const left = { call: { ...wanted.call }, list: { ...wanted.list } };
    let total = 1_200;
    for (let scenario = 0; total > 0; scenario += 1) {
      if (scenario === scenariosPerFoldMax) throw new Error(`fold ${fold} cannot be filled from its tools`);
      const wantsCall = random.chance(75);
      const example = playScenario(members, wantsCall, random);
      const quota: Record<StateClass, number> = wantsCall ? left.call : left.list;
      if (quota[example.label] === 0) continue;
      quota[example.label] -= 1;
      total -= 1;
      examples.push(example);
    }
  }
  return examples;
}

export function manifestOf(
  examples: readonly Example[],
  from: { readonly seed: number; readonly families: readonly Family[]; readonly sha256: (text: string) => string },
): DataManifest {
  const classes = { safe: 0, critical: 0, unsafe: 0 };
  const families: Record<string, number> = Object.fromEntries(from.families.map(({ name }) => [name, 0]));
  for (const { label, family } of examples) {
    classes[label] += 1;
    families[family] = (families[family] ?? 0) + 1;
  }
  const text = examples.map((example) => `${JSON.stringify(example)}\n`).join("");
  return {
    generator: generatorVersion,
    seed: from.seed,
    examples: examples.length,
    tools: from.families.reduce((sum, { tools }) => sum + tools.length, 0),
    classes,
    families,
    digest: from.sha256(text),
  };
}

// What docs/regulation.md shows can be used as it stands: its policy loads without a finding, its weights are the real ones.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { sha256 } from "../../src/app/policy/policy-source.ts";
import { type Effect, effectActions } from "../../src/core/effect.ts";
import { powerOf } from "../../src/mechanisms/regulate/power-weights.ts";
import { surpriseCallsMax } from "../../src/mechanisms/regulate/models/surprise.ts";
import { shape as regulation } from "../../src/policy/sections/regulation.ts";
import { loadPolicy } from "../../src/policy/load.ts";

const text = readFileSync(join(resolve(import.meta.dirname, "../.."), "docs/regulation.md"), "utf8");
const weigh = (effect: Effect): number => powerOf(new Set([effect]), new Map());

test("the policy loads, and none of its words is idle", () => {
  const shown = /^## The words[^]*?^```yaml\n([\s\S]*?)^```/m.exec(text)?.[1] ?? "";
  const loaded = loadPolicy({ file: "regulation.md", text: shown }, { loader: () => undefined, hash: sha256 });
  expect(loaded.diagnostics.map(({ code }) => code)).not.toContain("SG-POLICY-IDLE");
  expect(loaded.policy?.regulation).toMatchObject({
    filter: { kind: "lease", ttlMs: 300_000 },
    shortlistMax: 25,
    models: { embedded: true, judge: "local" },
  });
});

test("every word of the section is explained", () => {
  const words = regulation.kind === "object" ? Object.keys(regulation.fields) : [];
  expect(words.length).toBeGreaterThan(5);
  for (const word of words) expect(text, word).toContain(`\`${word}`);
  expect(text).toContain(`the last ${surpriseCallsMax} `);
});

test("the weights are those that are used", () => {
  const places = [...text.matchAll(/^\| `((?:read|write|execute)\.\w+)` +\| (\d+)/gm)];
  expect(places).toHaveLength(6);
  for (const [, effect, weight] of places) expect(weigh(effect ?? ""), effect).toBe(Number(weight));
  const more = [...text.matchAll(/\| ((?:`\w+`(?:, )?)+) +\| (\d+) +\|$/gm)].flatMap(([, names, weight]) =>
    [...(names ?? "").matchAll(/\w+/g)].map(([name]) => [name, Number(weight)] as const),
  );
  expect(more.map(([name]) => name).toSorted()).toEqual([...effectActions].toSorted());
  for (const [name, weight] of more)
    expect(weigh(`write.external.${name}`), name).toBe(weigh("write.external") + weight);
});

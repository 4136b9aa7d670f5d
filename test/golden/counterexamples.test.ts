/**
 * What people read of a hazard that can happen: one policy for each kind of way, and the text that `proof verify` prints.
 * After a change of wording: run `proof verify` on the policy, read the text as somebody who has never seen it, copy it.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { Terminal } from "../kit/client/command.ts";

const terminal = new Terminal();
afterAll(() => terminal.remove());

const folder = join(import.meta.dirname, "counterexamples");
const names = readdirSync(folder).flatMap((file) => (file.endsWith(".yaml") ? [basename(file, ".yaml")] : []));
const linesMax = 8;

/** What is said of the hazard, without what is said of the whole policy. */
function ofHazard(text: string): readonly string[] {
  const lines = text.split("\n");
  const end = lines.findIndex((line) => /^(Still useful|No `expect:`|expect\[|It is taken for granted)/.test(line));
  return lines.slice(0, end);
}

describe.each(names)("counterexample: %s", (name) => {
  const golden = readFileSync(join(folder, `${name}.txt`), "utf8")
    .trimEnd()
    .split("\n");

  it("is the text that people were meant to read", async () => {
    const { code, stdout } = await terminal.run("proof", "verify", join(folder, `${name}.yaml`), "--rules-only");
    expect(ofHazard(stdout)).toEqual(golden);
    expect(code).toBe(name === "consent" ? 0 : 1);
  });

  it("is short, and ends with the change that closes it and what that costs", () => {
    expect(golden.length).toBeLessThanOrEqual(linesMax);
    if (name === "consent") return;
    expect(golden.at(-1)).toMatch(/^To close it, add: \{.*\} \(costs \d+ of \d+ `expect:` traces\)$/);
  });

  it("the rule that closes it can be copied into the policy, and then the hazard is proved", async () => {
    const line = golden.at(-1)?.match(/add: (\{.*\}) \(costs/)?.[1];
    if (line === undefined) return;
    const document = parse(readFileSync(join(folder, `${name}.yaml`), "utf8"));
    const closed = { ...document, rules: [...document.rules, parse(line)] };
    const { value } = await terminal.json("proof", "verify", terminal.file(`${name}.json`, closed));
    expect(value).toMatchObject({
      properties: [{ verdict: "proved", core: expect.arrayContaining([parse(line).id]) }],
    });
  });
});

it("there is one for each kind of way", () => {
  expect(names).toEqual(["consent", "fire", "flow", "gate", "late", "store", "timed"]);
});

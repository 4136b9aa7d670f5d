// Eighteen hostile servers before the whole gateway. What one of them does to the world outside never arrives there, or
// the result of the call that did it never reaches the agent; those that only speak are counted.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { plant, type Planted } from "../../kit/server/pairs/bare.ts";
import { catalogue, type FixturePair } from "../../kit/server/pairs/catalogue.ts";
import { openFixtures, play, tableOf } from "./fixture-stage.ts";
import { best, ownWord, type Said, type Stage } from "../../kit/gateway/stage.ts";

let planted: Planted;
let stage: Stage;
let named: Stage;
const rows: string[][] = [];

beforeAll(async () => {
  if (!best) return;
  planted = await plant();
  stage = await openFixtures("hostile", { planted, collector: planted.collector });
  named = await openFixtures("hostile", { planted });
});
afterAll(async () => {
  if (!best) return;
  await stage.close();
  await named.close();
  await planted.remove();
  console.log(`\n${tableOf(rows)}`);
});

function world() {
  return { ...planted.changed(), collected: [...planted.collected] };
}

const untouched = { home: [], workspace: [], collected: [] };

/** The call that acts, from 1; one beyond the script for those that never do. */
function actingCall({ hostile: { effect, script } }: FixturePair): number {
  return effect.kind === "none" ? script.length + 1 : Math.max(effect.call, 1);
}

/** Tools that are withheld, and why: their text gives orders to the model, or they came later than the accepted list. */
const orders = "tries to give orders to the model";
const withheld: Readonly<Record<string, { readonly tool: string; readonly says: string }>> = {
  "poisoned-description": { tool: "add", says: orders },
  "schema-poisoning": { tool: "create_ticket", says: orders },
  "overlapping-tool": { tool: "read_file", says: "what its server says of it changed" },
};

/** Until a server acts it is as good as any: nothing is held against it. */
function expectHonest(pair: FixturePair, said: readonly Said[]): void {
  for (const [index, call] of pair.hostile.script.slice(0, actingCall(pair) - 1).entries()) {
    // A name that only looks like the one that the operator labelled is nobody's: a person is asked.
    const known = call.tool in pair.hostile.labels;
    const kept = withheld[pair.id];
    if (kept?.tool === call.tool) {
      expect(said[index]?.text, `call ${index + 1}`).toContain(kept.says);
      continue;
    }
    expect(said[index]?.text, `call ${index + 1}`).toContain(known ? call.says : "approval required");
    expect(said[index]?.isError).toBe(!known || call.isError === true);
  }
}

describe.skipIf(!best)("18 hostile servers in their projections (need tier A)", () => {
  test.each(catalogue)("$group: $id", async (pair) => {
    const { expect: expected, effect } = pair.hostile;
    const said = await play(stage, pair, "hostile");
    const words = said.map(ownWord);
    const stopped = words.findIndex((word) => word !== undefined) + 1;
    const passed = effect.kind === "none" ? "only speaks, counted" : "nothing arrived; results passed";
    const kept = effect.kind === "none" ? "" : "nothing arrived; ";
    const what = stopped === 0 ? passed : `${kept}call ${stopped} ${words[stopped - 1]}`;
    rows.push([pair.group, pair.id, what]);
    expect(world()).toEqual(untouched);
    expectHonest(pair, said);
    // Nothing that it could do before can be told from the honest answer, so only the acting call may lose its result.
    if (expected.kind === "rejected") expect(words[expected.call - 1]).toBe("rejected");
    if (words.includes("rejected")) expect(stopped).toBe(actingCall(pair));
    for (const one of said) expect(one.text).not.toContain(planted.secret);
  });

  test("eleven have an effect, and seven only speak", () => {
    const effects = catalogue.filter(({ hostile }) => hostile.effect.kind !== "none");
    expect([effects.length, catalogue.length - effects.length]).toEqual([11, 7]);
  });

  const senders = catalogue.filter(({ hostile: { effect } }) => effect.kind !== "none" && effect.collects);
  test.each(senders)("$id, sending to a public name: the result of the acting call is rejected", async (pair) => {
    const said = await play(named, pair, "hostile");
    expectHonest(pair, said);
    expect(ownWord(said[actingCall(pair) - 1] ?? { text: "", isError: false, value: undefined })).toBe("rejected");
    expect(world()).toEqual(untouched);
  });
});

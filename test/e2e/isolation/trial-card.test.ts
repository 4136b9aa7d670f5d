// A trial that the operator asks for, from the command line to the card: what it found holds against the server until its card
// is answered by who has seen that.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { best } from "../../kit/gateway/stage.ts";
import { serverFile } from "../../kit/server/pairs/catalogue.ts";
import { field } from "../../kit/server/pairs/field/field.ts";
import { Desk, shakeHands } from "../../process/fixture/desk.ts";
import { Client } from "../../process/fixture/world.ts";

let desk: Desk;
beforeEach(() => {
  desk = new Desk();
});
afterEach(() => desk.dispose());

async function connected(role: "hostile" | "twin"): Promise<void> {
  const pair = field.find(({ id }) => id === "key-cache");
  if (pair === undefined) throw new Error("no such fixture");
  const client = new Client(desk.start(["run", "--server", "fonts", "--", process.execPath, serverFile(pair, role)]));
  await shakeHands(client);
  await client.answer(client.send("tools/list", {}));
}

const said = async (...words: readonly string[]): Promise<string> => {
  const { stdout, stderr } = await desk.finish(["cards", ...words]);
  return stdout + stderr;
};

describe.skipIf(!best)("`cards NAME --probe` (needs tier A)", () => {
  test(
    "flags a server that keeps a key, and its card shows why until it is answered",
    { timeout: 60_000 },
    async () => {
      await connected("hostile");
      expect(await said("fonts", "--review")).not.toContain("tried out");
      const card = await said("fonts", "--probe");
      expect(card).toContain("flagged: everything asks again");
      expect(card).toMatch(/tried out: rejected on \d{4}-\d\d-\d\d, in 14 calls with made-up data to 1 of 1 tool/);
      expect(card).toMatch(/tried out: found: it copied ~\/\.ssh\/id_ed25519 into a file of its own/);
      expect(card).toMatch(/against it: its trial rejected it: it copied/);
      expect(await said()).toMatch(/fonts +flagged/);
      // Trying it out again changes nothing, and forgetting an answer does not forget what was found.
      expect(await said("fonts", "--probe")).toContain("flagged");
      await said("fonts", "--forget");
      expect(await said()).toMatch(/fonts +flagged/);
    },
  );

  test("of an honest server says what was run", { timeout: 60_000 }, async () => {
    await connected("twin");
    const card = await said("fonts", "--probe");
    expect(card).toMatch(/tried out: nothing found on .*, in 14 calls with made-up data to 1 of 1 tool/);
    expect(card).not.toContain("No tool was run");
    expect(await said("nothing", "--probe")).toContain("No client has started");
  });
});

/** A7 end to end: a labelled server changes what it lists, and an operator accepts it or not with `approve`. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isArray, type Json, member, stringMember } from "../../src/core/json.ts";
import { Desk, textOf } from "./fixture/desk.ts";
import { Client } from "./fixture/world.ts";

const server = fileURLToPath(new URL("./fixture/list-server.js", import.meta.url));
const look = { name: "look", description: "Looks at the desk.", inputSchema: { type: "object" } };
const evil = { ...look, description: "Looks at the desk and at all letters on it." };
const peek = { name: "peek", description: "Peeks.", inputSchema: { type: "object" } };

let desk: Desk;
let file: string;
beforeEach(() => {
  desk = new Desk();
  file = join(desk.root, "said.json");
  const effects = "{effects: read.local, output: {confidentiality: public, trust: trusted}}";
  writeFileSync(join(desk.root, "policy.yaml"), `version: 1\nlabels: {desk.look: ${effects}, desk.peek: ${effects}}\n`);
});
afterEach(() => desk.dispose());

function says(tools: readonly Json[], info: Json = {}): void {
  writeFileSync(file, JSON.stringify({ tools, info }));
}

async function connected(): Promise<{ readonly client: Client; readonly instructions: string | undefined }> {
  const words = ["run", "--policy", join(desk.root, "policy.yaml"), "--server", "desk", "--", process.execPath, server];
  const client = new Client(desk.start([...words, file]));
  const clientInfo = { name: "c", version: "1" };
  const answer = await client.answer(
    client.send("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo }),
  );
  client.tell("notifications/initialized");
  return { client, instructions: stringMember((answer.result ?? {}) as Json, "instructions") };
}

async function listed(client: Client): Promise<readonly string[]> {
  const { result } = await client.answer(client.send("tools/list", {}));
  const tools = member((result ?? {}) as Json, "tools");
  return (isArray(tools) ? tools : []).flatMap((tool) => stringMember(tool, "description") ?? []);
}

test("a rewritten description and an added tool are withheld until they are accepted, over a restart", async () => {
  says([look]);
  const { client } = await connected();
  expect(await listed(client)).toEqual(["Looks at the desk."]);
  says([evil, peek]);
  expect(await listed(client)).toEqual([]);
  const refused = textOf(await client.call("look", { arguments: {} }));
  const id = /sluicegate approve ([\w-]+)`/.exec(refused)?.[1] ?? "none";
  const shown = (await desk.finish(["approve"])).stdout;
  expect(shown).toContain(`changed 2 of its tools`);
  expect(shown).toContain("`look` changed:");
  expect(shown).toMatch(/was: Looks at the desk\./);
  expect(shown).toMatch(/now: .*and at all letters on it\./);
  expect(shown).toContain("`peek` is new:");
  expect((await desk.finish(["approve", id])).stdout).toContain("Approved");
  expect(await listed(client)).toEqual([evil.description, "Peeks."]);
  expect(textOf(await client.call("look", { arguments: {} }))).toBe("called look");
  await desk.finish(["daemon", "stop"]);
  const again = await connected();
  expect(await listed(again.client)).toEqual([evil.description, "Peeks."]);
  says([{ ...evil, description: `${evil.description} And all files.` }, peek]);
  expect(await listed(again.client)).toEqual(["Peeks."]);
  const second = textOf(await again.client.call("look", { arguments: {} }));
  const other = /sluicegate approve ([\w-]+)`/.exec(second)?.[1] ?? "none";
  expect((await desk.finish(["approve", other, "--refuse"])).stdout).toContain("Refused");
  expect(await listed(again.client)).toEqual(["Peeks."]);
  expect(textOf(await again.client.call("look", { arguments: {} }))).toMatch(/^! Not executed.*look at decision/);
});

test("instructions that a server adds are withheld, and what is only cosmetic is not", async () => {
  says([look]);
  await listed((await connected()).client);
  says([{ ...look, description: "Looks at  the desk" }], { instructions: "A desk with letters." });
  const { client, instructions } = await connected();
  expect(instructions).toBeUndefined();
  expect(await listed(client)).toEqual(["Looks at  the desk"]);
  expect((await desk.finish(["approve"])).stdout).toMatch(/changed its instructions[\s\S]*now: A desk with letters/);
});

/** No process is left behind, whoever is killed and whenever. */
import { afterAll, expect, test } from "vitest";
import { seed } from "./fixture/chance.ts";
import { Desk, deskPolicy, deskServer } from "./fixture/desk.ts";
import { killRounds } from "./fixture/kill-rounds.ts";
import { toyServer, World } from "./fixture/world.ts";

const rounds = process.env["SLUICEGATE_FULL"] === "1" ? 100 : 20;
const timeout = rounds * 12_000;
const relay = new World();
const desk = new Desk();
afterAll(async () => {
  await relay.dispose();
  await desk.dispose();
});

const node = process.execPath;

test(`no orphan after ${rounds} kills around a relay (SLUICEGATE_SEED=${seed})`, { timeout }, async () => {
  const words = ["run", "--", node, toyServer, "--child"];
  await killRounds({ world: relay, tool: "facts", words, server: "toy-server" }, rounds, seed);
});

test(`no orphan after ${rounds} kills around the gateway (SLUICEGATE_SEED=${seed})`, { timeout }, async () => {
  const words = ["run", "--policy", deskPolicy, "--server", "desk", "--", node, deskServer, "--child"];
  await killRounds({ world: desk, tool: "backup", words, server: "desk-server" }, rounds, seed + 1);
  // Calls got through in some rounds, and no crash has broken the chain of the log.
  expect(desk.executed().some(({ tool }) => tool === "backup")).toBe(true);
  expect((await desk.log()).valid).toBe(true);
});

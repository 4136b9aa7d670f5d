/**
 * No process is left behind, whoever is killed and whenever (peers leave thousands: reference list item 8). Each round
 * kills one part, or daemon and shim together, with SIGKILL at a random moment of start, traffic or end.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { commandLine, launcher, pause, toyServer, until, World } from "./fixture/world.ts";

const rounds = process.env["SLUICEGATE_FULL"] === "1" ? 100 : 20;
const seed = Number(process.env["SLUICEGATE_SEED"] ?? Date.now() % 1_000_000);
const toyClient = fileURLToPath(new URL("./fixture/toy-client.js", import.meta.url));
const world = new World();
afterAll(() => world.dispose());

/** mulberry32: small, seeded, and good enough to choose moments. */
function generator(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const parts = {
  client: (line: string) => line.includes("toy-client"),
  shim: (line: string) => line.includes("launch.js run"),
  daemon: (line: string) => line.includes("launch.js daemon run"),
  server: (line: string) => line.includes("toy-server") && !line.includes("launch.js") && !line.includes("toy-client"),
} as const;
const victims: readonly (readonly (keyof typeof parts)[])[] = [
  ["client"],
  ["shim"],
  ["daemon"],
  ["server"],
  ["daemon", "shim"],
  ["client", "daemon"],
];

function kill(part: keyof typeof parts): void {
  for (const pid of world.processes().filter((candidate) => parts[part](commandLine(candidate)))) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended by itself between the look and the kill.
    }
  }
}

function remaining(): readonly string[] {
  return world
    .processes()
    .map(commandLine)
    .filter((line) => line !== "" && !parts.daemon(line));
}

test(
  `no orphan after ${rounds} kills at random moments (SLUICEGATE_SEED=${seed})`,
  { timeout: rounds * 12_000 },
  async () => {
    console.info(`kills: ${rounds} rounds, seed ${seed}`);
    const random = generator(seed);
    for (let round = 0; round < rounds; round += 1) {
      const chosen = victims[Math.floor(random() * victims.length)] ?? ["client"];
      // Half of the kills fall into the start-up, where identities are not yet known to everybody.
      const moment = Math.floor(random() * (random() < 0.5 ? 150 : 800));
      const client = spawn(process.execPath, [toyClient, launcher, toyServer], { env: world.env, stdio: "ignore" });
      await pause(moment);
      for (const part of chosen) kill(part);
      await pause(Math.floor(random() * 200));
      client.kill("SIGKILL");
      const what = `round ${round}: ${chosen.join(" and ")} after ${moment} ms`;
      await until(() => remaining().length === 0, 10_000).catch(() => undefined);
      expect(remaining(), what).toEqual([]);
    }
    await world.finish(["daemon", "stop"]);
    expect(await world.leftOver()).toEqual([]);
  },
);

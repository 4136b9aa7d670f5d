/** Kill -9 at random moments: every acknowledged entry is there afterwards, and the chain is whole. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openKeys } from "../../src/adapters/keys/sealing.ts";
import { openSqliteStore } from "../../src/adapters/store/sqlite.ts";
import { replayRun } from "../../src/gateway/log/event-replay.ts";
import { verifyLog } from "../../src/gateway/log/verify.ts";
import { lattice, temporaryFolder, unwrap } from "../kit/gateway/log-records.ts";

const kills = process.env["SLUICEGATE_FULL"] === "1" ? 100 : 20;
const script = fileURLToPath(new URL("crash-writer.ts", import.meta.url));

/** Milliseconds after the first acknowledgement; spread by the seed, so that kills hit every part of a commit. */
const delayMsMax = 120;

/** Runs a writer, kills it, and gives what it had acknowledged. */
async function killOnce(folder: string, generation: number, delayMs: number): Promise<readonly string[]> {
  const child = spawn(process.execPath, [script, folder, String(generation)], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (text: string) => {
    if (output === "") setTimeout(() => child.kill("SIGKILL"), delayMs);
    output += text;
  });
  const [, signal] = await once(child, "close");
  expect(signal).toBe("SIGKILL");
  // A last line may be cut by the kill; only whole lines were acknowledged to somebody.
  return output.split("\n").slice(0, -1);
}

describe("crashes", () => {
  it(
    `loses no acknowledged entry in ${kills} kills`,
    async () => {
      const folder = temporaryFolder();
      const acknowledged: string[] = [];
      for (let generation = 1; generation <= kills; generation += 1) {
        const delayMs = (generation * 37) % delayMsMax;
        const lines = await killOnce(folder.path, generation, delayMs);
        expect(lines.length).toBeGreaterThan(0);
        acknowledged.push(...lines);
      }
      const path = join(folder.path, "log.db");
      const store = unwrap(openSqliteStore({ path, durability: "normal", wallMs: Date.now }));
      const keys = unwrap(openKeys(join(folder.path, "keys")));
      const verified = unwrap(await verifyLog(store, keys));
      expect(verified).toMatchObject({ valid: true, findings: [] });
      expect(verified.writers).toHaveLength(kills);

      const present = new Set<string>();
      const open = new Set<string>();
      for (let index = 0; index < 8; index += 1) {
        const run = `run-${index}`;
        const { events, complete } = unwrap(await replayRun({ store, keys, lattice }, run));
        expect(complete).toBe(true);
        for (const event of events) {
          if (event.kind !== "dispatched" && event.kind !== "succeeded") continue;
          present.add(`${run} ${event.call} ${event.kind}`);
          if (event.kind === "dispatched") open.add(`${run} ${event.call}`);
          else open.delete(`${run} ${event.call}`);
        }
      }
      expect(acknowledged.filter((line) => !present.has(line))).toEqual([]);
      // What has no outcome in the log is exactly what the next start reports as unknown.
      expect(new Set(store.opening.inFlight.map((call) => `${call.run} ${call.call}`))).toEqual(open);
      await store.close(true);
      folder.remove();
    },
    kills * 5_000,
  );
});

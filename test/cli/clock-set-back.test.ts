import { join } from "node:path";
import { expect, test } from "vitest";
import { openKeys } from "../../src/adapters/keys/sealing.ts";
import { openSqliteStore } from "../../src/adapters/store/sqlite.ts";
import { compose } from "../../src/app/gateway/composition.ts";
import { logPlaces } from "../../src/app/state/log-files.ts";
import { nodeClock } from "../../src/app/state/node-services.ts";
import { openEventLog } from "../../src/gateway/log/event-log.ts";
import { temporaryFolder, unwrap } from "../kit/gateway/log-records.ts";

/** A log whose last process stopped at that moment. */
async function stoppedAt(home: string, at: number): Promise<void> {
  const { database, keys } = logPlaces(home);
  const store = unwrap(openSqliteStore({ path: database, durability: "normal", wallMs: Date.now }));
  const options = { store, keys: unwrap(openKeys(keys)), wallMs: Date.now, chain: "c".repeat(32) };
  await unwrap(await openEventLog(options, at)).close(at);
}

test("a process whose machine was set back goes on where the last one stopped", async () => {
  const home = join(temporaryFolder().path, "home");
  const hour = 3_600_000;
  const stopped = Date.now() + hour;
  await stoppedAt(home, stopped);
  expect(nodeClock.monotonicMs()).toBeLessThan(stopped);
  const composition = unwrap(
    await compose({
      home,
      policies: [],
      connector: {
        connect: () => {
          throw new Error("no server is asked for");
        },
      },
      servers: [],
      tagOf: () => undefined,
      tell: () => undefined,
    }),
  );
  const now = nodeClock.monotonicMs();
  await composition.close();
  expect(now).toBeGreaterThanOrEqual(stopped);
  expect(now).toBeLessThan(stopped + hour);
});

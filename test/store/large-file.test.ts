/** A large file is looked through where the machine lost power, and not where only a process was killed. */
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openSqliteStore } from "../../src/adapters/store/sqlite.ts";
import { record, temporaryFolder, unwrap } from "../kit/gateway/log-records.ts";

const largeBytes = 68 * 1024 * 1024;
const payloadBytes = 4 * 1024 * 1024;

it("B14: a killed writer of this boot does not make the next one read the whole file", async () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const path = join(folder.path, "log.db");
  const open = (bootId: string): ReturnType<typeof openSqliteStore> =>
    openSqliteStore({ path, durability: "full", wallMs: () => 1_000, bootId });
  const first = unwrap(open("boot-1"));
  for (let seq = 1; seq * payloadBytes <= largeBytes + payloadBytes; seq += 1) {
    const one = { ...record(seq, "run-1", first.opening.writer), payload: new Uint8Array(payloadBytes).fill(seq) };
    unwrap(await first.append({ records: [one] }));
  }
  await first.close(false);
  // Only a check of every page finds this one: it is the last of a payload's chain.
  const file = openSync(path, "r+");
  writeSync(file, new Uint8Array(8).fill(0xff), 0, 8, 8_192 * 4_000);
  closeSync(file);
  const again = open("boot-1");
  expect(again.ok).toBe(true);
  if (again.ok) await again.value.close(false);
  const afterPowerCut = open("boot-2");
  expect(afterPowerCut).toMatchObject({ ok: false, error: { kind: "damaged" } });
});

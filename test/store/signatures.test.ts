/** When the head of a chain is signed. */
import { expect, it } from "vitest";
import { AgedLog } from "../kit/gateway/aged-log.ts";
import { unwrap } from "../kit/gateway/log-records.ts";

it.each(["memory", "SQLite"] as const)(
  "no head is signed twice, however long ago it was signed: an append may bring rows alone (%s)",
  async (kind) => {
    const aged = await AgedLog.of(kind);
    for (let minute = 0; minute < 3; minute += 1) {
      aged.wallMs += 60_000;
      unwrap(await aged.log.append([], { runs: [aged.row("run-0", { resume: { minute } })] }));
    }
    expect(aged.log.health()).toEqual({ kind: "ok" });
    const signed = unwrap(await aged.store.checkpoints(1)).map(({ seq }) => seq);
    expect(signed).toEqual([1]);
    // The next record is signed at once, since the last signature is old.
    await aged.calls("run-0", 1);
    expect(unwrap(await aged.store.checkpoints(1)).map(({ seq }) => seq)).toEqual([1, 2]);
    expect(await aged.verified()).toMatchObject({ valid: true });
    await aged.dispose();
  },
);

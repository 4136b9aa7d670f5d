/** The law of replay: whatever a gateway recorded is decided the same way again, under the same policy. */
import { expect } from "vitest";
import { decideAgain } from "../../../src/app/replay/run-report.ts";
import { isLostIn } from "../../../src/gateway/runs/live-run.ts";
import type { LoadedPolicy } from "../../../src/gateway/ports/policy.ts";
import type { FakeLog } from "./fake-log.ts";
import { temporaryFolder } from "./log-records.ts";
import { kept } from "./kept-log.ts";

/** A folder for keys that is gone when its block ends. */
function disposableFolder(): Disposable & { readonly path: string } {
  const { path, remove } = temporaryFolder();
  return { path, [Symbol.dispose]: remove };
}

/**
 * Decides every run of a log again; a decision that differs fails the test that made it. A run whose history was lost
 * counted as holding everything, which its record does not say; one that kept digests only cannot be decided again.
 */
export async function replaysAlike(log: FakeLog, policy: LoadedPolicy): Promise<void> {
  if (log.failed || policy.settings.payload === "digests") return;
  const whole = (run: string): boolean => {
    const row = log.runs.get(run);
    return run !== "" && (row === undefined || !isLostIn(row));
  };
  const runs = new Set(log.entries.map(({ run }) => run).filter(whole));
  using folder = disposableFolder();
  const keptLog = await kept(log.entries, { folder: folder.path });
  for (const run of runs) {
    const again = await decideAgain(keptLog, { run, policy, workspace: [] });
    if (!again.ok) throw new Error(again.error.sentence);
    expect(again.value.moments.filter(({ differs }) => differs)).toEqual([]);
  }
}

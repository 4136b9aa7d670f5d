/** The law of replay: whatever a gateway recorded is decided the same way again, under the same policy. */
import { expect } from "vitest";
import { decideAgain } from "../../src/cli/replay/run-report.ts";
import type { LoadedPolicy } from "../../src/gateway/policy-port.ts";
import type { FakeLog } from "./fake-log.ts";
import { kept } from "./kept-log.ts";

/**
 * Decides every run of a log again; a decision that differs fails the test that made it. A run whose history was lost
 * counted as holding everything, which its record does not say.
 */
export async function replaysAlike<Q>(log: FakeLog, policy: LoadedPolicy<Q>): Promise<void> {
  if (log.failed) return;
  const whole = (run: string): boolean => run !== "" && log.runs.get(run)?.top !== true;
  const runs = new Set(log.entries.map(({ run }) => run).filter(whole));
  const keptLog = await kept(log.entries);
  for (const run of runs) {
    const again = await decideAgain(keptLog, { run, policy, workspace: [] });
    if (!again.ok) throw new Error(again.error.sentence);
    expect(again.value.moments.filter(({ differs }) => differs)).toEqual([]);
  }
}

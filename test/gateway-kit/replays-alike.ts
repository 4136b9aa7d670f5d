/** The law of replay: whatever a gateway recorded is decided the same way again, under the same policy. */
import { expect } from "vitest";
import { decideAgain } from "../../src/cli/replay/run-report.ts";
import type { LoadedPolicy } from "../../src/gateway/policy-port.ts";
import type { Q } from "../../src/policy/state.ts";
import type { FakeLog } from "./fake-log.ts";
import { kept } from "./kept-log.ts";

/** Decides every run of a log again; a decision that differs fails the test that made it. */
export async function replaysAlike(log: FakeLog, policy: LoadedPolicy<Q>): Promise<void> {
  const runs = new Set(log.entries.map(({ run }) => run).filter((run) => run !== ""));
  const keptLog = await kept(log.entries);
  for (const run of runs) {
    const again = await decideAgain(keptLog, { run, policy, workspace: [] });
    if (!again.ok) throw new Error(again.error.sentence);
    expect(again.value.moments.filter(({ differs }) => differs)).toEqual([]);
  }
}

// B12: what a call of one session costs does not depend on how many sessions there are, and ended ones cost nothing.
import { describe, expect, it } from "vitest";
import type { Composition } from "../../src/app/gateway/composition.ts";
import { decideAgain } from "../../src/app/replay/run-report.ts";
import type { StoredRecord } from "../../src/gateway/ports/store.ts";
import { openKeys } from "../../src/adapters/keys/sealing.ts";
import { logPlaces } from "../../src/app/state/log-files.ts";
import { Session, composed, sessionsPolicy } from "../kit/gateway/local-sessions.ts";
import { temporaryFolder, unwrap } from "../kit/gateway/log-records.ts";
import { policyOf } from "../kit/gateway/real-policy.ts";

const policyText = sessionsPolicy("{ confidentiality: public, trust: trusted }");

async function recordsOf({ gateway, log }: Composition): Promise<readonly StoredRecord[]> {
  await gateway.runs.flushDeferred();
  return unwrap(await log.store.records({ order: "oldest", limit: 1_000_000 }));
}

const sessionsOf = (composition: Composition, count: number): Promise<readonly Session[]> =>
  Promise.all([...Array(count).keys()].map((one) => new Session(composition, `s${one}`).open()));

describe("B12: sessions over HTTP", () => {
  it("add two records with a read, and three at most with any call, however many there are, and replay alike", async () => {
    const { path, remove } = temporaryFolder();
    const composition = await composed(path, policyText);
    const sessions = await sessionsOf(composition, 100);
    const added = async (act: () => Promise<unknown>): Promise<number> => {
      const before = (await recordsOf(composition)).length;
      await act();
      return (await recordsOf(composition)).length - before;
    };
    const each = (tool: string) => () => Promise.all(sessions.map((session) => session.call(tool)));
    expect(await added(each("read_text"))).toBeLessThanOrEqual(3 * 100);
    expect(await added(each("put_text"))).toBeLessThanOrEqual(3 * 100);
    const [first] = sessions;
    expect(await added(async () => first?.call("read_text"))).toBe(2);
    const policy = policyOf(policyText);
    const keys = unwrap(openKeys(logPlaces(path).keys));
    for (const { key } of sessions.slice(0, 3)) {
      const again = await decideAgain({ store: composition.log.store, keys }, { run: key, policy, workspace: ["/"] });
      expect(unwrap(again).moments.filter(({ differs }) => differs)).toEqual([]);
    }
    await composition.close();
    remove();
  }, 60_000);

  it("leave nothing in memory and no open row when they are over, and one stream for later ones", async () => {
    const { path, remove } = temporaryFolder();
    const composition = await composed(path, policyText);
    const { runs } = composition.gateway;
    for (const session of await sessionsOf(composition, 30)) {
      await session.call("read_text");
      session.over();
    }
    await expect.poll(() => [...runs.all()].length).toBe(0);
    await composition.log.checkpoint(0);
    const open = unwrap(await composition.log.store.openRuns());
    expect(open.map(({ key }) => key.slice(0, 7))).toEqual(["stream:"]);
    expect(runs.waitingStreams()).toHaveLength(1);
    expect(composition.gateway.state.inDoubt.size("")).toBe(0);
    await composition.close();
    remove();
  }, 60_000);
});

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { heartbeatMs, heartbeatMsMax } from "../../adapters/daemon/daemon-limits.ts";
import { Heartbeat } from "./heartbeat.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function world(answers: boolean) {
  const seen = { pings: 0, lost: 0 };
  const ping = async (): Promise<boolean> => {
    seen.pings += 1;
    return answers;
  };
  const heartbeat = new Heartbeat({ ping, lost: () => (seen.lost += 1) });
  return { seen, heartbeat };
}

test("an answered request, and an idle session, cost no ping", async () => {
  const { seen, heartbeat } = world(false);
  await vi.advanceTimersByTimeAsync(10 * heartbeatMs);
  heartbeat.sent();
  heartbeat.received();
  await vi.advanceTimersByTimeAsync(10 * heartbeatMs);
  expect(seen).toEqual({ pings: 0, lost: 0 });
});

test("a daemon that answers no ping is lost, once", async () => {
  const { seen, heartbeat } = world(false);
  heartbeat.sent();
  await vi.advanceTimersByTimeAsync(heartbeatMs);
  expect(seen).toEqual({ pings: 1, lost: 1 });
});

test("a tool that takes an hour behind a living daemon is waited for, with about a ping a minute", async () => {
  const { seen, heartbeat } = world(true);
  heartbeat.sent();
  await vi.advanceTimersByTimeAsync(60 * heartbeatMsMax);
  expect(seen.lost).toBe(0);
  expect(seen.pings).toBeGreaterThan(30);
  expect(seen.pings).toBeLessThan(65);
});

test("a session that ended pings no more", async () => {
  const { seen, heartbeat } = world(false);
  heartbeat.sent();
  heartbeat.stop();
  heartbeat.sent();
  await vi.advanceTimersByTimeAsync(10 * heartbeatMs);
  expect(seen).toEqual({ pings: 0, lost: 0 });
});

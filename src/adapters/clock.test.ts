import { describe, expect, it } from "vitest";
import { momentClock } from "./clock.ts";

/** A machine whose monotonic clock stands still while it sleeps. */
function machine(known = true) {
  let running = 0;
  let uptime = 500_000;
  let looks = 0;
  const clock = momentClock({
    startWallMs: 1_000_000,
    runningMs: () => running,
    uptimeMs: () => {
      looks += 1;
      return known ? Math.floor(uptime / 10) * 10 : undefined;
    },
  });
  return {
    clock,
    looks: () => looks,
    run: (ms: number) => {
      running += ms;
      uptime += ms;
    },
    sleep: (ms: number) => (uptime += ms),
  };
}

describe("the clock of moments", () => {
  it("counts from the wall time of its start", () => {
    const { clock, run } = machine();
    expect(clock.nowMs()).toBe(1_000_000);
    run(1_234);
    expect(clock.nowMs()).toBe(1_001_234);
  });

  it("counts what the machine slept, once", () => {
    const { clock, run, sleep } = machine();
    run(5_003);
    sleep(8 * 3_600_000);
    expect(clock.nowMs() - 1_005_003).toBeCloseTo(8 * 3_600_000, -2);
    run(60_000);
    expect(clock.nowMs() - 1_065_003).toBeCloseTo(8 * 3_600_000, -2);
    sleep(60_000);
    run(2_000);
    expect(clock.nowMs() - 1_067_003).toBeCloseTo(8 * 3_600_000 + 60_000, -2);
  });

  it("never steps back, and takes the steps of the uptime for no sleep", () => {
    const { clock, run, sleep } = machine();
    let last = clock.nowMs();
    for (let turn = 0; turn < 500; turn += 1) {
      run(turn * 7.3);
      if (turn % 50 === 49) sleep(2_000);
      const now = clock.nowMs();
      expect(now).toBeGreaterThanOrEqual(last);
      last = now;
    }
    const awake = machine();
    for (let turn = 0; turn < 500; turn += 1) awake.run(3.7);
    expect(awake.clock.nowMs()).toBeCloseTo(1_000_000 + 500 * 3.7, 3);
  });

  it("asks for the uptime once a second, and goes without where there is none", () => {
    const { clock, run, looks } = machine();
    for (let turn = 0; turn < 1_000; turn += 1) {
      run(10);
      clock.nowMs();
    }
    expect(looks()).toBe(1 + 10);
    const bare = machine(false);
    bare.run(2_000);
    bare.sleep(9_000);
    expect(bare.clock.nowMs()).toBe(1_002_000);
  });

  it("goes on from where the last process stopped, if that is later", () => {
    const { clock, run } = machine();
    clock.goOnFrom(900_000);
    expect(clock.nowMs()).toBe(1_000_000);
    clock.goOnFrom(1_500_000);
    run(40);
    expect(clock.nowMs()).toBe(1_500_040);
  });
});

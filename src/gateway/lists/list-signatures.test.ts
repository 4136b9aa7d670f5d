import { expect, it } from "vitest";
import { FakeClock } from "../../../test/kit/gateway/playbook.ts";
import { listLookShare, listLookWaitMsMax, listQuietMs } from "../ports/limits.ts";
import { type Ear, ListWatch } from "./list-signatures.ts";
import type { LiveRun } from "../runs/live-run.ts";

/** A run is only compared here. */
const live = { ended: false } as unknown as LiveRun;

async function turns(): Promise<void> {
  for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
}

function watching(lookMs: number): { clock: FakeClock; watch: ListWatch; looks: () => number } {
  const clock = new FakeClock();
  const watch = new ListWatch(clock);
  let looks = 0;
  const ear: Ear = {
    server: "s",
    told: new Map([["tools/list", ""]]),
    stream: false,
    current: () => live,
    signature: async () => {
      looks += 1;
      clock.now += lookMs;
      return "";
    },
    tell: () => undefined,
  };
  watch.add(ear);
  return { clock, watch, looks: () => looks };
}

it("a list that takes long to judge is looked at again only after a rest, so that calls go on", async () => {
  const { clock, watch, looks } = watching(100);
  clock.pass(listQuietMs);
  await turns();
  expect(looks()).toBe(1);
  watch.moved(live);
  clock.pass(100 * listLookShare - 1);
  await turns();
  expect(looks()).toBe(1);
  clock.pass(1);
  await turns();
  expect(looks()).toBe(2);
});

it("the rest has an end, and a list that is judged at once needs none", async () => {
  const slow = watching(60_000);
  slow.clock.pass(listQuietMs);
  await turns();
  slow.watch.moved(live);
  slow.clock.pass(listLookWaitMsMax);
  await turns();
  expect(slow.looks()).toBe(2);
  const quick = watching(0);
  for (let time = 1; time <= 3; time += 1) {
    quick.clock.pass(listQuietMs);
    await turns();
    expect(quick.looks()).toBe(time);
    quick.watch.moved(live);
  }
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { CallTurns } from "./call-turns.ts";
import { waitingCallsMax } from "./session-limits.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

test("those who may share do, one that must be alone waits for all and holds all back", async () => {
  const turns = new CallTurns();
  expect([turns.take("a", false), turns.take("b", false)]).toEqual([undefined, undefined]);
  const alone = turns.take("c", true);
  const behind = turns.take("d", false);
  turns.leave("a");
  turns.leave("b");
  expect(await alone).toEqual({ ok: true, value: undefined });
  let came = false;
  void Promise.resolve(behind).then(() => (came = true));
  await Promise.resolve();
  expect(came).toBe(false);
  turns.leave("c");
  expect(await behind).toEqual({ ok: true, value: undefined });
  turns.leave("d");
  expect(turns.busy).toBe(false);
});

test("the queue has an end, and closing it answers everybody", async () => {
  const turns = new CallTurns();
  void turns.take("holder", true);
  const waiting = Array.from({ length: waitingCallsMax }, async (_, index) => turns.take(`${index}`, true));
  expect(turns.take("more", true)).toMatchObject({ ok: false });
  turns.close("The server has ended.");
  for (const one of await Promise.all(waiting)) expect(one).toEqual({ ok: false, error: "The server has ended." });
});

const step = fc.record({
  kind: fc.constantFrom("take" as const, "leave" as const, "abandon" as const),
  call: fc.integer({ min: 0, max: 9 }),
  alone: fc.boolean(),
});

test("law: who must be alone is, nobody overtakes, and everybody who stays gets a turn", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const turns = new CallTurns();
      const active = new Map<string, boolean>();
      const order: string[] = [];
      const served: string[] = [];
      const enter = (call: string, alone: boolean): void => {
        if (alone || [...active.values()].includes(true)) expect(active.size).toBe(0);
        active.set(call, alone);
        served.push(call);
      };
      let count = 0;
      const asked: { readonly call: string; readonly alone: boolean }[] = [];
      for (const { kind, call, alone } of steps) {
        const name = asked[call % Math.max(asked.length, 1)]?.call ?? "nobody";
        if (kind === "take") {
          count += 1;
          const taker = `${count}`;
          asked.push({ call: taker, alone });
          order.push(taker);
          const turn = turns.take(taker, alone);
          if (turn === undefined) enter(taker, alone);
          else
            void Promise.resolve(turn).then((given) =>
              given.ok ? enter(taker, alone) : order.splice(order.indexOf(taker), 1),
            );
        } else if (kind === "leave") {
          active.delete(name);
          turns.leave(name);
        } else turns.abandon(name, "given up");
        for (let tick = 0; tick < 4; tick += 1) await Promise.resolve();
      }
      for (const { call } of [...asked, ...asked]) {
        active.delete(call);
        turns.leave(call);
        for (let tick = 0; tick < 4; tick += 1) await Promise.resolve();
      }
      expect(served).toEqual(order);
    }),
    { numRuns: runs },
  );
});

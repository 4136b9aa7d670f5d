import { expect, it } from "vitest";
import { openRoundsAllMax, openRoundsMax } from "../ports/limits.ts";
import { InputRequestTable } from "./input-required.ts";

type TakenCall = Parameters<InputRequestTable["take"]>[0];

const callOf = (principal: string): TakenCall =>
  ({ live: { principal, key: `run of ${principal}` }, digest: "d" }) as never;

/** Opens rounds of a user; gives which of them were dropped, as they are. */
function opened(table: InputRequestTable, principal: string, count: number): readonly string[] {
  const dropped: string[] = [];
  for (let state = 0; state < count; state += 1) {
    const round = { call: callOf(principal), methods: new Map(), dropped: () => dropped.push(`${state}`) };
    table.keep(`${state}`, round);
  }
  return dropped;
}

it("a user with too many open rounds loses his own oldest, and nobody else any", () => {
  const table = new InputRequestTable();
  const honest = opened(table, "b", 1);
  const greedy = opened(table, "a", openRoundsMax + 2);
  expect([honest, greedy]).toEqual([[], ["0", "1"]]);
  expect(table.take(callOf("b"), "0")).toBeDefined();
  expect(table.take(callOf("b"), "0")).toBeUndefined();
  expect(table.take(callOf("a"), "0")).toBeUndefined();
  expect(table.take(callOf("a"), "2")).toBeDefined();
});

it("where all together have too many, whoever has most makes room", () => {
  const table = new InputRequestTable();
  const honest = opened(table, "honest", 2);
  const users = Array.from({ length: openRoundsAllMax / openRoundsMax }, (_, user) => `greedy ${user}`);
  const dropped = users.map((user) => opened(table, user, openRoundsMax));
  expect(dropped.flat().length).toBe(2);
  expect(opened(table, "late", 1)).toEqual([]);
  expect([honest, dropped.flat().length]).toEqual([[], 3]);
});

it("a call that asks again with the same state takes the place of its earlier round", () => {
  const table = new InputRequestTable();
  expect(opened(table, "a", 1)).toEqual([]);
  let dropped = 0;
  const round = { call: callOf("a"), methods: new Map(), dropped: () => (dropped += 1) };
  table.keep("s", round);
  table.keep("s", round);
  expect(dropped).toBe(1);
});

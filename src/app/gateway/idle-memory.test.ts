import { expect, test } from "vitest";
import { idleLook } from "./idle-memory.ts";

test("memory is collected once after work, when nothing is done any more", () => {
  let used = 0;
  let collections = 0;
  const look = idleLook(
    () => used,
    () => {
      collections += 1;
      used += 200_000;
    },
  );
  const after = (cpuUs: number): number => {
    used += cpuUs;
    look();
    return collections;
  };
  expect(after(1_000_000)).toBe(0);
  expect(after(1_000)).toBe(1);
  expect(after(1_000)).toBe(1);
  expect([after(200_000), after(0)]).toEqual([1, 1]);
  expect([after(200_000), after(0), after(0)]).toEqual([1, 2, 2]);
});

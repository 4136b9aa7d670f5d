import { expect, it } from "vitest";
import { runsLiveMax, runsOfOneMax } from "../ports/limits.ts";
import { tooManyRuns } from "./live-run.ts";

const runsOf = (principal: string, count: number): [string, { readonly principal: string }][] =>
  Array.from({ length: count }, (_, run) => [`${principal} ${run}`, { principal }]);

it("a user who opens runs without end is stopped before the others have no place", () => {
  const live = new Map(runsOf("a", runsOfOneMax));
  expect(tooManyRuns(live, "a")).toMatch(/of this user/);
  expect(tooManyRuns(live, "b")).toBeUndefined();
  for (const [key, run] of runsOf("b", runsLiveMax - runsOfOneMax)) live.set(key, run);
  expect(tooManyRuns(live, "c")).toMatch(/^more than 4096/);
});

it("below the share of one user nobody is counted", () => {
  expect(tooManyRuns(new Map(runsOf("a", runsOfOneMax - 1)), "a")).toBeUndefined();
});

import { expect, it } from "vitest";
import { upstreamCallsMax } from "../ports/limits.ts";
import { Settlement } from "./settlement.ts";

type AnyCall = Parameters<Settlement["expect"]>[0];

const callOf = (id: number, cancelled = false): AnyCall =>
  ({ id: `c${id}`, method: "tools/call", request: { id, params: undefined }, cancelled }) as never;

/** As many calls in flight as may be; the one with this id was given up by its client. */
function full(cancelled?: number): Settlement {
  const settlement = new Settlement({ link: { working: new Map() } } as never, {} as never);
  let refused: string | undefined;
  for (let id = 0; id < upstreamCallsMax; id += 1) refused ??= settlement.expect(callOf(id, id === cancelled));
  expect(refused).toBeUndefined();
  return settlement;
}

it("says of a call too many that there are too many, and of an id in flight that it is in flight", () => {
  const settlement = full();
  expect(settlement.expect(callOf(upstreamCallsMax))).toMatch(/^Not sent: the server has 4096 calls to answer\. Wait/);
  expect(settlement.expect(callOf(1))).toMatch(/id is in flight/);
});

it("lets a call that its client gave up make room: most servers never answer it", () => {
  const settlement = full(5);
  expect(settlement.expect(callOf(upstreamCallsMax))).toBeUndefined();
  expect(settlement.byRequest(5)).toBeUndefined();
  expect(settlement.expect(callOf(upstreamCallsMax + 1))).toMatch(/^Not sent/);
});

it("looks at two calls at most to know that text may be of either, however many are open", () => {
  let looks = 0;
  const working = new Map(Array.from({ length: 1_000 }, (_, id) => [`c${id}`, () => (looks += 1) > 0]));
  const settlement = new Settlement({ link: { working } } as never, {} as never);
  expect(settlement.onlyCall()).toBeUndefined();
  expect(looks).toBe(2);
});

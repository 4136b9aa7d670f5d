// What the default asks of a call in an enclosed process, and what reaches the store of a process (docs/semantics.md 6, 10).
import { expect, it } from "vitest";
import type { ToolContract } from "../../core/contract.ts";
import { exactly } from "../../core/label.ts";
import {
  argument,
  contract,
  dispatch,
  frameOf,
  lattice,
  nothing,
  option,
  secret,
  start,
} from "../../../test/kit/policy/scene.ts";
import { defaultParts } from "./semantics.ts";
import { viewAt } from "./state.ts";
import { contextAt, moveAt } from "./transition.ts";

const process = { tier: "A", order: "o" } as const;

function parts(of: ToolContract) {
  const frame = frameOf({});
  const around = viewAt(frame.ir, [], start(frame), { end: "hi", at: 0, key: () => "" });
  const outside = option(of);
  const move = moveAt(frame, { ...outside, class: { ...outside.class, truths: new Map([[0, false]]) } }, "hi");
  return defaultParts(contextAt(frame, "hi"), { move, around });
}

it("running and writing inside of a process without a way out asks no question; acting does as before", () => {
  const runs = contract("run", {
    does: ["execute.local", "write.local"],
    arguments: new Map([["at", argument("path", false)]]),
  });
  expect(parts(runs)).toMatchObject({ execute: true });
  expect(parts({ ...runs, process })).toMatchObject({ execute: false, outside: false });
  const writes = contract("write", { does: ["write.local"] });
  expect([parts(writes).outside, parts({ ...writes, process }).outside]).toEqual([true, false]);
});

/** The label of the store after a call with a private argument. */
function remembered(of: Partial<ToolContract>): { readonly lo: number; readonly hi: number } | undefined {
  const stores = [{ name: "proc:s", audience: 0, initial: exactly(nothing) }];
  const frame = frameOf({ stores });
  const tool = { ...contract("add", { does: ["write.local"] }), server: "s", writes: ["proc:s"], ...of };
  return dispatch(frame, start(frame), option(tool, { text: exactly(secret) }), 0).q.stores[0]?.label;
}

it("an enclosed process remembers what it is given, any other process possibly everything", () => {
  expect(remembered({ process })).toEqual({ lo: secret, hi: secret });
  expect(remembered({})).toEqual({ lo: secret, hi: lattice.top });
  // The store of another process is like any store.
  expect(remembered({ server: "other" })).toEqual({ lo: secret, hi: secret });
});

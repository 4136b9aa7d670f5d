import { describe, expect, it } from "vitest";
import { callsInFlightMax } from "../core/limits.ts";
import type { Grant, RunEvent } from "../core/event.ts";
import { contract, dispatch, frameOf, must, option, start } from "../../test/policy/scene.ts";
import { next } from "./transition.ts";

const frame = frameOf({});
const look = contract("look");

describe("grants", () => {
  const grant = (purpose: string, expiresAt: number): Grant => ({
    kind: "consent",
    digest: "d",
    purpose,
    principal: "ann",
    expiresAt,
  });
  const granted = (one: Grant, at: number): RunEvent => ({ at, kind: "granted", grant: one });

  it("add up, and those that have ended are dropped when the next one comes", () => {
    const first = must(frame, start(frame), granted(grant("a", 10), 1));
    const second = must(frame, first, granted(grant("b", 30), 9));
    expect(second.grants.map(({ purpose }) => purpose)).toEqual(["a", "b"]);
    const third = must(frame, second, granted(grant("c", 40), 10));
    expect(third.grants.map(({ purpose }) => purpose)).toEqual(["b", "c"]);
  });
});

describe("calls in flight", () => {
  const allowed = (call: string): RunEvent => ({
    at: 1,
    kind: "allowed",
    call,
    method: "tools/call",
    option: option(look),
    arguments: {},
    digest: "d",
  });

  it("are limited", () => {
    let q = start(frame);
    for (let index = 0; index < callsInFlightMax; index += 1) q = must(frame, q, allowed(`c${index}`));
    expect(next(frame, q, allowed("one more"))).toMatchObject({ ok: false });
    const settled = must(frame, must(frame, q, { at: 2, kind: "succeeded", call: "c0" }), {
      at: 2,
      kind: "unknown",
      call: "c0",
      cause: "x",
    });
    expect(next(frame, settled, allowed("one more"))).toMatchObject({ ok: true });
  });

  it("are forgotten at the end of the run, after which only a late release is a move", () => {
    const sent = dispatch(frame, start(frame), option(look), 1);
    const ended = must(frame, sent.q, { at: 2, kind: "ended", cause: "closed" } as RunEvent); // any cause ends it
    expect(ended.inFlight.size).toBe(0);
    expect(next(frame, ended, allowed("late"))).toMatchObject({ ok: false });
  });
});

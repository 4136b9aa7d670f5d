import { describe, expect, it } from "vitest";
import { exactly } from "../../core/label.ts";
import {
  argument,
  contract,
  dispatch,
  frameOf,
  option,
  pattern,
  round,
  secret,
  start,
  tool,
} from "../../../test/kit/policy/scene.ts";
import { hazardReasons } from "./explanations.ts";
import type { Hazard, HazardTemporal } from "../ir/ir.ts";
import type { Q } from "./state.ts";
import type { Frame } from "./transition.ts";

const send = contract("send", { does: ["write.external.send"], rest: argument("content", true) });
const ask = contract("ask", { does: ["read.local"] });
const head = { id: "H", loss: "L", why: "w", consent: "never", mode: "enforce" } as const;
const key = { argument: "to", form: "id", foldLocalPart: false } as const;

const frameWith = (temporal: HazardTemporal, part: Partial<Hazard> = {}): Frame =>
  frameOf({ hazards: [{ ...head, ...part, kind: "temporal", temporal } as Hazard] }); // only common parts are replaced

function reasons(frame: Frame, q: Q, keys: readonly string[] = [], at = 10) {
  return hazardReasons("flow", { frame, q, option: option(send, {}, { keys: { H: keys } }), at }, frame.ir.hazards);
}

const round1 = (frame: Frame, q: Q, of: typeof send, keys: readonly string[] = []): Q =>
  round(frame, q, option(of, {}, { keys: { H: keys } }), { at: 1 });

describe("a call that must not happen unless another succeeded", () => {
  const frame = frameWith({ kind: "gate", before: tool("send"), need: tool("ask") });

  it("is refused until then, and the way on is named", () => {
    expect(reasons(frame, start(frame))).toEqual([
      {
        mechanism: "flow",
        code: "SG-HAZARD",
        verdict: "deny",
        rule: "H",
        why: "w",
        facts: { kind: "gate", needs: ["ask"] },
        serves: ["L"],
        way: "call ask first",
      },
    ]);
    expect(reasons(frame, dispatch(frame, start(frame), option(ask), 1).q)).toHaveLength(1);
    expect(reasons(frame, round1(frame, start(frame), ask))).toEqual([]);
  });

  it("with a limit of time: success counts no longer than that", () => {
    const timed = frameWith({ kind: "gate", before: tool("send"), need: tool("ask"), withinMs: 100 });
    const asked = round1(timed, start(timed), ask);
    expect(reasons(timed, asked, [], 100)).toEqual([]);
    expect(reasons(timed, asked, [], 101)).toHaveLength(1);
  });

  it("with a key: for this value only, and without a readable one never", () => {
    const keyed = frameWith({ kind: "gate", before: tool("send"), need: tool("ask"), key });
    const asked = round1(keyed, start(keyed), ask, ["a"]);
    expect(reasons(keyed, asked, ["a"])).toEqual([]);
    expect(reasons(keyed, asked, ["b"])).toHaveLength(1);
    expect(reasons(keyed, asked, ["a", "b"])).toHaveLength(1);
    expect(reasons(keyed, asked, [])).toHaveLength(1);
  });
});

describe("a call that must not follow another", () => {
  it("for the same key, until a third succeeded", () => {
    const frame = frameWith({
      kind: "absence",
      after: tool("send"),
      never: tool("send"),
      until: tool("ask"),
      key,
    });
    const sent = round1(frame, start(frame), send, ["a"]);
    expect(reasons(frame, sent, ["a"])).toMatchObject([{ facts: { needs: ["ask"] }, way: "call ask first" }]);
    expect(reasons(frame, sent, ["b"])).toEqual([]);
    expect(reasons(frame, round1(frame, sent, ask, ["a"]), ["a"])).toEqual([]);
    expect(reasons(frame, round1(frame, sent, ask, ["b"]), ["a"])).toHaveLength(1);
  });

  it("a key that cannot be read may be any: it arms for all, meets every lock, and unlocks none", () => {
    const frame = frameWith({ kind: "absence", after: tool("pay"), never: tool("send"), until: tool("ask"), key });
    const pay = contract("pay");
    const asks = [{ verdict: "confirm" }];
    const unread = round1(frame, start(frame), pay);
    expect(reasons(frame, start(frame), ["a"])).toEqual([]);
    expect(reasons(frame, unread, ["a"])).toMatchObject(asks);
    expect(reasons(frame, unread, [])).toMatchObject(asks);
    for (const keys of [[], ["a"], ["*"]]) {
      expect(reasons(frame, round1(frame, unread, ask, keys), ["a"])).toMatchObject(asks);
    }
    const paid = round1(frame, start(frame), pay, ["a"]);
    expect(reasons(frame, paid, [])).toMatchObject(asks);
    expect(reasons(frame, round1(frame, paid, ask), ["a"])).toMatchObject([{ verdict: "deny" }]);
    expect(reasons(frame, paid, ["b"])).toEqual([]);
  });

  it("what is certain for one key of several is certain for the call", () => {
    const frame = frameWith({ kind: "absence", after: tool("pay"), never: tool("send"), key });
    const perhaps = contract("perhaps", { does: ["write.local"], effects: { must: [], may: ["execute.local"] } });
    const both = pattern({ effects: ["execute"] });
    const unsure = frameWith({ kind: "absence", after: both, never: tool("send"), key });
    const certain = contract("certain", { does: ["execute.local"] });
    const q = round1(unsure, round1(unsure, start(unsure), perhaps, ["a"]), certain, ["b"]);
    expect(reasons(unsure, q, ["a"])).toMatchObject([{ verdict: "confirm" }]);
    expect(reasons(unsure, q, ["a", "b"])).toMatchObject([{ verdict: "deny" }]);
    expect(reasons(frame, start(frame), ["a", "b"])).toEqual([]);
  });

  it("a new run is never the advice", () => {
    const frame = frameWith({ kind: "absence", after: tool("ask"), never: tool("send") });
    expect(reasons(frame, round1(frame, start(frame), ask))).toMatchObject([{ way: "take another step" }]);
  });
});

describe("a call that must not happen too often", () => {
  it("counts from dispatch, by key", () => {
    const frame = frameWith({ kind: "at-most", of: tool("send"), count: 1, key });
    const sent = dispatch(frame, start(frame), option(send, {}, { keys: { H: ["a"] } }), 1).q;
    expect(reasons(frame, start(frame), ["a"])).toEqual([]);
    expect(reasons(frame, sent, ["a"])).toMatchObject([{ facts: { kind: "at-most", needs: [] } }]);
    expect(reasons(frame, sent, ["b"])).toEqual([]);
  });

  it("none at all means the first is refused", () => {
    const frame = frameWith({ kind: "at-most", of: tool("send"), count: 0 });
    expect(reasons(frame, start(frame))).toHaveLength(1);
  });

  it("a hazard that may be consented to asks, one in observe mode only says so", () => {
    const temporal = { kind: "at-most", of: tool("send"), count: 0 } as const;
    const may = frameWith(temporal, { consent: "may" });
    expect(reasons(may, start(may))).toMatchObject([{ verdict: "confirm", code: "SG-HAZARD-ASK" }]);
    const watched = frameWith(temporal, { mode: "observe", loss: "" });
    expect(reasons(watched, start(watched))).toMatchObject([{ observed: true, serves: [] }]);
  });
});

describe("a flow", () => {
  it("names the argument that carries the data, and a call hazard has none to name", () => {
    const from = { atom: { kind: "atLeast", bits: secret } } as const;
    const flow = frameOf({ hazards: [{ ...head, kind: "flow", from, to: pattern() }] });
    const x = option(send, { text: exactly(secret) });
    expect(hazardReasons("flow", { frame: flow, q: start(flow), option: x, at: 1 }, flow.ir.hazards)).toMatchObject([
      { facts: { arguments: ["text"] }, way: "leave that data out" },
    ]);
    const call = frameOf({ hazards: [{ ...head, kind: "call", call: tool("send") }] });
    expect(reasons(call, start(call))).toMatchObject([{ facts: {}, way: "take another step" }]);
  });
});

import { describe, expect, it } from "vitest";
import type { RunEvent } from "../../core/event.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { CallOption } from "../../core/moment.ts";
import { contract, frameOf, must, option, rule, start, tool } from "../../../test/kit/policy/scene.ts";
import { owedCalls, owingMax } from "./compensation.ts";
import type { Q } from "./state.ts";
import { next } from "./transition.ts";

const call = { server: "s", tool: "cancel", arguments: { of: "{call/id}", how: { b: 1, a: [2] } } };
const pays = { kind: "by-end", after: tool("book"), by: tool("pay"), action: "compensate", call } as const;
const key = { argument: "id", form: "id", foldLocalPart: false } as const;
const frame = frameOf({ rules: [rule("R", { tier: "must", temporal: pays })] });
const keyed = frameOf({ rules: [rule("R", { tier: "must", temporal: { ...pays, key } })] });
const book = contract("book", { does: ["write.local"] });
const pay = contract("pay", { does: ["write.local"] });
const cancel = contract("cancel", { does: ["write.local"] });
const on = (of: typeof book, ...keys: readonly string[]) => option(of, {}, { keys: { R: keys } });

let ids = 0;
function send(of: typeof frame, q: Q, x: CallOption, given: JsonObject = {}) {
  ids += 1;
  const id = `c${ids}`;
  const event: RunEvent = {
    at: 1,
    kind: "dispatched",
    call: id,
    method: "m",
    option: x,
    arguments: given,
    digest: "d",
  };
  return { q: must(of, q, event), id, event };
}
const succeed = (of: typeof frame, q: Q, id: string): Q => must(of, q, { at: 2, kind: "succeeded", call: id });
const done = (of: typeof frame, q: Q, x: CallOption, given: JsonObject = {}): Q => {
  const sent = send(of, q, x, given);
  return succeed(of, sent.q, sent.id);
};
const owed = (of: typeof frame, q: Q): readonly (Json | undefined)[] =>
  owedCalls(of.slots, q).map(({ arguments: given }) => given?.["of"]);

describe("debts that are compensated", () => {
  it("each call has its own, the newest first, with what it was called with", () => {
    const both = done(frame, done(frame, start(frame), option(book), { id: "a" }), option(book), { id: 2 });
    expect(owed(frame, both)).toEqual([2, "a"]);
    expect(owedCalls(frame.slots, both)[0]).toEqual({
      rule: "R",
      server: "s",
      tool: "cancel",
      arguments: { of: 2, how: { b: 1, a: [2] } },
    });
    expect(owed(frame, done(frame, both, option(pay)))).toEqual([]);
  });

  it("are there from the dispatch, and go only with a success that was sent later", () => {
    const paying = send(frame, start(frame), option(pay));
    const booked = send(frame, paying.q, option(book), { id: "a" });
    expect(owed(frame, booked.q)).toEqual(["a"]);
    const late = succeed(frame, booked.q, paying.id);
    expect(owed(frame, late)).toEqual(["a"]);
    const again = send(frame, late, option(pay));
    expect(owed(frame, must(frame, again.q, { at: 2, kind: "failed", call: again.id, noEffect: false }))).toEqual([
      "a",
    ]);
    expect(owed(frame, succeed(frame, again.q, again.id))).toEqual([]);
  });

  it("a call that surely had no effect leaves none, one that failed or has no answer does", () => {
    const booked = send(frame, start(frame), option(book), { id: "a" });
    const ends = (how: object) => owed(frame, must(frame, booked.q, { at: 2, call: booked.id, ...how } as RunEvent));
    expect(ends({ kind: "failed", noEffect: true })).toEqual([]);
    expect(ends({ kind: "failed", noEffect: false })).toEqual(["a"]);
    expect(ends({ kind: "unknown", cause: "lost" })).toEqual(["a"]);
  });

  it("are met key by key, and never where a key cannot be read", () => {
    const q = done(keyed, done(keyed, start(keyed), on(book, "a", "b"), { id: "ab" }), on(book), { id: "?" });
    const half = done(keyed, q, on(pay, "a"));
    expect(owed(keyed, half)).toEqual(["?", "ab"]);
    expect(owed(keyed, done(keyed, half, on(pay, "b")))).toEqual(["?"]);
    expect(owed(keyed, done(keyed, half, on(pay)))).toEqual(["?", "ab"]);
  });

  it("the very call that would compensate settles one, in whatever order its members come", () => {
    const twice = done(frame, done(frame, start(frame), option(book), { id: "a" }), option(book), { id: "a" });
    const first = send(frame, twice, option(cancel), { how: { a: [2], b: 1 }, of: "a" });
    const second = send(frame, first.q, option(cancel), { of: "a", how: { b: 1, a: [2] } });
    expect(owed(frame, succeed(frame, second.q, second.id))).toEqual(["a"]);
    expect(owed(frame, succeed(frame, succeed(frame, second.q, second.id), first.id))).toEqual([]);
    const other = { of: "a", how: { b: 1, a: [3] } };
    expect(owed(frame, done(frame, twice, option(cancel), other))).toEqual(["a", "a"]);
    expect(owed(frame, done(frame, twice, option(contract("other")), { of: "a", how: { b: 1, a: [2] } }))).toHaveLength(
      2,
    );
  });

  it("a compensation that cannot be written is owed without arguments, and no call settles it", () => {
    const booked = done(frame, start(frame), option(book));
    expect(owedCalls(frame.slots, booked)).toMatchObject([{ arguments: undefined }]);
    expect(owed(frame, done(frame, booked, option(cancel), {}))).toHaveLength(1);
  });

  it("a run takes no more than its limit", () => {
    let q = start(frame);
    for (let count = 0; count < owingMax; count += 1) q = done(frame, q, option(book), { id: count });
    expect(owed(frame, q)).toHaveLength(owingMax);
    const { event } = send(frame, start(frame), option(book), { id: "more" });
    expect(next(frame, q, event).ok).toBe(false);
  });

  it("rules of another policy know none of them", () => {
    const q = done(frame, start(frame), option(book), { id: "a" });
    expect(owedCalls([], q)).toEqual([]);
    const report = frameOf({ rules: [rule("R", { tier: "must", temporal: { ...pays, action: "report" } })] });
    expect(owedCalls(report.slots, q)).toEqual([]);
    expect(done(report, q, option(pay)).owing).toEqual(q.owing);
  });
});

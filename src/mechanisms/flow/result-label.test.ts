import { describe, expect, test } from "vitest";
import type { Json } from "../../core/json.ts";
import { exactly, join } from "../../core/label.ts";
import { releasedLeaves } from "./released-value.ts";
import { contract, lattice, makeSession, open, secret, untrusted } from "../../../test/kit/policy/flow-session.ts";

const vault = contract("vault", exactly(secret));
const text = "the patient John Miller";

describe("label of a result", () => {
  test("example 13: an echo of a private query makes a public field private, unless pinned labels say otherwise", () => {
    const session = makeSession("provenance");
    session.exchange(vault, {}, { text });
    const count = { pointer: "/count", label: exactly(open) };
    const search = contract("search", exactly(secret), [count, { ...count, pointer: "/pinned", from: [] }]);
    const { fields } = session.exchange(search, { q: text }, { count: 3, pinned: 3 });
    expect(fields).toEqual([
      { pointer: "/count", range: exactly(secret) },
      { pointer: "/pinned", range: exactly(open) },
    ]);
    const named = contract("search", exactly(open), [
      { ...count, from: ["q"] },
      { ...count, from: ["page"] },
    ]);
    expect(session.exchange(named, { q: text, page: 1 }, { count: 3 }).fields.map((field) => field.range)).toEqual([
      exactly(secret),
      exactly(open),
    ]);
  });

  test("arguments, stores read and the case of the class all count", () => {
    const session = makeSession("provenance");
    session.exchange(vault, {}, { text });
    expect(session.exchange(contract("echo", exactly(open)), { q: text }, text).range).toEqual(exactly(secret));
    session.set({ store: exactly(untrusted) });
    const read = contract("read", exactly(open), [], { reads: ["box"] });
    expect(session.exchange(read, {}, {}).range).toEqual(exactly(untrusted));
    const cases = [{ predicates: [0], output: { label: exactly(secret), fields: [] } }];
    const option = session.optionOf(contract("cased", exactly(open), [], { cases }), {});
    const truths = new Map([[0, true]]);
    const moment = { kind: "release" as const, at: 0, call: "c", outcome: "succeeded" as const, value: null };
    const judged = { ...moment, contract: option.contract, option: { ...option, class: { ...option.class, truths } } };
    expect(session.consider(judged)).toMatchObject({ obligations: [{ range: exactly(secret) }] });
  });

  test("a field is not lower than what runs wrote into the store, and not raised by how the store began", () => {
    const session = makeSession("provenance");
    const fields = [{ pointer: "/title", label: exactly(open) }];
    const read = contract("read", exactly(secret), fields, { reads: ["box", "other"] });
    session.set({ store: exactly(secret) });
    const titled = { title: "minutes" };
    expect(session.exchange(read, {}, titled).fields[0]?.range).toEqual(exactly(open));
    session.set({ store: exactly(join(secret, untrusted)), added: exactly(untrusted) });
    expect(session.exchange(read, {}, titled).fields[0]?.range).toEqual(exactly(untrusted));
    // Written with the very restriction that the store began with: nobody can tell the two apart in a field.
    session.set({ added: exactly(secret) });
    expect(session.exchange(read, {}, titled).fields[0]?.range).toEqual(exactly(secret));
  });

  test("a failure is labelled like a success and has no fields", () => {
    const session = makeSession("provenance");
    session.exchange(vault, {}, { text });
    const search = contract("search", exactly(open), [{ pointer: "/count", label: exactly(open), from: [] }]);
    const label = session.exchange(search, { q: text }, text, "pass", true);
    expect(label.range).toEqual(exactly(secret));
    expect(label.fields).toEqual([]);
  });

  test("a field that a result has not got brings nothing; text that is no field may tell what is in one", () => {
    const session = makeSession("provenance");
    const list = contract("list", exactly(open), [{ pointer: "/events/*/title", label: exactly(secret) }]);
    const structured = (content: Json): Json => ({ structuredContent: content, content: [] });
    expect(session.exchange(list, {}, structured({ events: [] }))).toMatchObject({ range: exactly(open), fields: [] });
    const titled = session.exchange(list, {}, structured({ events: [{ title: "surgery" }] }));
    expect(titled).toMatchObject({ range: exactly(open), fields: [{ range: exactly(secret) }] });
    const prose = session.exchange(list, {}, { content: [{ type: "text", text: "One event: surgery" }] });
    expect(prose).toMatchObject({ range: { lo: open, hi: secret }, fields: [] });
    const beside = { structuredContent: { events: [] }, content: [{ type: "text", text: "surgery at noon" }] };
    expect(session.exchange(list, {}, beside).range).toEqual({ lo: open, hi: secret });
    expect(session.exchange(list, {}, "no such calendar: surgery", "pass", true).range).toEqual({
      lo: open,
      hi: secret,
    });
    const deep = JSON.parse("[".repeat(300) + "]".repeat(300)) as Json;
    expect(session.exchange(list, {}, structured(deep)).range.hi).toBe(secret);
  });

  test("a result inside of the state of its task has its fields; ids, times and words of the protocol say nothing of them", () => {
    const session = makeSession("provenance");
    const list = contract("list", exactly(open), [{ pointer: "/events/*/title", label: exactly(secret) }]);
    const titled = { structuredContent: { events: [{ title: "surgery" }] }, content: [] };
    const state = (more: Readonly<Record<string, Json>>): Json => ({
      taskId: "t-1",
      status: "completed",
      ttl: 60,
      ...more,
    });
    expect(session.exchange(list, {}, state({ createdAt: "2026-01-01T00:00:00Z", result: titled }))).toMatchObject({
      range: exactly(open),
      fields: [{ pointer: "/events/*/title", range: exactly(secret) }],
    });
    for (const quiet of [{ status: "working" }, { result: "none" }, { pollInterval: 5, resultType: "complete" }])
      expect(session.exchange(list, {}, state(quiet))).toMatchObject({ fields: [] });
    expect(session.exchange(list, {}, state({ status: "working" })).range).toEqual(exactly(open));
    for (const telling of [{ statusMessage: "found surgery" }, { taskId: "the surgery" }, { ttl: { surgery: true } }])
      expect(session.exchange(list, {}, state({ ...telling, result: titled })).range, JSON.stringify(telling)).toEqual({
        lo: open,
        hi: secret,
      });
  });

  test("text outside any call may echo whatever its server was sent", () => {
    const session = makeSession("provenance");
    expect(session.message(contract("log", exactly(open)))).toEqual(exactly(open));
    session.exchange(vault, {}, { text });
    session.exchange(contract("echo", exactly(open)), { q: text, page: 1 }, "ok");
    session.exchange(contract("echo", exactly(open)), { q: "hello" }, "ok");
    expect(session.message(contract("log", exactly(open)))).toEqual(exactly(secret));
    expect(session.message(contract("log", exactly(open), [], { server: "t" }))).toEqual(exactly(open));
  });
});

describe("leaves of a released message", () => {
  const whole = exactly(secret);
  const fields = [
    { pointer: "/a", range: exactly(open) },
    { pointer: "/a/*/b", range: exactly(untrusted) },
    { pointer: "/a/*/*", range: exactly(secret) },
    { pointer: "/x~1y", range: exactly(open) },
  ];
  const labels = (value: Parameters<typeof releasedLeaves>[0]) => {
    const found = releasedLeaves(value, whole, fields);
    return [...(found?.structured ?? []), ...(found?.other ?? [])].map((leaf) => [leaf.pointer, leaf.range.hi]);
  };

  test("the most specific field decides, equals join, the rest has the label of the whole", () => {
    expect(labels({ structuredContent: { a: [{ b: 1, c: 2 }, 3], "x/y": 4, z: 5 }, content: [] })).toEqual([
      ["/structuredContent/x~1y", secret], // the name, which is a value of its own
      ["/structuredContent/a/0/b", join(secret, untrusted)],
      ["/structuredContent/a/0/c", secret],
      ["/structuredContent/a/1", open],
      ["/structuredContent/x~1y", open],
      ["/structuredContent/z", secret],
    ]);
  });

  test("text that repeats the structured content, in any order and spelling, is not read again", () => {
    const content = [{ type: "text", text: '{"z": 1.0, "a": "b"}' }];
    expect(labels({ structuredContent: { a: "b", z: 1 }, content })).toEqual([
      ["/structuredContent/a", open],
      ["/structuredContent/z", secret],
    ]);
    expect(labels({ structuredContent: { a: "c", z: 1 }, content })).toHaveLength(3);
  });

  test("a single JSON text has fields; anything else is whole", () => {
    expect(labels({ content: [{ type: "text", text: ' {"a": "b"}' }], isError: false })).toEqual([
      ["/a", open],
      ["/isError", secret],
    ]);
    expect(labels({ content: [{ type: "text", text: '{"a": "b"' }] })).toEqual([["/content/0/text", secret]]);
    const two = { type: "text", text: '{"a": "b"}' };
    expect(labels({ content: [two, two] }).map(([, label]) => label)).toEqual([secret, secret]);
    expect(labels({ contents: [{ uri: "file:///a", mimeType: "text/plain", text: "t" }] })).toEqual([
      ["/contents/0/uri", secret],
      ["/contents/0/text", secret],
    ]);
    expect(labels({ messages: [{ role: "user", content: { type: "text", text: "t" } }] })).toEqual([
      ["/messages/0/content/text", secret],
    ]);
    expect(labels({ a: "b" })).toEqual([["/a", open]]);
    expect(labels("text")).toEqual([["", secret]]);
    expect(lattice.levels).toContain("private");
  });

  test("a result inside of the state of its task is told by where it lies there", () => {
    const state = { taskId: "t", status: "completed", result: { structuredContent: { a: "b" }, isError: false } };
    expect(labels(state)).toEqual([
      ["/result/structuredContent/a", open],
      ["/taskId", secret],
      ["/result/isError", secret],
    ]);
  });

  test("numbers in JSON text keep their digits", () => {
    const found = releasedLeaves({ content: [{ type: "text", text: "[12345678901234567890]" }] }, whole, []);
    expect(JSON.stringify(found?.structured[0]?.value)).toBe("12345678901234567890");
  });
});

import { describe, expect, it } from "vitest";
import { exactly } from "../../core/label.ts";
import { fakeContract, lattice } from "../../../test/kit/gateway/fake-policy.ts";
import { blankOf, redacted, releaseLabel, scopeOf } from "./release-label.ts";
import { sameJson } from "../runs/same-json.ts";
import { argumentsOf } from "./call.ts";
import { cleanMessage } from "../upstream/meta.ts";
import type { JsonObject } from "../../core/json.ts";

const low = exactly(lattice.bottom);
const high = exactly(lattice.top);

describe("labels of releases", () => {
  const contract = fakeContract("s", "read");

  it("is what the mechanisms say, joined; fields of several mechanisms are not trusted apart", () => {
    const fields = [{ pointer: "/a", range: low }];
    const one = { kind: "label", range: low, fields } as const;
    expect(releaseLabel([one], contract, undefined)).toEqual({ range: low, fields });
    expect(releaseLabel([one, { kind: "label", range: high, fields }], contract, undefined)).toEqual({
      range: high,
      fields: [],
    });
  });

  it("A5: it names the stores of the tool and the types of its result, where there are any", () => {
    const scope = { stores: ["a", "b", "c"], types: [{ pointer: "/id", type: "file" }] };
    const opens = [{ store: "c", audience: [] }];
    const scoped = { ...contract, reads: ["b", "a"], writes: ["b"], opens, types: scope.types };
    expect(releaseLabel([], scoped, undefined).scope).toEqual(scope);
    expect(releaseLabel([{ kind: "label", range: low, fields: [] }], scoped, undefined).scope).toEqual(scope);
    expect(releaseLabel([], { ...contract, types: scope.types }, undefined).scope).toEqual({ ...scope, stores: [] });
    expect(scopeOf(releaseLabel([], contract, undefined))).toEqual({});
  });

  it("without a mechanism it is the output joined with every argument", () => {
    const option = { arguments: new Map([["q", { range: high, digest: "d", path: [] }]]) } as never;
    expect(releaseLabel([], contract, option).range).toEqual(high);
    expect(releaseLabel([{ kind: "hold", rule: "r", since: 0 }], contract, undefined).range).toEqual(low);
  });
});

describe("redaction", () => {
  const schema = {
    type: "object",
    properties: {
      owner: {
        type: "object",
        required: ["id", "kind"],
        properties: { kind: { enum: ["user", "bot"] }, id: { type: "integer", minimum: 1 } },
      },
      list: { items: { properties: { x: { const: "k" } } } },
    },
  };

  it("blanks satisfy the schema", () => {
    expect(blankOf({ id: 7, kind: "bot", more: 1 }, schema.properties.owner)).toEqual({ id: 1, kind: "user" });
    for (const [value, blank] of [
      ["a", ""],
      [true, false],
      [null, null],
      [[1], []],
      [3, 0],
      [{ a: 1 }, {}],
    ] as const) {
      expect(blankOf(value, undefined)).toEqual(blank);
    }
  });

  it("follows pointers into results, lists and all members; the rest stays the same object", () => {
    const value = {
      content: [1],
      structuredContent: { owner: { id: 7, kind: "bot" }, list: [{ x: "a" }, { x: "b" }] },
    };
    const at = (pointer: string) => redacted(value, [{ kind: "redact", pointer }], schema);
    expect(at("/structuredContent/owner")).toMatchObject({ structuredContent: { owner: { id: 1, kind: "user" } } });
    expect(at("/structuredContent/list/*/x")).toMatchObject({ structuredContent: { list: [{ x: "k" }, { x: "k" }] } });
    expect(at("/structuredContent/list/1/x")).toMatchObject({ structuredContent: { list: [{ x: "a" }, { x: "k" }] } });
    expect(at("/content/*")).toMatchObject({ content: [0] });
    expect(redacted(value, [], schema)).toBe(value);
  });

  it("a place that is not there cannot be redacted", () => {
    for (const pointer of ["/nope", "/content/9", "/content/0/x", "bad"]) {
      expect(redacted({ content: [1] }, [{ kind: "redact", pointer }], undefined)).toBeUndefined();
    }
  });
});

describe("what is judged and what is forwarded", () => {
  it("mechanics are no arguments; a tool's are its own", () => {
    expect(argumentsOf("tools/call", { name: "x", arguments: { a: 1 }, _meta: {} })).toEqual({ a: 1 });
    expect(argumentsOf("tools/call", { name: "x", arguments: [1] })).toEqual({});
    expect(
      argumentsOf("prompts/get", { name: "p", _meta: {}, requestState: "s", inputResponses: {}, task: {} }),
    ).toEqual({ name: "p" });
    const params = { uri: "file:///a" };
    expect(argumentsOf("resources/read", params)).toBe(params);
    expect(argumentsOf("ping", undefined)).toEqual({});
    expect(argumentsOf("x", undefined)).toEqual({ $method: "x" });
    expect(argumentsOf("x", { $method: "y" })).toEqual({ $method: "y", $$method: "x" });
  });

  it("params with nothing to clean are the same object; `_meta` that was only ours disappears", () => {
    const mac = (text: string): string => "0".repeat(40) + text;
    const request = (params: JsonObject | undefined) => ({ kind: "request", id: 1, method: "m", params }) as const;
    const clean = request({ a: 1, _meta: { progressToken: 1 } });
    expect(cleanMessage(clean, mac)).toBe(clean);
    const bare = request(undefined);
    expect(cleanMessage(bare, mac)).toBe(bare);
    const dirty = request({ a: 1, _meta: { baggage: "b", traceparent: "bad" } });
    expect(cleanMessage(dirty, mac)).toEqual(request({ a: 1 }));
  });

  it("nothing of ours is in a notification or an answer either, and what is clean stays as it came", () => {
    const mac = (text: string): string => text;
    const ours = { _meta: { "io.github.sluicegate/run": "t", keep: 1 } };
    const method = "notifications/x";
    expect(
      cleanMessage({ kind: "notification", method, params: { a: 1, ...ours }, raw: new Uint8Array() }, mac),
    ).toEqual({
      kind: "notification",
      method,
      params: { a: 1, _meta: { keep: 1 } },
    });
    expect(cleanMessage({ kind: "response", id: 1, result: { action: "accept", ...ours } }, mac)).toEqual({
      kind: "response",
      id: 1,
      result: { action: "accept", _meta: { keep: 1 } },
    });
    for (const message of [
      { kind: "notification", method, params: undefined },
      { kind: "response", id: 1, result: { _meta: { keep: 1 } } },
      { kind: "response", id: 1, result: "text" },
      { kind: "error", id: 1, error: { code: 1, message: "m" } },
    ] as const) {
      expect(cleanMessage(message, mac)).toBe(message);
    }
  });

  it("structural equality sees order, numbers and members", () => {
    expect(sameJson([{ a: [1, null] }], [{ a: [1, null] }])).toBe(true);
    for (const [left, right] of [
      [1, 2],
      [[1], [1, 2]],
      [{ a: 1 }, { b: 1 }],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [{}, []],
      [null, {}],
    ] as const) {
      expect(sameJson(left, right)).toBe(false);
    }
    expect(sameJson(JSON.rawJSON("1.0"), JSON.rawJSON("1.0"))).toBe(true);
    expect(sameJson(JSON.rawJSON("1.0"), JSON.rawJSON("1.00"))).toBe(false);
  });
});

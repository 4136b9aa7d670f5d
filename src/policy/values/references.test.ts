import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Json, type JsonObject, setOwn } from "../../core/json.ts";
import { pointerOf, valueAt } from "../../core/pointer.ts";
import { injectedUnitsMax } from "./limits.ts";
import { filledFrom, isPlace, placesIn } from "./references.ts";

const raw = JSON.rawJSON("12345678901234567890") as Json;
const given: JsonObject = {
  table: "orders",
  rows: 3,
  all: true,
  none: null,
  list: ["a", "b"],
  of: { "a/b": "deep", "t~": 1 },
  large: raw,
};
const filled = (template: JsonObject) => {
  const made = filledFrom(template, given);
  return made.ok ? made.value : made.error;
};

describe("references to the call that needs an injected one", () => {
  it.each<[Json, Json]>([
    ["{call/table}", "orders"],
    ["{call/rows}", 3],
    ["{call/all}", true],
    ["{call/none}", null],
    ["{call/list}", ["a", "b"]],
    ["{call/list/1}", "b"],
    ["{call/of}", { "a/b": "deep", "t~": 1 }],
    ["{call/of/a~1b}", "deep"],
    ["{call/of/t~0}", 1],
    ["{call/large}", raw],
    ["copy of {call/table}, {call/rows} rows: {call/all}", "copy of orders, 3 rows: true"],
    ["{call/large} rows", "12345678901234567890 rows"],
    ["{call/table}{call/table}", "ordersorders"],
    [
      ["{call/table}", { of: "{call/rows}", is: [null, 1, false] }],
      ["orders", { of: 3, is: [null, 1, false] }],
    ],
    [
      "{caller/table} {call table} { call/table} call/table {}",
      "{caller/table} {call table} { call/table} call/table {}",
    ],
    [raw, raw],
  ])("%j becomes %j", (template, wanted) => {
    expect(filled({ x: template })).toEqual({ x: wanted });
  });

  it("what the call gives is data: no reference in it is followed, and no name of it becomes a prototype", () => {
    const hostile = JSON.parse('{"a": "{call/b}", "b": "secret", "__proto__": {"x": "1"}}') as JsonObject;
    const made = filledFrom({ x: "{call/a}", y: "of {call/a}", __proto__x: "{call/__proto__/x}" }, hostile);
    expect(made).toEqual({ ok: true, value: { x: "{call/b}", y: "of {call/b}", __proto__x: "1" } });
    expect(filledFrom({ x: "{call/constructor}" }, {})).toMatchObject({
      error: { place: "/constructor", why: "absent" },
    });
    const template: Record<string, Json> = {};
    setOwn(template, "__proto__", "{call/b}");
    const own = filledFrom(template, hostile);
    expect(own.ok && Object.entries(own.value)).toEqual([["__proto__", "secret"]]);
  });

  it.each([
    ["{call/nothing}", "/nothing", "absent"],
    ["of {call/nothing}", "/nothing", "absent"],
    ["{call/list/01}", "/list/01", "absent"],
    ["{call/table/x}", "/table/x", "absent"],
    ["of {call/list}", "/list", "not a text"],
    ["of {call/of}", "/of", "not a text"],
    ["of {call/none}", "/none", "not a text"],
  ])("%s cannot be filled", (template, place, why) => {
    expect(filled({ a: "fine", x: [template, "{call/other}"] })).toEqual({ place, why });
  });

  it("takes over no more than its limit, however often a value is named", () => {
    const text = "x".repeat(injectedUnitsMax / 2);
    const of = (count: number): JsonObject => ({ x: Array.from({ length: count }, () => "{call/text}") });
    expect(filledFrom(of(1), { text }).ok).toBe(true);
    expect(filledFrom(of(2), { text })).toMatchObject({ error: { place: "/text", why: "too long" } });
    expect(filledFrom({ x: "of {call/text}" }, { text: text + text })).toMatchObject({ error: { why: "too long" } });
  });

  it("names the places it refers to, once each", () => {
    expect(placesIn({ a: "{call/x}", b: ["of {call/y/0} and {call/x}", 1, null], c: { d: "{call}" } })).toEqual([
      "",
      "/x",
      "/y/0",
    ]);
    expect(["/x", "/x/0", "/a~1b", "", "/", "/a~2"].map(isPlace)).toEqual([true, true, true, false, false, false]);
  });

  it("law: a text that is a reference alone becomes the very value at that place", () => {
    const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
    const names = fc.string({ minLength: 1, maxLength: 4 }).filter((name) => !/[{}]/.test(name));
    fc.assert(
      fc.property(fc.dictionary(names, json), names, (own, name) => {
        const place = pointerOf([name]);
        const made = filledFrom({ x: `{call${place}}` }, own);
        const value = valueAt(own, place);
        if (value === undefined) expect(made.ok).toBe(false);
        else expect(made).toEqual({ ok: true, value: { x: value } });
      }),
    );
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../json.ts";
import { digest } from "../../wire/canonical.ts";
import { argumentCharactersMax, toldArguments } from "./told-arguments.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const long = `begin ${"v".repeat(argumentCharactersMax)} end`;

describe("arguments as a model is told of them", () => {
  it("short ones whole", () => {
    const given = { to: "a@b.example", cc: ["c@d.example"] };
    expect(toldArguments(given, [])).toBe(given);
  });

  it("a long body hides no recipient, and shows how it begins and ends", () => {
    const { body, ...rest } = toldArguments({ body: long, to: "drop@collector.example" }, ["to", "body"]);
    expect(rest).toEqual({ to: "drop@collector.example" });
    expect(body).toMatch(/^begin v+ \[\d+ characters left out\] v+ end$/);
  });

  it("padding with names of the agent's own pushes nothing out that the schema declares", () => {
    const padding = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`p${index}`, ""]));
    const told = toldArguments({ ...padding, to: "drop@collector.example" }, ["to"]);
    expect(told["to"]).toBe("drop@collector.example");
    expect(Object.keys(told).length).toBeLessThan(1_000);
  });

  it("lists and objects stay what they are, numbers of any length become texts", () => {
    expect(toldArguments({ a: [long, long] }, [])).toEqual({ a: [expect.stringContaining("left out")] });
    expect(toldArguments({ a: { deep: long } }, [])).toEqual({ a: { "": expect.stringContaining("left out") } });
    const number = JSON.rawJSON("1".repeat(argumentCharactersMax));
    expect(toldArguments({ a: number }, [])).toEqual({ a: expect.stringContaining("1 [") });
  });

  it("never more than the limit, never a text that has no digest, and the order of names is kept", () => {
    const text = fc.oneof(fc.string({ unit: "binary", maxLength: 3_000 }), fc.constant("\u0000😀".repeat(900)));
    const value = fc.oneof(text, fc.array(text, { maxLength: 3 }), fc.dictionary(fc.string(), text, { maxKeys: 3 }));
    const given = fc.dictionary(
      fc.string().filter((name) => name !== "__proto__"),
      value,
      { maxKeys: 8, noNullPrototype: true },
    );
    fc.assert(
      fc.property(given, fc.array(fc.string()), (all: JsonObject, declared) => {
        const told = toldArguments(all, declared);
        expect(JSON.stringify(told).length).toBeLessThanOrEqual(argumentCharactersMax);
        expect(Object.keys(told)).toEqual(Object.keys(all).filter((name) => Object.hasOwn(told, name)));
        expect(digest(told, () => "d")).toBe("d");
      }),
      { numRuns: runs },
    );
  });
});

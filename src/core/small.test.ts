// Small modules of the core: results, JSON access, verdicts, effects.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { covers, everyEffect, isEffect, mayCover, mustCover } from "./effect.ts";
import { isArray, isObject, isRawNumber, member, setOwn, stringMember } from "./json.ts";
import { seal } from "./mechanism.ts";
import type { ArgumentLabel, CallMoment } from "./moment.ts";
import { noObjection } from "./opinion.ts";
import { err, ok } from "./result.ts";
import { type Verdict, atLeastAsStrict, combineEnds, stricter, strictestOf } from "./verdict.ts";
import { isControl } from "./contract.ts";
import type { ModelState } from "./run.ts";

const verdicts = fc.constantFrom<Verdict>("allow", "confirm", "deny");

describe("result", () => {
  it("is a value", () => {
    expect(ok(1)).toEqual({ ok: true, value: 1 });
    expect(err("no")).toEqual({ ok: false, error: "no" });
  });
});

describe("a sealed mechanism", () => {
  it("that labels nothing has no labels, and says so", () => {
    const silent = {
      id: "silent",
      version: 1,
      initial: () => null,
      consider: () => noObjection,
      remember: () => null,
    };
    const sealed = seal(silent);
    const run = { key: "r", q: {} as ModelState, memories: new Map() };
    expect(sealed.labels).toBe(false);
    expect(sealed.label({} as CallMoment, run, null)).toEqual(new Map()); // it looks at no moment
    expect(seal({ ...silent, label: () => new Map([["a", {} as ArgumentLabel]]) }).labels).toBe(true);
  });
});

describe("JSON access", () => {
  it("sees own members only", () => {
    const value = JSON.parse('{"__proto__": {"admin": true}, "name": "n"}');
    expect(stringMember(value, "name")).toBe("n");
    expect(member(value, "admin")).toBeUndefined();
    expect(member({}, "toString")).toBeUndefined();
    expect(member([1], "0")).toBeUndefined();
    expect(stringMember({ name: 1 }, "name")).toBeUndefined();
  });

  it("sets own members, whatever they are called", () => {
    const value: Record<string, unknown> = {};
    for (const name of ["__proto__", "a"]) setOwn(value, name, { admin: true });
    expect(JSON.stringify(value)).toBe('{"__proto__":{"admin":true},"a":{"admin":true}}');
    expect(value["admin"]).toBeUndefined();
    setOwn(value, "a", 1);
    expect({ ...value }["a"]).toBe(1);
  });

  it("tells raw numbers, arrays and objects apart", () => {
    const raw = JSON.rawJSON("1e400");
    expect(isRawNumber(raw)).toBe(true);
    expect(isObject(raw)).toBe(false);
    expect(isRawNumber(undefined)).toBe(false);
    expect(isObject({})).toBe(true);
    expect(isObject([])).toBe(false);
    expect(isArray([])).toBe(true);
  });
});

describe("verdicts", () => {
  it("the strictest wins, in any order", () => {
    fc.assert(
      fc.property(fc.array(verdicts), (list) => {
        const found = strictestOf(list);
        expect(found).toBe(strictestOf([...list].reverse()));
        for (const one of list) expect(atLeastAsStrict(found, one)).toBe(true);
        if (list.length > 0) expect(list).toContain(found);
      }),
    );
    expect(stricter("confirm", "allow")).toBe("confirm");
    expect(strictestOf([])).toBe("allow");
  });

  it("both ends: allowed at the worst is allowed, denied at the best is denied, else a person is asked", () => {
    expect(combineEnds("allow", "allow")).toBe("allow");
    expect(combineEnds("deny", "deny")).toBe("deny");
    expect(combineEnds("allow", "deny")).toBe("confirm");
    expect(combineEnds("confirm", "deny")).toBe("confirm");
    expect(combineEnds("allow", "confirm")).toBe("confirm");
  });
});

describe("effects", () => {
  it("a prefix covers its longer forms and nothing else", () => {
    expect(covers("write", "write.external.send")).toBe(true);
    expect(covers("write.ext", "write.external")).toBe(false);
    expect(isEffect("write.external.send")).toBe(true);
    expect(["", "fly", "write.there", "write.local.sing", "a.b.c.d", "."].some(isEffect)).toBe(false);
    expect(everyEffect.every(isEffect)).toBe(true);
  });

  it("a vague effect may be anything longer, and must be nothing longer", () => {
    expect(mayCover("write.external.send", ["write"])).toBe(true);
    expect(mustCover("write.external.send", ["write"])).toBe(false);
    expect(mustCover("write", ["write.external.send"])).toBe(true);
    expect(mayCover("read", ["write"])).toBe(false);
    // Regression: a plain local write was taken for a possible deletion, and asked about.
    expect(mayCover("write.local.delete", ["write.local"])).toBe(false);
  });

  it("what must happen may happen", () => {
    const effect = fc.constantFrom(...everyEffect, "read", "write", "write.external");
    fc.assert(
      fc.property(effect, fc.array(effect), (pattern, effects) => {
        if (mustCover(pattern, effects)) expect(mayCover(pattern, effects)).toBe(true);
      }),
    );
  });
});

describe("roles", () => {
  it("all but content are control", () => {
    expect(isControl("recipient")).toBe(true);
    expect(isControl("content")).toBe(false);
  });
});

import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import type { CallMoment } from "../../core/moment.ts";
import { argument, contract, frameOf, pattern, rule, tool } from "../../../test/kit/policy/scene.ts";
import { classify } from "./classify.ts";
import type { ArgumentTest, Predicate, Temporal } from "../ir/ir.ts";
import { relevance } from "./relevance.ts";
import type { Frame } from "./transition.ts";

const write = contract("write", {
  does: ["write.local"],
  arguments: new Map([
    ["path", argument("path", false)],
    ["paths", argument("path", false)],
    ["text", argument("content", false)],
    ["doubt", argument("unsure", false)],
  ]),
});

function classOf(frame: Frame, given: JsonObject, workspace: readonly string[] = ["/home/me/site"]) {
  const moment: CallMoment = {
    kind: "call",
    at: 1,
    call: "c",
    method: "tools/call",
    contract: write,
    arguments: given,
    workspace,
    digest: "d",
  };
  return classify(frame, relevance(frame)(write), moment);
}

describe("the workspace", () => {
  const inside = (given: JsonObject, workspace?: readonly string[]): boolean | undefined =>
    classOf(frameOf({}), given, workspace).truths.get(0);

  it.each<[JsonObject, boolean]>([
    [{ text: "/etc/passwd" }, true],
    [{ path: "/home/me/site" }, true],
    [{ path: "/home/me/site/a/../b" }, true],
    [{ path: "notes.txt" }, true],
    [{ path: "/home/me/site-of-somebody-else/x" }, false],
    [{ path: "/home/me/site/../.ssh/id" }, false],
    [{ path: "../../.ssh/id" }, false],
    [{ path: 7 }, false],
    [{ path: null }, false],
    [{ path: "/home/me/site/a\0b" }, false],
    [{ paths: ["/home/me/site/a", "/etc/passwd"] }, false],
    [{ paths: ["/home/me/site/a", "/home/me/site/b"] }, true],
    [{ paths: [] }, true],
    // A list that came as its text, which many servers parse where they want one; and a name that only looks like it.
    [{ paths: '["/etc/passwd"]' }, false],
    [{ path: ' {"path": "/etc/passwd"}' }, false],
    [{ path: "[id].tsx" }, true],
    // What some programs trim, decode, expand, open as something else, or take for an option.
    [{ path: " /etc/passwd" }, false],
    [{ path: "/home/me/site/.. " }, false],
    [{ path: "a/%2e%2e/%2e%2e/.ssh/id" }, false],
    [{ path: "\u2024\u2024/\u2024\u2024/.ssh/id" }, false],
    [{ path: "~root/x" }, false],
    [{ path: "${HOME}/x" }, false],
    [{ path: "%USERPROFILE%/x" }, false],
    [{ path: "s3://bucket/x" }, false],
    [{ path: "host:/etc/passwd" }, false],
    [{ path: "--output=/etc/passwd" }, false],
    [{ path: "file:///home/me/site/a%20b" }, true],
    [{ path: "a b/100%.txt" }, true],
    [{ path: "src/routes/$id.tsx" }, true],
    [{ path: "~" }, false],
    // An argument whose role is in doubt may be a path, unless its value is a number or a choice.
    [{ doubt: "/etc/passwd" }, false],
    [{ doubt: ["/etc/passwd"] }, false],
    [{ doubt: { path: "a" } }, false],
    [{ doubt: "notes.txt" }, true],
    [{ doubt: 7 }, true],
    [{ doubt: null }, true],
  ])("%j: %s", (given, expected) => expect(inside(given)).toBe(expected));

  it("without a root nothing with a path is inside, and the root of all holds everything", () => {
    expect(inside({ path: "/home/me/site/a" }, [])).toBe(false);
    expect(inside({ path: "/home/me/site/a" }, ["/"])).toBe(true);
    expect(inside({ path: "~/../you/x" }, ["~"])).toBe(false);
    expect(inside({ path: "c:\\work\\a" }, ["C:\\work"])).toBe(true);
    expect(inside({ path: "~/a" }, ["~"])).toBe(true);
  });
});

describe("predicates over arguments", () => {
  const frame = (test: ArgumentTest, ifAbsent: boolean): Frame => {
    const predicate: Predicate = { kind: "argument", argument: "text", test, ifAbsent };
    const base = frameOf({
      rules: [rule("R", { tier: "block", when: pattern({ predicates: [{ index: 1, holds: true }] }) })],
    });
    return { ...base, ir: { ...base.ir, predicates: [{ kind: "workspace" }, predicate] } };
  };
  const truth = (made: Frame, given: JsonObject): boolean | undefined => classOf(made, given).truths.get(1);
  const equals: ArgumentTest = { kind: "equals", values: ["x"] };

  it("are true or false by the value, and as declared without one", () => {
    expect(truth(frame(equals, false), { text: "x" })).toBe(true);
    expect(truth(frame(equals, false), { text: "y" })).toBe(false);
    expect(truth(frame(equals, false), {})).toBe(false);
    expect(truth(frame(equals, true), {})).toBe(true);
  });

  it("that no rule of the tool needs are not evaluated", () => {
    const base = frame(equals, false);
    expect(classOf({ ...base, ir: { ...base.ir, rules: [] } }, { text: "x" }).truths.has(1)).toBe(false);
  });

  it("which the policy does not have are left out", () => {
    const base = frame(equals, false);
    expect(classOf({ ...base, ir: { ...base.ir, predicates: [{ kind: "workspace" }] } }, {}).truths.has(1)).toBe(false);
  });
});

describe("keys and amounts", () => {
  const frame = (temporal: Temporal): Frame => frameOf({ rules: [rule("R", { tier: "must", temporal })] });
  const key = { argument: "text", form: "email" as const, foldLocalPart: true };
  const of = tool("write");

  it("a key is canonical, every entry of a list counts, and an unreadable one gives none", () => {
    const limit = frame({ kind: "at-most", of, count: 1, key });
    expect(classOf(limit, { text: "Ann <ANN@Example.com>" }).keys.get("R")).toEqual([]);
    expect(classOf(limit, { text: "ANN@Example.com" }).keys.get("R")).toEqual(["ann@example.com"]);
    expect(classOf(limit, { text: ["a@x.com", "b@x.com"] }).keys.get("R")).toEqual(["a@x.com", "b@x.com"]);
    expect(classOf(limit, { text: "nobody" }).keys.get("R")).toEqual([]);
  });

  it("regression: a relative path counts as the place in the workspace that it names; where keys are exact it stays", () => {
    const limit = (foldLocalPart: boolean): Frame =>
      frame({ kind: "at-most", of, count: 1, key: { argument: "text", form: "path", foldLocalPart } });
    const keys = (text: string, exact = false, workspace?: readonly string[]) =>
      classOf(limit(!exact), { text }, workspace).keys.get("R");
    for (const text of ["/home/me/site/a", "a", "./b/../a", "file:///home/me/site/a"])
      expect(keys(text)).toEqual(["/home/me/site/a"]);
    expect(keys("../site/a")).toEqual(["/home/me/site/a"]);
    expect([keys("a", true), keys("/home/me/site/a", true)]).toEqual([["a"], ["/home/me/site/a"]]);
    expect(keys("a", false, [])).toEqual(["a"]);
  });

  it("a rule without key has no entry", () => {
    expect(classOf(frame({ kind: "at-most", of, count: 1 }), { text: "a@x.com" }).keys.size).toBe(0);
    expect(classOf(frame({ kind: "inject", before: of, server: "s", tool: "t", arguments: {} }), {}).keys.size).toBe(0);
  });

  it("amounts are exact decimals; what is no number is no amount", () => {
    const budget = frame({ kind: "budget", of, argument: "text", limit: "10" });
    expect(classOf(budget, { text: "3.10" }).amounts.get("R")).toBe("3.1");
    expect(classOf(budget, { text: 4 }).amounts.get("R")).toBe("4");
    expect(classOf(budget, { text: "four" }).amounts.has("R")).toBe(false);
    expect(classOf(budget, { text: { sum: 4 } }).amounts.has("R")).toBe(false);
    expect(classOf(budget, {}).amounts.has("R")).toBe(false);
    expect(classOf(frame({ kind: "at-most", of, count: 1 }), { text: 4 }).amounts.has("R")).toBe(false);
  });
});

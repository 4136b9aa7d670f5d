import { describe, expect, it } from "vitest";
import { guardOfName, linkLeaves } from "./difference.ts";

describe("guarded names", () => {
  it("are those of files that programs obey, and an operator may allow them", () => {
    expect(guardOfName(".git/hooks/pre-commit", false)).toMatchObject({ id: "git-hook", allowable: true });
    expect(guardOfName("package.json", false)).toBeUndefined();
  });
});

describe("links", () => {
  it.each([
    ["a", "b", false],
    ["d/a", "../b", false],
    ["a", "/ws/b", false],
    ["a", "/ws", false],
    ["a", "../b", true],
    ["d/a", "../../b", true],
    ["a", "/etc", true],
    ["a", "/ws/../x", true],
    ["a", "/wsx", true],
    // `x` may be a link itself, and `..` behind it would climb from where it leads.
    ["p/q/y", "x/../../s", true],
  ])("%s -> %s leaves: %s", (path, target, leaves) => {
    expect(linkLeaves(path, target, "/ws")).toBe(leaves);
  });
});

import { describe, expect, it } from "vitest";
import { pointerValue } from "./pointer.ts";

describe("places of arguments", () => {
  const value = JSON.parse('{"to": ["a", "b"], "x": {"y/z": 1, "~": 2}, "__proto__": {"w": 3}}');

  it("finds names and pointers", () => {
    expect(pointerValue(value, "to")).toEqual(["a", "b"]);
    expect(pointerValue(value, "/to/1")).toBe("b");
    expect(pointerValue(value, "/x/y~1z")).toBe(1);
    expect(pointerValue(value, "/x/~0")).toBe(2);
  });

  it("finds nothing that is not there", () => {
    for (const place of ["from", "/to/2", "/to/01", "/to/-1", "/to/length", "/x/w", "/to/0/0", "/toString"]) {
      expect(pointerValue(value, place)).toBeUndefined();
    }
  });
});

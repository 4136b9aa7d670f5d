import { expect, it } from "vitest";
import { BoundedMap } from "./bounded-map.ts";

it("drops the oldest entry, and says which", () => {
  const dropped: [number, string][] = [];
  const map = new BoundedMap<string, number>(2, (value, key) => dropped.push([value, key]));
  map.set("a", 1).set("b", 2).set("c", 3);
  expect([...map]).toEqual([
    ["b", 2],
    ["c", 3],
  ]);
  expect(dropped).toEqual([[1, "a"]]);
  map.delete("b");
  map.set("d", 4);
  expect(dropped, "a deleted entry is not dropped, and leaves room").toHaveLength(1);
});

it("makes an entry the newest when it is set again or used, and drops none for that", () => {
  const map = new BoundedMap<string, number>(2);
  map.set("a", 1).set("b", 2).set("a", 3);
  expect([...map.keys()]).toEqual(["b", "a"]);
  expect(map.use("b")).toBe(2);
  expect(map.use("x")).toBeUndefined();
  map.set("c", 4);
  expect([...map.keys()]).toEqual(["b", "c"]);
});

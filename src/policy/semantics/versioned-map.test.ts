import fc from "fast-check";
import { expect, test } from "vitest";
import { sharingMin, VersionedMap } from "./versioned-map.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

test("every version stays what it was, in whatever order versions are made and looked at", () => {
  const step = fc.record({
    from: fc.nat(30),
    key: fc.nat(4),
    value: fc.option(fc.nat(9), { nil: undefined }),
    look: fc.nat(30),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const versions = [{ map: VersionedMap.of(new Map([[0, 7]])), plain: new Map([[0, 7]]) }];
      const at = (index: number) => versions[index % versions.length] ?? versions[0];
      for (const { from, key, value, look } of steps) {
        const before = at(from);
        const plain = new Map(before?.plain);
        if (value === undefined) plain.delete(key);
        else plain.set(key, value);
        versions.push({ map: (before?.map ?? VersionedMap.of(plain)).with(key, value), plain });
        const seen = at(look);
        expect(new Map(seen?.map)).toEqual(seen?.plain);
      }
      for (const { map, plain } of versions) {
        expect(map.size).toBe(plain.size);
        expect(new Map(map.entries())).toEqual(plain);
        for (let key = 0; key < 5; key += 1) {
          expect([map.has(key), map.get(key)]).toEqual([plain.has(key), plain.get(key)]);
        }
      }
    }),
    { numRuns: runs },
  );
});

test("versions stay what they were beyond those that share their entries", () => {
  const versions = [VersionedMap.of(new Map<number, number>())];
  for (let step = 0; step < 3 * sharingMin; step += 1) {
    versions.push((versions.at(-1) ?? VersionedMap.of(new Map())).with(step % 7, step));
  }
  for (const [steps, version] of [...versions.entries()].toReversed()) {
    const last = Array.from({ length: Math.min(steps, 7) }, (_, back) => steps - 1 - back);
    expect(new Map(version)).toEqual(new Map(last.map((step) => [step % 7, step])));
  }
});

test("it reads like any map, and is taken as it is", () => {
  const map = VersionedMap.of(new Map([["a", 1]])).with("b", 2);
  expect(VersionedMap.of(map)).toBe(map);
  expect([[...map.keys()], [...map.values()], [...map]]).toEqual([
    ["a", "b"],
    [1, 2],
    [
      ["a", 1],
      ["b", 2],
    ],
  ]);
  const visited: unknown[] = [];
  map.forEach((value, key, whole) => visited.push([value, key, whole === map]));
  expect(visited).toEqual([
    [1, "a", true],
    [2, "b", true],
  ]);
});

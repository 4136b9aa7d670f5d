/** Numbers that look random and are the same for the same seed on every machine: 32-bit integer arithmetic only. */

export type Random = {
  /** An integer from 0 to `count` - 1. */
  readonly below: (count: number) => number;
  /** True in about `percent` of a hundred draws. */
  readonly chance: (percent: number) => boolean;
  readonly pick: <T>(list: readonly [T, ...T[]]) => T;
  /** `count` different members in random order; fewer where there are not as many. */
  readonly some: <T>(list: readonly T[], count: number) => readonly T[];
};

/** Our own generator after the scheme "small fast counter": four words of state, twenty rounds to mix in the seed. */
export function makeRandom(seed: number): Random {
  let a = seed | 0;
  let b = 0x2545f491;
  let c = 0x6c8e9cf5;
  let counter = 1;
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let round = 0; round < 20; round += 1) next();
  const below = (count: number): number => next() % count;
  return {
    below,
    chance: (percent) => below(100) < percent,
    pick: (list) => list[below(list.length)] ?? list[0],
    some: (list, count) => {
      const left = [...list];
      const taken: (typeof list)[number][] = [];
      while (taken.length < count && left.length > 0) taken.push(...left.splice(below(left.length), 1));
      return taken;
    },
  };
}

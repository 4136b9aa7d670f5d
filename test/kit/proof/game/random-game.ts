/** Arbitrary games. They are read from a tape of bytes in which zero is always the harmless answer, so that they shrink. */
import fc from "fast-check";
import type { Fire, Game, GameRound, Landing, ReleaseKind } from "./model.ts";

/** Bytes are taken in order; past the end everything is harmless. */
class Tape {
  readonly #bytes: Uint8Array;
  #next = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  byte(): number {
    this.#next += 1;
    return this.#bytes[this.#next - 1] ?? 0;
  }

  /** True for a given share of 256. */
  yes(share: number): boolean {
    return this.byte() >= 256 - share;
  }

  /** A state; often the same one, so that games do not hang together everywhere. */
  state(from: number, size: number): number {
    const byte = this.byte();
    return byte < 120 ? from : byte % size;
  }
}

const shapes: readonly (readonly ReleaseKind[])[] = [
  ["pass"],
  ["pass", "reject"],
  ["pass", "withhold", "reject"],
  ["pass", "withhold"],
];

type Frame = {
  readonly size: number;
  readonly choices: number;
  readonly rounds: number;
  readonly fires: number;
  readonly goals: number;
  /** Shares of 256 by which games differ: some are nearly free of bad moves, some full of them. */
  readonly bad: number;
  readonly possible: number;
};

function landing(tape: Tape, from: number, { size, bad }: Frame): Landing {
  return { to: tape.state(from, size), never: tape.yes(bad / 2), may: tape.yes(bad) };
}

function round(tape: Tape, frame: Frame): GameRound {
  const outcomes = [
    { failed: false, releases: shapes[tape.byte() % shapes.length] ?? ["pass"] },
    ...(tape.yes(170) ? [{ failed: true, releases: shapes[tape.byte() % shapes.length] ?? ["pass"] }] : []),
    ...(tape.yes(100) ? [{ failed: tape.yes(60), releases: shapes[tape.byte() % shapes.length] ?? ["pass"] }] : []),
  ] as const;
  const rows = Array.from({ length: frame.size }, (_, state) =>
    Array.from({ length: frame.choices }, () => {
      const open = !tape.yes(50);
      return {
        open,
        free: open && !tape.yes(80),
        never: tape.yes(frame.bad / 2),
        may: tape.yes(frame.bad),
        middle: tape.state(state, frame.size),
        landings: outcomes.map(({ releases }) => releases.map(() => landing(tape, state, frame))),
      };
    }),
  );
  return { outcomes, rows };
}

function fire(tape: Tape, frame: Frame): readonly (readonly Fire[])[] {
  return Array.from({ length: frame.size }, (_, state) =>
    Array.from({ length: frame.choices }, () => ({
      possible: tape.yes(frame.possible),
      ...landing(tape, state, frame),
    })),
  );
}

function read(tape: Tape, frame: Frame): Game {
  const times = <T>(count: number, make: () => T): readonly T[] => Array.from({ length: count }, make);
  return {
    size: frame.size,
    choices: frame.choices,
    rounds: times(frame.rounds, () => round(tape, frame)),
    fires: times(frame.fires, () => fire(tape, frame)),
    goals: times(frame.goals, () => {
      // A goal of rounds seldom holds by itself: that is what firm keeps are.
      const firm = tape.yes(90);
      return {
        holds: times(frame.size, () => !tape.yes(firm ? 250 : 190)),
        rounds: firm ? [tape.byte() % frame.rounds] : [],
      };
    }),
  };
}

/** Bytes of a tape: enough for most games of so many states. */
function tapeBytesMax(size: number): number {
  return 64 + size * 100;
}

export function games(sizes: { readonly min: number; readonly max: number }): fc.Arbitrary<Game> {
  return fc
    .record({
      size: fc.integer(sizes),
      choices: fc.constantFrom(1, 2),
      rounds: fc.integer({ min: 1, max: 3 }),
      fires: fc.integer({ min: 0, max: 2 }),
      goals: fc.constantFrom(2, 2, 1, 0),
      bad: fc.constantFrom(20, 50, 90),
      possible: fc.constantFrom(20, 50),
    })
    .chain((frame) =>
      fc
        .uint8Array({ minLength: tapeBytesMax(frame.size), maxLength: tapeBytesMax(frame.size) })
        .map((bytes) => read(new Tape(bytes), frame)),
    );
}

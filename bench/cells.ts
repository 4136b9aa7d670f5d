import type { TransportKind } from "./subjects.ts";

/** One measurement: the request, the number of calls, the calls in flight. */
export type Cell = {
  readonly id: string;
  readonly transport: TransportKind;
  readonly what: { readonly kind: "call"; readonly bytes: number } | { readonly kind: "list"; readonly tools: number };
  readonly inFlight: number;
  /** Calls for each subject; `block` of them run before the next subject has its turn. */
  readonly calls: number;
  readonly block: number;
  /** Calls before the measured ones, 32 at a time: without any, the work of the compiler is measured as well. */
  readonly warmUp: number;
};

const kilobyte = 1024;

const warmUpDefault = 2_000;

/** Rows: name, calls before. The first calls of a session, and those of one that has worked for a while; 1 KB, one at a time. */
const ageRows = [
  ["cold", 0],
  ["warm", 8_000],
] as const;

/** Rows: bytes, in flight, calls, block. 5 MB at 32 in flight would measure the memory of the machine. */
const callRows = [
  [1 * kilobyte, 1, 2000, 50],
  [1 * kilobyte, 32, 6400, 640],
  [1 * kilobyte, 256, 6144, 1536],
  [100 * kilobyte, 1, 300, 10],
  [100 * kilobyte, 32, 640, 128],
  [100 * kilobyte, 256, 768, 256],
  [5 * kilobyte * kilobyte, 1, 20, 1],
] as const;

/** Rows: tools, calls, block. */
const listRows = [
  [100, 200, 10],
  [1_000, 50, 2],
  [10_000, 10, 1],
] as const;

function sizeText(bytes: number): string {
  return bytes < kilobyte * kilobyte ? `${bytes / kilobyte} KB` : `${bytes / kilobyte / kilobyte} MB`;
}

/** The cells of one run; `quick` keeps each of them and makes it short. */
export function cellsOf(transport: TransportKind, quick: boolean): readonly Cell[] {
  const fewer = (calls: number, block: number): number => (quick ? Math.max(block * 2, Math.ceil(calls / 20)) : calls);
  const calls = callRows.map(([bytes, inFlight, count, block]): Cell => {
    const id = `${transport} ${sizeText(bytes)} x${inFlight}`;
    return {
      id,
      transport,
      what: { kind: "call", bytes },
      inFlight,
      calls: fewer(count, block),
      block,
      warmUp: warmUpDefault,
    };
  });
  const lists = listRows.map(([tools, count, block]): Cell => {
    const id = `${transport} list of ${tools}`;
    return {
      id,
      transport,
      what: { kind: "list", tools },
      inFlight: 1,
      calls: fewer(count, block),
      block,
      warmUp: warmUpDefault,
    };
  });
  const ages = ageRows.map(([name, warmUp]): Cell => {
    const what = { kind: "call", bytes: kilobyte } as const;
    const id = `${transport} ${name} 1 KB x1`;
    return { id, transport, what, inFlight: 1, calls: fewer(2_000, 100), block: 100, warmUp: quick ? 0 : warmUp };
  });
  return [...calls, ...lists, ...ages];
}

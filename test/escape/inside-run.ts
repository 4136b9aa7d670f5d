/**
 * Runs all attempts inside of one projection and prints what came of each, one line of JSON at a time. A program of its
 * own, so that an ordinary user can be the caller as well as root: `node inside-run.ts [TIER] [NUMBER,...]`.
 */
import { rmSync } from "node:fs";
import type { EffectTrace } from "../../src/core/isolation/effect-trace.ts";
import type { IsolationTier } from "../../src/core/isolation/scope.ts";
import { attempts } from "./attempts.ts";
import { genuine, lineOf, program, type Line } from "./bare.ts";
import { openInside, scopeFor, stateFolder } from "./inside.ts";
import { plantWorld, type World } from "./world.ts";

/** What the test reads: first how it was started, then one for each attempt. */
export type Report =
  | { readonly kind: "started"; readonly tier: IsolationTier; readonly notes: readonly string[] }
  | { readonly kind: "failed"; readonly reason: string }
  | {
      readonly kind: "attempt";
      readonly line: Line;
      readonly genuine: boolean;
      readonly changes: readonly string[];
      readonly trace: Pick<EffectTrace, "events" | "complete" | "failure" | "changes">;
      readonly committed: readonly string[];
      /** The whole server was ended by it; the next attempts are made in another projection. */
      readonly ended: boolean;
      readonly error?: string;
    };

const print = (report: Report): void => void process.stdout.write(`${JSON.stringify(report)}\n`);

/** Makes attempts until all are made or one ends the server; the rest are returned. */
async function run(world: World, tier: string, numbers: readonly number[]): Promise<readonly number[]> {
  const inside = await openInside({
    places: world.ground,
    environment: world.environment,
    args: [program, world.groundFile],
    scope: scopeFor(world),
    tier,
  });
  if ("failed" in inside) {
    print({ kind: "failed", reason: inside.failed });
    return [];
  }
  print({ kind: "started", tier: inside.launched.tier, notes: inside.launched.notes });
  try {
    for (const [index, number] of numbers.entries()) {
      const called = await inside.call("attempt", { number });
      if ("refused" in called) {
        print({ kind: "failed", reason: `attempt ${number}: ${called.refused}` });
        return [];
      }
      const { text, trace, concluded } = called;
      const ended = text === undefined;
      const without = { attempt: number, reached: false, cannot: !ended, detail: text ?? "the server was ended" };
      const line = lineOf(text ?? "") ?? without;
      const { events, complete, failure, changes } = trace;
      print({
        kind: "attempt",
        line,
        genuine: genuine(line, world),
        changes: await world.changes("running"),
        trace: { events, complete, changes, ...(failure === undefined ? {} : { failure }) },
        committed: concluded.ok ? concluded.value.committed : [],
        ended,
        ...(concluded.ok ? {} : { error: concluded.error }),
      });
      if (ended) return numbers.slice(index + 1);
    }
    return [];
  } finally {
    await inside.close();
  }
}

const [, , tier = "A", only] = process.argv;
const numbers = only === undefined ? attempts.map((attempt) => attempt.number) : only.split(",").map(Number);
const world = await plantWorld(undefined, "projection");
// A fault of ours ends this program too, but not before it has cleaned up.
const fail = (reason: string): void => {
  print({ kind: "failed", reason });
  void world.remove().finally(() => {
    rmSync(stateFolder, { recursive: true, force: true });
    process.exit(1);
  });
};
process.once("uncaughtException", (error) => fail(error.stack ?? error.message));
process.once("SIGTERM", () => fail("it was told to end"));
try {
  for (let left: readonly number[] = numbers; left.length > 0;) left = await run(world, tier, left);
  // What outlives the projection is seen now that it has ended.
  const late = await world.changes("ended");
  if (late.length > 0) print({ kind: "failed", reason: `after the end: ${late.join("; ")}` });
} finally {
  await world.remove();
  rmSync(stateFolder, { recursive: true, force: true });
}
process.exit(0);

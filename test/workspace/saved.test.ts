/** Writes of answered calls under `per: run`: what a later rejection, or a crash, leaves of them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { applyHeld, diffOf, dropHeld, listHeld } from "../../src/adapters/workspace/commit/held.ts";
import { recover } from "../../src/adapters/workspace/commit/recover.ts";
import { savedCopiesMax } from "../../src/adapters/workspace/workspace-limits.ts";
import type { Edit } from "./edits.ts";
import { type Bench, kinds, must, Workbench } from "./kit.ts";

const origin = { server: "files", call: "call-1", run: "run-1" };
const write = (path: string, text: string): Edit => ({ kind: "write", path, text });

const workbench = new Workbench();
afterEach(() => workbench.clear());
afterAll(() => workbench.close());

/** A call that writes, and is answered. */
async function answered(bench: Bench, ...edits: readonly Edit[]): Promise<void> {
  await bench.edit(...edits);
  must(await bench.projection.changes());
  const paths = new Set(edits.map(({ path }) => path));
  must((await bench.projection.save?.(paths, origin)) ?? { ok: false, error: "nothing can be saved" });
}

const waiting = ({ state }: Bench): readonly (readonly [string, string | undefined])[] =>
  listHeld(state).flatMap(({ files, reason }) => files.map(({ path }) => [path, reason] as const));

const rejected = "a later call of its run was rejected";
const open = "it was to be decided at the end of its run";

describe.each(kinds())("D26: answered writes of a run: $name", (kind) => {
  test("outlive the rejection of a later call, which takes its own writes along", async () => {
    const bench = await workbench.start(kind, [write("a", "0")]);
    await answered(bench, write("a", "1"), write("b", "1"));
    await bench.edit(write("a", "rejected"), write("evil", "x"));
    must(await bench.projection.changes());
    const { committed, held } = must(await bench.projection.conclude("discard", origin));
    expect(committed).toEqual([]);
    expect(held.toSorted((x, y) => (x.path < y.path ? -1 : 1))).toEqual([
      { path: "a", reason: rejected },
      { path: "b", reason: rejected },
    ]);
    const [change] = listHeld(bench.state);
    expect(waiting(bench).map(([path]) => path)).toEqual(["a", "b"]);
    expect(JSON.stringify(must(diffOf(bench.state, change?.id ?? "")))).not.toContain("rejected\\n");
    expect(must(await applyHeld(bench.state, change?.id ?? "", false)).committed.toSorted()).toEqual(["a", "b"]);
    expect(readFileSync(join(bench.folder, "a"), "utf8")).toBe("1");
  });

  test("go with the run where it ends well, in their last version, and leave nothing behind", async () => {
    const bench = await workbench.start(kind, [write("a", "0")]);
    await answered(bench, write("a", "1"), write("gone", "1"));
    await answered(bench, write("a", "2"));
    await bench.edit({ kind: "remove", path: "gone" });
    must(await bench.projection.changes());
    expect(must(await bench.projection.conclude("commit", origin))).toEqual({ committed: ["a"], held: [] });
    expect(readFileSync(join(bench.folder, "a"), "utf8")).toBe("2");
    expect(waiting(bench)).toEqual([]);
  });

  test("are kept once where the run is kept for review", async () => {
    const bench = await workbench.start(kind);
    await answered(bench, write("a", "1"));
    await answered(bench, write("b", "1"));
    must(await bench.projection.changes());
    must(await bench.projection.conclude("keep", origin));
    expect(waiting(bench)).toEqual([
      ["a", undefined],
      ["b", undefined],
    ]);
  });

  test("cannot be taken or dropped while the run goes on, and wait for the user after a crash", async () => {
    const bench = await workbench.start(kind);
    await answered(bench, write("a", "1"));
    const [change] = listHeld(bench.state);
    const id = change?.id ?? "";
    expect(waiting(bench)).toEqual([["a", open]]);
    expect((await applyHeld(bench.state, id, false)).ok).toBe(false);
    expect(dropHeld(bench.state, id).ok).toBe(false);
    await bench.end();
    await bench.projection.close();
    await recover(bench.state);
    expect(waiting(bench)).toEqual([["a", open]]);
    expect(must(await applyHeld(bench.state, id, false)).committed).toEqual(["a"]);
  });

  test("do not become one folder for each of many calls", async () => {
    const bench = await workbench.start(kind);
    const calls = savedCopiesMax + 4;
    for (let call = 0; call < calls; call += 1) await answered(bench, write(`f${call}`, "1"));
    expect(listHeld(bench.state).length).toBeLessThanOrEqual(savedCopiesMax);
    expect(waiting(bench)).toHaveLength(calls);
    must(await bench.projection.conclude("discard", origin));
    expect(new Set(waiting(bench).map(([, reason]) => reason))).toEqual(new Set([rejected]));
  });
});

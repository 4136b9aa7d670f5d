// What a server may try with the workspace itself: files that are small where it wrote them and huge where they arrive.
import { statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { kinds, must, Workbench } from "../workspace/kit.ts";

const workbench = new Workbench();
afterEach(() => workbench.clear());
afterAll(() => workbench.close());

const origin = { server: "files", call: "call-1", run: "run-1" };
const mebibyte = 1_048_576;

describe.each(kinds())("a projection of a workspace: $name", (kind) => {
  it("counts a file full of holes by what it would take outside", async () => {
    const bench = await workbench.start(kind);
    const holes = ["a", "b", "c"].map((path) => ({ kind: "holes", path, bytes: 6 * mebibyte }) as const);
    await bench.edit(...holes);
    const seen = await bench.projection.changes();
    expect(seen).toMatchObject({ ok: false, error: expect.stringContaining("more than the 16 MB") });
    expect(await bench.projection.conclude("commit", origin)).toMatchObject({ ok: false });
    expect(statSync(join(bench.folder, "a"), { throwIfNoEntry: false })).toBeUndefined();
    await bench.edit({ kind: "remove", path: "a" });
    must(await bench.projection.changes());
    expect(must(await bench.projection.conclude("commit", origin)).committed.toSorted()).toEqual(["b", "c"]);
  });
});

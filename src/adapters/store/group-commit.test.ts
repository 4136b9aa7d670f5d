import { describe, expect, it } from "vitest";
import { storeFailure } from "./failure.ts";
import { groupCommit, type GroupCommit } from "./group-commit.ts";

type Trace = { readonly steps: string[]; readonly group: GroupCommit; broken: boolean; nowMs: number };

function traced(): Trace {
  const steps: string[] = [];
  const trace: Trace = {
    steps,
    broken: false,
    nowMs: 1_000,
    group: groupCommit({
      begin: () => void steps.push("begin"),
      commit: () => {
        if (trace.broken) throw new Error("no space");
        steps.push("commit");
      },
      rollback: () => void steps.push("rollback"),
      failureOf: () => storeFailure("full", "here"),
      overload: storeFailure("unreachable", "here"),
      nowMs: () => trace.nowMs,
    }),
  };
  return trace;
}

describe("group commit", () => {
  it("commits what one turn of the loop brings together, and answers after the commit", async () => {
    const { steps, group } = traced();
    const answers = [1, 2, 3].map((number) =>
      group
        .write(() => {
          steps.push(`write ${number}`);
          return number;
        })
        .then((result) => {
          steps.push(`told ${number}`);
          return result;
        }),
    );
    expect(steps).toEqual([]);
    expect(await Promise.all(answers)).toEqual([1, 2, 3].map((value) => ({ ok: true, value })));
    expect(steps.slice(0, 5)).toEqual(["begin", "write 1", "write 2", "write 3", "commit"]);
    expect(steps.filter((step) => step === "begin")).toHaveLength(1);
  });

  it("splits a flood into groups, in order", async () => {
    const { steps, group } = traced();
    const order: number[] = [];
    const all = Array.from({ length: 2_500 }, (_, index) => group.write(() => order.push(index)));
    await Promise.all(all);
    expect(steps.filter((step) => step === "commit")).toHaveLength(3);
    expect(order).toEqual(order.toSorted((left, right) => left - right));
  });

  it("fails the whole group and everything behind it, until it is reset", async () => {
    const trace = traced();
    const { group } = trace;
    trace.broken = true;
    const flood = Array.from({ length: 1_500 }, (_, index) => group.write(() => index));
    const results = await Promise.all(flood);
    expect(results.every((result) => !result.ok && result.error.kind === "full")).toBe(true);
    // The second group was never tried: its records would have followed ones that do not exist.
    expect(trace.steps).toEqual(["begin", "rollback"]);
    expect(group.health()).toMatchObject({ kind: "failed", failure: { kind: "full" } });
    trace.broken = false;
    expect(await group.write(() => 1)).toMatchObject({ ok: false });
    group.reset();
    expect(await group.write(() => 1)).toEqual({ ok: true, value: 1 });
  });

  it("gives nothing of a group whose job throws", async () => {
    const { steps, group } = traced();
    const good = group.write(() => 1);
    const bad = group.write(() => {
      throw new Error("constraint");
    });
    expect([(await good).ok, (await bad).ok]).toEqual([false, false]);
    expect(steps).toEqual(["begin", "rollback"]);
  });

  it("stops instead of growing without bound", async () => {
    const { group } = traced();
    const all = Array.from({ length: 65_537 }, () => group.write(() => 0));
    const last = await all.at(-1);
    expect(last).toMatchObject({ ok: false, error: { kind: "unreachable" } });
    expect((await Promise.all(all)).some((result) => result.ok)).toBe(false);
  });

  it("lets nobody wait for long while more comes", async () => {
    const trace = traced();
    const { group, steps } = trace;
    group.hurry();
    const first = group.write(() => 1);
    group.hurry();
    trace.nowMs += 4;
    group.hurry();
    expect(steps).toEqual([]);
    trace.nowMs += 2;
    group.hurry();
    expect(steps).toEqual(["begin", "commit"]);
    expect(await first).toEqual({ ok: true, value: 1 });
    // Who comes next waits anew, and for no more than one turn of the loop.
    const second = group.write(() => 2);
    group.hurry();
    expect(steps).toHaveLength(2);
    expect(await second).toEqual({ ok: true, value: 2 });
    expect(steps).toEqual(["begin", "commit", "begin", "commit"]);
  });

  it("can be flushed at once", async () => {
    const { steps, group } = traced();
    const answer = group.write(() => 7);
    group.flush();
    expect(steps).toEqual(["begin", "commit"]);
    expect(await answer).toEqual({ ok: true, value: 7 });
  });
});

import { describe, expect, it } from "vitest";
import type { Json } from "../../core/json.ts";
import { Waiters } from "./waiters.ts";

describe("notices", () => {
  it("go to the log, and to whoever watches as long as they watch", async () => {
    const told: string[] = [];
    const shown: Json[] = [];
    const waiters = new Waiters((text) => told.push(text));
    const gone = new AbortController();
    const watching = waiters.watch((part) => shown.push(part), gone.signal);
    waiters.notify("one");
    gone.abort();
    await watching;
    waiters.notify("two");
    expect(told).toEqual(["one", "two"]);
    expect(shown).toEqual([{ notice: "one" }]);
  });
});

describe("cards", () => {
  const card = {
    approval: "a1",
    title: "t",
    lines: [],
    server: "s",
    tool: "t",
    arguments: "{}",
    risks: [],
    endorses: [],
    choices: ["once", "refuse"],
  } as const;

  it("one that is withdrawn is shown as such, and can be answered no more", async () => {
    const shown: Json[] = [];
    const waiters = new Waiters(() => undefined);
    const gone = new AbortController();
    const watching = waiters.watch((part) => shown.push(part), gone.signal);
    const answered = new AbortController();
    const asked = waiters.ask(card, 1_000, answered.signal);
    answered.abort();
    expect(await asked).toBe("absent");
    expect(shown).toEqual([expect.objectContaining({ id: "a1" }), { withdrawn: "a1" }]);
    expect(waiters.rule("a1", { choice: "once", by: "alice" })).toBe(false);
    gone.abort();
    await watching;
  });

  it("the same call twice: the end of the first leaves the card of the second", async () => {
    const waiters = new Waiters(() => undefined);
    const gone = new AbortController();
    const watching = waiters.watch(() => undefined, gone.signal);
    const first = new AbortController();
    const once = waiters.ask(card, 1_000, first.signal);
    const twice = waiters.ask(card, 1_000);
    first.abort();
    expect(await once).toBe("absent");
    expect(waiters.rule("a1", { choice: "once", by: "alice" })).toBe(true);
    expect(await twice).toEqual({ choice: "once", by: "alice" });
    gone.abort();
    await watching;
  });
});

import { describe, expect, it } from "vitest";
import type { Json } from "../core/json.ts";
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

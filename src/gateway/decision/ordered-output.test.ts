import { describe, expect, it } from "vitest";
import { Deliveries } from "./ordered-output.ts";
import { deliveriesMax } from "../ports/limits.ts";

describe("what goes to the client", () => {
  it("leaves at once where nothing waits", () => {
    const left: string[] = [];
    expect(new Deliveries().offer(() => left.push("a"))).toBe(true);
    expect(left).toEqual(["a"]);
  });

  it("keeps its order behind what waits for the log", async () => {
    const deliveries = new Deliveries();
    const left: string[] = [];
    const first = Promise.withResolvers<boolean>();
    const done = deliveries.after(first.promise, () => left.push("answer"));
    const second = deliveries.after(Promise.resolve(true), () => left.push("second answer"));
    deliveries.now(() => left.push("progress"));
    first.resolve(true);
    await Promise.all([done, second]);
    await new Promise(setImmediate);
    expect(left).toEqual(["answer", "second answer", "progress"]);
  });

  // Between the word of the log and the message, others once found nothing waiting.
  it("lets nothing overtake a message in the moment in which it is on record", async () => {
    const deliveries = new Deliveries();
    const left: string[] = [];
    const durable = Promise.withResolvers<boolean>();
    const done = deliveries.after(durable.promise, () => left.push("answer"));
    for (let turn = 0, before = durable.promise; turn < 8; turn += 1) {
      before = before.then((value) => value);
      void before.then(() => deliveries.now(() => left.push(`after ${turn}`)));
    }
    durable.resolve(true);
    await done;
    await new Promise(setImmediate);
    expect(left[0]).toBe("answer");
    expect(left).toHaveLength(9);
  });

  it("loses a message that cannot be written, and none behind it", async () => {
    const deliveries = new Deliveries();
    const left: string[] = [];
    const lost = deliveries.after(Promise.reject(new Error("no log")), () => left.push("never"));
    const thrown = deliveries.after(Promise.resolve(), () => {
      throw new Error("a broken pipe");
    });
    deliveries.now(() => left.push("last"));
    await Promise.all([lost, thrown]);
    await new Promise(setImmediate);
    expect(left).toEqual(["last"]);
    deliveries.now(() => left.push("at once"));
    expect(left).toEqual(["last", "at once"]);
  });

  it("drops what nobody waits for when too much waits, and never an answer", async () => {
    const deliveries = new Deliveries();
    const left: string[] = [];
    const durable = Promise.withResolvers<boolean>();
    const first = deliveries.after(durable.promise, () => left.push("first"));
    for (let waiting = 1; waiting < deliveriesMax; waiting += 1) deliveries.now(() => undefined);
    expect(deliveries.offer(() => left.push("progress"))).toBe(false);
    deliveries.now(() => left.push("answer"));
    durable.resolve(true);
    await first;
    await new Promise(setImmediate);
    expect(left).toEqual(["first", "answer"]);
  });
});

import { describe, expect, it } from "vitest";
import { heldCallsMax } from "../ports/limits.ts";
import type { LiveRun } from "../runs/live-run.ts";
import { type Flushed, type Held, Outbox } from "./outbox.ts";

const live = { key: "run-1" } as LiveRun; // an outbox looks at nothing else of it

function heldCall(id: string): Held {
  return {
    id,
    since: 0,
    live,
    server: "post",
    tool: "send",
    arguments: {},
    digest: id,
    toolDigest: undefined,
    settled: undefined,
  };
}

/** An outbox of such calls; each flush is answered by hand, in any order. */
function outboxOf(...ids: readonly string[]) {
  const asked: string[] = [];
  const answers = new Map<string, (flushed: Flushed | Error) => void>();
  const outbox = new Outbox({
    flush: ({ id }) =>
      new Promise((resolve, reject) => {
        asked.push(id);
        answers.set(id, (flushed) => (flushed instanceof Error ? reject(flushed) : resolve(flushed)));
      }),
  });
  for (const id of ids) outbox.hold(heldCall(id));
  const answer = async (id: string, flushed: Flushed | Error): Promise<void> => {
    answers.get(id)?.(flushed);
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  };
  return { outbox, asked, answer };
}

const causes = (dropped: readonly { readonly held: Held; readonly cause: string }[]) =>
  dropped.map(({ held, cause }) => `${held.id} ${cause}`);

describe("an outbox", () => {
  it("a flush that fails loses the call that it was about, with a word, and no other", async () => {
    const { outbox, answer } = outboxOf("a", "b");
    const flushing = outbox.flush(live, false);
    await answer("a", new Error("a bug"));
    await answer("b", "held");
    expect(causes(await flushing)).toEqual(["a failed"]);
    expect(outbox.holds(live)).toBe(true);
  });

  it("a success while calls are being judged has them judged once more, and no call twice at a time", async () => {
    const { outbox, asked, answer } = outboxOf("a", "b");
    const flushing = outbox.flush(live, false);
    expect(await outbox.flush(live, false)).toEqual([]);
    await answer("a", "held");
    await answer("b", "sent");
    expect(asked).toEqual(["a", "b", "a"]);
    await answer("a", "sent");
    expect(await flushing).toEqual([]);
    expect(outbox.holds(live)).toBe(false);
  });

  it("the end of a run waits for what is on its way, and says of everything else why it never left", async () => {
    const { outbox, asked, answer } = outboxOf("a", "b", "c");
    const flushing = outbox.flush(live, false);
    const ending = outbox.flush(live, true);
    await answer("a", "sent");
    await answer("b", "unreachable");
    await answer("c", "changed");
    expect(causes(await flushing)).toEqual(["c changed"]);
    await answer("b", "unadmitted");
    expect(causes(await ending)).toEqual(["b unadmitted"]);
    expect(asked).toEqual(["a", "b", "c", "b"]);
  });

  it("takes back what nobody was told of, and holds no more than its limit", () => {
    const { outbox } = outboxOf("a", "b");
    outbox.forget(heldCall("a"));
    expect(outbox.holds(live)).toBe(true);
    outbox.forget(heldCall("b"));
    expect(outbox.holds(live)).toBe(false);
    outbox.forget(heldCall("nobody"));
    const held = Array.from({ length: heldCallsMax + 1 }, (_, index) => outbox.hold(heldCall(`${index}`)));
    expect(held.filter((one) => !one)).toHaveLength(1);
  });
});

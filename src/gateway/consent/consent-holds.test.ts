import { describe, expect, it } from "vitest";
import type { Opinion } from "../../core/opinion.ts";
import {
  callOf,
  confirmSends,
  done,
  hello,
  refusal,
  setup,
  stageWith,
} from "../../../test/kit/gateway/consent-scene.ts";
import { fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { plain, play, type Stage } from "../../../test/kit/gateway/playbook.ts";
import type { Human, Ruling } from "../ports/services.ts";

/** Somebody who watches and says nothing until the hold is over, or until told what to say. */
function watcher() {
  const holds: number[] = [];
  let withdrawn = 0;
  let rule: (ruling: Ruling) => void = () => undefined;
  const human: Human["ask"] = (_card, holdMs, signal) =>
    new Promise((resolve) => {
      holds.push(holdMs);
      rule = resolve;
      signal?.addEventListener("abort", () => {
        withdrawn += 1;
        resolve("absent");
      });
    });
  return { human, holds, withdrawn: () => withdrawn, rule: (ruling: Ruling) => rule(ruling) };
}

const cancelled = (id: unknown) => ({
  method: "notifications/cancelled",
  params: { requestId: id, reason: "cancelled" },
});

async function asked(stage: Stage): Promise<string> {
  stage.client.say(callOf(1, "bob"));
  await stage.settle();
  const question = stage.client.got.shift();
  const json = question === undefined ? {} : plain(question);
  expect(json).toMatchObject({ method: "elicitation/create" });
  return question?.kind === "request" ? String(question.id) : "";
}

describe("how long consent is waited for", () => {
  it("form and watcher are asked at once, and one deadline ends both", async () => {
    const watching = watcher();
    const stage = stageWith({ human: watching.human });
    await play(stage, [...hello({ elicitation: {} }), ...setup]);
    const form = await asked(stage);
    expect(watching.holds).toEqual([100]);
    stage.clock.pass(101);
    watching.rule("absent");
    await play(stage, [
      { client: "<<", message: cancelled(form) },
      { client: "<<", message: refusal("sluicegate approve") },
    ]);
    expect(watching.holds).toEqual([100]);
  });

  it("a watcher who answers first withdraws the form, and a late answer to it counts for nothing", async () => {
    const watching = watcher();
    const stage = stageWith({ human: watching.human });
    await play(stage, [...hello({ elicitation: {} }), ...setup]);
    const form = await asked(stage);
    watching.rule({ choice: "refuse", by: "alice" });
    await play(stage, [
      { client: "<<", message: cancelled(form) },
      { client: "<<", message: refusal("does not permit") },
      { client: ">>", message: { id: form, result: { action: "accept", content: { decision: "approve once" } } } },
    ]);
  });

  it("a form that is answered first withdraws the watcher's card", async () => {
    const watching = watcher();
    const stage = stageWith({ human: watching.human });
    await play(stage, [...hello({ elicitation: {} }), ...setup]);
    const form = await asked(stage);
    const result = { action: "accept", content: { decision: "approve once" } };
    await play(stage, [
      { client: ">>", message: { id: form, result } },
      { server: "<<", message: callOf(1, "bob") },
      { server: ">>", message: done(1) },
      { client: "<<", message: done(1) },
    ]);
    expect(watching.withdrawn()).toBe(1);
  });

  it("a form that is dismissed leaves the question to whoever watches, for the rest of the hold", async () => {
    const watching = watcher();
    const stage = stageWith({ human: watching.human });
    await play(stage, [...hello({ elicitation: {} }), ...setup]);
    const form = await asked(stage);
    await play(stage, [{ client: ">>", message: { id: form, result: { action: "cancel" } } }]);
    watching.rule({ choice: "once", by: "alice" });
    await play(stage, [{ server: "<<", message: callOf(1, "bob") }]);
  });

  it("a watcher who cannot be asked leaves the form", async () => {
    const stage = stageWith({ human: async () => Promise.reject(new Error("socket gone")) });
    await play(stage, [...hello({ elicitation: {} }), ...setup]);
    const form = await asked(stage);
    await play(stage, [
      { client: ">>", message: { id: form, result: { action: "decline" } } },
      { client: "<<", message: refusal("does not permit") },
    ]);
  });

  it("a call that is asked about again gets what is left of its hold, not a new one", async () => {
    const watching = watcher();
    let risks: readonly string[] = ["leak fire"];
    const growing = {
      consider: (...[judged, run, memory, answers]: Parameters<NonNullable<typeof confirmSends.consider>>): Opinion => {
        const opinion = confirmSends.consider?.(judged, run, memory, answers) as Opinion;
        if (opinion.kind !== "settled" || opinion.verdict !== "confirm") return opinion;
        return { ...opinion, reasons: opinion.reasons.map((reason) => ({ ...reason, facts: { risks } })) };
      },
    };
    const stage = stageWith({ policy: fakePolicy([growing]), human: watching.human });
    await play(stage, [...setup, { client: ">>", message: callOf(1, "bob") }]);
    stage.clock.pass(60);
    risks = ["leak fire", "leak later"];
    watching.rule({ choice: "once", by: "alice" });
    await stage.settle();
    expect(watching.holds).toEqual([100, 40]);
    stage.clock.pass(40);
    risks = ["leak fire", "leak later", "leak at last"];
    watching.rule({ choice: "once", by: "alice" });
    await play(stage, [{ client: "<<", message: refusal("sluicegate approve") }]);
    expect(watching.holds).toEqual([100, 40]);
  });

  it("a client that shows URLs and no forms is not sent a form", async () => {
    const stage = stageWith();
    await play(stage, [
      ...hello({ elicitation: { url: {} } }),
      ...setup,
      { client: ">>", message: callOf(1, "bob") },
      { client: "<<", message: refusal("sluicegate approve") },
    ]);
  });
});

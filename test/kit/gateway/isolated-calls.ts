/** Calls of a server that runs in a projection, and a mechanism that judges the evidence. */
import { traceFrom } from "../../../src/core/isolation/effect-record.ts";
import { traceKey, traceQuestion } from "../../../src/core/isolation/effect-trace.ts";
import { type Obligation, type Opinion, settled } from "../../../src/core/opinion.ts";
import type { Verdict } from "../../../src/core/verdict.ts";
import { FakeProjection, traceOf } from "../isolation/fake-projection.ts";
import { anyOrder } from "../isolation/isolation-order.ts";
import { type FakeMechanism, fakePolicy } from "./fake-policy.ts";
import { callOf, setup } from "./first-calls.ts";
import { plain, play, Stage } from "./playbook.ts";

export const result = { content: [{ type: "text", text: "words" }] };

/** Isolates every call and judges its evidence: any listening, and anything incomplete, is as bad as the test says. */
export function isolating(bad: Verdict = "deny", more: readonly Obligation[] = [], code = "SG-TEST"): FakeMechanism {
  return {
    consider: ({ moment }, _run, _memory, answers): Opinion => {
      if (moment.kind === "call") return settled([], [{ kind: "isolate", scope: "S" }]);
      if (moment.kind !== "release" && moment.kind !== "reflect") return settled([]);
      const call = moment.kind === "release" ? (moment.call ?? moment.during) : undefined;
      if (moment.kind === "release" && call === undefined) return settled([]);
      if (moment.kind === "reflect" && moment.server === undefined) return settled([]);
      const answer = answers.get(traceKey("files", call));
      if (answer === undefined) return { kind: "needs", questions: [traceQuestion("fake-0", "files", call)] };
      const trace = answer.kind === "known" ? traceFrom(answer.value) : undefined;
      const listens = trace?.events.some(({ action }) => action === "net-listen") ?? true;
      if (!listens) return settled([]);
      const facts = { what: "`read_file` listened" };
      return settled([{ mechanism: "fake", code, verdict: bad, facts, way: "look at it" }], more);
    },
  };
}

/** A server that listens, in a call. */
export const listening = (call: string | undefined) => traceOf(call === undefined ? [] : [{ action: "net-listen" }]);

export type Told = { readonly stage: Stage; readonly projection: FakeProjection };

export async function staged(mechanism: FakeMechanism, more: Partial<FakeProjection> = {}): Promise<Told> {
  const projection = Object.assign(new FakeProjection(), more);
  const stage = new Stage({ policy: fakePolicy([mechanism], { isolation: anyOrder }), projection });
  await play(stage, [...setup]);
  projection.did.length = 0;
  return { stage, projection };
}

export async function called({ stage }: Told): Promise<unknown> {
  stage.client.say(callOf(1, "read_file"));
  await stage.settle();
  if (stage.server.got.length > 0) stage.server.say({ id: 1, result });
  await stage.settle();
  const last = stage.client.got.at(-1);
  return last === undefined ? undefined : plain(last);
}

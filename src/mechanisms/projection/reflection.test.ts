import { expect, test } from "vitest";
import { tracesJson } from "../../core/isolation/effect-record.ts";
import {
  type EffectEvent,
  type EffectTrace,
  traceEventsMax,
  traceQuestion,
} from "../../core/isolation/effect-trace.ts";
import type { Json } from "../../core/json.ts";
import type { Opinion } from "../../core/opinion.ts";
import { lattice } from "../../../test/kit/policy/scene.ts";
import { event, orderOf, run, traceOf } from "../../../test/kit/isolation/projection-scene.ts";
import { makeProjection } from "./projection.ts";

function look(value: Json, order = orderOf()): Opinion {
  const made = makeProjection({ order: () => order, lattice, digest: (one) => JSON.stringify(one) });
  const question = traceQuestion("gateway", "s", undefined);
  const answers = new Map([[question.key, { kind: "known", question, value } as const]]);
  const moment = { kind: "reflect", at: 9, server: "s", cause: "periodic" } as const;
  return made.consider({ moment, option: undefined }, run, made.initial(), answers);
}

function seen(opinion: Opinion): readonly string[] {
  return opinion.kind === "needs" ? ["needs"] : [opinion.verdict, ...opinion.reasons.map(({ code }) => code)];
}

const background = (part: Partial<EffectEvent> & Pick<EffectEvent, "action">): EffectEvent =>
  event({ phase: "background", ...part });

/** As much as one trace may hold, all of it harmless. */
const full = (last: EffectEvent): EffectTrace =>
  traceOf({
    events: [
      ...Array.from({ length: traceEventsMax - 1 }, (_, index) =>
        background({ action: "file-write", path: `/tmp/${index}` }),
      ),
      last,
    ],
  });

test("attack: two processes of one server that fill their traces hide nothing by it", () => {
  const bad = full(background({ action: "system-call", detail: "ptrace" }));
  const fine = full(background({ action: "file-write", path: "/tmp/x" }));
  expect(seen(look(tracesJson([fine, bad])))).toEqual(["deny", "SG-SCOPE-PROCESS"]);
});

test("each process is judged by its own places: a folder of one is not a folder of the other", () => {
  const mine = traceOf({ places: { ...traceOf().places, scratch: ["/run/one"] } });
  const other = traceOf({ events: [background({ action: "file-write", path: "/run/one/x" })] });
  expect(seen(look(tracesJson([mine, other])))).toEqual(["deny", "SG-SCOPE-FILE"]);
});

test("what cannot be read is no excuse for what it holds", () => {
  for (const value of [1, {}, [1], [tracesJson([traceOf()]), {}]]) {
    expect(seen(look(value))).toEqual(["deny", "SG-EVIDENCE"]);
    expect(look(value, orderOf({}, "learn"))).toMatchObject({ verdict: "allow" });
  }
});

test("`onViolation: end` ends a server for what it did between calls, too", () => {
  const bad = tracesJson([traceOf({ events: [background({ action: "system-call", detail: "ptrace" })] })]);
  const revoke = { kind: "revoke", server: "s", end: true, rule: "process.call" };
  expect(look(bad, orderOf({ onViolation: "end" }))).toMatchObject({ obligations: [revoke] });
  expect(look(bad)).toMatchObject({ obligations: [] });
});

import { describe, expect, it } from "vitest";
import type { RunEvent } from "../../../core/event.ts";
import { exactly, type LabelRange } from "../../../core/label.ts";
import type { Forecast } from "../../../core/questions/prediction.ts";
import { openHost } from "../../../../test/kit/regulation/documents.ts";
import { SmallRun, told } from "../../../../test/kit/regulation/small-run.ts";
import { contract, frameOf, nothing, option, secret, start } from "../../../../test/kit/policy/scene.ts";
import { type Expected, expectedAfter, nothingExpected } from "./surprise.ts";

const frame = frameOf({});
const q = { ...start(frame), held: [exactly(secret)] };
const tool = contract("t", { does: ["read.local"] });

function allowed(call: string, forecast?: Forecast): RunEvent {
  const head = { kind: "dispatched", at: 1, call, method: "tools/call", arguments: {}, digest: "d" } as const;
  return { ...head, option: option(tool), ...(forecast === undefined ? {} : { forecast }) };
}

function released(call: string | undefined, how: "pass" | "reject", field: LabelRange = exactly(nothing)): RunEvent {
  const fields = [{ pointer: "/f", range: field }];
  return { kind: "released", at: 2, call, server: "s", tool: "t", how, label: exactly(nothing), fields };
}

const after = (...events: readonly RunEvent[]): Expected =>
  events.reduce((memory, event) => expectedAfter(frame.ir, memory, event, q), nothingExpected);

const mild: Forecast = { labels: [], effects: ["read.local"] };

describe("what was expected of a call", () => {
  it("is compared with what its result brought, fields included", () => {
    expect(after(allowed("1", mild), released("1", "pass")).wrong).toEqual([false]);
    expect(after(allowed("1", mild), released("1", "pass", exactly(secret))).wrong).toEqual([true]);
    const bold: Forecast = { labels: ["private"], effects: ["write.external.send"] };
    expect(after(allowed("1", bold), released("1", "pass", exactly(secret))).wrong).toEqual([true]);
  });

  it("is dropped where nothing was seen, and where nothing was expected there is nothing to compare", () => {
    expect(after(allowed("1", mild), released("1", "reject"))).toEqual(nothingExpected);
    expect(after(allowed("1", mild), { kind: "unknown", at: 2, call: "1", cause: "lost" })).toEqual(nothingExpected);
    expect(after(allowed("1"), released("1", "pass"), released(undefined, "pass"))).toBe(nothingExpected);
  });

  it("too often wrong, the next call that somebody else can see asks", () => {
    const run = new SmallRun({ labels: openHost().labels ?? {}, regulation: { surpriseMax: 0.5 } });
    const wrong: Forecast = { labels: [], effects: ["write.external.send"] };
    for (let call = 0; call < 4; call += 1) run.callExpecting("s.read_pub", wrong);
    expect(told(run.decide("s.mail_out"))).toBe("confirm SG-SURPRISE");
    expect(told(run.decide("s.read_pub"))).toBe("allow");
  });
});

// What the projection is for: whatever a hostile server does, nothing outside changes and nothing leaves, and the call
// that acts is the one whose result is rejected. Their twins are never held against anything.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { probeSupport } from "../../../src/adapters/projection/launch/support.ts";
import { openInside, stateFolder, type Called, type Inside } from "../../escape/inside.ts";
import { plant, type Planted } from "../../kit/server/pairs/bare.ts";
import { catalogue, serverFile, type Declared, type FixturePair } from "../../kit/server/pairs/catalogue.ts";
import { orderFor, violationsOf } from "../../kit/server/pairs/declared.ts";

const support = await probeSupport();
const best = support.bubblewrap && support.koffi && support.userNotify && support.overlay;

let planted: Planted;
let inside: Inside | undefined;
beforeEach(async () => {
  planted = await plant();
  mkdirSync(join(planted.home, ".cache", "facts"), { recursive: true });
});
afterEach(async () => {
  await inside?.close();
  inside = undefined;
  await planted.remove();
});
afterAll(() => rmSync(stateFolder, { recursive: true, force: true }));

type Step = { readonly called: Called; readonly violations: readonly string[] } | { readonly refused: string };

/** Makes the scripted calls; what the mechanism rejects is discarded, as the gateway does. */
async function play(pair: FixturePair, role: "hostile" | "twin", options: readonly string[]): Promise<readonly Step[]> {
  const declared: Declared = pair[role];
  const order = orderFor(declared);
  const opened = await openInside({
    places: planted,
    args: [serverFile(pair, role), ...options],
    scope: order.scope,
    verdict: (tool, trace) => (violationsOf(order, declared, tool, trace).length > 0 ? "discard" : "commit"),
  });
  if ("failed" in opened) throw new Error(opened.failed);
  inside = opened;
  const steps: Step[] = [];
  for (const { tool, arguments: given } of pair[role].script) {
    const called = await opened.call(tool, given);
    if ("refused" in called) {
      steps.push(called);
      break;
    }
    const found = violationsOf(order, declared, tool, called.trace);
    steps.push({ called, violations: found.map((finding) => `${finding.rule}: ${finding.what}`) });
  }
  return steps;
}

const violationsAt = (step: Step | undefined): readonly string[] =>
  step === undefined ? [] : "refused" in step ? [step.refused] : step.violations;

describe.skipIf(!best)("in a projection (needs bubblewrap, koffi, a supervisor and overlays)", () => {
  test.each(["base64-exfiltration", "random-switch"])("a collector on this machine hears nothing of %s", async (id) => {
    const pair = catalogue.find((one) => one.id === id);
    if (pair === undefined) throw new Error(`no fixture ${id}`);
    await play(pair, "hostile", [...pair.hostile.options, "--collector", planted.collector]);
    expect(planted.collected).toEqual([]);
  });

  describe.each(catalogue)("$group: $id", (pair) => {
    test("the hostile server reaches nothing, and is held to account for nothing that it did not do", async () => {
      const { effect, expect: expected, options, script } = pair.hostile;
      const steps = await play(pair, "hostile", options);
      expect(planted.collected).toEqual([]);
      expect(planted.changed()).toEqual({ home: [], workspace: [] });
      const acts = effect.kind === "none" ? script.length + 1 : effect.call;
      const early = steps.slice(0, Math.max(acts - 1, 0)).flatMap(violationsAt);
      expect(early).toEqual([]);
      if (expected.kind === "speaks") return;
      const rejected = expected.kind === "rejected" || expected.rejected;
      if (rejected) expect(violationsAt(steps[acts - 1])).not.toEqual([]);
      else expect(steps.flatMap(violationsAt)).toEqual([]);
    });

    test("its twin works, with nothing held against it", async () => {
      const steps = await play(pair, "twin", []);
      expect(steps.flatMap(violationsAt)).toEqual([]);
      expect(steps).toHaveLength(pair.twin.script.length);
      for (const [index, step] of steps.entries()) {
        const call = pair.twin.script[index];
        if (!("called" in step) || call === undefined) continue;
        expect(step.called.text).toContain(call.says);
        expect(step.called.isError).toBe(call.isError === true);
      }
      const writes = pair.twin.isolation.files?.workspace?.mode === "overlay";
      expect(planted.changed().workspace.length > 0).toBe(writes);
    });
  });
});

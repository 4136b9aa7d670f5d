import fc from "fast-check";
import { expect, test } from "vitest";
import { CallWindows } from "./attribution.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

test("before the first list or call it is the start, in one window the call's, in several ambiguous", () => {
  const windows = new CallWindows(25);
  expect(windows.attribute(0)).toEqual({ phase: "startup", calls: [], late: [] });
  windows.begin("a");
  expect(windows.attribute(1)).toEqual({ phase: "call", calls: ["a"], late: [] });
  windows.begin("b");
  expect(windows.attribute(2)).toEqual({ phase: "ambiguous", calls: ["a", "b"], late: [] });
  windows.end("a", 3);
  expect(windows.attribute(4)).toEqual({ phase: "call", calls: ["b"], late: [] });
});

test("a list of tools ends the start as well", () => {
  const windows = new CallWindows();
  windows.listed();
  expect(windows.attribute(1).phase).toBe("background");
});

test("work after an answer is background; within the grace it names the call that may have caused it", () => {
  const windows = new CallWindows(25);
  windows.begin("a");
  windows.end("a", 100);
  expect(windows.attribute(125)).toEqual({ phase: "background", calls: [], late: ["a"] });
  expect(windows.attribute(126)).toEqual({ phase: "background", calls: [], late: [] });
});

test("a second begin or end of a call changes nothing", () => {
  const windows = new CallWindows(25);
  windows.begin("a");
  windows.begin("a");
  windows.end("a", 5);
  windows.end("a", 500);
  windows.end("stranger", 500);
  expect(windows.open).toEqual([]);
  expect(windows.attribute(520).late).toEqual([]);
});

const step = fc.oneof(
  fc.record({ kind: fc.constantFrom("begin" as const, "end" as const), call: fc.constantFrom("a", "b", "c") }),
  fc.record({ kind: fc.constant("see" as const), call: fc.constant("") }),
);

test("law: an event belongs to exactly the calls whose windows are open", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const windows = new CallWindows();
      const open = new Set<string>();
      steps.forEach(({ kind, call }, at) => {
        if (kind === "begin") {
          windows.begin(call);
          open.add(call);
        } else if (kind === "end") {
          windows.end(call, at);
          open.delete(call);
        } else {
          const { phase, calls } = windows.attribute(at);
          expect(new Set(calls)).toEqual(open);
          expect(phase === "call").toBe(open.size === 1);
          expect(phase === "ambiguous").toBe(open.size > 1);
        }
      });
    }),
    { numRuns: runs },
  );
});

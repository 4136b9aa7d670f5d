import { expect, it } from "vitest";
import { changesFiles, effectActions, traceKey, traceQuestion } from "./effect-trace.ts";

it("what leaves the files other than they were is everything done to them but reading", () => {
  expect(effectActions.filter((action) => changesFiles({ action }))).toEqual([
    "file-write",
    "file-create",
    "file-delete",
    "file-rename",
    "file-permissions",
    "file-link",
  ]);
});

it("what a call did is a question without whose answer nothing passes; what the server did besides is another", () => {
  const common = { mechanism: "m", kind: "effect-trace", mode: "required", unavailable: "deny" };
  expect(traceQuestion("m", "s", "c1")).toEqual({
    ...common,
    key: "effect-trace s c1",
    content: { server: "s", call: "c1" },
  });
  expect(traceQuestion("m", "s", undefined)).toEqual({ ...common, key: "effect-trace s ", content: { server: "s" } });
  expect(traceKey("s", "c1")).toBe(traceQuestion("m", "s", "c1").key);
});

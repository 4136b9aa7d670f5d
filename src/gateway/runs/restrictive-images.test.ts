import { describe, expect, it } from "vitest";
import type { RunEvent } from "../../core/event.ts";
import { exactly } from "../../core/label.ts";
import type { Json } from "../../core/json.ts";
import { lattice } from "../../../test/kit/gateway/log-records.ts";
import { Images } from "./restrictive-images.ts";

const label = exactly(lattice.bottom);

function released(value: Json | undefined, more: Partial<Extract<RunEvent, { kind: "released" }>> = {}): RunEvent {
  const common = { kind: "released", at: 7, call: undefined, server: "files", tool: "read", how: "pass" } as const;
  return { ...common, label, fields: [], ...(value === undefined ? {} : { value }), ...more };
}

describe("images", () => {
  it("of values released at one instant are told apart by all that is said of them", () => {
    const apart = [
      released("a"),
      released("b"),
      released(null),
      released(undefined),
      released(["a"]),
      released("a", { tool: "other" }),
      released("a", { at: 8 }),
      released("a", { label: exactly(lattice.top) }),
      released("a", { fields: [{ pointer: "/0", range: label }] }),
    ];
    const images = new Images(apart);
    for (const image of apart) images.add(structuredClone(image));
    expect(new Set(images.all())).toEqual(new Set(apart));
    for (const image of apart) expect(images.has(structuredClone(image))).toBe(true);
    expect(images.has(released("c"))).toBe(false);
    expect(images.has(released("a", { at: 9 }))).toBe(false);
  });

  it("of calls are told apart by the call", () => {
    const unknown = (call: string): RunEvent => ({ kind: "unknown", at: 1, call, cause: "x" });
    const images = new Images([unknown("1"), unknown("2"), { ...unknown("1"), at: 5 }]);
    expect(images.all()).toEqual([unknown("1"), unknown("2")]);
    expect(images.has({ kind: "ended", at: 1, cause: "closed" })).toBe(false);
  });
});

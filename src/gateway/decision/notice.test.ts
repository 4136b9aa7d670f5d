import fc from "fast-check";
import { expect, test } from "vitest";
import { notice } from "./notice.ts";

test("a notice keeps its way on, however long the names in it are", () => {
  expect(notice("Server `a` changed.", " Look with `x`.")).toBe("Server `a` changed. Look with `x`.");
  fc.assert(
    fc.property(fc.string({ maxLength: 600 }), fc.string({ maxLength: 150 }), (text, way) => {
      const line = notice(text, way);
      expect(line.length).toBeLessThanOrEqual(240);
      expect(line.endsWith(way)).toBe(true);
    }),
  );
});

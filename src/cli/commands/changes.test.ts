import { describe, expect, it } from "vitest";
import { diffText } from "./changes.ts";

describe("the diff of a held change", () => {
  it("shows what a server wrote without letting it move the cursor or hide a line", () => {
    const lines = ["@@ -0,0 +1,2 @@", "+\u001b[2Jgone", "+\tindented\u202E"];
    const text = diffText([{ path: "a\nb", kind: "added", guarded: false, lines }]);
    expect(text.split("\n")).toEqual([
      "added a\\u{a}b",
      "  @@ -0,0 +1,2 @@",
      "  +\\u{1b}[2Jgone",
      "  +\tindented\\u{202e}",
    ]);
  });

  it("says why a file waits, and cuts what is long", () => {
    const long = Array.from({ length: 3_000 }, (_, index) => `+${index} ${"x".repeat(1_000)}`);
    const text = diffText([
      { path: "a", kind: "modified", guarded: true, reason: "no server may write it", lines: long },
    ]);
    const shown = text.split("\n");
    expect(shown[0]).toBe("modified a (no server may write it)");
    expect(shown[1]?.length).toBeLessThan(410);
    expect(shown.at(-1)).toBe("... 1001 more lines: `--json` gives all.");
  });
});

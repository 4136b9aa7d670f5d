import { describe, expect, it } from "vitest";
import type { Json } from "../../core/json.ts";
import { answer, partText } from "./approve-watch.ts";

const card = { id: "a1", title: "Sluicegate asks", lines: ["It leaves."], arguments: "{}", risks: [], choices: [] };

describe("a part of the watch", () => {
  it("is a card, which then waits for an answer", () => {
    const open = new Map<string, boolean>();
    expect(partText(card, open)).toBe("a1  Sluicegate asks\n    It leaves.\n    arguments: {}");
    expect([...open]).toEqual([["a1", true]]);
    expect(partText({ withdrawn: "a1" }, open)).toBe("a1: answered in the client.");
    expect([...open]).toEqual([]);
  });

  const damaged: readonly Json[] = [
    { ...card, title: 7 },
    { ...card, lines: [{}] },
    { ...card, arguments: null },
    { ...card, risks: "leak" },
    { ...card, choices: {} },
    { id: "a1" },
  ];
  it.each(damaged)("that cannot be read is shown as that, and can only be refused: %j", async (part) => {
    const open = new Map<string, boolean>();
    expect(partText(part, open)).toMatch(/^a1 {2}This card cannot be read\.\n {4}It can only be refused: `n a1`\. /);
    for (const line of ["y", "v", "y a1"]) {
      const text = "The card of a1 cannot be read, so it can only be refused: `n a1`.";
      expect(await answer(line, open)).toEqual({ ok: false, text });
    }
    expect([...open]).toEqual([["a1", false]]);
  });

  it("that names no card and cannot be read is told as well", () => {
    const open = new Map<string, boolean>();
    expect(partText({ notice: 7 }, open)).toContain("A message of the daemon cannot be read.");
    expect(partText({ ...card, id: 7 }, open)).toContain("A message of the daemon cannot be read.");
    expect([...open]).toEqual([]);
  });
});

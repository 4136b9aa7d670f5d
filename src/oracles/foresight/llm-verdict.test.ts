import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { filteredNamesMax, wordsKeptCharsMax } from "./llm-limits.ts";
import { type Written, consequential, resolved } from "./llm-verdict.ts";

const tools = [
  { shown: "files.read", name: "files.read", effects: ["read.local"] },
  { shown: "mail.send", name: "mail.send", effects: ["write.external.send"] },
  { shown: "web.fetch", name: "web.fetch", effects: ["read.external"] },
  { shown: "tool-4", name: "odd name", effects: [] },
];
const everythingElse = ["mail.send", "web.fetch", "odd name"];
const written = (safety: Written["safety"], filtered: Written["filtered"]): Written => ({
  nextState: "n",
  reasoning: "r",
  safety,
  filtered,
});

function outcome(safety: Written["safety"], filtered: Written["filtered"]) {
  const verdict = resolved(written(safety, filtered), tools);
  return verdict.ok ? [verdict.value.safety, verdict.value.filtered, verdict.value.invented] : verdict.error;
}

describe("contradictions are read the stricter way", () => {
  it.each<[Written["safety"], Written["filtered"], unknown]>([
    ["safe", [], ["safe", [], 0]],
    ["safe", ["mail.send"], ["critical", ["mail.send"], 0]],
    ["safe", ["shell.run"], ["critical", everythingElse, 1]],
    ["safe", undefined, "its answer has no list of tools"],
    ["critical", ["mail.send"], ["critical", ["mail.send"], 0]],
    ["critical", [], ["critical", everythingElse, 0]],
    ["unsafe", [], ["unsafe", everythingElse, 0]],
    ["unsafe", undefined, ["unsafe", everythingElse, 0]],
    ["unsafe", ["mail.send", "nope", "made.up"], ["unsafe", ["mail.send"], 2]],
  ])("%s with %j", (safety, filtered, wanted) => {
    expect(outcome(safety, filtered)).toEqual(wanted);
  });
});

it("finds tools by any writing of their name, and gives them back as they are listed", () => {
  expect(outcome("critical", [" MAIL.Send "])).toEqual(["critical", ["mail.send"], 0]);
  expect(outcome("critical", ["send"])).toEqual(["critical", ["mail.send"], 0]);
  expect(outcome("critical", ["tool-4"])).toEqual(["critical", ["odd name"], 0]);
  expect(outcome("critical", ["odd name"])).toEqual(["critical", everythingElse, 1]);
  expect(outcome("critical", ["__proto__", "constructor"])).toEqual(["critical", everythingElse, 2]);
});

it("filters a bare name on every server that has it", () => {
  const two = [...tools, { shown: "chat.send", name: "chat.send", effects: ["write.external.send"] }];
  const verdict = resolved(written("critical", ["send"]), two);
  expect(verdict).toMatchObject({ ok: true, value: { filtered: ["mail.send", "chat.send"] } });
});

it("knows what does more than read what is local", () => {
  expect(consequential(tools)).toEqual(everythingElse);
  expect(consequential([])).toEqual([]);
});

it("looks at so many names and no more", () => {
  const many = Array.from({ length: filteredNamesMax + 10 }, () => "mail.send");
  expect(outcome("critical", many)).toEqual(["critical", ["mail.send"], 10]);
});

it("keeps words of a model on one short line", () => {
  const long = { ...written("safe", []), reasoning: `a\u001b[2J\nb\u202e${"x".repeat(100_000)}` };
  const verdict = resolved(long, tools);
  if (!verdict.ok) throw new Error(verdict.error);
  expect(verdict.value.reasoning).toMatch(/^a \[2J b x+$/);
  expect(verdict.value.reasoning.length).toBe(wordsKeptCharsMax);
});

it("is never milder than any part of what was written", () => {
  const rank = { safe: 0, critical: 1, unsafe: 2 };
  const names = fc.option(fc.array(fc.constantFrom(...tools.map((tool) => tool.shown), "made.up")), { nil: undefined });
  fc.assert(
    fc.property(fc.constantFrom("safe", "critical", "unsafe"), names, (safety, filtered) => {
      const verdict = resolved(written(safety, filtered), tools);
      if (!verdict.ok) return;
      expect(rank[verdict.value.safety]).toBeGreaterThanOrEqual(rank[safety]);
      for (const tool of tools) {
        if (filtered?.includes(tool.shown) === true) expect(verdict.value.filtered).toContain(tool.name);
      }
      // Whoever says that something is wrong takes something from the list.
      expect(verdict.value.safety === "safe").toBe(verdict.value.filtered.length === 0);
    }),
  );
});

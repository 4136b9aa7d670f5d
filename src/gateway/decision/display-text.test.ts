import { expect, it } from "vitest";
import { shownArguments, shownArgumentsMax, escapeForDisplay } from "./display-text.ts";

it("shows what would turn, end or hide a line", () => {
  expect(escapeForDisplay("a\u202eb\u200bc\u001b[2J\u009bd\ne\u2028f")).toBe(
    "a\\u{202e}b\\u{200b}c\\u{1b}[2J\\u{9b}d\\u{a}e\\u{2028}f",
  );
});

it("shows short arguments as they are", () => {
  expect(shownArguments({ to: "bob", n: 1 })).toBe('{"n":1,"to":"bob"}');
});

it("a long value does not push the recipient out of sight", () => {
  const shown = shownArguments({ body: "x".repeat(100_000), to: "eve@evil.example" });
  expect(shown).toContain('"to":"eve@evil.example"');
  expect(shown).toContain("characters)");
  expect(shown.length).toBeLessThan(2 * shownArgumentsMax);
});

it("says how many arguments are not shown", () => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`name${index}`, "x".repeat(100)]));
  const shown = shownArguments(many);
  expect(shown).toMatch(/and \d+ arguments more/);
  expect(shown.length).toBeLessThan(3 * shownArgumentsMax);
});

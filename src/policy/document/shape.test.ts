import { expect, it } from "vitest";
import { checkShape } from "./check.ts";
import { type Infer, object, optional, required, text } from "./shape.ts";
import type { RuleText } from "./shapes-rules.ts";
import type { PatternText } from "./shapes-labels.ts";

const loose = object("a thing", { first: optional(text("word"), "one"), second: optional(text("word"), "another") });
const strict = object("a thing", { first: required(text("word"), "one"), second: optional(text("word"), "another") });

it("a type takes what its shape takes, and nothing else", () => {
  const good: Infer<typeof strict> = { first: "x" };
  // @ts-expect-error -- a required member is not there
  const missing: Infer<typeof strict> = { second: "x" };
  // @ts-expect-error -- a member that is there has a value
  const empty: Infer<typeof loose> = { first: undefined };
  // @ts-expect-error -- no member has this name
  const unknown: Infer<typeof loose> = { third: "x" };
  // @ts-expect-error -- an object without required members is still not any value
  const number: Infer<typeof loose> = 5;
  const faults = [missing, empty, unknown, number].map((value) => checkShape(strict, value).length > 0);
  expect([checkShape(strict, good), ...faults]).toEqual([[], true, true, true, true]);
});

it("the types of the policy language are as narrow as its shapes", () => {
  // @ts-expect-error -- a number is not a pattern
  const pattern: PatternText = 5;
  // @ts-expect-error -- there is no such tier
  const rule: RuleText = { id: "R", tier: "blok", why: "w", when: pattern };
  expect(rule.when).toBe(5);
});

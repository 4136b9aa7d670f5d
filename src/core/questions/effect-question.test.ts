import { expect, test } from "vitest";
import {
  chosenDomains,
  domainsContextFrom,
  effectsContextFrom,
  effectsVerdictFrom,
  flagCharactersMax,
  flagsMax,
  reasonCharactersMax,
} from "./effect-question.ts";

const head = {
  version: 1,
  server: "s",
  tool: "t",
  effects: ["read.local"],
  arguments: { url: "u" },
  evidence: ["private"],
};

test("a verdict is read whole or not at all, and within its bounds", () => {
  expect(effectsVerdictFrom({ trusted: true })).toEqual({ trusted: true, reason: "", flags: [] });
  const long = effectsVerdictFrom({
    trusted: false,
    reason: "x".repeat(999),
    flags: Array.from({ length: 99 }, () => "y".repeat(99)),
  });
  expect(long?.reason).toHaveLength(reasonCharactersMax);
  expect(long?.flags).toHaveLength(flagsMax);
  expect(long?.flags[0]).toHaveLength(flagCharactersMax);
  expect(effectsVerdictFrom({ trusted: true, flags: [1, "a"] })?.flags).toEqual(["a"]);
  for (const odd of [null, "yes", {}, { trusted: "true" }, { trusted: true, flags: "none" }]) {
    expect(effectsVerdictFrom(odd)).toBeUndefined();
  }
});

test("only what was offered can be chosen", () => {
  const offered = ["a.example:443", "b.example:80"];
  expect(chosenDomains({ allowed_domains: ["A.example", "evil.example", 1] }, offered)).toEqual(["a.example:443"]);
  expect(chosenDomains({ allowed_domains: ["b.example:80"] }, offered)).toEqual(["b.example:80"]);
  expect(chosenDomains({ allowed_domains: ["*.example", "b.example:443"] }, offered)).toEqual([]);
  expect(chosenDomains({ domains: offered }, offered)).toEqual([]);
});

test("contexts come back as they were, and half of one is none", () => {
  const effects = { ...head, events: ["e"], rules: ["r"] };
  const domains = { ...head, candidates: ["a.example:443"] };
  expect(effectsContextFrom(effects)).toEqual(effects);
  expect(domainsContextFrom(domains)).toEqual(domains);
  for (const name of Object.keys(effects)) expect(effectsContextFrom({ ...effects, [name]: 7 })).toBeUndefined();
  for (const name of Object.keys(domains)) expect(domainsContextFrom({ ...domains, [name]: 7 })).toBeUndefined();
  expect(effectsContextFrom({ ...effects, events: ["e", 1] })).toBeUndefined();
  // A question of a version that told no arguments.
  const { arguments: _, ...bare } = effects;
  expect(effectsContextFrom(bare)).toBeUndefined();
});

import { expect, test } from "vitest";
import { causeOf } from "./cause.ts";
import type { Decision } from "../decision.ts";
import { cardLines } from "./render.ts";

function decisionOf(code: string): Decision {
  const facts = { what: "`s.t` tried to reach `evil.example:443`, which its scope does not name" };
  const reason = { mechanism: "projection", code, verdict: "deny", rule: "net.destination", facts } as const;
  return { verdict: "deny", enforcedVerdict: "deny", reasons: [reason], obligations: [], option: undefined };
}

test.each([
  ["SG-SCOPE-FILE", "the call did what it may not"],
  ["SG-SCOPE-NET", "the call did what it may not"],
  ["SG-SCOPE-PROCESS", "the call did what it may not"],
  ["SG-SCOPE-LIMIT", "the call did what it may not"],
  ["SG-SCOPE-WORKSPACE", "the call did what it may not"],
  ["SG-EFFECT", "the call did what it may not"],
  ["SG-SUSPICION", "what the call did has to be looked at first"],
  ["SG-EVIDENCE", "what the call did could not be watched"],
  ["SG-DISTRUST", "the server of the call has done what it may not in this run"],
  ["SG-BACKGROUND", "the call is of a server that works between calls"],
])("%s: the cause names no host, no path and no check; the card does", (code, clause) => {
  expect(causeOf(decisionOf(code), "bare")).toBe(clause);
  expect(cardLines(decisionOf(code)).join()).toContain("evil.example:443");
});

test("a code of anybody else is not explained here", () => {
  expect(causeOf(decisionOf("SG-OTHER"), "bare")).toBe("the call is stopped");
});

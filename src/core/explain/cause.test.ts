import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { causeOf, shownName } from "./cause.ts";
import type { ToolContract } from "../contract.ts";
import type { Decision } from "../decision.ts";
import type { Reason } from "../opinion.ts";

const contract = { server: "mail", tool: "send" } as ToolContract; // a cause looks at nothing but the names
const option: Decision["option"] = {
  contract,
  class: { server: "mail", tool: "send", truths: new Map(), keys: new Map(), amounts: new Map() },
  arguments: new Map(),
};

function cause(reason: Partial<Reason>): string | undefined {
  const full: Reason = { mechanism: "m", code: "SG-X", verdict: "deny", facts: {}, ...reason };
  return causeOf({ verdict: "deny", enforcedVerdict: "deny", reasons: [full], obligations: [], option });
}

const culprit = { arguments: ["body"], labels: ["private, medical"], origins: ["calendar.list /0/title"] };

describe("the cause of a decision", () => {
  it("says which data, which sink, which rule", () => {
    expect(cause({ code: "SG-RULE-BLOCK", rule: "R1", why: "it stays here", facts: culprit })).toBe(
      "`body` would carry private, medical data from calendar.list /0/title to `mail.send` (rule R1: it stays here)",
    );
    expect(cause({ code: "SG-HAZARD-ASK", rule: "H1", facts: { ...culprit, origins: [] } })).toBe(
      "`body` may carry private, medical data to `mail.send` (hazard H1)",
    );
  });

  it.each([
    ["SG-ASK-UNTRUSTED", { arguments: ["to"] }, "`to` of `mail.send` may have been chosen by untrusted data"],
    ["SG-ASK-UNTRUSTED", {}, "a value of `mail.send` may have been chosen by untrusted data"],
    [
      "SG-ASK-UNTRACED",
      {},
      "`mail.send` acts, names nothing that shows who chose it, and untrusted data came before it",
    ],
    ["SG-RESULT-LABEL", {}, "its server says that a result of `mail.send` is more restricted than the policy says"],
    ["SG-ASK-UNLABELLED", {}, "nothing in the policy says what `mail.send` does"],
    ["SG-ADMIT-UNLABELLED", {}, "nothing that the policy admits says what `mail.send` does, so it is in quarantine"],
    ["SG-ASK-EXECUTE", {}, "`mail.send` may run code"],
    ["SG-ASK-OUTSIDE", {}, "`mail.send` writes outside the workspace"],
    ["SG-ASK-OUTSIDE", { workspace: [] }, "`mail.send` writes outside the workspace (no folder is known as one)"],
    ["SG-ASK-OUTSIDE", { workspace: ["/a b"] }, "`mail.send` writes outside the workspace (`/a b`)"],
    ["SG-ASK-OUTSIDE", { workspace: ["/a`", "/b"] }, "`mail.send` writes outside the workspace (`/a?` and 1 more)"],
    [
      "SG-ASK-OUTSIDE",
      { workspace: [`/${"x".repeat(80)}/project`] },
      `\`mail.send\` writes outside the workspace (\`…${"x".repeat(51)}/project\`)`,
    ],
    ["SG-ASK-OWN", {}, "`mail.send` could change what Sluicegate obeys"],
    ["SG-ASK-OWN", { place: "p.yaml", stake: "obeyed" }, "`mail.send` could change what Sluicegate obeys (`p.yaml`)"],
    ["SG-ASK-OWN", { place: "keys", stake: "kept" }, "`mail.send` would touch what Sluicegate keeps (`keys`)"],
    ["SG-MUST-FIRST", { needs: ["backup"] }, "`backup` must come first"],
    ["SG-INJECT", { needs: ["db.copy"] }, "`db.copy` must come first, and `mail.send` does not give it what it needs"],
    ["SG-OWED", {}, "something else must come first"],
    ["SG-MUST-FAILED", { needs: ["s.backup"] }, "`s.backup` must come first, and did not succeed"],
    [
      "SG-MUST-FAILED",
      { needs: ["s.backup"], quarantined: "s" },
      "`s.backup` must come first, and its server is in quarantine",
    ],
    [
      "SG-MUST-FAILED",
      { needs: ["s.backup"], changed: "backup" },
      "`s.backup` must come first, and changed since it was accepted",
    ],
    [
      "SG-MUST-FAILED",
      { needs: ["s.backup"], unlisted: "backup" },
      "`s.backup` must come first, and its server does not list it",
    ],
    ["SG-CARD-REFUSED", {}, "the user refused its server"],
    ["SG-CHANGED", {}, "what its server says of it changed, and is not accepted yet"],
    ["SG-LIST-TEXT", {}, "its description tries to give orders to the model, and is not accepted"],
    ["SG-MUST-NOT-FOLLOW", {}, "`mail.send` must not follow what this run has done"],
    ["SG-LIMIT", {}, "`mail.send` would go over a limit"],
    ["SG-MAYBE-DONE", { at: "2026-11-21T14:02:31.000Z" }, "the same call may already have happened at 14:02 UTC"],
    ["SG-MAYBE-DONE", {}, "the same call may already have happened"],
    [
      "SG-RESULT-LOST",
      { at: "2026-11-21T14:02:31.000Z" },
      "the same call was made at 14:02 UTC, and a restart lost its result",
    ],
    ["SG-RESULT-LOST", {}, "the same call was made, and a restart lost its result"],
    ["SG-PROGRAM", { program: "f", cause: "it threw: x" }, "a program that has to agree to `mail.send` did not answer"],
    ["SG-UNPROVED", { server: "s" }, "no proof covers what its server offers now"],
    ["SG-RULE-BLOCK", {}, "`mail.send` is stopped"],
    [
      "SG-LIMIT",
      { unread: "os:1/session:a" },
      "`mail.send` would go over a limit; it goes on from run `os:1/session:a`, which this policy cannot read (`sluicegate runs new` begins a clean one)",
    ],
  ] as const)("%s %j", (code, facts, text) => expect(cause({ code, facts })).toBe(text));

  it("names the unreadable run alone where there is room for nothing else", () => {
    const reason: Reason = { mechanism: "m", code: "SG-LIMIT", verdict: "deny", facts: { unread: "os:1/session:a" } };
    const decision = { verdict: "deny", enforcedVerdict: "deny", reasons: [reason], obligations: [], option } as const;
    expect(causeOf(decision, "least")).toBe("run `session:a` is unreadable: all is held (`sluicegate runs new`)");
  });

  it("is what kept an argument from being read, with the question where there is room", () => {
    const reading = "`sql` was not read as a plain SELECT: it calls f";
    const said = (code: string, facts: Reason["facts"]): readonly (string | undefined)[] => {
      const reason: Reason = { mechanism: "m", code, verdict: "deny", facts };
      const decision = {
        verdict: "deny",
        enforcedVerdict: "deny",
        reasons: [reason],
        obligations: [],
        option,
      } as const;
      return (["whole", "named", "least"] as const).map((length) => causeOf(decision, length));
    };
    const plain = "`mail.send` may run code";
    expect(said("SG-ASK-EXECUTE", { reading })).toEqual([`${plain}; ${reading}`, reading, plain]);
    const whole = "with these arguments of `mail.send`, `sql` is code";
    expect(said("SG-ARGUMENTS", { because: ["`sql` is code"] })).toEqual([whole, whole, "`sql` is code"]);
    expect(said("SG-ARGUMENTS", { effects: [] })[2]).toContain("does more than its labels say");
  });

  it("is that of a reason that decided, whatever stands before it", () => {
    const milder: Reason = { mechanism: "m", code: "SG-LIMIT", verdict: "confirm", facts: {} };
    const deciding: Reason = { mechanism: "m", code: "SG-ASK-EXECUTE", verdict: "deny", facts: {} };
    const reasons = [milder, deciding, milder];
    expect(causeOf({ verdict: "deny", enforcedVerdict: "deny", reasons, obligations: [], option })).toBe(
      "`mail.send` may run code",
    );
  });

  it("says may where only the upper end of a label decides, and names both data and argument or neither", () => {
    for (const code of ["SG-RULE-UNSURE", "SG-HAZARD-ASK"])
      expect(cause({ code, facts: culprit })).toMatch(/ may carry/);
    for (const code of ["SG-RULE-CONFIRM", "SG-HAZARD", "SG-ASK-BOUND"])
      expect(cause({ code, facts: culprit })).toMatch(/ would carry/);
    for (const name of ["arguments", "labels"])
      expect(cause({ code: "SG-HAZARD", facts: { ...culprit, [name]: [] } })).toBe("`mail.send` is stopped");
  });

  it("has nothing to say of what it does not know", () => {
    expect(cause({})).toBeUndefined();
    const bare: Reason = { mechanism: "m", code: "SG-X", verdict: "deny", rule: "R", facts: {} };
    const plain: Decision = {
      verdict: "deny",
      enforcedVerdict: "deny",
      reasons: [bare],
      obligations: [],
      option: undefined,
    };
    expect(causeOf(plain)).toBe("the call is stopped (rule R)");
    expect(causeOf({ verdict: "deny", enforcedVerdict: "deny", reasons: [], obligations: [], option })).toBeUndefined();
  });

  it("shows names from servers short and without characters that hide or turn text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 80, size: "max" }), (name) => {
        expect(shownName(name).length).toBeLessThanOrEqual(40);
        expect(shownName(name)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}`]/u);
      }),
    );
  });
});

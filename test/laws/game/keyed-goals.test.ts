// Debts whose payment something with keys speaks of: the game does not follow keys, so it counts on nothing they may stop.
import { describe, expect, it } from "vitest";
import type { PolicyDocument } from "../../../src/policy/canonical/policy-document.ts";
import { debtPolicy } from "../../kit/proof/game/example-policies.ts";
import { Session } from "../../kit/proof/game/session.ts";

const key = { argument: "text", form: "id" } as const;
const why = "somebody has approved it";

/** The policy of example 3 with more rules, hazards, or tools. */
function withMore(more: Pick<PolicyDocument, "rules" | "hazards" | "labels">): Session {
  const policy = debtPolicy("never");
  return new Session({
    ...policy,
    rules: [...(policy.rules ?? []), ...(more.rules ?? [])],
    hazards: { ...policy.hazards, ...more.hazards },
    labels: { ...policy.labels, ...more.labels },
  });
}

const approved = (consent: "never" | "may") => ({
  unapproved: { consent, never: { unless: { call: "s.notify", need: "s.approve", key } } },
});

describe("a debt whose payment", () => {
  it("a hazard with a key may find bad, is not taken on", () => {
    const session = withMore({ hazards: approved("never") });
    expect(session.policy.startProblem).toBeUndefined();
    expect(session.calls()).toEqual({ read_medical: "allow", pay: "deny", notify: "deny" });
  });

  it("a person may answer for, is", () => {
    const session = withMore({ hazards: approved("may") });
    expect(session.calls()).toEqual({ read_medical: "allow", pay: "allow", notify: "confirm" });
  });

  it("a rule with a key may stop, is not taken on, unless another call can meet it", () => {
    const gate = { id: "gate", tier: "must", gate: { before: "s.notify", need: "s.approve", key }, why } as const;
    expect(withMore({ rules: [gate] }).ask("pay").verdict).toBe("deny");
    const policy = debtPolicy("never");
    const notify = policy.labels?.["s.notify"];
    if (notify === undefined) throw new Error("the example has a notification");
    const debt = {
      id: "tell",
      tier: "must",
      owed: { after: "s.pay", owe: { effect: "write.external.send" }, within: 4 },
      why,
    } as const;
    for (const other of ["s.alert", "s.write"]) {
      const session = new Session({
        ...policy,
        labels: { ...policy.labels, [other]: notify },
        hazards: {},
        rules: [debt, gate],
      });
      expect(session.ask("pay").verdict).toBe("allow");
    }
  });
});

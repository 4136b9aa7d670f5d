// Debts and what must stay usable, through the mechanism (formal.md example 3 and 4).
import { describe, expect, it } from "vitest";
import { sink, tools, open, secret } from "../../../../test/kit/proof/small.ts";
import { debt, leak } from "../../../../test/kit/regulation/documents.ts";
import { type SmallDocument, namesIn, SmallRun, told } from "../../../../test/kit/regulation/small-run.ts";

const all = ["s.read_medical", "s.pay", "s.notify"];

describe("a debt", () => {
  it("is not taken on where it could not be met, and nothing is read that would make it so", () => {
    const run = new SmallRun(debt(), ["text"]);
    expect(run.listed(all)).toEqual(all);
    run.call("s.pay", { amount: "1" });
    expect(run.listed(all)).toEqual(["s.pay", "s.notify"]);
    const decision = run.decide("s.read_medical");
    expect(told(decision)).toBe("deny SG-HIDDEN");
    expect(decision.reasons[0]).toMatchObject({
      facts: { lost: ["debt say-so"] },
      way: "it comes back after s.notify",
    });
    run.call("s.notify", { text: "paid" });
    expect(run.listed(all)).toEqual(all);
  });

  it("once the medical data is read, is not taken on", () => {
    const run = new SmallRun(debt(), ["text"]);
    run.call("s.read_medical");
    expect(run.listed(all)).toEqual(["s.read_medical"]);
    expect(told(run.decide("s.pay", { amount: "1" }))).toBe("deny SG-HIDDEN");
  });

  it("that consent can still meet does not stand in the way", () => {
    const run = new SmallRun(debt("may"), ["text"]);
    run.call("s.pay", { amount: "1" });
    expect(told(run.decide("s.read_medical"))).toBe("allow");
    run.call("s.read_medical");
    expect(run.decide("s.notify", { text: "paid" }).verdict).toBe("confirm");
  });

  it("can still be met, with consent, by a tool whose lease has ended or that the filter keeps away", () => {
    const run = new SmallRun({ ...debt(), regulation: { leases: [{ tool: "s.notify", calls: 1 }] } }, ["text"]);
    run.call("s.pay", { amount: "1" });
    run.call("s.notify", { text: "paid" });
    expect(told(run.expose("s.notify"))).toBe("deny SG-LEASE");
    expect(told(run.decide("s.notify", { text: "paid" }))).toBe("deny SG-LEASE");
    run.call("s.pay", { amount: "2" });
    expect(told(run.expose("s.notify"))).toBe("confirm SG-LEASE");
    expect(told(run.decide("s.notify", { text: "paid" }))).toBe("confirm SG-LEASE");
  });

  it("that nothing in the policy can meet is never taken on", () => {
    const labels = { "s.pay": debt().labels?.["s.pay"] ?? {} };
    const run = new SmallRun({ ...debt(), labels });
    expect(run.policy.startProblem).toBeUndefined();
    expect(told(run.decide("s.pay", { amount: "1" }))).toBe("deny SG-HIDDEN");
  });
});

const kept = (firm: boolean, more: SmallDocument = {}): SmallDocument => ({
  flow: { mode: "strict" },
  labels: {
    "s.read_secret": tools.reads(secret),
    "s.read_pub": tools.reads(open),
    "s.send_mail": tools.sends({ rest: sink }),
  },
  hazards: {
    leak: { ...leak(), never: { flow: { from: { confidentiality: "private" }, to: { effect: "write.external" } } } },
  },
  keep: [{ firm, trace: ["s.send_mail"] }],
  ...more,
});

describe("what must stay usable", () => {
  it("firmly: the call that would cost it is refused", () => {
    const run = new SmallRun(kept(true), ["text"]);
    expect(run.listed(["s.read_secret", "s.send_mail"])).toEqual(["s.send_mail"]);
    expect(namesIn(run.decide("s.read_secret").reasons[0]?.facts ?? {}, "lost")).toEqual(["keep s.send_mail"]);
  });

  it("firmly: meeting a debt that is only observed brings nothing back", () => {
    const owed = { after: "s.read_pub", owe: "s.send_mail", within: 5 };
    const rules = [{ id: "tell", tier: "must" as const, mode: "observe" as const, why: "tell", owed }];
    const run = new SmallRun(kept(true, { rules }), ["text"]);
    run.call("s.read_pub");
    expect(run.decide("s.read_secret").reasons).toMatchObject([
      { code: "SG-HIDDEN", way: "use another tool; the user can change the policy" },
    ]);
  });

  it("ordinarily: the call goes ahead with a warning and a way to keep it", () => {
    const run = new SmallRun(kept(false), ["text"]);
    const decision = run.decide("s.read_secret");
    expect(decision.verdict).toBe("allow");
    expect(decision.reasons).toMatchObject([
      { code: "SG-KEEP-LOST", observed: true, facts: { tools: ["s.send_mail"] }, way: "call s.send_mail first" },
    ]);
    expect(run.decide("s.read_pub").reasons).toEqual([]);
    run.call("s.read_secret");
    // It is gone already: nothing more is lost.
    expect(run.decide("s.read_secret").reasons).toEqual([]);
  });

  it("is not asked about where the call is no move", () => {
    const run = new SmallRun(kept(false), ["text"]);
    run.fold({ kind: "ended", at: 1, cause: "closed" });
    expect(run.decide("s.read_secret").reasons.map(({ code }) => code)).not.toContain("SG-KEEP-LOST");
  });

  it("a tool that asks is not usable as it was", () => {
    const run = new SmallRun(
      kept(false, {
        hazards: { leak: { ...leak("may"), never: kept(false).hazards?.["leak"]?.never ?? { call: {} } } },
      }),
      ["text"],
    );
    expect(run.decide("s.read_secret").reasons).toMatchObject([{ code: "SG-KEEP-LOST" }]);
  });

  it("firmly, and impossible from the start: no run starts", () => {
    const rules = [{ id: "no", tier: "block" as const, when: { tool: "s.send_mail" }, why: "never" }];
    expect(new SmallRun(kept(true, { rules })).policy.startProblem).toMatch(
      /^`keep s\.send_mail` cannot be met whatever a run does/,
    );
  });
});

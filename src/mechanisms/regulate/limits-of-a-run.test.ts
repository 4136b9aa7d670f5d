// Power, leases, the modes of the filter and surprise, as they reach a call through the mechanism.
import { describe, expect, it } from "vitest";
import { open, tools } from "../../../test/kit/proof/small.ts";
import { debt } from "../../../test/kit/regulation/documents.ts";
import { SmallRun, told } from "../../../test/kit/regulation/small-run.ts";

const labels = { "s.read_pub": tools.reads(open), "s.mail_out": tools.sends() };

describe("limits of a run", () => {
  it("more power than the budget asks, and has been asked about once it is there", () => {
    const run = new SmallRun({ labels, regulation: { power: { budget: 0.1 } } });
    expect(told(run.decide("s.mail_out"))).toBe("confirm SG-POWER");
    expect(run.policy.describeRegulation(run.run, [], run.at)).toMatchObject({ power: 0, budget: 0.1 });
    run.call("s.mail_out");
    expect(told(run.decide("s.mail_out"))).toBe("allow");
    expect(run.policy.describeRegulation(run.run, [], run.at).power).toBeGreaterThan(0);
  });

  it("a run whose history is lost may have all power: what it gathers anew is asked about, once", () => {
    const asks = (budget: number) => {
      const run = new SmallRun({ labels, regulation: { power: { budget } } });
      run.become({ lost: true });
      return run;
    };
    const run = asks(500);
    expect(told(run.decide("s.mail_out"))).toBe("confirm SG-POWER");
    run.call("s.mail_out");
    expect(told(run.decide("s.mail_out"))).toBe("allow");
    expect(told(run.decide("s.read_pub"))).toBe("confirm SG-POWER");
    expect(told(asks(1_000_000).decide("s.mail_out"))).toBe("allow");
  });

  it("a leased tool is gone from the list and cannot be called when its calls are used up", () => {
    const run = new SmallRun({ labels, regulation: { leases: [{ tool: "s.mail_out", calls: 1 }] } });
    expect(told(run.expose("s.mail_out"))).toBe("allow");
    run.call("s.mail_out");
    expect(told(run.expose("s.mail_out"))).toBe("deny SG-LEASE");
    expect(told(run.decide("s.mail_out"))).toBe("deny SG-LEASE");
  });

  it("a run whose history is lost has no lease left: it may have used all of them", () => {
    const run = new SmallRun({ labels, regulation: { leases: [{ tool: "s.mail_out", calls: 5 }] } });
    run.run = { ...run.run, q: run.policy.topState() };
    expect(told(run.expose("s.mail_out"))).toBe("deny SG-LEASE");
    expect(run.decide("s.mail_out").verdict).toBe("deny");
    const [hidden] = run.policy.describeRegulation(run.run, [run.contract("s.mail_out")], run.at).hidden;
    expect(hidden?.why).toContain("lease");
  });

  it("a lease in time ends with its time", () => {
    const run = new SmallRun({ labels, regulation: { leases: [{ tool: "s.mail_out", for: "1m" }] } });
    run.at = 60_000;
    expect(run.expose("s.mail_out").verdict).toBe("allow");
    run.at = 60_001;
    expect(told(run.expose("s.mail_out"))).toBe("deny SG-LEASE");
  });
});

describe("how long the word of the game holds for a list", () => {
  it.each([
    ["replace", "allow", "allow"],
    ["accumulate", "deny SG-FILTERED", "deny SG-FILTERED"],
    ["lease", "deny SG-FILTERED", "allow"],
  ] as const)("%s", (mode, soon, later) => {
    const filter = mode === "lease" ? { mode, ttl: "1m" } : { mode };
    const run = new SmallRun({ ...debt(), regulation: { filter } }, ["text"]);
    expect(told(run.expose("s.read_medical"))).toBe("allow");
    run.call("s.pay", { amount: "1" });
    expect(run.expose("s.read_medical").reasons.map(({ code }) => code)).toContain("SG-HIDDEN");
    run.at = 10;
    run.call("s.notify", { text: "paid" });
    expect(told(run.expose("s.read_medical"))).toBe(soon);
    expect(told(run.decide("s.read_medical"))).toBe(soon);
    run.at = 60_010;
    expect(told(run.expose("s.read_medical"))).toBe(later);
  });
});

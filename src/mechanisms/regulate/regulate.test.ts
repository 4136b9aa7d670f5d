import { describe, expect, it } from "vitest";
import { open, tools } from "../../../test/kit/proof/small.ts";
import { openHost, repository } from "../../../test/kit/regulation/documents.ts";
import { namesIn, SmallRun, told } from "../../../test/kit/regulation/small-run.ts";

const readers = ["s.read_pub", "s.read_priv", "s.read_any", "s.mail_out"];

describe("a client that sends by itself", () => {
  it("lists no tool that surely brings what it must not send, and refuses the call as well", () => {
    const run = new SmallRun(openHost());
    expect(run.listed(readers)).toEqual(["s.read_pub", "s.read_any", "s.mail_out"]);
    expect(told(run.expose("s.read_priv"))).toBe("deny SG-HIDDEN");
    expect(told(run.decide("s.read_priv"))).toBe("deny SG-HIDDEN");
  });

  it("lets a call through whose result may be harmless, and asks once the result is there", () => {
    const run = new SmallRun(openHost());
    const sent = run.send("s.read_any");
    run.succeed(sent);
    const decision = run.releasing(sent);
    expect(told(decision)).toBe("confirm SG-LOOMING");
    expect(decision.reasons[0]).toMatchObject({
      rule: "leak",
      facts: { risks: ["leak host.send"], moves: ["host.send"] },
    });
  });

  it("asks about everything while a result is under way that it may have to refuse", () => {
    const run = new SmallRun(openHost());
    run.send("s.read_any");
    expect(told(run.decide("s.read_pub"))).toBe("confirm SG-UNSAFE-STATE");
  });

  it("asks where the hazard is one that a person may answer for, and takes the risk for the rest of the run", () => {
    const run = new SmallRun(openHost("may"));
    expect(told(run.expose("s.read_priv"))).toBe("confirm");
    const decision = run.decide("s.read_priv");
    expect(told(decision)).toBe("confirm SG-LOOMING");
    expect(decision.reasons.flatMap(({ facts }) => namesIn(facts, "risks"))).toEqual(["leak host.send"]);
    run.call("s.read_priv");
    expect(told(run.decide("s.read_priv"))).toBe("allow");
    // The call itself is still a bad move of the hazard.
    expect(told(run.decide("s.mail_out", { text: "text" }))).toMatch(/^confirm/);
  });

  it("refuses everything in a state that is unsafe already, or asks where a person may answer for it", () => {
    for (const [consent, verdict] of [
      ["never", "deny"],
      ["may", "confirm"],
    ] as const) {
      const run = new SmallRun(openHost(consent));
      const { label } = run.contract("s.read_priv").output;
      run.become({ held: [label] });
      expect(told(run.decide("s.read_pub"))).toBe(`${verdict} SG-UNSAFE-STATE`);
      expect(run.expose("s.read_pub").verdict).toBe(verdict);
    }
  });

  it("takes a consent to a doubtful value for no more than that: what is surely private stays out", () => {
    const run = new SmallRun(openHost());
    const sent = run.send("s.read_any");
    run.succeed(sent);
    run.accept("leak host.send");
    expect(told(run.releasing(sent))).toBe("allow");
    run.pass(sent);
    expect(told(run.decide("s.read_pub"))).toBe("allow");
    expect(told(run.decide("s.read_priv"))).toBe("deny SG-HIDDEN");
  });

  it("forgets what was accepted when its time is over", () => {
    const run = new SmallRun(openHost("may"));
    run.accept("leak host.send", 1_000);
    expect(run.decide("s.read_priv").verdict).toBe("allow");
    run.at = 1_000;
    expect(run.decide("s.read_priv").verdict).toBe("confirm");
  });

  it("says nothing where the policy accepts the hazard, watches it only, or the client asks its person", () => {
    const accepted = { ...openHost(), accepts: ["leak"] };
    const { leak } = openHost().hazards ?? {};
    const watched = { ...openHost(), hazards: { leak: { never: { call: {} }, ...leak, mode: "observe" as const } } };
    const gated = { ...openHost(), host: { send: "gated" as const } };
    for (const document of [accepted, watched, gated]) {
      expect(told(new SmallRun(document).decide("s.read_priv"))).toBe("allow");
    }
  });

  it("refuses and asks about nothing where the whole policy only observes", () => {
    const run = new SmallRun({ ...openHost(), mode: "observe" });
    expect(told(run.decide("s.read_priv"))).toBe("allow");
  });

  it("judges what a server says unasked like any other result", () => {
    const run = new SmallRun(openHost());
    expect(told(run.unasked(run.contract("s.read_priv")))).toBe("deny SG-LOOMING");
    expect(told(run.unasked(run.contract("s.read_pub")))).toBe("allow");
  });

  it("asks about everything once the history of the run is lost, and refuses nothing for it alone", () => {
    const run = new SmallRun(openHost());
    run.run = { ...run.run, q: run.policy.topState() };
    expect(told(run.decide("s.read_pub"))).toBe("confirm SG-UNSAFE-STATE");
  });
});

describe("a store that others can come to read", () => {
  const all = ["s.read_secret", "s.write_repo", "s.grant"];

  it("keeps either the secret out of the open store, or the store closed", () => {
    const opened = new SmallRun({ ...repository(), flow: { mode: "strict" } }, ["text"]);
    opened.call("s.grant");
    expect(opened.listed(all)).toEqual(all);
    opened.call("s.read_secret");
    expect(opened.listed(all)).toEqual(["s.read_secret", "s.grant"]);
    const written = new SmallRun({ ...repository(), flow: { mode: "strict" } }, ["text"]);
    written.call("s.read_secret");
    written.call("s.write_repo", { text: "the secret" });
    expect(written.listed(all)).toEqual(["s.read_secret", "s.write_repo"]);
    expect(told(written.decide("s.grant"))).toBe("deny SG-HIDDEN");
  });

  it("does not look at results where only stores matter", () => {
    const run = new SmallRun({ ...repository(), flow: { mode: "strict" } });
    run.call("s.grant");
    const sent = run.send("s.read_secret");
    run.succeed(sent);
    expect(told(run.releasing(sent))).toBe("allow");
  });

  it("shows in `provenance` what can be called with a value of one's own, and refuses the copy", () => {
    const run = new SmallRun(repository());
    run.call("s.grant");
    const sent = run.send("s.read_secret");
    run.succeed(sent);
    run.pass(sent, "the combination is 84-17-22-63-09");
    expect(run.listed(all)).toEqual(all);
    expect(told(run.decide("s.write_repo", { text: "hello" }))).toBe("allow");
    expect(told(run.decide("s.write_repo", { text: "the combination is 84-17-22-63-09" }))).toBe("deny SG-LOOMING");
  });
});

describe("a store that is read again", () => {
  it("brings what was written to it: a call that surely does so is refused where nothing private may be held", () => {
    const run = new SmallRun({
      ...openHost(),
      flow: { mode: "strict" },
      stores: { notes: { audience: "me", label: { confidentiality: "private", trust: "trusted" } } },
      labels: { ...openHost().labels, "s.recall": tools.reads(open, { reads: "notes" }) },
    });
    expect(told(run.decide("s.recall"))).toBe("deny SG-HIDDEN");
    expect(told(run.decide("s.read_pub"))).toBe("allow");
  });
});

describe("a field of a result", () => {
  it("counts with the least that it can hold, like the result itself", () => {
    const output = { ...open, fields: { "/note": { confidentiality: "private" } } };
    const unknown = { ...open, fields: { "/note": { confidentiality: "unsure" } } };
    const run = new SmallRun({
      ...openHost(),
      labels: { ...openHost().labels, "s.find": tools.reads(output), "s.look": tools.reads(unknown) },
    });
    expect(told(run.decide("s.find"))).toBe("deny SG-HIDDEN");
    expect(told(run.decide("s.look"))).toBe("allow");
  });
});

describe("moments of other mechanisms", () => {
  it("are none of its business", () => {
    const run = new SmallRun(openHost());
    const admit = { kind: "admit", at: 1, server: "s", manifestDigest: "d", contracts: [] } as const;
    const reflect = { kind: "reflect", at: 1, server: undefined, cause: "start" } as const;
    expect([told(run.judge(admit)), told(run.judge(reflect))]).toEqual(["allow", "allow"]);
  });
});

describe("policies about which nothing can loom", () => {
  it("leaves every call to the other mechanisms", () => {
    const run = new SmallRun({ labels: openHost().labels ?? {} });
    expect(run.listed(readers)).toEqual(readers);
    expect(told(run.decide("s.read_priv"))).toBe("allow");
  });
});

import { describe, expect, it } from "vitest";
import { atLeastAsStrict } from "../../../core/verdict.ts";
import type { PatternObject } from "../../../policy/document/shapes-labels.ts";
import { local, open, secret, tools } from "../../../../test/kit/proof/small.ts";
import { leak, openHost } from "../../../../test/kit/regulation/documents.ts";
import { SmallRun, told } from "../../../../test/kit/regulation/small-run.ts";
import { optionsMax } from "./options.ts";

const block = (id: string, when: PatternObject) => ({ id, tier: "block" as const, when, why: `because of ${id}` });
const writes = { effects: "write.local", args: { x: local, y: local }, rest: local, output: open } as const;
const free = { id: "free", tier: "allow" as const, when: { tool: "s.*" }, why: "ordinary work" };

describe("what hides a tool", () => {
  it("a rule that stops its every call, not one that stops some", () => {
    const run = new SmallRun({
      labels: { "s.a": writes, "s.b": writes },
      rules: [
        free,
        block("no-secret", { tool: "s.a", held: { confidentiality: "private" } }),
        block("not-v", { tool: "s.b", arg: { x: { equals: "v" } } }),
      ],
    });
    const { label } = new SmallRun(openHost()).contract("s.read_priv").output;
    run.become({ held: [label] });
    const hidden = run.expose("s.a");
    expect(told(hidden)).toBe("deny SG-HIDDEN");
    expect(hidden.reasons[0]).toMatchObject({
      rule: "no-secret",
      why: "because of no-secret",
      facts: { holds: ["private"] },
      way: "it comes back in a new run (`sluicegate runs new`)",
    });
    expect(told(run.expose("s.b"))).toBe("allow");
  });

  it("no rule that is only observed, and no question of the default that a rule lifts", () => {
    const run = new SmallRun({
      labels: { "s.a": writes },
      rules: [{ ...block("watched", { tool: "s.a" }), mode: "observe" }, free],
    });
    expect(told(run.expose("s.a"))).toBe("allow SG-RULE-HIDDEN");
    expect(new SmallRun({ labels: { "s.a": { ...writes, effects: "execute.local" } } }).expose("s.a").verdict).toBe(
      "confirm",
    );
  });

  it("what is used up, not what another call would unlock", () => {
    const run = new SmallRun({
      labels: { "s.a": writes, "s.b": writes, "s.c": writes },
      rules: [
        free,
        { id: "once", tier: "block", atMost: { of: { tool: "s.a" }, count: 1 }, why: "once is enough" },
        { id: "first", tier: "must", gate: { before: { tool: "s.b" }, need: { tool: "s.c" } }, why: "order" },
      ],
    });
    expect(run.listed(["s.a", "s.b", "s.c"])).toEqual(["s.a", "s.b", "s.c"]);
    run.call("s.a");
    expect(run.listed(["s.a", "s.b", "s.c"])).toEqual(["s.b", "s.c"]);
    expect(told(run.decide("s.b"))).toBe("deny SG-MUST-FIRST");
  });

  it("a rule that asks marks it, and the call asks", () => {
    const run = new SmallRun({
      labels: { "s.a": writes },
      rules: [free, { id: "ask", tier: "confirm", atMost: { of: { tool: "s.a" }, count: 0 }, why: "ask me" }],
    });
    expect(told(run.expose("s.a"))).toBe("confirm");
    expect(told(run.decide("s.a"))).toBe("confirm SG-LIMIT");
  });

  it.each([
    ["the one that asks comes first", { arg: { x: { equals: "v" } } }],
    ["the one that is refused comes first", { workspace: false }],
  ])("no more than the mildest of its calls is: %s", (_order, refused) => {
    const asks = { id: "ask", tier: "confirm", when: { tool: "s.a" }, why: "ask me" } as const;
    const run = new SmallRun({
      labels: { "s.a": writes },
      rules: [free, asks, block("no", { tool: "s.a", ...refused })],
    });
    expect(run.expose("s.a").verdict).toBe("confirm");
  });

  it("a hazard that its every call would be, watched hazards aside", () => {
    const never = { call: { tool: "s.a" } };
    const labels = { "s.a": writes };
    const enforced = new SmallRun({ labels, rules: [free], hazards: { h: { consent: "never", never, why: "harm" } } });
    expect(told(enforced.expose("s.a"))).toBe("deny SG-HIDDEN");
    const watched = { consent: "never", never, why: "harm", mode: "observe" } as const;
    expect(new SmallRun({ labels, rules: [free], hazards: { h: watched } }).expose("s.a").verdict).toBe("allow");
  });

  it("too many predicates to combine leave it shown, and each call is decided", () => {
    const many = Array.from({ length: Math.log2(optionsMax) }, (_, index) =>
      block(`r${index}`, { tool: "s.a", arg: { x: { equals: `v${index}` } } }),
    );
    const run = new SmallRun({
      labels: { "s.a": writes },
      rules: [free, ...many, block("none", { tool: "s.a", held: { confidentiality: "private" } })],
    });
    const { label } = new SmallRun(openHost()).contract("s.read_priv").output;
    run.become({ held: [label] });
    expect(told(run.expose("s.a"))).toBe("allow");
    expect(told(run.decide("s.a", { x: "w" }))).toBe("deny SG-RULE-BLOCK");
  });
});

describe("the least that a call can carry", () => {
  const strict = {
    flow: { mode: "strict" as const },
    labels: { "s.read": tools.reads(secret), "s.mail": tools.sends() },
    hazards: { leak: leak() },
  };

  it("in `strict` everything that is held, unless a person lowered a value", () => {
    const run = new SmallRun(strict, ["text"]);
    run.call("s.read");
    expect(told(run.expose("s.mail"))).toBe("deny SG-HIDDEN");
    const lower = { lo: 0, hi: 0 } as LowRange;
    const said = { digest: "d", role: "content", from: lower, to: lower, purpose: "", principal: "p" } as const;
    run.fold({ kind: "granted", at: 1, grant: { kind: "declassify", ...said, expiresAt: 100 } });
    expect(told(run.expose("s.mail"))).toBe("allow");
  });

  it("in `none` nothing", () => {
    const run = new SmallRun({ ...strict, flow: { mode: "none" } }, ["text"]);
    run.call("s.read");
    expect(told(run.expose("s.mail"))).toBe("allow");
  });

  it("in `provenance` what came past every release", () => {
    const run = new SmallRun({ ...strict, flow: { mode: "provenance" } }, ["text"]);
    run.run = { ...run.run, q: run.policy.topState() };
    expect(run.expose("s.mail").verdict).toBe("confirm");
  });

  it("with a key that no call has had: what was counted without one does not hide the tool", () => {
    const keyed = { of: { effect: "write.external" }, count: 2, key: "to" };
    const run = new SmallRun({
      host: { send: { open: "anyone" } },
      labels: { "s.mail": { ...tools.sends(), args: { to: "recipient", text: local }, rest: local } },
      rules: [free],
      hazards: { flood: { consent: "never", never: { atMost: keyed }, why: "two are enough" } },
    });
    // Nobody can tell whom it went to, so it counts for all who are not known.
    run.call("s.mail", { text: "x" });
    expect(told(run.decide("s.mail", { to: "a@example.com" }))).toBe("allow");
    expect(told(run.expose("s.mail"))).toBe("allow");
    expect(told(run.decide("s.mail", { text: "x" }))).toMatch(/^deny/);
  });
});

describe("a keyed hazard", () => {
  it("does not hide the call that takes away what it brings: a key that is set can be freed", () => {
    const by = { job: { role: "identifier", sink: false } } as const;
    const sequence = {
      after: { tool: "s.start" },
      never: { effect: "execute" },
      until: { tool: "s.stop" },
      key: "job",
    };
    const run = new SmallRun({
      host: { execute: "open" },
      labels: {
        "s.start": { ...tools.reads(open), args: by },
        "s.stop": { ...tools.reads(open), args: by },
      },
      hazards: { h: { consent: "may", why: "stop what was started", never: { sequence } } },
    });
    expect(run.expose("s.start").verdict).toBe("confirm");
    run.call("s.start", { job: "1" });
    run.become({ grants: [] });
    for (const job of ["1", "2"]) {
      const judged = run.decide("s.stop", { job }).verdict;
      expect(atLeastAsStrict(judged, run.expose("s.stop").verdict)).toBe(true);
    }
  });
});

type LowRange = ReturnType<SmallRun["contract"]>["output"]["label"];

import { describe, expect, it } from "vitest";
import { begin } from "../../core/mechanism.ts";
import { reservedHeld } from "../../policy/semantics/state.ts";
import { open, tools } from "../../../test/kit/proof/small.ts";
import { debt, openHost, repository, unsure } from "../../../test/kit/regulation/documents.ts";
import { type SmallDocument, SmallRun } from "../../../test/kit/regulation/small-run.ts";

const names = ["s.read_pub", "s.read_priv", "s.read_any", "s.mail_out"];

function view(run: SmallRun, of: readonly string[] = names) {
  return run.policy.describeRegulation(
    run.run,
    of.map((name) => run.contract(name)),
    run.at,
  );
}

describe("what people are told of a run", () => {
  it("the class of its state: critical where some result may not be passed on, unsafe outside of W", () => {
    const run = new SmallRun(openHost("may"));
    expect(view(run).state).toBe("critical");
    expect(view(run, ["s.read_pub", "s.mail_out"]).state).toBe("safe");
    run.call("s.read_priv");
    expect(view(run)).toMatchObject({ state: "critical", risks: ["leak host.send"] });
    run.become({ grants: [] });
    expect(view(run)).toMatchObject({ state: "unsafe", risks: [] });
    expect(view(new SmallRun({ labels: openHost().labels ?? {} })).state).toBe("safe");
  });

  it("calls that rules refuse, and calls that are no move, make no state critical", () => {
    const rules = ["s.read_priv", "s.read_any"].map((tool) => ({
      id: `no-${tool}`,
      tier: "block" as const,
      when: { tool },
      why: "never",
    }));
    expect(view(new SmallRun({ ...openHost(), rules })).state).toBe("safe");
    const ended = new SmallRun(openHost());
    ended.fold({ kind: "ended", at: 1, cause: "closed" });
    expect(view(ended).state).toBe("safe");
  });

  it("which tools are hidden, why, and when they come back", () => {
    const never = new SmallRun(openHost());
    expect(view(never).hidden).toEqual([
      {
        tool: "s.read_priv",
        why: "after it the client sends what it holds unasked (hazard leak); use another tool; the user can change the policy",
      },
    ]);
    const written = new SmallRun({ ...repository(), flow: { mode: "strict" } }, ["text"]);
    written.call("s.grant");
    written.call("s.read_secret");
    expect(view(written, ["s.write_repo"]).hidden).toEqual([
      {
        tool: "s.write_repo",
        why: "this run holds private data; after it `anyone` reads `repo` unasked (hazard leak); it comes back in a new run (`sluicegate runs new`)",
      },
    ]);
    const leased = new SmallRun({
      labels: { "s.mail_out": tools.sends() },
      regulation: { leases: [{ tool: "s.mail_out", calls: 1 }] },
    });
    leased.call("s.mail_out");
    expect(view(leased, ["s.mail_out"]).hidden).toEqual([
      { tool: "s.mail_out", why: "the lease of `s.mail_out` has ended (1 call); start a new run for it" },
    ]);
  });

  it("a tool that stores of all runs hide names the reset that brings it back", () => {
    const hiddenAfter = (document: SmallDocument, ...tainting: readonly string[]): string => {
      const run = new SmallRun({ ...document, flow: { mode: "strict" } }, ["text"]);
      for (const tool of tainting) run.call(tool, tool.includes("write") ? { text: "x" } : {});
      run.run = begin(run.policy.engine, "next", run.q);
      return view(run, ["s.grant"]).hidden[0]?.why ?? "";
    };
    const reads = "after it `anyone` reads `repo` unasked (hazard leak); use another tool; the user can run";
    expect(hiddenAfter(repository(), "s.read_secret", "s.write_repo")).toBe(
      `${reads} \`sluicegate stores reset repo\``,
    );
    const both: SmallDocument = {
      ...repository(),
      stores: { repo: { audience: "me" }, wiki: { audience: "me" } },
      labels: {
        ...repository().labels,
        "s.write_wiki": tools.writes("wiki"),
        "s.grant": { ...tools.grants("repo"), opens: ["repo", "wiki"].map((store) => ({ store, audience: "anyone" })) },
      },
    };
    expect(hiddenAfter(both, "s.read_secret", "s.write_repo")).toContain("`sluicegate stores reset repo`");
    expect(hiddenAfter(both, "s.read_secret", "s.write_repo", "s.write_wiki")).toContain(
      "`sluicegate stores reset --all`",
    );
  });

  it("a tool that a hazard of order hides names the call that unlocks it", () => {
    const run = new SmallRun({
      host: { execute: "open" },
      labels: { "s.read": tools.reads(open), "s.clean": tools.reads(open) },
      hazards: {
        order: {
          consent: "never",
          why: "first clean up",
          never: { sequence: { after: { tool: "s.read" }, never: { effect: "execute" }, until: { tool: "s.clean" } } },
        },
      },
    });
    expect(view(run, ["s.read", "s.clean"]).hidden).toEqual([
      {
        tool: "s.read",
        why: "after it the client runs code unasked (hazard order); it comes back after s.clean",
      },
    ]);
  });
});

describe("the class of a state", () => {
  it("is critical where a call is bad by itself, though nothing uncontrollable is, and safe without such a call", () => {
    const gated = new SmallRun({ ...openHost("may"), host: { send: "gated" } });
    expect(view(gated).state).toBe("safe");
    gated.call("s.read_priv");
    expect(view(gated).state).toBe("critical");
    expect(view(gated, ["s.read_pub"]).state).toBe("safe");
    const unlabelled = new SmallRun({ ...openHost("may"), host: { send: "gated" }, flow: { mode: "none" } });
    unlabelled.call("s.read_priv");
    expect(view(unlabelled).state).toBe("safe");
  });
});

describe("the digest of what a list depends on", () => {
  const digest = (run: SmallRun): string => run.policy.stateDigest(run.run, run.at);

  it("stays the same while nothing happens that a list could show", () => {
    const run = new SmallRun({ labels: openHost().labels ?? {} });
    const before = digest(run);
    run.call("s.read_pub");
    run.call("s.read_pub");
    const once = digest(run);
    run.call("s.read_pub");
    expect(digest(run)).toBe(once);
    run.call("s.read_priv");
    expect(digest(run)).not.toBe(once);
    expect(before).toMatch(/^[0-9a-f]{64}$/);
  });

  it("tells a result that is held from one that is under way", () => {
    const strict: SmallDocument = { ...repository(), flow: { mode: "strict" } };
    const run = new SmallRun(strict, ["text"]);
    run.call("s.grant");
    const sent = run.send("s.read_secret");
    run.succeed(sent);
    const waiting = digest(run);
    const reserved = reservedHeld(run.ir, run.q);
    run.pass(sent);
    expect(reservedHeld(run.ir, run.q)).toEqual(reserved);
    expect(digest(run)).not.toBe(waiting);
  });

  it("regression: tells a call under way that locks what another would unlock from one that has settled", () => {
    const gate = { before: { tool: "s.mail_out" }, need: { tool: "s.read_priv" }, unless: { tool: "s.read_pub" } };
    const labels = openHost().labels ?? {};
    const run = new SmallRun({ labels, rules: [{ id: "r", tier: "must", gate, why: "first" }] });
    run.call("s.read_pub");
    const sent = run.send("s.read_pub");
    const waiting = digest(run);
    const reserved = reservedHeld(run.ir, run.q);
    run.succeed(sent);
    expect(reservedHeld(run.ir, run.q)).toEqual(reserved);
    expect(digest(run)).not.toBe(waiting);
  });

  it("changes with a lease that ends, a tool that stays filtered, an accepted risk, and what a model is told", () => {
    const changes = (document: SmallDocument, act: (run: SmallRun) => void): boolean => {
      const run = new SmallRun(document, ["text"]);
      run.answering = { safety: "safe", pUnsafe: 0, filteredTools: [] };
      const before = digest(run);
      act(run);
      return digest(run) !== before;
    };
    const leased = { labels: openHost().labels ?? {}, regulation: { leases: [{ tool: "s.mail_out", for: "1m" }] } };
    expect(changes(leased, (run) => (run.at = 60_001))).toBe(true);
    const filtered: SmallDocument = { ...debt(), regulation: { filter: { mode: "accumulate" } } };
    const round = (run: SmallRun): void => {
      run.call("s.pay", { amount: "1" });
      run.call("s.notify", { text: "paid" });
    };
    expect(changes(filtered, round)).toBe(true);
    expect(changes(openHost("may"), (run) => run.accept("leak host.send"))).toBe(true);
    const told: SmallDocument = { labels: { "s.a": tools.reads(unsure) }, regulation: { models: { embedded: true } } };
    expect(changes(told, (run) => run.send("s.a"))).toBe(true);
    const timed: SmallDocument = {
      ...debt(),
      rules: [
        ...(debt().rules ?? []),
        {
          id: "wait",
          tier: "block",
          absence: { after: { tool: "s.pay" }, never: { tool: "s.pay" }, within: "1m" },
          why: "once",
        },
      ],
    };
    expect(changes(timed, (run) => run.call("s.pay", { amount: "1" }))).toBe(true);
  });
});

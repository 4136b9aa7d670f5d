import { describe, expect, it } from "vitest";
import { runsText } from "./runs.ts";

const lasts = "What a run holds lasts until it ends.";
const times = { idleMs: 1, idleMsMax: 2, lasts };
const plain = {
  run: "r1",
  principal: "os:1",
  policy: "p",
  context: "public",
  owed: [],
  stores: [],
  ...times,
  inFlight: ["c"],
};
const nothing = { runs: [], dormant: [], isolation: [], approvals: [] };
const regulation = {
  state: "critical",
  power: 7,
  budget: 10,
  hidden: [{ tool: "repo.push", why: "this run holds private data" }],
  hiddenMore: 3,
  risks: ["leak host.send"],
  tokensSaved: 1200,
};

describe("runs in words", () => {
  it("says that nothing is open", () => {
    expect(runsText(nothing)).toBe("No run is open.");
  });

  it("shows how servers are isolated, and what is missing for better", () => {
    const isolation = [
      { server: "files", tier: "A", missing: [] },
      { server: "old", tier: "B", missing: ["Install bubblewrap."] },
    ];
    expect(runsText({ ...nothing, isolation })).toBe(
      [
        "No run is open.",
        "Isolation of the servers that run now:",
        "  files  tier A",
        "  old  tier B",
        "      Install bubblewrap.",
      ].join("\n"),
    );
  });

  it("shows state, power, what is hidden and why, accepted risks and tokens saved", () => {
    const runs = [
      { ...plain, regulation },
      { ...plain, run: "r2", owed: ["notify"], ended: true, regulation: { ...regulation, budget: null, hidden: [] } },
    ];
    const dormant = [{ run: "r0", principal: "os:1", idleMs: 1 }];
    const approvals = [{ id: "a1", run: "r1", server: "mail", tool: "send", status: "pending", expires: "soon" }];
    expect(runsText({ ...nothing, runs, dormant, approvals })).toBe(
      [
        "run  principal  holds   state     power    ",
        "r1   os:1       public  critical  7 of 10  1 in flight",
        "r2   os:1       public  ended     7        1 in flight",
        "Not shown now:",
        "  r1: repo.push: this run holds private data",
        "  r1: and 3 more",
        "  r2: and 3 more",
        "Risks accepted for the rest of the run:",
        "  r1: leak host.send",
        "  r2: leak host.send",
        "Owed before they end (rules):",
        "  r2: notify",
        "Open since before the last start; what they hold counts (sluicegate runs close ID):",
        "  r0  os:1",
        "Shortlists keep about 2400 tokens out of the agents' contexts (bytes / 4).",
        lasts,
        "Waiting for consent (sluicegate approve ID):",
        "  a1  mail.send  pending, until soon",
      ].join("\n"),
    );
  });

  it("a run under a policy without regulation has no state and no power", () => {
    expect(runsText({ ...nothing, runs: [plain] })).toContain("r1   os:1       public  -      -      1 in flight");
  });
});

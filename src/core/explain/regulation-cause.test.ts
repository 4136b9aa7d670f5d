import { describe, expect, it } from "vitest";
import type { Reason } from "../opinion.ts";
import { regulationClause, riskInRun, riskInWords, riskParts } from "./regulation-cause.ts";

function clause(code: string, facts: Reason["facts"] = {}): string | undefined {
  return regulationClause({ mechanism: "regulate", code, verdict: "deny", facts }, "`repo.push`");
}

describe("what regulation objects to, in one clause", () => {
  it.each([
    ["SG-HIDDEN", {}, "`repo.push` is hidden"],
    ["SG-HIDDEN", { holds: ["private", "medical"] }, "`repo.push` is hidden: this run holds private, medical data"],
    [
      "SG-HIDDEN",
      { holds: ["private"], moves: ["fire repo anyone", "host.send"] },
      "`repo.push` is hidden: this run holds private data; after it `anyone` reads `repo` unasked",
    ],
    [
      "SG-HIDDEN",
      { lost: ["notify-first"] },
      "`repo.push` is hidden: after it `notify-first` could not follow any more",
    ],
    ["SG-UNSAFE-STATE", {}, "after `repo.push` this run would be unsafe"],
    ["SG-UNSAFE-STATE", { lost: ["pay", "tell"] }, "after `repo.push` `pay`, `tell` could not follow any more"],
    ["SG-LOOMING", { moves: ["host.send"] }, "after `repo.push` nothing can stop that the client sends what it holds"],
    ["SG-LOOMING", { moves: ["host.execute"] }, "after `repo.push` nothing can stop that the client runs code"],
    ["SG-LOOMING", { moves: ["host.read"] }, "after `repo.push` nothing can stop that the client reads by itself"],
    ["SG-LOOMING", { moves: ["tick wait"] }, "after `repo.push` nothing can stop that the time of `wait` runs out"],
    ["SG-LOOMING", { moves: ["other"] }, "after `repo.push` nothing can stop that `other` happens"],
    ["SG-OTHER-RUN", {}, "another open run holds what `repo.push` would expose"],
    [
      "SG-OTHER-RUN",
      { moves: ["fire repo anyone"] },
      "another open run holds data, and after `repo.push` `anyone` reads `repo` unasked",
    ],
    ["SG-POWER", { after: 7, budget: 5 }, "with `repo.push` this run would gather power 7 of 5"],
    ["SG-POWER", {}, "with `repo.push` this run would gather power ? of ?"],
    [
      "SG-ARGUMENTS",
      { because: ["it acts with the rights of another user", "it runs what it fetches"] },
      "with these arguments of `repo.push`, it acts with the rights of another user",
    ],
    [
      "SG-ARGUMENTS",
      { effects: ["write.external.send"] },
      "with these arguments `repo.push` does more than its labels say (write.external.send)",
    ],
    ["SG-LEASE", { limit: "3 calls" }, "the lease of `repo.push` has ended (3 calls)"],
    ["SG-LEASE", {}, "the lease of `repo.push` has ended"],
    ["SG-KEEP-LOST", { tools: ["mail.send"] }, "after `repo.push`, `mail.send` cannot be used in this run any more"],
    ["SG-FILTERED", {}, "`repo.push` was hidden from this run before, and stays so"],
    ["SG-FILTERED", { waitMs: 1_500 }, "`repo.push` was hidden from this run before, and stays so for 2 s"],
    ["SG-FORESIGHT", {}, "what `repo.push` may lead to looks unsafe"],
    ["SG-SILENT", { silence: "late" }, "the model that judges `repo.push` did not answer in time"],
    ["SG-SILENT", { silence: "garbled" }, "the answer of the model that judges `repo.push` cannot be read"],
    ["SG-SILENT", { silence: "down" }, "the model that judges `repo.push` cannot be reached"],
    ["SG-SILENT", { silence: "unasked" }, "the model that judges `repo.push` could not be asked"],
    ["SG-SILENT", {}, "no model said what `repo.push` may lead to"],
    ["SG-SURPRISE", {}, "calls of this run did other things than expected"],
    ["SG-RULE-BLOCK", {}, undefined],
  ] as const)("%s %j", (code, facts, expected) => {
    expect(clause(code, facts)).toBe(expected);
  });

  it("shows names from outside short and on one line", () => {
    expect(clause("SG-KEEP-LOST", { tools: [`a\u202Eb\n\`${"c".repeat(60)}`] })).toContain("`a?b??ccc");
    expect(clause("SG-KEEP-LOST", { tools: ["c".repeat(60)] })?.length).toBeLessThan(110);
  });
});

describe("an accepted risk in words", () => {
  it("names the move and the hazard", () => {
    expect(riskInWords("leak host.send")).toBe(
      "approving means: from then on `host.send` (the client sends what it holds) may cause hazard `leak` in this run",
    );
    expect(riskInWords("leak")).toContain("a move that the gateway does not decide may cause hazard `leak`");
  });
});

describe("a risk in another run", () => {
  it("is told with that run, and comes apart again", () => {
    const risk = riskInRun("leak fire in run", "os:1000/process:7@1");
    expect(riskParts(risk)).toEqual({ hazard: "leak", move: "fire in run", run: "os:1000/process:7@1" });
    expect(riskInWords(risk)).toContain("may cause hazard `leak` in run `os:1000/process:7@1`");
    expect(riskParts("leak fire in run")).toEqual({ hazard: "leak", move: "fire in run", run: undefined });
    expect(riskParts("leak")).toEqual({ hazard: "leak", move: "", run: undefined });
  });
});

import { describe, expect, it } from "vitest";
import {
  type TrialRecord,
  type TrialVerdict,
  readTrials,
  recordsMax,
  standingOf,
  trialsText,
  withTrial,
} from "./trial-records.ts";

const record = (verdict: TrialVerdict, more: Partial<TrialRecord> = {}): TrialRecord => ({
  server: "app",
  program: "p1",
  list: "l1",
  verdict,
  at: "2026-11-23T10:00:00.000Z",
  until: "2027-02-21",
  calls: 14,
  run: 1,
  listed: 1,
  findings: verdict === "rejected" || verdict === "suspect" ? ["look: it sent a key"] : [],
  gaps: [],
  ...more,
});
const here = { server: "app", program: "p1", list: "l1", day: "2026-11-24" };

describe("a trial with findings", () => {
  it.each(["rejected", "suspect"] as const)("(%s) is not replaced by a later one without, of the same", (verdict) => {
    const bad = [record(verdict)];
    for (const good of ["clean", "partial", "not-run"] as const)
      expect(withTrial(bad, record(good, { at: "2026-11-24T10:00:00.000Z" }))).toBe(bad);
  });

  it("is not replaced by one of another program or list, and is shown beside it", () => {
    const all = withTrial(
      withTrial([record("rejected")], record("clean", { program: "p2" })),
      record("clean", { list: "l2" }),
    );
    expect(all).toHaveLength(3);
    const next = standingOf(all, { ...here, program: "p2" });
    expect(next.now?.verdict).toBe("clean");
    expect(next.against.map(({ verdict, program }) => [verdict, program])).toEqual([["rejected", "p1"]]);
    expect(standingOf(all, here).now?.verdict).toBe("rejected");
  });

  it("has no end, and one without has its day", () => {
    const late = { ...here, day: "2030-01-01" };
    expect(standingOf([record("rejected")], late)).toMatchObject({ now: { verdict: "rejected" }, over: undefined });
    expect(standingOf([record("clean")], late)).toMatchObject({ now: undefined, over: { verdict: "clean" } });
    expect(standingOf([record("clean")], { ...here, day: "2027-02-21" }).now?.verdict).toBe("clean");
  });

  it("makes place last", () => {
    const bad = record("rejected", { server: "bad" });
    const full = [bad, ...Array.from({ length: recordsMax - 1 }, (_, at) => record("clean", { server: `s${at}` }))];
    const next = withTrial(full, record("clean", { server: "new" }));
    expect(next).toHaveLength(recordsMax);
    expect(next).toContain(bad);
    expect(next.some(({ server }) => server === "s0")).toBe(false);
  });
});

it("a worse trial of the same replaces a better one, and a later good one an earlier", () => {
  const [suspect, rejected, clean] = [record("suspect"), record("rejected"), record("clean", { calls: 20 })];
  expect(withTrial([record("clean")], suspect)).toEqual([suspect]);
  expect(withTrial([suspect], rejected)).toEqual([rejected]);
  expect(withTrial([record("partial")], clean)).toEqual([clean]);
});

it("of a program that listed other tools then, the list now was not tried out", () => {
  const standing = standingOf([record("clean")], { ...here, list: "l9" });
  expect(standing).toMatchObject({ now: undefined, over: undefined, otherList: { list: "l1" }, against: [] });
  expect(standingOf([record("rejected")], { ...here, server: "other" })).toMatchObject({ now: undefined, against: [] });
});

describe("the file of trials", () => {
  it("gives back what was written", () => {
    const all = [record("rejected"), record("clean", { server: "b", gaps: ["x was not run."] })];
    expect(readTrials(trialsText(all))).toEqual({ ok: true, value: all });
    const many = withTrial([], record("suspect", { findings: Array.from({ length: 99 }, () => "x".repeat(9_999)) }));
    expect(readTrials(trialsText(many)).ok).toBe(true);
  });

  it.each([
    ["", "not JSON"],
    ["{}", "version"],
    ['{"version":1,"trials":{}}', "version"],
    [`{"version":1,"trials":[${JSON.stringify({ ...record("clean"), verdict: "safe" })}]}`, "cannot be read"],
    [`{"version":1,"trials":[${JSON.stringify({ ...record("clean"), calls: -1 })}]}`, "cannot be read"],
    [`{"version":1,"trials":[${JSON.stringify({ ...record("clean"), at: undefined })}]}`, "cannot be read"],
    [`{"version":1,"trials":[${JSON.stringify({ ...record("clean"), gaps: [1] })}]}`, "cannot be read"],
    ['{"version":1,"trials":[3]}', "cannot be read"],
    [`{"version":1,"trials":[${"3,".repeat(recordsMax)}3]}`, "more than"],
  ])("%s is refused", (text, why) => {
    expect(readTrials(text)).toMatchObject({ ok: false, error: expect.stringContaining(why) });
  });
});

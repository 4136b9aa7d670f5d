// How long a filter of models holds, as it reaches lists and calls through the mechanism.
import { describe, expect, it } from "vitest";
import type { RunEvent } from "../../../core/event.ts";
import { type Json, member } from "../../../core/json.ts";
import type { ForeseenFilter } from "../../../core/questions/prediction.ts";
import { debt, openHost } from "../../../../test/kit/regulation/documents.ts";
import { type Sent, SmallRun, told } from "../../../../test/kit/regulation/small-run.ts";
import type { RegulationSection } from "../../../policy/sections/regulation.ts";

const safe: Json = { safety: "safe", pUnsafe: 0, filteredTools: [] };
const mail: ForeseenFilter = { hides: ["s.mail_out"], asks: [] };
const nothing: ForeseenFilter = { hides: [], asks: [] };
const labels = openHost().labels ?? {};

function runWith(regulation: RegulationSection = {}): SmallRun {
  const run = new SmallRun({ labels, regulation: { models: { embedded: true }, ...regulation } });
  run.answering = safe;
  return run;
}

let calls = 0;

/** A call that models predicted a filter for. */
function sent(run: SmallRun, filter: ForeseenFilter | undefined, name = "s.read_pub"): Sent {
  const { contract, ...rest } = run.moment(name);
  const { option } = run.judge({ contract, ...rest });
  if (option === undefined) throw new Error("it was not judged");
  const { at, method, arguments: given, digest } = rest;
  const call = `call ${(calls += 1)}`;
  const predicted = filter === undefined ? {} : { filter };
  run.fold({ kind: "dispatched", at, call, method, option, arguments: given, digest, ...predicted });
  return { call, contract, option };
}

const foresee = (run: SmallRun, filter: ForeseenFilter): void => run.fold({ kind: "foreseen", at: run.at, filter });

/** Whether models would be asked about the list now. */
const asksAnew = (run: SmallRun): boolean =>
  run.questions("s.read_pub").some(({ content }) => member(content, "pending") === undefined);

describe("D25: the filter that a model answers at a call", () => {
  it("is that of the next list, which asks no model again", () => {
    const run = runWith();
    const call = sent(run, mail);
    expect(asksAnew(run)).toBe(false);
    expect(told(run.expose("s.mail_out"))).toBe("deny SG-FORESIGHT");
    expect(told(run.expose("s.read_pub"))).toBe("allow");
    run.succeed(call);
    run.pass(call);
    expect(asksAnew(run)).toBe(false);
    expect(told(run.decide("s.mail_out"))).toBe("deny SG-FORESIGHT");
  });

  it("asks about tools where a prior alone would hide them", () => {
    const run = runWith();
    sent(run, { hides: [], asks: ["s.mail_out"] });
    expect(told(run.expose("s.mail_out"))).toBe("confirm SG-FORESIGHT");
  });

  it.each<[string, (run: SmallRun, call: Sent) => RunEvent]>([
    ["it failed", (run, { call }) => ({ kind: "failed", at: run.at, call, noEffect: false })],
    ["its outcome is not known", (run, { call }) => ({ kind: "unknown", at: run.at, call, cause: "lost" })],
    [
      "the user says something new",
      ({ at }) => ({ kind: "registered", at, text: { source: "instruction", value: "x" } }),
    ],
  ])("ends with the state that was predicted: %s", (_how, event) => {
    const run = runWith();
    const call = sent(run, mail);
    run.fold(event(run, call));
    expect(asksAnew(run)).toBe(true);
    expect(told(run.expose("s.mail_out"))).toBe("allow");
  });

  it("ends with the next call, whose own filter takes its place", () => {
    const run = runWith();
    sent(run, mail);
    run.fold({ kind: "refused", at: 1, call: "x", server: "s", tool: "mail_out", digest: "d", codes: [] });
    expect(asksAnew(run)).toBe(false);
    sent(run, undefined);
    expect(asksAnew(run)).toBe(true);
    sent(run, nothing);
    expect(asksAnew(run)).toBe(false);
    expect(told(run.expose("s.mail_out"))).toBe("allow");
  });

  it("ends with the result of another call, and with a result that no model expected", () => {
    const run = runWith();
    const earlier = sent(run, undefined);
    run.at += 1;
    const { option, contract } = earlier;
    const common = { at: run.at, method: "tools/call", option, arguments: {}, digest: "d" } as const;
    run.fold({ kind: "dispatched", call: "later", filter: mail, ...common });
    run.succeed(earlier);
    expect(asksAnew(run)).toBe(true);
    const wrong = { labels: [], effects: ["execute.local"] };
    run.fold({ kind: "dispatched", call: "wrong", filter: mail, forecast: wrong, ...common });
    run.succeed({ call: "wrong", contract, option });
    expect(asksAnew(run)).toBe(false);
    run.pass({ call: "wrong", contract, option });
    expect(asksAnew(run)).toBe(true);
  });

  it("of another run is none of this one", () => {
    const run = runWith();
    const { option } = sent(run, undefined);
    const common = { at: 1, method: "tools/call", option, arguments: {}, digest: "d", from: "other" } as const;
    run.fold({ kind: "dispatched", call: "theirs", filter: mail, ...common });
    expect(asksAnew(run)).toBe(true);
  });

  it("of another policy is asked for anew, since that may have asked another model", () => {
    const run = runWith();
    foresee(run, { ...mail, policy: "another" });
    expect(asksAnew(run)).toBe(true);
    sent(run, { ...mail, policy: "another" });
    expect(asksAnew(run)).toBe(true);
    foresee(run, { ...mail, policy: run.policy.digest });
    expect(asksAnew(run)).toBe(false);
    const kept = runWith({ filter: { mode: "accumulate" } });
    foresee(kept, { ...mail, policy: "another" });
    expect(told(kept.expose("s.mail_out"))).toBe("deny SG-FILTERED");
  });

  it("is nothing to a policy that asks no model", () => {
    const run = new SmallRun({ labels });
    foresee(run, mail);
    sent(run, mail);
    expect(told(run.expose("s.mail_out"))).toBe("allow");
    const kept = new SmallRun({ labels, regulation: { filter: { mode: "accumulate" } } });
    foresee(kept, mail);
    expect(told(kept.expose("s.mail_out"))).toBe("allow");
  });
});

describe("D25: the filter that a model answers about a list", () => {
  it("holds for that state, in lists, calls and the view of the user", () => {
    const run = runWith();
    expect(asksAnew(run)).toBe(true);
    foresee(run, mail);
    expect(asksAnew(run)).toBe(false);
    expect(told(run.decide("s.mail_out"))).toBe("deny SG-FORESIGHT");
    const seen = run.policy.describeRegulation(
      run.run,
      [run.contract("s.mail_out"), run.contract("s.read_pub")],
      run.at,
    );
    expect(seen.hidden).toEqual([
      { tool: "s.mail_out", why: "what `s.mail_out` may lead to looks unsafe; use another tool" },
    ]);
    foresee(run, { hides: [], asks: ["s.mail_out"] });
    expect(run.policy.describeRegulation(run.run, [run.contract("s.mail_out")], run.at).hidden).toEqual([]);
    const call = sent(run, undefined);
    run.succeed(call);
    expect(asksAnew(run)).toBe(true);
  });

  it("makes other lists of the same steps, and so another digest of the state", () => {
    const [plain, filtered, asked] = [runWith(), runWith(), runWith()];
    foresee(filtered, mail);
    foresee(asked, { hides: [], asks: mail.hides });
    const digests = [plain, filtered, asked].map((run) => run.policy.stateDigest(run.run, 1));
    expect(new Set(digests).size).toBe(3);
    const again = runWith();
    foresee(again, mail);
    expect(again.policy.stateDigest(again.run, 1)).toBe(digests[1]);
  });
});

describe("D25: what a model hid stays hidden as `filter.mode` says", () => {
  const listed = (run: SmallRun, filter: ForeseenFilter): void => foresee(run, filter);
  const called = (run: SmallRun, filter: ForeseenFilter): void => void sent(run, filter);

  it.each([
    ["replace", "a list", listed, "allow", "allow"],
    ["replace", "a call", called, "allow", "allow"],
    ["accumulate", "a list", listed, "deny SG-FILTERED", "deny SG-FILTERED"],
    ["accumulate", "a call", called, "deny SG-FILTERED", "deny SG-FILTERED"],
    ["lease", "a list", listed, "deny SG-FILTERED", "allow"],
    ["lease", "a call", called, "deny SG-FILTERED", "allow"],
  ] as const)("%s, hidden at %s", (mode, _at, hides, soon, later) => {
    const filter = mode === "lease" ? { mode, ttl: "1m" } : { mode };
    const run = runWith({ filter });
    hides(run, mail);
    expect(run.expose("s.mail_out").verdict).toBe("deny");
    run.at = 10;
    called(run, nothing);
    expect(told(run.expose("s.mail_out"))).toBe(soon);
    expect(told(run.decide("s.mail_out"))).toBe(soon);
    expect(told(run.expose("s.read_pub"))).toBe("allow");
    run.at = 60_010;
    expect(told(run.expose("s.mail_out"))).toBe(later);
  });

  it("also where no model is asked in between, and where it is silent afterwards", () => {
    const run = runWith({ filter: { mode: "accumulate" } });
    listed(run, mail);
    run.fold({ kind: "registered", at: 2, text: { source: "instruction", value: "go on" } });
    expect(told(run.expose("s.mail_out"))).toBe("deny SG-FILTERED");
  });

  it("but no tool that alone can meet a debt, and none that the policy does not have", () => {
    const owing = { ...debt(), regulation: { models: { embedded: true }, filter: { mode: "accumulate" as const } } };
    const run = new SmallRun(owing);
    run.answering = safe;
    foresee(run, { hides: ["s.notify", "s.none"], asks: [] });
    expect(told(run.expose("s.notify"))).toBe("confirm SG-FORESIGHT");
    foresee(run, nothing);
    expect(told(run.expose("s.notify"))).toBe("allow");
  });
});

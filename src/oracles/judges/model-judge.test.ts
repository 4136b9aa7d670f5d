import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Label, fromBits, levelLabel, makeLattice, mayFlow } from "../../core/label.ts";
import { restrictionNames } from "../../core/explain/restriction-names.ts";
import type { NoAnswer, Silence } from "../../core/opinion.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { ModelClient, ModelFailure, ModelReply, ModelRequest } from "../../gateway/ports/model.ts";
import type { Judge } from "../../policy/sections/judges.ts";
import { answerCharsMax, canaryHoldsMs, failuresBeforeRest, openQuestionsMax, restMs } from "./limits.ts";
import { ModelJudge } from "./model-judge.ts";
import type { JudgeQuestion } from "./question.ts";
import { estimatedTokens } from "./judge-state.ts";

const made = makeLattice({ levels: ["public", "private"], categories: [], groups: ["me", "anyone"] });
if (!made.ok) throw new Error(made.error);
const lattice = made.value;
const privateBits = levelLabel(lattice, "private") ?? lattice.top;

const settings: Judge = {
  name: "j",
  kind: "openai",
  url: "https://models.example",
  model: "m",
  local: false,
  forbidden: privateBits,
  above: "shapes",
  waitMs: 1_000,
  tokensMax: 1_000,
  runTokensMax: 10_000,
  keyEnv: undefined,
  canary: false,
  answers: "schema",
  labelFirst: false,
};

type Answering = (request: ModelRequest, signal: AbortSignal) => Result<ModelReply, ModelFailure> | Promise<never>;
const reply = (text: string, tokens?: number): Result<ModelReply, ModelFailure> =>
  ok({ text, tokens, first: undefined });
const failing: Result<ModelReply, ModelFailure> = err({ kind: "unreachable", cause: "it cannot be reached" });

function judgeWith(answering: Answering, more: Partial<Judge> = {}) {
  const asked: ModelRequest[] = [];
  const told: string[] = [];
  const clock = { nowMs: 0 };
  const client: ModelClient = {
    complete: async (request, signal) => {
      asked.push(request);
      return answering(request, signal);
    },
  };
  const services = {
    client,
    nowMs: () => clock.nowMs,
    hash: (text: string) => text,
    tell: (text: string) => told.push(text),
  };
  return { judge: new ModelJudge({ ...settings, ...more }, lattice, services), asked, told, clock };
}

const question = (evidence: string, labels: readonly string[] = []): JudgeQuestion<string> => ({
  id: "q/1",
  instructions: "say yes or no",
  evidence: { labels, values: () => evidence, shapes: () => "shapes only" },
  outputTokensMax: 64,
  read: ({ text }) => (text === "yes" || text === "no" ? ok(text) : err("its answer is neither yes nor no")),
});
const asking = { run: "r", waitMs: 500 };

describe("a judge", () => {
  it("says what its model said", async () => {
    const { judge, asked } = judgeWith(() => reply("yes"));
    expect(await judge.ask(question("e"), asking)).toEqual(ok("yes"));
    expect(asked).toEqual([{ instructions: "say yes or no", evidence: "e", outputTokensMax: 64 }]);
  });

  it("is not asked twice for the same, nor at the same time", async () => {
    const { judge, asked } = judgeWith(() => reply("yes"));
    const answers = await Promise.all([
      judge.ask(question("e"), asking),
      judge.ask(question("e"), { ...asking, run: "s" }),
    ]);
    expect(answers).toEqual([ok("yes"), ok("yes")]);
    await judge.ask(question("e"), asking);
    expect(asked).toHaveLength(1);
    await judge.ask({ ...question("e"), id: "q/2" }, asking);
    expect(asked).toHaveLength(2);
  });

  it.each([
    ["garbage", "maybe"],
    ["a huge answer", "x".repeat(answerCharsMax + 1)],
  ])("gives no verdict for %s, and does not remember it", async (_what, text) => {
    const { judge, asked } = judgeWith(() => reply(text));
    expect((await judge.ask(question("e"), asking)).ok).toBe(false);
    expect((await judge.ask(question("e"), asking)).ok).toBe(false);
    expect(asked).toHaveLength(2);
  });

  it("that throws has failed, and says nothing of why", async () => {
    const { judge } = judgeWith(() => {
      throw new Error("secret");
    });
    expect(await judge.ask(question("e"), asking)).toEqual(err({ silence: "down", cause: "it failed" }));
  });

  it("that is slow is not waited for, but its answer serves the next question", async () => {
    const { promise, resolve } = Promise.withResolvers<never>();
    const { judge, asked } = judgeWith(() => promise);
    expect(await judge.ask(question("e"), { ...asking, waitMs: 20 })).toEqual(
      err({ silence: "late", cause: "it did not answer in time" }),
    );
    resolve(reply("no") as never); // the type says that it never comes; this one does
    await new Promise((done) => setTimeout(done, 0));
    expect(await judge.ask(question("e"), asking)).toEqual(ok("no"));
    expect(asked).toHaveLength(1);
  });
});

describe("evidence", () => {
  it.each<[readonly string[], Partial<Judge>, string | undefined]>([
    [[], {}, "e"],
    [["untrusted"], {}, "e"],
    [["private"], {}, "shapes only"],
    [["a name nobody knows"], {}, "shapes only"],
    [["private"], { above: "nothing" }, undefined],
    [["private"], { forbidden: 0 as Label }, "e"], // zero bits are the bottom of every lattice
  ])("with %j under %j is sent as %j", async (labels, more, sent) => {
    const { judge, asked } = judgeWith(() => reply("yes"), more);
    const answer = await judge.ask(question("e", labels), asking);
    expect(asked.map((request) => request.evidence)).toEqual(sent === undefined ? [] : [sent]);
    expect(answer.ok).toBe(sent !== undefined);
  });
});

it("evidence is sent whole if and only if it carries no restriction that is forbidden to the judge", async () => {
  const bits = fc.integer({ min: 0, max: lattice.top });
  await fc.assert(
    fc.asyncProperty(bits, bits, async (carried, forbidden) => {
      const label = fromBits(lattice, carried);
      const kept = fromBits(lattice, forbidden);
      if (label === undefined || kept === undefined) throw new Error("every number up to the top is a label");
      const { judge, asked } = judgeWith(() => reply("yes"), { forbidden: kept });
      await judge.ask(question("e", restrictionNames(lattice, label)), asking);
      expect(asked[0]?.evidence).toBe(mayFlow(label, kept) ? "e" : "shapes only");
    }),
  );
});

describe("tokens", () => {
  it("of one question are bounded", async () => {
    const { judge, asked } = judgeWith(() => reply("yes"), { tokensMax: 100 });
    expect(await judge.ask(question("x".repeat(800)), asking)).toEqual(
      err({ silence: "unasked", cause: "the question is longer than its budget" }),
    );
    expect((await judge.ask(question("x".repeat(200)), asking)).ok).toBe(true);
    const [only] = asked;
    expect(asked).toHaveLength(1);
    expect(only?.outputTokensMax).toBeLessThan(64);
  });

  it("of one run are counted as the server counts them, and belong to that run alone", async () => {
    const { judge } = judgeWith(() => reply("yes", 400), { runTokensMax: 1_000 });
    const results = [];
    for (let index = 0; index < 4; index += 1) results.push((await judge.ask(question(`e${index}`), asking)).ok);
    expect(results).toEqual([true, true, true, false]);
    expect((await judge.ask(question("other"), { ...asking, run: "s" })).ok).toBe(true);
  });

  it("that a server claims to have given back are not", async () => {
    const { judge } = judgeWith(() => reply("yes", -1_000_000), { runTokensMax: 200 });
    const results = [];
    for (let index = 0; index < 4; index += 1) results.push((await judge.ask(question(`e${index}`), asking)).ok);
    expect(results).toEqual([true, true, false, false]);
  });

  it("are estimated from bytes", () => {
    expect(estimatedTokens("abcd", "abcde", "")).toBe(3);
  });
});

describe("a judge that fails", () => {
  it("rests after some failures, and is tried again", async () => {
    let broken = true;
    const { judge, asked, clock } = judgeWith(() => (broken ? failing : reply("yes")));
    for (let index = 0; index < failuresBeforeRest; index += 1) await judge.ask(question(`e${index}`), asking);
    expect(await judge.ask(question("e"), asking)).toMatchObject({ ok: false });
    expect(asked).toHaveLength(failuresBeforeRest);
    clock.nowMs += restMs;
    await judge.ask(question("e"), asking);
    expect(asked).toHaveLength(failuresBeforeRest + 1);
    expect((await judge.ask(question("e"), asking)).ok).toBe(false);
    expect(asked).toHaveLength(failuresBeforeRest + 1);
    broken = false;
    clock.nowMs += restMs;
    expect(await judge.ask(question("e"), asking)).toEqual(ok("yes"));
  });

  it("with a client that throws rests, too, also if it is only prepared", async () => {
    const canary = { question: question("canary"), obeyed: () => false };
    const { judge, asked } = judgeWith(() => Promise.reject(new Error("key sk-1")), { canary: true });
    await judge.prepare({ ...question("e"), canary });
    for (let index = 0; index < 10; index += 1) await judge.ask(question(`e${index}`), asking);
    expect(asked).toHaveLength(failuresBeforeRest);
  });

  it("with garbage rests, too", async () => {
    const { judge, asked } = judgeWith(() => reply("maybe"));
    for (let index = 0; index < 10; index += 1) await judge.ask(question(`e${index}`), asking);
    expect(asked).toHaveLength(failuresBeforeRest);
  });

  it("has so many open questions and no more", async () => {
    const { judge, asked } = judgeWith(() => new Promise<never>(() => undefined));
    const all = Array.from({ length: openQuestionsMax + 4 }, (_, index) =>
      judge.ask(question(`e${index}`), { run: "r", waitMs: 20 }),
    );
    await Promise.all(all);
    expect(asked.length).toBe(openQuestionsMax);
  });
});

describe("the canary", () => {
  const withCanary = (evidence: string): JudgeQuestion<string> => ({
    ...question(evidence),
    canary: { question: question("canary"), obeyed: (verdict) => verdict === "yes" },
  });

  it("is asked once, before the first answer counts, and holds for a while", async () => {
    const { judge, asked, clock, told } = judgeWith(() => reply("no"), { canary: true });
    expect(await judge.ask(withCanary("e"), asking)).toEqual(ok("no"));
    await judge.ask(withCanary("f"), asking);
    expect(asked.map((request) => request.evidence)).toEqual(["canary", "e", "f"]);
    clock.nowMs += canaryHoldsMs;
    await judge.ask(withCanary("g"), asking);
    expect(asked.map((request) => request.evidence)).toEqual(["canary", "e", "f", "canary", "g"]);
    expect(told).toEqual([]);
  });

  it("that is obeyed ends the judge for good, whatever it is asked", async () => {
    const { judge, asked, clock, told } = judgeWith(() => reply("yes"), { canary: true });
    const refused = err({ silence: "unasked", cause: "it obeys orders that stand in evidence" });
    expect(await judge.ask(withCanary("e"), asking)).toEqual(refused);
    clock.nowMs += 10 * canaryHoldsMs;
    expect(await judge.ask({ ...withCanary("e"), id: "q/2" }, asking)).toEqual(refused);
    expect(asked).toHaveLength(1);
    expect(told).toHaveLength(1);
    expect((told[0] ?? "").length).toBeLessThanOrEqual(240);
  });

  it("that cannot be asked leaves every question without an answer", async () => {
    const { judge } = judgeWith((request) => (request.evidence === "canary" ? failing : reply("no")), { canary: true });
    expect(await judge.ask(withCanary("e"), asking)).toMatchObject({ ok: false });
  });

  it("can be asked ahead, and switched off", async () => {
    const ahead = judgeWith(() => reply("no"), { canary: true });
    await ahead.judge.prepare(withCanary("e"));
    await ahead.judge.ask(withCanary("e"), asking);
    expect(ahead.asked.map((request) => request.evidence)).toEqual(["canary", "e"]);
    const without = judgeWith(() => reply("yes"));
    expect(await without.judge.ask(withCanary("e"), asking)).toEqual(ok("yes"));
    expect(without.asked).toHaveLength(1);
  });
});

describe("D25: how it was silent", () => {
  const silenceOf = (answer: Result<string, NoAnswer>) => (answer.ok ? answer.value : answer.error.silence);

  it.each<[ModelFailure["kind"], Silence]>([
    ["stopped", "late"],
    ["unreachable", "down"],
    ["status", "down"],
    ["setup", "down"],
    ["too-large", "garbled"],
    ["unreadable", "garbled"],
  ])("a request that is %s is %s, also as a canary", async (kind, silence) => {
    const failed = judgeWith(() => err({ kind, cause: "it failed" }));
    expect(silenceOf(await failed.judge.ask(question("e"), asking))).toBe(silence);
    const tested = judgeWith(() => err({ kind, cause: "it failed" }), { canary: true });
    const canary = { question: question("canary"), obeyed: () => false };
    expect(silenceOf(await tested.judge.ask({ ...question("e"), canary }, asking))).toBe(silence);
  });

  it("an answer without a verdict is garbled, also when it is read again; too long a one is, too", async () => {
    for (const text of ["maybe", "x".repeat(answerCharsMax + 1)]) {
      const { judge } = judgeWith(() => reply(text));
      expect(silenceOf(await judge.ask(question("e"), asking))).toBe("garbled");
    }
    const { judge } = judgeWith(() => reply("yes"));
    await judge.ask(question("e"), asking);
    const fussy = { ...question("e"), read: () => err("it is read otherwise now") };
    expect(silenceOf(await judge.ask(fussy, asking))).toBe("garbled");
  });

  it("a question that its own limits forbid is not asked: bound, tokens, rest, length", async () => {
    const above = judgeWith(() => reply("yes"), { above: "nothing" });
    expect(silenceOf(await above.judge.ask(question("e", ["private"]), asking))).toBe("unasked");
    const long = judgeWith(() => reply("yes"), { tokensMax: 100 });
    expect(silenceOf(await long.judge.ask(question("x".repeat(800)), asking))).toBe("unasked");
    const spent = judgeWith(() => reply("yes"), { runTokensMax: 10 });
    expect(silenceOf(await spent.judge.ask(question("e"), asking))).toBe("unasked");
    const resting = judgeWith(() => failing);
    for (let index = 0; index < failuresBeforeRest; index += 1)
      expect(silenceOf(await resting.judge.ask(question(`e${index}`), asking))).toBe("down");
    expect(silenceOf(await resting.judge.ask(question("e"), asking))).toBe("unasked");
  });
});

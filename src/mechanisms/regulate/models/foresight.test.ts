import { describe, expect, it } from "vitest";
import { type Json, member } from "../../../core/json.ts";
import { type Answers, type Question, type Silence, silences } from "../../../core/opinion.ts";
import type { RegulationSection } from "../../../policy/sections/regulation.ts";
import { debt, openHost } from "../../../../test/kit/regulation/documents.ts";
import { type SmallDocument, SmallRun, told } from "../../../../test/kit/regulation/small-run.ts";
import { contextToolsMax } from "./foresight.ts";

const models = (more: RegulationSection = {}): SmallDocument => ({
  labels: openHost().labels ?? {},
  regulation: { models: { embedded: true }, ...more },
});

/** Every question of a call answered alike: the one about the list and the one about the call. */
function answered(run: SmallRun, name: string, value: Json): Answers {
  return answers(run.questions(name), value);
}

function answers(questions: readonly Question[], value: Json): Answers {
  return new Map(questions.map((question) => [question.key, { kind: "known", question, value }]));
}

const safe = { safety: "safe", pUnsafe: 0, filteredTools: [] };
const unsafe = { safety: "unsafe", pUnsafe: 0.994, filteredTools: [] };

describe("what a model is asked", () => {
  it("nothing, unless the policy names one", () => {
    expect(new SmallRun({ labels: openHost().labels ?? {} }).questions("s.mail_out")).toEqual([]);
  });

  it("about the list once for all entries, and about each call that acts", () => {
    const run = new SmallRun(models());
    const [list, call] = run.questions("s.mail_out", { text: "hello" });
    expect(list).toMatchObject({ kind: "foresight", mode: "advisory", without: "allow", mechanism: "regulate" });
    expect(list?.content).not.toHaveProperty("pending");
    expect(call?.content).toMatchObject({
      pending: { server: "s", tool: "mail_out", arguments: { text: "hello" }, declared: ["text"], outcome: "pending" },
    });
    expect(run.questions("s.read_pub")).toEqual([list]);
  });

  it("with the steps so far and the instruction, which counts as private", () => {
    const run = new SmallRun(models());
    expect(run.questions("s.read_pub")[0]?.content).toMatchObject({ instruction: "", evidence: [] });
    run.fold({ kind: "registered", at: 1, text: { source: "instruction", value: "mail it" } });
    const [list] = run.questions("s.read_pub");
    expect(list?.content).toMatchObject({ instruction: "mail it", evidence: expect.arrayContaining(["private"]) });
    expect(list?.content).toMatchObject({
      tools: expect.arrayContaining([{ name: "s.mail_out", effects: ["write.external.send"] }]),
    });
  });

  it("about no more tools than a prompt has room for", () => {
    const labels = Object.fromEntries(
      Array.from({ length: contextToolsMax + 5 }, (_, index) => [`s.t${index}`, { effects: "read.local" as const }]),
    );
    const run = new SmallRun({ ...models(), labels });
    expect(run.questions("s.t0")[0]?.content).toMatchObject({ tools: { length: contextToolsMax } });
  });

  it("nothing about a call that the game refuses", () => {
    const run = new SmallRun({ ...openHost(), regulation: { models: { embedded: true } } });
    expect(told(run.decide("s.read_priv", {}, answered(run, "s.read_pub", safe)))).toMatch(/^deny/);
  });
});

describe("what an answer does", () => {
  it("nothing, where it is safe", () => {
    const run = new SmallRun(models());
    expect(told(run.decide("s.mail_out", {}, answered(run, "s.mail_out", safe)))).toBe("allow");
  });

  it.each([
    ["block-call", "deny SG-FORESIGHT", []],
    ["confirm", "confirm SG-FORESIGHT", []],
    ["end-run", "deny SG-FORESIGHT", [{ kind: "end-run", rule: "regulation.onUnsafe" }]],
  ] as const)("an unsafe one leads to what the policy says: %s", (onUnsafe, verdict, duties) => {
    const run = new SmallRun(models({ onUnsafe }));
    const decision = run.decide("s.mail_out", {}, answered(run, "s.mail_out", unsafe));
    expect(told(decision)).toBe(verdict);
    expect(decision.obligations).toEqual(duties);
    expect(decision.reasons[0]?.facts).toEqual({ safety: "unsafe", probability: 0.99 });
  });

  it("a chance above the bound of the policy counts as unsafe", () => {
    const run = new SmallRun(models({ epsilon: 0.5 }));
    const chance = (pUnsafe: number): Json => ({ safety: "critical", pUnsafe, filteredTools: [] });
    expect(run.decide("s.mail_out", {}, answered(run, "s.mail_out", chance(0.5))).verdict).toBe("allow");
    expect(run.decide("s.mail_out", {}, answered(run, "s.mail_out", chance(0.51))).verdict).toBe("deny");
  });

  it("one that cannot be read counts as the worst that it could have said", () => {
    const run = new SmallRun(models());
    for (const garbage of [
      "safe",
      null,
      { safety: "fine" },
      { safety: "safe" },
      { safety: "safe", pUnsafe: 0 },
      { ...safe, pUnsafe: Number.NaN },
    ]) {
      expect(told(run.decide("s.mail_out", {}, answered(run, "s.mail_out", garbage)))).toBe("deny SG-FORESIGHT");
    }
  });

  it("what is enough to ask asks, and never more than that", () => {
    const run = new SmallRun(models({ onUnsafe: "end-run" }));
    const doubt = { ...safe, asks: { safety: "unsafe", pUnsafe: 0.7, filteredTools: ["s.mail_out"] } };
    const decision = run.decide("s.mail_out", {}, answered(run, "s.mail_out", doubt));
    expect(told(decision)).toBe("confirm SG-FORESIGHT");
    expect(decision.obligations).toEqual([]);
    expect(told(run.expose("s.mail_out", answered(run, "s.mail_out", doubt)))).toBe("confirm SG-FORESIGHT");
    const garbage = { ...safe, asks: { safety: "perhaps" } };
    expect(told(run.decide("s.mail_out", {}, answered(run, "s.mail_out", garbage)))).toBe("deny SG-FORESIGHT");
  });

  it("tools that it takes from the list are hidden and not callable, and names that are none of them change nothing", () => {
    const run = new SmallRun(models());
    const value = { safety: "critical", pUnsafe: 0, filteredTools: ["s.mail_out", "s.none", 7] };
    const about = answered(run, "s.mail_out", value);
    expect(told(run.expose("s.mail_out", about))).toBe("deny SG-FORESIGHT");
    expect(told(run.decide("s.mail_out", {}, about))).toBe("deny SG-FORESIGHT");
    expect(told(run.expose("s.read_pub", about))).toBe("allow");
  });

  it("never takes away the call that meets a debt: a person is asked", () => {
    const owing = { ...debt(), regulation: { models: { embedded: true }, onUnsafe: "end-run" as const } };
    const run = new SmallRun(owing);
    const value = { safety: "unsafe", pUnsafe: 1, filteredTools: ["s.notify"] };
    const before = run.questions("s.notify", { text: "x" });
    expect(told(run.expose("s.notify", answers(before, value)))).toBe("confirm SG-FORESIGHT");
    // Nothing is owed yet, so the call itself may be refused.
    expect(run.decide("s.notify", { text: "x" }, answers(before, value)).verdict).toBe("deny");
    run.answering = safe;
    run.call("s.pay", { amount: "1" });
    const decision = run.decide("s.notify", { text: "x" }, answers(run.questions("s.notify", { text: "x" }), value));
    expect(told(decision)).toBe("confirm SG-FORESIGHT");
    expect(decision.obligations).toEqual([]);
  });

  it("does not turn a question of the game into a permission", () => {
    const run = new SmallRun({ ...openHost("may"), regulation: { models: { embedded: true } } });
    const about = answered(run, "s.mail_out", safe);
    expect(told(run.expose("s.read_priv", about))).toBe("confirm");
    const hiding = answered(run, "s.mail_out", { ...safe, filteredTools: ["s.read_priv"] });
    expect(told(run.expose("s.read_priv", hiding))).toBe("deny SG-FORESIGHT");
  });
});

describe("D25: a model that is silent, garbled or down", () => {
  const silent = (questions: readonly Question[], silence?: Silence): Answers =>
    new Map(
      questions.map((question) => {
        const answer = { kind: "unavailable", question, cause: "it says nothing" } as const;
        return [question.key, silence === undefined ? answer : { ...answer, silence }];
      }),
    );

  it.each([...silences, undefined])("asks about a call that acts, and says how it was silent: %s", (silence) => {
    const run = new SmallRun(models());
    const decision = run.decide("s.mail_out", {}, silent(run.questions("s.mail_out"), silence));
    expect(told(decision)).toBe("confirm SG-SILENT");
    expect(decision.reasons[0]?.facts).toEqual({ silence: silence ?? "unknown" });
  });

  it.each(["allow", "confirm", "deny"] as const)("does what the policy says: %s", (onSilence) => {
    const run = new SmallRun(models({ onSilence }));
    const { verdict } = run.decide("s.mail_out", {}, silent(run.questions("s.mail_out"), "down"));
    expect(verdict).toBe(onSilence);
  });

  it("leaves the list alone, whatever the policy says: each call is decided by itself", () => {
    const run = new SmallRun(models({ onSilence: "deny" }));
    const questions = run.questions("s.mail_out");
    expect(told(run.expose("s.mail_out", silent(questions)))).toBe("allow");
    const aboutCall = (question: Question): boolean => member(question.content, "pending") !== undefined;
    const half = new Map([
      ...silent(questions.filter((question) => !aboutCall(question))),
      ...answers(questions.filter(aboutCall), safe),
    ]);
    expect(told(run.decide("s.mail_out", {}, half))).toBe("allow");
  });

  it("lets a read pass that a model is asked about, unless the policy says otherwise", () => {
    for (const [onSilence, verdict] of [
      [undefined, "allow"],
      ["confirm", "confirm"],
      ["deny", "deny"],
    ] as const) {
      const run = new SmallRun(models({ judge: "all", ...(onSilence === undefined ? {} : { onSilence }) }));
      expect(run.decide("s.read_pub", {}, silent(run.questions("s.read_pub"), "late")).verdict).toBe(verdict);
    }
  });

  it("leaves reads alone, about which no model is asked", () => {
    const run = new SmallRun(models({ onSilence: "deny" }));
    expect(told(run.decide("s.read_pub", {}, silent(run.questions("s.read_pub"))))).toBe("allow");
  });

  it("counts where another model answered for it, and not where that one objects more", () => {
    const run = new SmallRun(models());
    const alone = (value: Json) => told(run.decide("s.mail_out", {}, answered(run, "s.mail_out", value)));
    expect(alone({ ...safe, silence: "late" })).toBe("confirm SG-SILENT");
    expect(alone({ ...safe, silence: "a word of its own" })).toBe("confirm SG-SILENT");
    expect(alone({ ...unsafe, silence: "late" })).toBe("deny SG-FORESIGHT");
    expect(alone({ ...safe, silence: "late", asks: { ...unsafe } })).toBe("confirm SG-FORESIGHT");
    const strict = new SmallRun(models({ onSilence: "deny" }));
    const said = { ...safe, silence: "late", asks: { ...unsafe } };
    const decision = strict.decide("s.mail_out", {}, answered(strict, "s.mail_out", said));
    expect(told(decision)).toBe("deny SG-SILENT SG-FORESIGHT");
  });

  it("asks nothing more where the game has decided: refused stays refused, and asked is asked once", () => {
    const refusing = new SmallRun({ ...openHost(), regulation: { models: { embedded: true } } });
    expect(refusing.questions("s.read_priv")).toEqual([]);
    expect(told(refusing.decide("s.read_priv"))).toMatch(/^deny (?!.*SG-SILENT)/);
    const asking = new SmallRun({ ...openHost("may"), regulation: { models: { embedded: true } } });
    asking.accept("leak host.send");
    const { label } = asking.contract("s.read_priv").output;
    asking.become({ held: [label], grants: [] });
    const decision = asking.decide("s.mail_out", {}, silent(asking.questions("s.mail_out")));
    expect(told(decision)).toMatch(/^confirm (?!.*SG-SILENT)/);
  });

  it("changes nothing where no model is configured", () => {
    const run = new SmallRun({ labels: openHost().labels ?? {}, regulation: { onSilence: "deny" } });
    expect(run.questions("s.mail_out")).toEqual([]);
    expect(told(run.decide("s.mail_out"))).toBe("allow");
  });

  it("never takes away the call that meets a debt: it is asked about", () => {
    const owing = { ...debt(), regulation: { models: { embedded: true }, onSilence: "deny" as const } };
    const run = new SmallRun(owing);
    const call = (): Answers => silent(run.questions("s.notify", { text: "x" }));
    expect(told(run.decide("s.notify", { text: "x" }, call()))).toBe("deny SG-SILENT");
    run.answering = safe;
    run.call("s.pay", { amount: "1" });
    run.answering = undefined;
    expect(told(run.decide("s.notify", { text: "x" }, call()))).toBe("confirm SG-SILENT");
  });
});

describe("D25: the calls that a model is asked about", () => {
  const aboutCalls = (questions: readonly Question[]) =>
    questions.filter(({ content }) => member(content, "pending") !== undefined);

  it("act, or are all calls where the policy says so", () => {
    for (const [judge, asked] of [
      ["acts", 0],
      ["all", 1],
    ] as const) {
      const run = new SmallRun(models({ judge }));
      expect(aboutCalls(run.questions("s.mail_out"))).toHaveLength(1);
      expect(aboutCalls(run.questions("s.read_priv"))).toHaveLength(asked);
    }
  });

  it("a read that a model finds unsafe is refused, and one that it finds safe passes", () => {
    const run = new SmallRun(models({ judge: "all" }));
    expect(told(run.decide("s.read_priv", {}, answered(run, "s.read_priv", unsafe)))).toBe("deny SG-FORESIGHT");
    expect(told(run.decide("s.read_priv", {}, answered(run, "s.read_priv", safe)))).toBe("allow");
  });

  it("are none without a model", () => {
    const run = new SmallRun({ labels: openHost().labels ?? {}, regulation: { judge: "all" } });
    expect(run.questions("s.read_priv")).toEqual([]);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ToolContract } from "../../core/contract.ts";
import type { LabelRange } from "../../core/label.ts";
import { exactly, fromBits } from "../../core/label.ts";
import { begin, seal } from "../../core/mechanism.ts";
import type { Reason } from "../../core/opinion.ts";
import { step } from "../../core/step.ts";
import type { Verdict } from "../../core/verdict.ts";
import type { Pattern, Rule } from "../../policy/ir.ts";
import { makeModel } from "../../policy/model.ts";
import type { Frame } from "../../policy/transition.ts";
import {
  argument,
  contract,
  frameOf,
  lattice,
  nothing,
  option,
  pattern,
  rule,
  secret,
} from "../../../test/policy/scene.ts";
import { makeTiers } from "./tiers.ts";

type Said = { readonly verdict: Verdict | "not decided"; readonly reasons: readonly Reason[] };

const digest = () => "digest";
const open: LabelRange = { lo: nothing, hi: secret };
const untrusted = exactly(fromBits(lattice, lattice.untrustedBit) ?? lattice.top);

function called(frame: Frame, of: ToolContract, labels: Readonly<Record<string, LabelRange>> = {}): Said {
  const model = makeModel(frame, digest);
  const tiers = makeTiers(frame, model);
  const head = { kind: "call", at: 1, call: "c", method: "tools/call", contract: of } as const;
  const moment = { ...head, arguments: {}, workspace: [], digest: "d" };
  const opinion = tiers.consider(
    { moment, option: option(of, labels) },
    begin({ model, mechanisms: [seal(tiers)] }, "r", undefined),
    null,
    new Map(),
  );
  if (opinion.kind !== "settled") return { verdict: "not decided", reasons: [] };
  const strength = { allow: 0, confirm: 1, deny: 2 } as const;
  const enforced = opinion.reasons.filter((reason) => reason.observed !== true);
  const verdict = enforced.reduce<Verdict>(
    (all, { verdict: one }) => (strength[one] > strength[all] ? one : all),
    "allow",
  );
  return { verdict, reasons: opinion.reasons };
}

const codes = ({ reasons }: Said): readonly string[] => reasons.map(({ code }) => code);
const plain = (tier: Rule["tier"], when: Partial<Pattern>, id = "R"): Rule => rule(id, { tier, when: pattern(when) });
const look = contract("look", { does: ["read.local"], arguments: new Map([["q", argument("query", false)]]) });
const send = contract("send", {
  does: ["write.external.send"],
  arguments: new Map([
    ["to", argument("recipient", true)],
    ["text", argument("content", true)],
  ]),
});

describe("rules in their tiers", () => {
  const everything: Partial<Pattern> = {};

  it("block is a refusal, confirm a question, allow no objection", () => {
    expect(called(frameOf({ rules: [plain("block", everything)] }), look).verdict).toBe("deny");
    expect(called(frameOf({ rules: [plain("confirm", everything)] }), look).verdict).toBe("confirm");
    expect(called(frameOf({ rules: [plain("allow", everything)] }), look).verdict).toBe("allow");
  });

  it("allow takes the question of the default away, and nothing else", () => {
    const asked = called(frameOf({}), send, { to: untrusted });
    expect(codes(asked)).toEqual(["SG-ASK-UNTRUSTED"]);
    expect(called(frameOf({ rules: [plain("allow", everything)] }), send, { to: untrusted }).verdict).toBe("allow");
    const both = [plain("allow", everything, "A"), plain("confirm", everything, "C")];
    expect(called(frameOf({ rules: both }), send, { to: untrusted }).verdict).toBe("confirm");
    const blocked = [plain("allow", everything, "A"), plain("block", everything, "B")];
    expect(called(frameOf({ rules: blocked }), send, { to: untrusted }).verdict).toBe("deny");
  });

  it("law: the order of the rules never matters", () => {
    const tiers = fc.constantFrom("block" as const, "confirm" as const, "allow" as const);
    fc.assert(
      fc.property(fc.array(tiers, { maxLength: 4 }), fc.boolean(), (chosen, tainted) => {
        const rules = chosen.map((tier, index) => plain(tier, everything, `r${index}`));
        const labels = tainted ? { to: untrusted } : {};
        expect(called(frameOf({ rules }), send, labels).verdict).toBe(
          called(frameOf({ rules: rules.toReversed() }), send, labels).verdict,
        );
      }),
    );
  });

  it("a rule over data refuses what is certain, asks where it is only possible, and names the argument", () => {
    const data = [{ atom: { kind: "atLeast", bits: secret } }] as const;
    const frame = frameOf({ rules: [plain("block", { data })] });
    const certain = called(frame, look, { q: exactly(secret) });
    expect(certain.reasons).toMatchObject([
      { code: "SG-RULE-BLOCK", verdict: "deny", rule: "R", way: "leave that data out", facts: { arguments: ["q"] } },
    ]);
    expect(called(frame, look, { q: open }).reasons).toMatchObject([{ code: "SG-RULE-UNSURE", verdict: "confirm" }]);
    expect(called(frame, look, { q: exactly(nothing) }).reasons).toEqual([]);
  });

  it("an allow rule that only may apply allows nothing", () => {
    const data = [{ atom: { kind: "atMost", forbidden: secret } }] as const;
    const frame = frameOf({ rules: [plain("allow", { data })] });
    expect(called(frame, send, { to: untrusted }).verdict).toBe("allow");
    expect(called(frame, send, { to: { lo: untrusted.lo, hi: lattice.top } }).verdict).toBe("confirm");
  });

  it("an observed rule says what it would do, and an observed allow rule lifts nothing", () => {
    const observe = (tier: Rule["tier"]): Frame => frameOf({ rules: [{ ...plain(tier, {}), mode: "observe" }] });
    expect(called(observe("block"), look).reasons).toMatchObject([{ verdict: "deny", observed: true }]);
    expect(called(observe("block"), look).verdict).toBe("allow");
    expect(called(observe("allow"), send, { to: untrusted }).verdict).toBe("confirm");
  });
});

describe("the default", () => {
  it("lets a plain read pass whatever it is asked with", () => {
    expect(called(frameOf({}), look, { q: exactly(lattice.top) }).reasons).toEqual([]);
  });

  it("asks before code runs, unless the policy allows it", () => {
    const run = contract("run", { does: ["execute.local"] });
    expect(codes(called(frameOf({}), run))).toEqual(["SG-ASK-EXECUTE"]);
    expect(called(frameOf({ execute: "allow" }), run).verdict).toBe("allow");
  });

  it("asks about an address that the agent had from outside, by the name of the argument", () => {
    const asked = called(frameOf({}), send, { to: untrusted, text: untrusted });
    expect(asked.reasons).toMatchObject([{ code: "SG-ASK-UNTRUSTED", facts: { arguments: ["to"] } }]);
  });

  it("asks about content above the bound of its sink, and not where the argument is no sink", () => {
    expect(codes(called(frameOf({}), send, { text: exactly(secret) }))).toEqual(["SG-ASK-BOUND"]);
    expect(called(frameOf({}), send, { text: exactly(secret) }).reasons).toMatchObject([
      { facts: { arguments: ["text"] } },
    ]);
    const noSink = contract("send", { does: ["write.external.send"], rest: argument("content", false) });
    expect(codes(called(frameOf({}), noSink, { text: exactly(secret) }))).toEqual([]);
  });
});

describe("which tools are shown", () => {
  const exposed = (rules: readonly Rule[], of: ToolContract): string => {
    const frame = frameOf({ rules });
    const model = makeModel(frame, digest);
    const engine = { model, mechanisms: [seal(makeTiers(frame, model))] };
    const found = step(engine, begin(engine, "r", undefined), { kind: "expose", at: 1, contract: of }, new Map());
    return found.kind === "decided" ? found.decision.verdict : found.kind;
  };

  it("one that a block rule always stops is hidden", () => {
    expect(exposed([plain("block", { tools: [{ server: "*", tool: "look" }] })], look)).toBe("deny");
    expect(exposed([plain("block", { tools: [{ server: "*", tool: "send" }] })], look)).toBe("allow");
    expect(exposed([plain("confirm", {})], look)).toBe("allow");
  });

  it("one that may be called in some state, with some arguments or in some case is shown", () => {
    const data = [{ atom: { kind: "atLeast", bits: secret } }] as const;
    expect(exposed([plain("block", { data })], look)).toBe("allow");
    expect(exposed([plain("block", { held: { kind: "atLeast", bits: secret } })], look)).toBe("allow");
    expect(exposed([plain("block", { stores: [{ store: 0, audience: 1 }] })], look)).toBe("allow");
    expect(exposed([plain("block", { predicates: [{ index: 0, holds: false }] })], look)).toBe("allow");
    const cases = [{ predicate: 1, effects: { must: [], may: ["read.local" as const] } }];
    const mixed = contract("mixed", { does: ["execute.local"], cases });
    expect(exposed([plain("block", { effects: ["execute"] })], mixed)).toBe("allow");
    expect(exposed([plain("block", { effects: ["execute"] })], { ...mixed, cases: [] })).toBe("deny");
  });
});

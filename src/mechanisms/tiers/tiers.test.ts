import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ToolContract } from "../../core/contract.ts";
import { type LabelRange, exactly, fromBits } from "../../core/label.ts";
import { begin, seal } from "../../core/mechanism.ts";
import type { Moment } from "../../core/moment.ts";
import { type Opinion, type Reason, noObjection } from "../../core/opinion.ts";
import { step } from "../../core/step.ts";
import type { Verdict } from "../../core/verdict.ts";
import type { Pattern, Rule } from "../../policy/ir/ir.ts";
import { makeModel } from "../../policy/semantics/model.ts";
import type { Frame } from "../../policy/semantics/transition.ts";
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
} from "../../../test/kit/policy/scene.ts";
import { makeTiers } from "./tiers.ts";

type Said = { readonly verdict: Verdict | "not decided"; readonly reasons: readonly Reason[] };

const digest = () => "digest";
const open: LabelRange = { lo: nothing, hi: secret };
const untrusted = exactly(fromBits(lattice, lattice.untrustedBit) ?? lattice.top);

function called(
  frame: Frame,
  of: ToolContract,
  labels: Readonly<Record<string, LabelRange>> = {},
  truths?: ReadonlyMap<number, boolean>,
  workspace: readonly string[] = [],
): Said {
  const model = makeModel(frame, digest);
  const tiers = makeTiers(frame, model);
  const head = { kind: "call", at: 1, call: "c", method: "tools/call", contract: of } as const;
  const moment = { ...head, arguments: {}, workspace, digest: "d" };
  const made = option(of, labels);
  const opinion = tiers.consider(
    { moment, option: truths === undefined ? made : { ...made, class: { ...made.class, truths } } },
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

describe("what is said of a rule", () => {
  it("is its own sentence and what it serves, with no facts where it looks at no data", () => {
    const said = (tier: "block" | "confirm") => called(frameOf({ rules: [plain(tier, {})] }), look).reasons;
    const common = { mechanism: "tiers", rule: "R", why: "because of R", serves: [], facts: {} };
    expect(said("block")).toEqual([{ ...common, code: "SG-RULE-BLOCK", verdict: "deny" }]);
    expect(said("confirm")).toEqual([{ ...common, code: "SG-RULE-CONFIRM", verdict: "confirm" }]);
    const data = [{ atom: { kind: "atLeast", bits: secret } }] as const;
    const unsure = called(frameOf({ rules: [plain("confirm", { data })] }), look, { q: open }).reasons;
    expect(unsure).toMatchObject([{ code: "SG-RULE-CONFIRM", verdict: "confirm", facts: { arguments: ["q"] } }]);
  });

  it("does not keep the default from saying what it asks, unless it allows", () => {
    const asked = called(frameOf({ rules: [plain("confirm", {})] }), send, { to: untrusted });
    expect(codes(asked)).toEqual(["SG-RULE-CONFIRM", "SG-ASK-UNTRUSTED"]);
  });
});

describe("what is said of the default", () => {
  const arguments_ = new Map([
    ["to", argument("recipient", true)],
    ["text", argument("content", true)],
    ["note", { ...argument("content", false), forbidden: secret }],
  ]);
  const everything = contract("all", { does: ["execute.local", "write.local.delete"], arguments: arguments_ });
  const outside = new Map([[0, false]]);
  const all = ["SG-ASK-EXECUTE", "SG-ASK-OUTSIDE", "SG-ASK-UNTRUSTED", "SG-ASK-BOUND"];

  it("is a reason for each part that asks, with a way out of each, even where all do", () => {
    const labels = { to: untrusted, text: exactly(secret), note: exactly(secret) };
    const asked = called(frameOf({}), everything, labels, outside, ["file:///project/./a", "no\npath"]).reasons;
    const said = (code: string, way: string, facts: Reason["facts"] = {}) => ({
      mechanism: "tiers",
      code,
      verdict: "confirm",
      way,
      facts: expect.objectContaining(facts),
    });
    expect(asked).toEqual([
      said("SG-ASK-EXECUTE", "ask the person, or do it without running code"),
      said("SG-ASK-OUTSIDE", "write inside the workspace", { workspace: ["/project/a"] }),
      said("SG-ASK-UNTRUSTED", "use values that the person gave or that trusted tools returned", { arguments: ["to"] }),
      // Not the note: nobody outside sees it, so it has no bound.
      said("SG-ASK-BOUND", "leave that data out", { arguments: ["text"] }),
    ]);
  });

  it("names under a bound each argument that is above its own, and none for another's", () => {
    const strict = { ...argument("content", true), forbidden: secret };
    const loose = { ...argument("content", true), forbidden: nothing };
    const named = (one: typeof strict, other: typeof strict) => {
      const rest = new Map([
        ["one", one],
        ["other", other],
      ]);
      const of = contract("send", { does: ["write.external.send"], arguments: rest });
      return called(frameOf({}), of, { one: exactly(secret), other: exactly(secret) }).reasons;
    };
    expect(named(strict, loose)).toMatchObject([{ facts: { arguments: ["one"] } }]);
    expect(named(strict, strict)).toMatchObject([{ facts: { arguments: ["one", "other"] } }]);
    expect(named(loose, loose)).toEqual([]);
  });

  const may: Partial<ToolContract> = { effects: { must: [], may: everything.effects.may }, arguments: arguments_ };
  const uncertain = { to: { lo: nothing, hi: lattice.top }, text: open };
  const askedOf = (part: Partial<ToolContract>) =>
    codes(called(frameOf({}), contract("t", { ...may, ...part }), uncertain, outside));

  it("is one reason, that its server has no labels, for a tool that neither operator nor pack labelled", () => {
    for (const source of ["unknown", "evidence", "server", "inference"] as const)
      expect(askedOf({ source })).toEqual(["SG-ASK-UNLABELLED"]);
    for (const source of ["operator", "pack"] as const) expect(askedOf({ source })).toEqual(all);
    const said = called(frameOf({}), contract("t", { ...may, source: "unknown" }), uncertain, outside).reasons;
    expect(said).toEqual([
      {
        mechanism: "tiers",
        code: "SG-ASK-UNLABELLED",
        verdict: "confirm",
        facts: { server: "s" },
        way: "label its server in the policy, or mark the server trusted",
      },
    ]);
  });

  it("is what it is where something is sure of such a tool, or nothing would be asked", () => {
    // It surely reads, so that more is known of it than nothing.
    expect(askedOf({ source: "unknown", effects: { must: ["read.local"], may: may.effects?.may ?? [] } })).toEqual(all);
    const flags = { irreversible: true, openWorld: false };
    const said = called(frameOf({}), contract("t", { ...may, source: "unknown", flags }), { to: untrusted }, outside);
    expect(codes(said)).toEqual(["SG-ASK-EXECUTE", "SG-ASK-OUTSIDE", "SG-ASK-UNTRUSTED"]);
    expect(askedOf({ source: "unknown", effects: { must: [], may: ["read.local"] } })).toEqual([]);
  });
});

describe("the mechanism", () => {
  const frame = frameOf({ rules: [plain("block", { effects: ["read"] })] });
  const tiers = makeTiers(frame, makeModel(frame, digest));
  const run = begin({ model: makeModel(frame, digest), mechanisms: [seal(tiers)] }, "r", undefined);

  it("remembers nothing, and objects to nothing but calls and entries of the list", () => {
    expect([tiers.id, tiers.initial(), tiers.remember(null, { at: 1, kind: "succeeded", call: "c" }, run)]).toEqual([
      "tiers",
      null,
      null,
    ]);
    const head = { at: 1, call: "c", contract: look, arguments: {} } as const;
    const call = { ...head, kind: "call", method: "tools/call", workspace: [], digest: "d" } as const;
    expect(tiers.consider({ moment: call, option: undefined }, run, null, new Map())).toBe(noObjection);
    const other = { ...head, kind: "release" } as unknown as Moment; // what else it holds is not looked at
    expect(tiers.consider({ moment: other, option: option(look) }, run, null, new Map())).toBe(noObjection);
  });

  it("judges an entry of the list once for each contract, for lists are judged again at every change", () => {
    const entry = (of: ToolContract) =>
      tiers.consider({ moment: { kind: "expose", at: 1, contract: of }, option: undefined }, run, null, new Map());
    expect(entry(look)).toBe(entry(look));
    expect(entry({ ...look })).toEqual(entry(look));
    // A case that only says what it returns does what the tool does.
    expect(entry({ ...look, cases: [{ predicates: [1], output: look.output }] })).toEqual(entry(look));
    expect(entry(look)).toMatchObject({
      verdict: "deny",
      reasons: [{ mechanism: "tiers", code: "SG-RULE-HIDDEN", verdict: "deny", rule: "R", facts: {} }],
    });
  });
});

describe("a policy that admits declared labels alone", () => {
  const declared: Frame = { ...frameOf({}), ir: { ...frameOf({}).ir, declaredOnly: true } };
  const listed = (source: ToolContract["source"]): ToolContract =>
    contract("look", { does: ["read.local"], source, toolDigest: "d" });
  const entryUnder = (frame: Frame, of: ToolContract): Opinion => {
    const model = makeModel(frame, digest);
    const tiers = makeTiers(frame, model);
    const run = begin({ model, mechanisms: [seal(tiers)] }, "r", undefined);
    return tiers.consider({ moment: { kind: "expose", at: 1, contract: of }, option: undefined }, run, null, new Map());
  };

  it("hides and refuses a tool of which only names, texts or observations speak", () => {
    const way = "label the tool in the policy, or accept the reading of its server";
    for (const source of ["unknown", "inference", "evidence"] as const) {
      const reasons = [
        { mechanism: "tiers", code: "SG-ADMIT-UNLABELLED", verdict: "deny", facts: { server: "s" }, way },
      ];
      expect(called(declared, listed(source), {}).reasons).toEqual(reasons);
      expect(entryUnder(declared, listed(source))).toMatchObject({ verdict: "deny", reasons });
      expect(codes(called(frameOf({}), listed(source), {}))).toEqual([]);
    }
  });

  it("takes the word of operator, pack and server, and asks for none about a method of the protocol", () => {
    for (const source of ["operator", "pack", "server"] as const) {
      expect(codes(called(declared, listed(source), {}))).toEqual([]);
      expect(entryUnder(declared, listed(source))).toMatchObject({ verdict: "allow" });
    }
    expect(codes(called(declared, { ...listed("unknown"), toolDigest: undefined }, {}))).toEqual([]);
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
    // What it only may do is no reason to hide it.
    const vague = contract("vague", { effects: { must: [], may: ["execute.local"] } });
    expect(exposed([plain("block", { effects: ["execute"] })], vague)).toBe("allow");
    const cases = [{ predicates: [1], effects: { must: [], may: ["read.local" as const] } }];
    const mixed = contract("mixed", { does: ["execute.local"], cases });
    expect(exposed([plain("block", { effects: ["execute"] })], mixed)).toBe("allow");
    expect(exposed([plain("block", { effects: ["execute"] })], { ...mixed, cases: [] })).toBe("deny");
    const limit = rule("T", { tier: "block", temporal: { kind: "at-most", of: pattern(), count: 0 } });
    expect(exposed([limit], look)).toBe("allow");
  });
});

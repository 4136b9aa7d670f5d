import { describe, expect, it } from "vitest";
import type { ToolContract } from "../../core/contract.ts";
import type { Moment } from "../../core/moment.ts";
import type { Opinion } from "../../core/opinion.ts";
import type { Rule, Temporal } from "../../policy/ir/ir.ts";
import type { Q } from "../../policy/semantics/state.ts";
import type { Frame } from "../../policy/semantics/transition.ts";
import type { JsonObject } from "../../core/json.ts";
import type { LabelRange } from "../../core/label.ts";
import {
  contract,
  dispatch,
  frameOf,
  nothing,
  option,
  pattern,
  round,
  rule,
  secret,
  start,
  tool,
} from "../../../test/kit/policy/scene.ts";
import { makeSequence, openDebts } from "./sequence.ts";

const pay = contract("pay", { does: ["write.external.pay"] });
const check = contract("check", { does: ["read.local"] });

function frameWith(temporal: Temporal, tier: Rule["tier"] = "must", mode: Rule["mode"] = "enforce"): Frame {
  return frameOf({ rules: [{ ...rule("R", { tier, temporal }), mode }] });
}

function consider(frame: Frame, moment: Moment, q: Q, of?: ToolContract, keys?: Record<string, readonly string[]>) {
  const x = of === undefined ? undefined : option(of, {}, keys === undefined ? {} : { keys });
  return makeSequence(frame).consider({ moment, option: x }, { key: "r", q, memories: new Map() }, null, new Map());
}

function called(frame: Frame, of: ToolContract, q = start(frame), keys?: Record<string, readonly string[]>): Opinion {
  const head = { kind: "call", at: 5, call: "c", method: "tools/call", contract: of } as const;
  return consider(frame, { ...head, arguments: {}, workspace: [], digest: "d" }, q, of, keys);
}

/** The same call from the outbox. */
function flushed(frame: Frame, of: ToolContract, q: Q, heldSince: number): Opinion {
  const head = { kind: "call", at: 5, call: "c", method: "tools/call", contract: of, heldSince } as const;
  return consider(frame, { ...head, arguments: {}, workspace: [], digest: "d" }, q, of);
}

/** The state after one call, so that counters are full and locks are shut. */
const after = (frame: Frame, of: ToolContract): Q => round(frame, start(frame), option(of), { at: 1 });

const cases: readonly {
  readonly temporal: Temporal;
  readonly before?: ToolContract;
  readonly code: string;
  readonly needs: readonly string[];
  readonly way: string;
}[] = [
  {
    temporal: { kind: "gate", before: tool("pay"), need: tool("check") },
    code: "SG-MUST-FIRST",
    needs: ["check"],
    way: "call check first",
  },
  {
    temporal: { kind: "gate", before: tool("pay"), need: pattern() },
    code: "SG-MUST-FIRST",
    needs: [],
    way: "do first what the rule asks for",
  },
  {
    temporal: { kind: "immediately", before: tool("pay"), need: pattern({ effects: ["read.local"] }) },
    code: "SG-MUST-FIRST",
    needs: ["read.local"],
    way: "call read.local first",
  },
  {
    temporal: { kind: "absence", after: tool("check"), never: tool("pay") },
    before: check,
    code: "SG-MUST-NOT-FOLLOW",
    needs: [],
    way: "start a new run for this",
  },
  {
    temporal: {
      kind: "absence",
      after: tool("check"),
      never: tool("pay"),
      until: pattern({
        tools: [
          { server: "desk", tool: "ask" },
          { server: "*", tool: "call" },
        ],
      }),
    },
    before: check,
    code: "SG-MUST-NOT-FOLLOW",
    needs: ["desk.ask", "call"],
    way: "call desk.ask or call first, or start a new run",
  },
  {
    temporal: { kind: "at-most", of: tool("pay"), count: 1 },
    before: pay,
    code: "SG-LIMIT",
    needs: [],
    way: "start a new run for more",
  },
  {
    temporal: { kind: "at-most", of: tool("pay"), count: 1, withinMs: 1_000 },
    before: pay,
    code: "SG-LIMIT",
    needs: [],
    way: "wait until the limit allows more",
  },
  {
    temporal: { kind: "budget", of: tool("pay"), argument: "sum", limit: "0" },
    code: "SG-BUDGET",
    needs: [],
    way: "start a new run for more",
  },
  {
    temporal: { kind: "owed", after: tool("check"), owe: tool("tell"), within: 1 },
    before: check,
    code: "SG-OWED",
    needs: ["tell"],
    way: "call tell first",
  },
];

describe("what a rule about order says when it refuses", () => {
  it.each(cases)("$temporal.kind: $way", ({ temporal, before, code, needs, way }) => {
    const frame = frameWith(temporal);
    const q = before === undefined ? start(frame) : after(frame, before);
    expect(called(frame, pay, q)).toMatchObject({
      kind: "settled",
      reasons: [
        { mechanism: "sequence", code, verdict: "deny", rule: "R", why: "because of R", facts: { needs }, way },
      ],
    });
  });

  it("says whose rule it is, why, and what it serves, and no value of the call", () => {
    const gate: Temporal = { kind: "gate", before: tool("pay"), need: tool("check") };
    const frame = frameOf({ rules: [{ ...rule("R", { tier: "must", temporal: gate }), serves: ["L1"] }] });
    const said = { mechanism: "sequence", rule: "R", why: "because of R", serves: ["L1"], way: "call check first" };
    const facts = { kind: "gate", needs: ["check"] };
    expect(called(frame, pay)).toEqual({
      kind: "settled",
      verdict: "deny",
      reasons: [{ ...said, code: "SG-MUST-FIRST", verdict: "deny", facts }],
      obligations: [],
    });
  });

  it("a rule in the tier confirm asks, one in observe mode only says what it would do", () => {
    const gate: Temporal = { kind: "gate", before: tool("pay"), need: tool("check") };
    expect(called(frameWith(gate, "confirm"), pay)).toMatchObject({ reasons: [{ verdict: "confirm" }] });
    expect(called(frameWith(gate, "must", "observe"), pay)).toMatchObject({ reasons: [{ observed: true }] });
  });

  it("says that a key mattered, and never which value it was", () => {
    const key = { argument: "to", form: "email", foldLocalPart: true } as const;
    const frame = frameWith({ kind: "gate", before: tool("pay"), need: tool("check"), key });
    const opinion = called(frame, pay, start(frame), { R: ["ann@example.com"] });
    expect(opinion).toMatchObject({ reasons: [{ facts: { keyed: "yes" } }] });
    expect(JSON.stringify(opinion)).not.toContain("ann");
  });
});

describe("when it has no opinion", () => {
  const gate: Temporal = { kind: "gate", before: tool("pay"), need: tool("check") };

  it("about another tool, another moment, or a policy without such rules", () => {
    const frame = frameWith(gate);
    const silence = { kind: "settled", verdict: "allow", reasons: [], obligations: [] };
    expect(called(frame, check)).toEqual(silence);
    expect(called(frameOf({}), pay)).toEqual(silence);
    expect(consider(frame, { kind: "expose", at: 1, contract: pay }, start(frame))).toEqual(silence);
    const call = { kind: "call", at: 5, call: "c", method: "tools/call", contract: pay } as const;
    expect(consider(frame, { ...call, arguments: {}, workspace: [], digest: "d" }, start(frame))).toEqual(silence);
    const release = { kind: "release", at: 5, call: "c", contract: pay, option: option(pay) } as const;
    expect(consider(frame, { ...release, outcome: "succeeded", value: {} }, start(frame), pay)).toEqual(silence);
    expect(called(frame, pay, after(frame, check))).toEqual(silence);
  });

  it("of a hazard: those are another mechanism's", () => {
    const hazard = {
      id: "H",
      loss: "L",
      why: "w",
      consent: "never",
      mode: "enforce",
      kind: "temporal",
      temporal: { kind: "absence", after: tool("check"), never: tool("pay") },
    } as const;
    const frame = frameOf({ hazards: [hazard] });
    expect(called(frame, pay, after(frame, check))).toMatchObject({ reasons: [], obligations: [] });
  });
});

describe("obligations", () => {
  const inject: Temporal = { kind: "inject", before: tool("pay"), server: "log", tool: "add", arguments: { a: 1 } };
  const hold: Temporal = { kind: "by-end", after: tool("pay"), by: tool("tell"), action: "hold" };

  it("an injected call is performed before the call it belongs to, and before no other", () => {
    const frame = frameWith(inject);
    expect(called(frame, pay)).toMatchObject({
      obligations: [{ kind: "perform", rule: "R", server: "log", tool: "add", arguments: { a: 1 } }],
    });
    expect(called(frame, check)).toMatchObject({ obligations: [] });
  });

  it.each([
    ["absent", {}, "give `/to`: a call that must come first refers to it"],
    ["no text", { to: ["a"] }, "give `/to` as a text or a number: a call that must come first refers to it"],
    ["too long", { to: "x".repeat(70_000) }, "give a shorter `/to`: a call that must come first refers to it"],
  ])("a call whose argument is %s, to which an injected call refers, is refused", (_, given, way) => {
    const frame = frameWith({ ...inject, arguments: { note: "for {call/to}" } });
    const ask = (to: JsonObject) => {
      const head = { kind: "call", at: 5, call: "c", method: "tools/call", contract: pay, arguments: to } as const;
      return consider(frame, { ...head, workspace: [], digest: "d" }, start(frame), pay);
    };
    const reason = { code: "SG-INJECT", verdict: "deny", rule: "R", why: "because of R", facts: { place: "/to" }, way };
    expect(ask(given)).toMatchObject({ verdict: "deny", reasons: [reason], obligations: [] });
    expect(ask({ to: "bob" })).toMatchObject({ verdict: "allow", obligations: [{ arguments: { note: "for bob" } }] });
  });

  it("a call that owes another is held until that one succeeded", () => {
    const frame = frameWith(hold);
    const holding = { kind: "hold", since: 0, way: "call tell after it" };
    expect(called(frame, pay)).toMatchObject({ obligations: [holding] });
    expect(called(frame, check)).toMatchObject({ obligations: [] });
    expect(flushed(frame, pay, after(frame, contract("tell")), 0)).toMatchObject({ obligations: [] });
    expect(called(frameWith({ ...hold, action: "report" }), pay)).toMatchObject({ obligations: [] });
  });

  it("a call whose compensation could not be written is refused; another owes it until it is met", () => {
    const call = { server: "s", tool: "undo", arguments: { of: "{call/id}" } };
    const frame = frameWith({ ...hold, action: "compensate", call });
    const ask = (of: ToolContract, given: JsonObject) => {
      const head = { kind: "call", at: 5, call: "c", method: "tools/call", contract: of, arguments: given } as const;
      return consider(frame, { ...head, workspace: [], digest: "d" }, start(frame), of);
    };
    const way = "give `/id`: a call that makes up for this one refers to it";
    const reason = {
      code: "SG-BY-END",
      verdict: "deny",
      facts: { kind: "by-end", needs: ["s.undo"], place: "/id" },
      way,
    };
    expect(ask(pay, {})).toMatchObject({ verdict: "deny", reasons: [reason], obligations: [] });
    expect(ask(pay, { id: 1 })).toMatchObject({ verdict: "allow", reasons: [], obligations: [] });
    expect(ask(check, {})).toMatchObject({ verdict: "allow", reasons: [], obligations: [] });
    const owing = after(frame, pay);
    expect(openDebts(frame, owing, 2).map(({ id }) => id)).toEqual(["R"]);
    expect(openDebts(frame, round(frame, owing, option(contract("tell")), { at: 2 }), 3)).toEqual([]);
  });

  it("a success from before a call was asked for does not let it go", () => {
    const frame = frameWith(hold);
    const told = after(frame, contract("tell"));
    expect(called(frame, pay, told)).toMatchObject({ obligations: [{ kind: "hold", since: 1 }] });
    expect(flushed(frame, pay, told, 1)).toMatchObject({ obligations: [{ kind: "hold", since: 1 }] });
    const again = round(frame, told, option(contract("tell")), { at: 3 });
    expect(flushed(frame, pay, again, 1)).toMatchObject({ obligations: [] });
  });

  it("a call whose key cannot be read would wait for ever: it is refused, and told which argument it lacks", () => {
    const frame = frameWith({ ...hold, key: { argument: "id", form: "id", foldLocalPart: false } });
    const found = called(frame, pay);
    expect(found).toMatchObject({
      verdict: "deny",
      reasons: [{ code: "SG-BY-END", way: expect.stringMatching(/`id`/) }],
    });
    expect(called(frame, check)).toMatchObject({ verdict: "allow", reasons: [], obligations: [] });
  });

  it("of automata that concern another tool nothing is asked, nor of a hazard that may hold", () => {
    const frame = frameWith(inject);
    const none = makeSequence(frame, () => []);
    const head = { kind: "call", at: 5, call: "c", method: "tools/call", contract: pay } as const;
    const moment = { ...head, arguments: {}, workspace: [], digest: "d" };
    const run = { key: "r", q: start(frame), memories: new Map() };
    expect(none.consider({ moment, option: option(pay) }, run, null, new Map())).toMatchObject({ obligations: [] });
  });

  it("what may carry what the rule speaks of is obliged as what surely does", () => {
    const data = [{ atom: { kind: "atLeast", bits: secret } }] as const;
    const frame = frameWith({ ...inject, before: pattern({ data }) });
    const obligationsOf = (label: LabelRange) => {
      const x = option(pay, { text: label });
      const head = { kind: "call", at: 5, call: "c", method: "tools/call", contract: pay } as const;
      const moment = { ...head, arguments: {}, workspace: [], digest: "d" };
      const run = { key: "r", q: start(frame), memories: new Map() };
      const opinion = makeSequence(frame).consider({ moment, option: x }, run, null, new Map());
      return opinion.kind === "settled" ? opinion.obligations.length : undefined;
    };
    expect(obligationsOf({ lo: nothing, hi: secret })).toBe(1);
    expect(obligationsOf({ lo: nothing, hi: nothing })).toBe(0);
  });

  it("observe mode obliges to nothing", () => {
    expect(called(frameWith(inject, "must", "observe"), pay)).toMatchObject({ obligations: [] });
    expect(called(frameWith(hold, "must", "observe"), pay)).toMatchObject({ obligations: [] });
  });
});

describe("the end of a run", () => {
  const frame = frameWith({ kind: "by-end", after: tool("pay"), by: tool("tell"), action: "report" });
  const end: Moment = { kind: "reflect", at: 9, cause: "end", server: undefined };

  it("reports a debt, also of a call whose result nobody has seen yet", () => {
    const sent = dispatch(frame, start(frame), option(pay), 1).q;
    const report = {
      mechanism: "sequence",
      code: "SG-BY-END",
      verdict: "confirm",
      rule: "R",
      why: "because of R",
      facts: { kind: "by-end", needs: ["tell"] },
      serves: [],
      way: "call tell after it",
    };
    expect(consider(frame, end, sent)).toEqual({
      kind: "settled",
      verdict: "confirm",
      reasons: [report],
      obligations: [],
    });
    expect(openDebts(frame, sent, 9).map(({ id }) => id)).toEqual(["R"]);
  });

  it.each<[string, Partial<Extract<Moment, { kind: "reflect" }>>, readonly string[]]>([
    ["in a run that was idle for a while", { cause: "periodic" }, ["SG-BY-END"]],
    ["not where the behaviour of a server is looked at", { cause: "periodic", server: "s" }, []],
    ["not before a list", { cause: "list" }, []],
    ["not at the start of a server", { cause: "start", server: "s" }, []],
  ])("tells a debt %s", (_when, occasion, codes) => {
    const found = consider(frame, { ...end, ...occasion } as Moment, after(frame, pay));
    expect(found.kind === "settled" ? found.reasons.map(({ code }) => code) : undefined).toEqual(codes);
  });

  it("asks nobody about a debt that is only observed", () => {
    const owing: Temporal = { kind: "by-end", after: tool("pay"), by: tool("tell"), action: "report" };
    const observing = frameWith(owing, "must", "observe");
    expect(consider(observing, end, after(observing, pay))).toMatchObject({
      verdict: "allow",
      reasons: [{ code: "SG-BY-END", verdict: "confirm", observed: true }],
    });
  });

  it.each<[string, Partial<Extract<Temporal, { kind: "by-end" }>>, string]>([
    ["", {}, "call tell after it"],
    [" of any time", { once: true }, "call tell"],
    [" without a name", { by: pattern() }, "do what the rule asks for after it"],
  ])("names the call that would have met it: one%s", (_, part, way) => {
    const owing = frameWith({ kind: "by-end", after: tool("pay"), by: tool("tell"), action: "report", ...part });
    const sent = dispatch(owing, start(owing), option(pay), 1).q;
    expect(consider(owing, end, sent)).toMatchObject({ reasons: [{ way }] });
  });

  it("a success of any time meets what asks for one at any time", () => {
    const once = { kind: "by-end", after: tool("pay"), by: tool("tell"), action: "report", once: true } as const;
    for (const [temporal, owed] of [
      [once, []],
      [{ ...once, once: undefined }, ["R"]],
    ] as const) {
      const { once: any, ...rest } = temporal;
      const owing = frameWith(any === undefined ? rest : { ...rest, once: any });
      const told = after(owing, contract("tell"));
      expect(openDebts(owing, dispatch(owing, told, option(pay), 2).q, 3).map(({ id }) => id)).toEqual(owed);
    }
  });

  it("and nothing once it is met, or before anything is owed", () => {
    const met = round(frame, after(frame, pay), option(contract("tell")), { at: 2 });
    expect(consider(frame, end, met)).toMatchObject({ reasons: [] });
    expect(consider(frame, end, start(frame))).toMatchObject({ reasons: [] });
  });
});

import { describe, expect, test } from "vitest";
import type { ToolContract } from "../../core/contract.ts";
import type { RunEvent } from "../../core/event.ts";
import type { EffectTrace } from "../../core/isolation/effect-trace.ts";
import type { JsonObject } from "../../core/json.ts";
import { effectsContextFrom } from "../../core/questions/effect-question.ts";
import { exactly, isUntrusted } from "../../core/label.ts";
import type { Moment } from "../../core/moment.ts";
import type { Answer, Answers, Opinion } from "../../core/opinion.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { argument, contract, lattice, nothing, option, secret } from "../../../test/kit/policy/scene.ts";
import { change, event, evidence, orderOf, run, tool, traceOf } from "../../../test/kit/isolation/projection-scene.ts";
import { type Memory, distrustedMax, isDistrusted, nothingRemembered, makeProjection } from "./projection.ts";
import type { ProjectionSettings } from "./settings.ts";

type World = {
  readonly order?: IsolationOrder;
  readonly memory?: Memory;
  readonly judge?: ProjectionSettings["judge"];
};

function mechanism({ order = orderOf(), judge }: World = {}) {
  const digest = (value: unknown): string => JSON.stringify(value);
  const settings = { order: (server: string) => (server === "s" ? order : undefined), lattice, digest };
  return makeProjection(judge === undefined ? settings : { ...settings, judge });
}

function consider(
  moment: Moment,
  of: ToolContract | undefined,
  answers: Answers = new Map(),
  world: World = {},
): Opinion {
  const x = of === undefined ? undefined : option(of, { path: exactly(nothing) });
  const made = mechanism(world);
  return made.consider({ moment, option: x }, run, world.memory ?? made.initial(), answers);
}

function call(of: ToolContract, given: JsonObject = {}, world: World = {}, answers?: Answers): Opinion {
  const head = { kind: "call", at: 1, call: "c", method: "tools/call", contract: of } as const;
  return consider({ ...head, arguments: given, workspace: [], digest: "d" }, of, answers, world);
}

function release(answers: Answers, world: World = {}, of: ToolContract = tool()): Opinion {
  const moment = { kind: "release", at: 2, call: "c", contract: of, option: option(of), outcome: "succeeded" } as const;
  return consider({ ...moment, value: null }, undefined, answers, world);
}

function codesOf(opinion: Opinion): readonly string[] {
  if (opinion.kind === "needs") return ["needs"];
  return [opinion.verdict, ...opinion.reasons.map(({ code }) => code)];
}

const after = (events: readonly RunEvent[], order = orderOf()): Memory =>
  events.reduce((memory, one) => mechanism({ order }).remember(memory, one, run), nothingRemembered);

const bad: EffectTrace = traceOf({ events: [event({ action: "file-read", path: "/home/ana/.ssh/id_rsa" })] });

describe("calls", () => {
  test("run in the scope of their tool; servers without an order, or with it off, run as they are", () => {
    const order = orderOf({ serial: true, tools: { t: { allow: ["b.example:443", "a.example:443"] } } });
    expect(call(tool(), {}, { order })).toEqual({
      kind: "settled",
      verdict: "allow",
      reasons: [],
      obligations: [
        { kind: "isolate", scope: '{"allow":["a.example:443","b.example:443"],"order":"order","serial":true}' },
      ],
    });
    expect(call(tool(), {}, { order: orderOf({}, "off") })).toMatchObject({ obligations: [] });
    expect(call(tool({ server: "other" }))).toMatchObject({ obligations: [] });
    const head = { kind: "call", at: 1, call: "c", method: "ping", contract: tool() } as const;
    expect(consider({ ...head, arguments: {}, workspace: [], digest: "" }, undefined)).toMatchObject({
      obligations: [],
    });
  });

  test("the list is not judged here", () => {
    expect(codesOf(consider({ kind: "expose", at: 1, contract: tool() }, undefined))).toEqual(["allow"]);
    const admit = { kind: "admit", at: 1, server: "s", manifestDigest: "", contracts: [] } as const;
    expect(codesOf(consider(admit, undefined))).toEqual(["allow"]);
  });
});

describe("results", () => {
  test("wait for the trace of their call, and for no other", () => {
    expect(release(new Map())).toMatchObject({
      kind: "needs",
      questions: [{ key: "effect-trace s c", mode: "required" }],
    });
    expect(codesOf(release(evidence(traceOf(), "d")))).toEqual(["needs"]);
    const beside = {
      kind: "release",
      at: 2,
      call: undefined,
      contract: tool(),
      option: undefined,
      outcome: "succeeded",
      value: null,
    } as const;
    expect(codesOf(consider(beside, undefined))).toEqual(["allow"]);
    expect(codesOf(release(new Map(), {}, tool({ server: "other" })))).toEqual(["allow"]);
  });

  test("pass when nothing is held against the call", () => {
    const fine = traceOf({ events: [event({ action: "file-read", path: "/home/ana/work/a" })] });
    expect(release(evidence(fine))).toEqual({ kind: "settled", verdict: "allow", reasons: [], obligations: [] });
  });

  test("are rejected with what happened, once for each rule, and a way on", () => {
    const more = traceOf({
      events: ["a", "b", "c", "d", "e", "f"].map((name) =>
        event({ action: "file-read", path: `/home/ana/.ssh/${name}` }),
      ),
    });
    const opinion = release(evidence(more));
    expect(opinion).toMatchObject({ verdict: "deny", obligations: [] });
    if (opinion.kind !== "settled") return;
    expect(opinion.reasons).toHaveLength(1);
    expect(opinion.reasons[0]).toMatchObject({
      code: "SG-SCOPE-FILE",
      rule: "file.secret",
      facts: { what: "`s.t` tried to read `/home/ana/.ssh/a`, where secrets are kept", more: 2 },
    });
    expect(opinion.reasons[0]?.facts["also"]).toHaveLength(3);
    expect(opinion.reasons[0]?.way).toContain("isolation.servers.s");
  });

  test("are rejected where the evidence is missing, or cannot be read", () => {
    const [key = "", given] = [...evidence(traceOf())][0] ?? [];
    if (given === undefined) throw new Error("no evidence");
    const { question } = given;
    const gone: Answers = new Map([[key, { kind: "unavailable", question, cause: "no answer" }]]);
    const odd: Answers = new Map([[key, { kind: "known", question, value: "what?" }]]);
    for (const answers of [gone, odd, evidence(traceOf({ complete: false })), evidence(traceOf({ failure: "gone" }))]) {
      expect(codesOf(release(answers))).toEqual(["deny", "SG-EVIDENCE"]);
    }
  });

  test("`learn` waits for nothing and rejects nothing; all is told", () => {
    const order = orderOf({ onViolation: "end" }, "learn");
    expect(codesOf(release(new Map(), { order }))).toEqual(["allow"]);
    const opinion = release(evidence({ ...bad, complete: false }), { order });
    expect(codesOf(opinion)).toEqual(["allow", "SG-EVIDENCE", "SG-SCOPE-FILE"]);
    expect(opinion).toMatchObject({ reasons: [{ observed: true }, { observed: true }], obligations: [] });
    expect(codesOf(call(tool(), {}, { order, memory: { calls: new Map(), distrusted: new Set(["s"]) } }))).toEqual([
      "allow",
    ]);
  });

  test("a violation costs what the policy says; a suspicion costs nothing", () => {
    const cost = (onViolation: "reject" | "revoke" | "end", trace: EffectTrace): unknown =>
      release(evidence(trace), { order: orderOf({ onViolation }) });
    const revoke = { kind: "revoke", server: "s", rule: "file.secret" };
    expect(cost("reject", bad)).toMatchObject({ obligations: [] });
    expect(cost("revoke", bad)).toMatchObject({ obligations: [{ ...revoke, end: false }] });
    expect(cost("end", bad)).toMatchObject({ obligations: [{ ...revoke, end: true }] });
    const strange = traceOf({
      changes: Array.from({ length: 20 }, (_, index) => change(`${index}`, { kind: "deleted" })),
    });
    const writer = tool({ does: ["write.local"] });
    const opinion = release(evidence(strange), { order: orderOf({ onViolation: "end" }) }, writer);
    expect(opinion).toMatchObject({ verdict: "confirm", reasons: [{ code: "SG-SUSPICION" }], obligations: [] });
  });

  test("nothing that an unconfined server says can be trusted, and its label stands for no less", () => {
    const of = contract("t", { output: { label: exactly(secret), fields: [] } });
    for (const tier of ["C", "none"] as const) {
      const opinion = release(evidence(traceOf({ tier, complete: false })), {}, of);
      if (opinion.kind !== "settled") throw new Error("asked");
      const [label] = opinion.obligations;
      if (label?.kind !== "label") throw new Error("no label");
      expect(opinion.verdict).toBe("allow");
      expect(isUntrusted(lattice, label.range.lo)).toBe(true);
      expect(label.range.lo & secret).toBe(secret);
    }
  });

  test("text of a method without a tool is judged on the scope of its server alone", () => {
    const moment = {
      kind: "release",
      at: 2,
      call: "c",
      contract: tool(),
      option: undefined,
      outcome: "failed",
      value: null,
    } as const;
    expect(codesOf(consider(moment, undefined, evidence(bad)))).toEqual(["deny", "SG-SCOPE-FILE"]);
    const bare = traceOf({ tier: "none" });
    expect(consider(moment, undefined, evidence(bare))).toMatchObject({ obligations: [{ kind: "label" }] });
    // By default such a server is as without isolation, until it does what it may not.
    const usual = { ...orderOf(), mode: "where-possible" } as const;
    expect(consider(moment, undefined, evidence(bare), { order: usual })).toMatchObject({ obligations: [] });
    const memory = { calls: new Map(), distrusted: new Set(["s"]) };
    const distrusted = consider(moment, undefined, evidence(bare), { order: usual, memory });
    expect(distrusted).toMatchObject({ obligations: [{ kind: "label" }] });
  });
});

describe("what is remembered", () => {
  const of = tool({ does: ["read.external"], arguments: new Map([["url", argument("destination", false)]]) });
  const given = { url: "https://docs.example.org/a" };
  const trusted = option(of, { url: exactly(nothing) });
  const allowed: RunEvent = {
    kind: "dispatched",
    at: 1,
    call: "c",
    method: "tools/call",
    option: trusted,
    arguments: given,
    digest: "",
  };
  const released = (part: Partial<Extract<RunEvent, { kind: "released" }>>): RunEvent => ({
    kind: "released",
    at: 3,
    call: "c",
    server: "s",
    tool: "t",
    how: "reject",
    label: exactly(nothing),
    fields: [],
    ...part,
  });

  test("destinations of the call's own arguments hold for its trace, and end with it", () => {
    const reach = evidence(
      traceOf({ events: [event({ action: "net-connect", domain: "docs.example.org", port: 443 })] }),
    );
    const memory = after([allowed]);
    expect(codesOf(release(reach, { memory }, of))).toEqual(["allow"]);
    expect(codesOf(release(reach, {}, of))).toEqual(["deny", "SG-SCOPE-NET"]);
    expect(after([allowed, released({ how: "withhold" })]).calls.size).toBe(1);
    expect(after([allowed, released({ how: "pass" })]).calls.size).toBe(0);
    expect(after([allowed, { kind: "ended", at: 4, cause: "closed" }]).calls.size).toBe(0);
    expect(after([allowed], orderOf({}, "off")).calls.size).toBe(0);
    expect(after([allowed, { kind: "succeeded", at: 2, call: "c" }]).calls.size).toBe(1);
    expect(after([allowed, released({ how: "pass", call: undefined })]).calls.size).toBe(1);
  });

  test("a server that violated its scope is asked about for the rest of the run", () => {
    const memory = after([allowed, released({ codes: ["SG-SCOPE-FILE"] })]);
    expect(codesOf(call(tool(), {}, { memory }))).toEqual(["confirm", "SG-DISTRUST"]);
    expect(release(evidence(traceOf()), { memory })).toMatchObject({ obligations: [{ kind: "label" }] });
    expect(isDistrusted(memory, "other")).toBe(false);
  });

  test("a rejection for another cause, or a result that passed, is no guilt", () => {
    for (const part of [{ codes: ["SG-LOOMING"] }, {}, { how: "withhold" as const, codes: ["SG-EFFECT"] }]) {
      expect(isDistrusted(after([released(part)]), "s")).toBe(false);
    }
  });

  test("beyond what can be remembered every server is distrusted", () => {
    const many = new Set(Array.from({ length: distrustedMax }, (_, index) => `s${index}`));
    expect(isDistrusted({ calls: new Map(), distrusted: many }, "another")).toBe(true);
  });
});

describe("between calls", () => {
  const look = (answers: Answers, server: string | undefined = "s", world: World = {}): Opinion =>
    consider({ kind: "reflect", at: 9, server, cause: "periodic" }, undefined, answers, world);
  const background = (part: Parameters<typeof event>[0], trace: Partial<EffectTrace> = {}): Answers => {
    const one = evidence(traceOf({ events: [event({ phase: "background", ...part })], ...trace }), "");
    const [given] = [...one.values()];
    if (given === undefined) throw new Error("no evidence");
    return new Map([["effect-trace s ", given]]);
  };

  test("a violation denies, which takes the admission back; work in scope is told", () => {
    expect(codesOf(look(background({ action: "net-connect", domain: "evil.example", port: 443 })))).toEqual([
      "deny",
      "SG-SCOPE-NET",
    ]);
    const told = look(background({ action: "file-write", path: "/home/ana/work/a" }));
    expect(told).toMatchObject({
      verdict: "allow",
      reasons: [{ code: "SG-BACKGROUND", observed: true, facts: { actions: ["file-write"] } }],
    });
    expect(codesOf(look(background({ action: "file-read", path: "/home/ana/work/a" })))).toEqual(["allow"]);
    expect(codesOf(look(background({ action: "file-write", path: "/home/ana/work/a", phase: "startup" })))).toEqual([
      "allow",
    ]);
  });

  test("nothing is asked, and nothing follows from what is not there", () => {
    expect(codesOf(look(new Map()))).toEqual(["allow"]);
    expect(codesOf(look(background({ action: "system-call" }), undefined))).toEqual(["deny", "SG-SCOPE-PROCESS"]);
    const odd = new Map([
      [
        "effect-trace s ",
        { kind: "known" as const, question: [...background({ action: "limit-hit" }).values()][0]!.question, value: 1 },
      ],
    ]);
    expect(codesOf(look(odd))).toEqual(["deny", "SG-EVIDENCE"]);
    expect(codesOf(consider({ kind: "reflect", at: 9, server: undefined, cause: "end" }, undefined))).toEqual([
      "allow",
    ]);
  });
});

describe("judges", () => {
  const judge = { domains: true, effects: true, onDistrust: "deny" } as const;
  const of = tool({
    source: "unknown",
    does: ["read.external"],
    arguments: new Map([["url", argument("content", false)]]),
  });
  const reach = traceOf({
    events: [event({ action: "net-connect", domain: "api.example.com", port: 443, count: 2, bytes: 5 })],
  });
  const answered = (opinion: Opinion, value: JsonObject | undefined, before: Answers = new Map()): Answers => {
    if (opinion.kind !== "needs") throw new Error("nothing asked");
    return new Map([
      ...before,
      ...opinion.questions.map((question): readonly [string, Answer] => [
        question.key,
        value === undefined ? { kind: "unavailable", question, cause: "none" } : { kind: "known", question, value },
      ]),
    ]);
  };

  test("choose destinations among those that the arguments name, and invent none", () => {
    const given = { url: "see https://a.example.org/x and b.example.org, not 10.0.0.1" };
    const asked = call(of, given, { judge });
    expect(asked).toMatchObject({
      questions: [
        { mode: "advisory", without: "allow", content: { candidates: ["a.example.org:443", "b.example.org:443"] } },
      ],
    });
    const scope = (value: JsonObject | undefined): unknown => {
      const opinion = call(of, given, { judge }, answered(asked, value));
      return opinion.kind === "settled" ? opinion.obligations[0] : opinion;
    };
    const isolate = (allow: string): unknown => ({
      kind: "isolate",
      scope: `{"allow":[${allow}],"order":"order","serial":false}`,
    });
    expect(scope({ allowed_domains: ["B.example.org", "evil.example"] })).toEqual(isolate('"b.example.org:443"'));
    expect(scope({ allowed_domains: "all" })).toEqual(isolate(""));
    expect(scope(undefined)).toEqual(isolate(""));
    expect(call(of, {}, { judge }).kind).toBe("settled");
    expect(call(of, given, { judge, order: orderOf({ net: { mode: "none", allow: [] } }) }).kind).toBe("settled");
  });

  test("what a judge let the broker pass is in scope; what it only hints at is not", () => {
    const reached = (grade: "broker" | "hint"): EffectTrace =>
      traceOf({ events: [event({ action: "net-connect", domain: "a.example.org", port: 443, grade })] });
    const domains = { ...judge, effects: false };
    expect(codesOf(release(evidence(reached("broker")), { judge: domains }, of))).toEqual(["allow"]);
    expect(codesOf(release(evidence(reached("hint")), { judge: domains }, of))).toEqual(["deny", "SG-SCOPE-NET"]);
  });

  test("are asked about what nothing explains, and only tighten", () => {
    const asked = release(evidence(reach), { judge }, of);
    expect(asked).toMatchObject({
      questions: [
        {
          kind: "effects-judge",
          content: { effects: [], events: ["net-connect success hint api.example.com:443 5 bytes 2 times"] },
        },
      ],
    });
    const said = (value: JsonObject | undefined, onDistrust: "deny" | "confirm" = "deny"): readonly string[] =>
      codesOf(release(answered(asked, value, evidence(reach)), { judge: { ...judge, onDistrust } }, of));
    expect(said({ trusted: true })).toEqual(["allow"]);
    expect(said({ trusted: false, flags: ["exfil <b>"] })).toEqual(["deny", "SG-SUSPICION"]);
    expect(said({ trusted: false }, "confirm")).toEqual(["confirm", "SG-SUSPICION"]);
    expect(said({ verdict: "fine" })).toEqual(["deny", "SG-SUSPICION"]);
    expect(said(undefined)).toEqual(["allow"]);
  });

  test("trust of a judge lifts no suspicion, and violations are not asked about", () => {
    const changes = Array.from({ length: 50 }, (_, index) => change(`d${index}`, { kind: "deleted" as const }));
    const events = [
      event({ action: "process-spawn", program: "/usr/bin/git", commandLine: "git gc" }),
      event({ action: "file-rename", path: "/home/ana/work/a", target: "/home/ana/work/b" }),
      event({ action: "file-read", path: "/home/ana/work/c" }),
    ];
    const strange = evidence(traceOf({ changes, events }));
    const writer = tool({ does: ["write.local", "execute.local"], arguments: new Map() });
    const asked = release(strange, { judge }, writer);
    if (asked.kind !== "needs") throw new Error("nothing asked");
    expect(asked.questions[0]?.content).toMatchObject({ rules: ["suspicion.deletes-much"] });
    const lines = effectsContextFrom(asked.questions[0]?.content ?? null)?.events ?? [];
    expect(lines.slice(0, 2)).toEqual([
      "process-spawn success hint git gc",
      "file-rename success hint /home/ana/work/a to /home/ana/work/b",
    ]);
    expect(lines.at(-1)).toBe("13 more events are not shown");
    expect(codesOf(release(answered(asked, { trusted: true }, strange), { judge }, writer))).toEqual([
      "confirm",
      "SG-SUSPICION",
    ]);
    expect(codesOf(release(evidence(bad), { judge }, of))).toEqual(["deny", "SG-SCOPE-FILE"]);
  });
});

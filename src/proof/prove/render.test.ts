// What every kind of step is called, and how a long way stays short.
import { describe, expect, it } from "vitest";
import type { RuleText } from "../../policy/document/shapes-rules.ts";
import { type Small, foreign, local, open, prove, secret, small, tools, told } from "../../../test/kit/proof/small.ts";
import { renderShortly, renderSteps, span, stepLinesMax } from "./render.ts";
import type { TraceStep } from "./trace.ts";

const subject = small({
  labels: { "s.read": tools.reads(secret), "s.send": tools.sends() },
  rules: [{ id: "r", tier: "block", absence: { after: "s.read", never: "s.send", within: "1m" }, why: "w" }],
  never: { call: "s.send" },
});
const { hazard } = prove(subject);
const call = (more: Partial<TraceStep & { kind: "call" }> = {}): TraceStep => ({
  kind: "call",
  run: "this",
  server: "s",
  tool: "read",
  truths: new Map(),
  arguments: [],
  gained: undefined,
  succeeds: false,
  waiting: [],
  stored: [],
  key: undefined,
  ...more,
});
const say = (...steps: readonly TraceStep[]): readonly string[] => renderSteps(subject, hazard, steps);
const end = call({ tool: "send" });

describe("each kind of step", () => {
  it.each<[TraceStep, string]>([
    [call(), "s.read"],
    [call({ gained: 1 }), "s.read, returns private data"],
    [call({ gained: 0 }), "s.read"],
    [
      call({
        arguments: [
          { name: "text", label: 1 },
          { name: "", label: 0 },
        ],
      }),
      "s.read(text: private; an argument: public)",
    ],
    [
      call({ run: "other", stored: [{ store: "box", label: 1, opened: [] }] }),
      "another run: s.read, box now holds private data",
    ],
    [call({ stored: [{ store: "box", label: 0, opened: ["anyone", "me"] }] }), "s.read, opens box to anyone and me"],
    [call({ stored: [{ store: "box", label: 0, opened: [] }] }), "s.read"],
    [call({ tool: "resources/read" }), "resources/read of s"],
    [call({ key: "same" }), "s.read"],
    [call({ key: "other" }), "s.read, for another key"],
    [call({ key: "unreadable" }), "s.read, for a key that cannot be read"],
    [{ kind: "late", rule: "r" }, "an earlier call is answered only now, and rule r takes that for a new one"],
    [{ kind: "tick", rule: "r", withinMs: 60_000 }, "wait 1 minute: rule r has forgotten"],
    [{ kind: "tick", rule: "h", withinMs: 1 }, "wait 1 ms: h has forgotten"],
    [{ kind: "speak", label: 1 }, "a server says something unasked: nothing is known of it, at worst it is private"],
    [{ kind: "host-read", label: 1 }, "nobody decides this: the client itself reads private data"],
    [{ kind: "host-send", label: 1 }, "nobody decides this: the client itself sends what it holds (private)"],
    [{ kind: "host-execute", label: 1 }, "nobody decides this: the client itself acts on what it holds (private)"],
    [
      { kind: "fire", store: "box", group: "anyone", label: 1 },
      "nobody decides this: anyone reads box, which holds private data",
    ],
  ])("%#", (step, text) => {
    expect(say(step, end)).toEqual([`1. ${text}`, "2. s.send <- h"]);
  });

  it("what the last call leaves behind is no part of the way", () => {
    expect(say(call({ stored: [{ store: "box", label: 1, opened: ["anyone"] }] }))).toEqual(["1. s.read <- h"]);
  });

  it("a call is not answered yet only where that matters later", () => {
    const late: TraceStep = { kind: "late", rule: "r" };
    expect(say(call({ waiting: ["r"] }), late, end)[0]).toBe("1. s.read, not answered yet");
    expect(say(call({ waiting: ["other"] }), late, end)[0]).toBe("1. s.read");
    expect(say(late, call({ waiting: ["r"] }), end)[1]).toBe("2. s.read");
  });
});

describe("long ways", () => {
  const different = Array.from({ length: 9 }, (_, n) => call({ tool: `t${n}` }));
  it("the same step many times is one line, and the numbers go on", () => {
    expect(say(...Array.from({ length: 1_000 }, () => call()), end)).toEqual([
      "1.-1000. s.read, 1000 times",
      "1001. s.send <- h",
    ]);
  });

  it("shows the beginning and the end", () => {
    const lines = say(...different);
    expect(lines).toHaveLength(stepLinesMax);
    expect(lines.slice(-2)).toEqual(["   ... 4 more steps", "9. s.t8 <- h"]);
    expect(say(...different.slice(0, stepLinesMax))).toHaveLength(stepLinesMax);
  });

  it("fits on one line where it is only mentioned", () => {
    expect(renderShortly(subject, [call(), end])).toBe("1. s.read; 2. s.send");
    expect(renderShortly(subject, different)).toBe("1. s.t0; 2. s.t1; ...; 9. s.t8");
  });
});

it("spans are in the largest unit that is whole", () => {
  const said = [0, 1, 1_500, 1_000, 90_000, 60_000, 120_000, 3_600_000, 86_400_000, 172_800_000].map(span);
  expect(said).toEqual([
    "0 ms",
    "1 ms",
    "1500 ms",
    "1 second",
    "90 seconds",
    "1 minute",
    "2 minutes",
    "1 hour",
    "1 day",
    "2 days",
  ]);
});

describe("steps as they are found", () => {
  const must = (id: string, part: Omit<RuleText, "id" | "tier" | "why">): RuleText => ({
    id,
    tier: "must",
    why: "w",
    ...part,
  });
  const acts = { "s.ask": tools.reads(open), "s.act": tools.reads(open) };

  it("a call that is answered late, and what it unlocks", () => {
    const late = small({
      labels: acts,
      rules: [
        must("look", { gate: { before: "s.act", need: "s.ask", unless: "s.act" } }),
        { id: "once", tier: "block", absence: { after: "s.act", never: "s.ask" }, why: "w" },
      ],
      never: { atMost: { of: "s.act", count: 1 } },
    });
    expect(told(late, prove(late))).toEqual([
      "1. s.ask, not answered yet",
      "2. s.ask",
      "3. s.act",
      "4. an earlier call is answered only now, and rule look takes that for a new one",
      "5. s.act <- h",
    ]);
  });

  it("a counter that forgets, a debt that is met, a call just before", () => {
    const rules = [
      { id: "few", tier: "block" as const, atMost: { of: "s.act", count: 1, within: "1h" }, why: "w" },
      must("debt", { owed: { after: "s.ask", owe: "s.act", within: 2 } }),
      must("just", { immediately: { before: "s.act", need: "s.ask" } }),
    ];
    const counted = small({ labels: acts, rules, never: { atMost: { of: "s.act", count: 1 } } });
    expect(told(counted, prove(counted)).join("\n")).toMatch(/wait 1 hour: rule few has forgotten/);
  });

  it("what lasts no longer than what has expired has expired with it", () => {
    const few = (id: string, within: string) => ({
      id,
      tier: "block" as const,
      atMost: { of: "s.act", count: 1, within },
      why: "w",
    });
    const rules = [few("long", "1h"), few("short", "5m")];
    const counted = small({ labels: acts, rules, never: { atMost: { of: "s.act", count: 1 } } });
    expect(told(counted, prove(counted))).toEqual([
      "1. s.act",
      "2. wait 1 hour: rule long has forgotten",
      "3. s.act <- h",
    ]);
  });

  it("strict mode, results with fields, stores that are read", () => {
    const never: Small["never"] = { flow: { from: "private", to: "s.send" } };
    const quiet: RuleText = { id: "quiet", tier: "allow", when: "s.send", why: "w" };
    const fields = small({
      labels: { "s.list": tools.reads({ ...open, fields: { "/secret": secret } }), "s.send": tools.sends() },
      rules: [quiet],
      flow: { mode: "strict" },
      never,
    });
    expect(told(fields, prove(fields))[0]).toBe("1. s.list, returns private data");
    const stored = small({
      labels: {
        "s.look": tools.reads({ confidentiality: "inferred", trust: "inferred" }, { reads: "box" }),
        "s.send": tools.sends(),
      },
      stores: { box: { label: secret } },
      rules: [quiet],
      never,
    });
    expect(told(stored, prove(stored))[0]).toBe("1. s.look, returns private data");
    const host = small({
      labels: { "s.send": tools.sends() },
      stores: { box: { label: secret } },
      rules: [quiet],
      host: { read: { open: ["box"] } },
      never,
    });
    expect(told(host, prove(host))[0]).toBe("1. nobody decides this: the client itself reads private data");
  });

  it("where no data is followed, arguments have no label", () => {
    const blind = small({
      labels: { "s.write": tools.writes("box"), "s.grant": tools.grants("box") },
      stores: { box: {} },
      flow: { mode: "none" },
      never: { call: "s.write" },
    });
    expect(told(blind, prove(blind))).toEqual(["1. s.write <- h"]);
  });

  it("an untrusted value goes where the agent was told to send it", () => {
    const steered = small({
      labels: {
        "s.web": tools.reads(foreign),
        "s.save": { effects: "write.local", args: { path: { role: "path", sink: false } }, rest: local, output: open },
      },
      never: { call: { tool: "s.save", data: { trust: "untrusted" } } },
      flow: { mode: "provenance" },
    });
    expect(
      told(steered, { ...prove(steered), counterexample: prove(steered).without.counterexample ?? { steps: [] } }),
    ).toEqual(["1. s.web, returns public, untrusted data", "2. s.save(path: public, untrusted) <- h"]);
  });
});

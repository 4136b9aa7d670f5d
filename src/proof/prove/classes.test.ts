// Classes of calls: what looks alike is one, what some rule tells apart is several, and there are limits.
import { describe, expect, it } from "vitest";
import type { ToolLabelsText } from "../../policy/document/shapes-labels.ts";
import {
  blocks,
  foreign,
  model,
  movesOf,
  open,
  prove,
  question,
  secret,
  small,
  space,
  tools,
} from "../../../test/kit/proof/small.ts";
import { makeClasses } from "./classes.ts";
import { classesPerToolMax, combinationsMax } from "./limits.ts";
import { makeVariants } from "./variants.ts";

const flow = { flow: { from: "private", to: { effect: "write.external" } } } as const;
const many = (count: number, of: ToolLabelsText): Record<string, ToolLabelsText> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`s.t${n}`, of]));

function classes(subject: ReturnType<typeof small>, core: readonly string[] = []) {
  const made = makeClasses(space(subject, core), makeVariants(subject));
  if (!made.ok) throw new Error(made.error);
  return made.value;
}

describe("classes", () => {
  it("a thousand tools that look alike are one class", () => {
    const subject = small({ labels: { ...many(1_000, tools.reads(secret)), "s.send": tools.sends() }, never: flow });
    expect(classes(subject).map(({ variant }) => variant.contract.tool)).toEqual(["t0", "send"]);
  });

  it("a rule that names one of them tells it apart, if it is asked", () => {
    const subject = small({
      labels: { ...many(3, tools.sends()) },
      rules: [blocks("one", "s.t1")],
      never: flow,
    });
    expect(classes(subject)).toHaveLength(1);
    expect(classes(subject, ["one"])).toHaveLength(2);
  });

  it("every combination of tests that can matter is a class, others are none", () => {
    const test = (argument: string) => ({ tool: "s.t0", arg: { [argument]: { equals: "v" } } });
    const subject = small({
      labels: many(2, tools.sends()),
      rules: [blocks("a", test("a")), blocks("b", test("b"))],
      never: flow,
    });
    // Neither fires, one, the other, both; and t1, of which no rule speaks, looks like the first.
    expect(classes(subject, ["a", "b"])).toHaveLength(4);
    expect(classes(subject, ["a"])).toHaveLength(2);
  });

  it("the first case that holds decides, and a second with the same test is never met", () => {
    const when = { arg: { path: { glob: "*.key" } } };
    const subject = small({
      labels: {
        "s.read": tools.reads(open, {
          cases: [
            { when, output: secret },
            { when, output: open },
            { when: { arg: { path: "b" } }, output: secret },
          ],
        }),
        "s.send": tools.sends(),
      },
      never: flow,
    });
    const { all, outputs } = makeVariants(subject);
    expect(all.map(({ fixed }) => [...fixed.values()])).toEqual([[false, false], [true], [false, true], []]);
    expect(outputs).toHaveLength(2);
    expect(prove(subject).without.verdict).toBe("refuted");
  });

  it("output and effects are chosen apart, and a set of cases is told after each of them", () => {
    const at = (path: string) => ({ arg: { path } });
    const medical = { ...open, categories: ["medical"] };
    const finance = { ...open, categories: ["finance"] };
    const subject = small({
      lattice: { categories: ["medical", "finance"] },
      labels: {
        "s.read": tools.reads(open, {
          cases: [
            { when: at("a"), output: medical },
            { when: at("b"), output: finance },
            { when: at("c"), effects: { must: ["read.local"], may: ["read.local", "write.local"] } },
          ],
        }),
        "s.send": tools.sends(),
      },
      never: flow,
    });
    const { all, outputs } = makeVariants(subject);
    const read = all.filter(({ contract }) => contract.tool === "read");
    expect(
      new Set(read.map(({ contract: { output, effects } }) => `${output.label.hi} ${effects.may.join()}`)).size,
    ).toBe(8);
    const fitting = read.map(({ fixed }) => [...fixed.values()].filter((truth) => truth).length);
    expect(fitting).toEqual([0, 1, 1, 1, 2, 2, 2, 3]);
    expect(outputs).toHaveLength(4);
  });

  it("arguments that no pattern tells apart are one", () => {
    const args = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`a${n}`, "content" as const]));
    const subject = small({ labels: { "s.send": tools.sends({ args: { ...args, to: "recipient" } }) }, never: flow });
    expect(classes(subject)[0]?.arguments).toHaveLength(1);
    const apart = { tool: "s.send", data: { confidentiality: "private", args: ["a3"] } };
    const named = small({
      labels: { "s.send": tools.sends({ args: { ...args, to: "recipient" } }) },
      rules: [blocks("a3", apart)],
      never: flow,
    });
    expect(classes(named, ["a3"])[0]?.arguments.map(({ name }) => name)).toContain("a3");
  });

  it("what a keyed hazard asks about is the same key, another, or one that nobody can read", () => {
    const subject = small({
      labels: { "s.send": tools.sends() },
      never: { atMost: { of: "s.send", count: 1, key: "to" } },
    });
    expect(classes(subject).map(({ key }) => key)).toEqual(["same", "other", "unreadable"]);
  });

  it("the default tells apart what is inside the workspace", () => {
    const subject = small({
      labels: { "s.write": { effects: "write.local", args: { path: "path" }, rest: "content", output: foreign } },
      never: { call: { effect: "write.local" } },
    });
    const truths = classes(subject, ["default"]).map(({ truths: all }) => [...all.values()]);
    expect(truths).toEqual([[false], [true]]);
  });

  it("calls of a server that is only observed are never stopped", () => {
    const subject = small({
      servers: { s: { mode: "observe", trust: "trusted" } },
      labels: { "s.read": tools.reads(secret), "s.send": tools.sends() },
      rules: [blocks("none", "s.send")],
      never: flow,
    });
    expect(classes(subject)[0]?.variant.observed).toBe(true);
    expect(prove(subject)).toMatchObject({ verdict: "refuted" });
  });
});

describe("limits of classes", () => {
  const rules = (count: number, tool: string) =>
    Array.from({ length: count }, (_, n) => blocks(`r${n}`, { tool, arg: { [`a${n}`]: { equals: "v" } } }));

  it("too many tests of one tool are refused, naming the tool and the limit", () => {
    const subject = small({ labels: { "s.send": tools.sends() }, rules: rules(13, "s.send"), never: flow });
    const core = rules(13, "s.send").map(({ id }) => id);
    const made = makeClasses(space(subject, core), makeVariants(subject));
    expect(made).toEqual({
      ok: false,
      error: `\`s.send\` has 13 argument tests that can matter at once; the limit is ${Math.log2(classesPerToolMax)}: join or drop some`,
    });
  });

  it("so are too many combinations of all tools", () => {
    const labels = Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => [`s.t${n}`, tools.sends({ args: { [`x${n}`]: "content" } })]),
    );
    const subject = small({ labels, rules: rules(12, "s.*"), never: flow });
    const core = rules(12, "s.*").map(({ id }) => id);
    const made = makeClasses(space(subject, core), makeVariants(subject));
    expect(made.ok ? "" : made.error).toMatch(new RegExp(`more than ${combinationsMax} combinations`));
  });

  it("so are too many classes", () => {
    // Each tool has arguments of its own kind, so that none looks like another.
    const labels = Object.fromEntries(
      Array.from({ length: 12 }, (_, n) => [
        `s.t${n}`,
        tools.sends({
          args: Object.fromEntries(Array.from({ length: n + 1 }, (__, at) => [`only${n}x${at}`, "content" as const])),
        }),
      ]),
    );
    const named = Array.from({ length: 12 }, (_, n) =>
      blocks(`n${n}`, { tool: `s.t${n}`, data: { confidentiality: "private", args: [`only${n}x0`] } }),
    );
    const subject = small({ labels, rules: [...rules(11, "s.*"), ...named], never: flow });
    const core = subject.policy.ir.rules.map(({ id }) => id);
    const made = makeClasses(space(subject, core), makeVariants(subject));
    expect(made.ok ? "" : made.error).toMatch(/classes of calls apart: drop rules/);
  });

  it("a model over a limit is a proof that is not decided, with the reason", () => {
    const subject = small({
      labels: { "s.read": tools.reads(secret), "s.send": tools.sends() },
      rules: Array.from({ length: 14 }, (_, n) =>
        blocks(`r${n}`, { tool: "s.send", data: "private", arg: { [`a${n}`]: { equals: "v" } } }),
      ),
      never: flow,
    });
    expect(prove(subject)).toMatchObject({ verdict: "unknown", reason: expect.stringMatching(/argument tests/) });
  });
});

it("a model has one move for each class, and one for each other run that changes a store", () => {
  const subject = small({
    stores: { box: { label: open } },
    labels: {
      "s.read": tools.reads(secret, { reads: "box" }),
      "s.write": tools.writes("box"),
      "s.send": tools.sends(),
    },
    never: flow,
  });
  const made = model(subject);
  expect(movesOf(made, "dispatch")).toHaveLength(3);
  expect(movesOf(made, "other").map((move) => move.class.variant.contract.tool)).toEqual(["write"]);
  expect(question(subject).mattering).toBe(1);
});

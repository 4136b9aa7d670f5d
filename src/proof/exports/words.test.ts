import { expect, it } from "vitest";
import { blocks, foreign, local, model, open, secret, sink, small, tools } from "../../../test/kit/proof/small.ts";
import type { RuleText } from "../../policy/document/shapes-rules.ts";
import type { Ends } from "../prove/subject.ts";
import { explore } from "../prove/fixpoint.ts";
import { moveTitle, transitionSystem } from "./transition-system.ts";
import { moveWords, rulesOf } from "./words.ts";

const musts: readonly RuleText[] = [
  { id: "gate", tier: "must", gate: { before: "s.send", need: "s.look", within: "1m" }, why: "so" },
  { id: "just", tier: "must", immediately: { before: "s.send", need: "s.look" }, why: "so" },
  { id: "debt", tier: "must", owed: { after: "s.read", owe: "s.look", within: 3 }, why: "so" },
  { id: "count", tier: "block", atMost: { of: "s.send", count: 2 }, why: "so" },
  { id: "armed", tier: "block", absence: { after: "s.read", never: "s.send" }, why: "so" },
];

const subject = small({
  lattice: { confidentiality: ["public", "private"], categories: ["medical"] },
  labels: {
    "s.read": { ...tools.reads({ ...secret, categories: ["medical"], trust: "unsure" }), reads: "box" },
    "s.look": tools.reads(foreign),
    "s.send": { ...tools.sends(), args: { text: sink, to: { role: "recipient", sink: true, audience: "anyone" } } },
    "s.note": tools.writes("box"),
    "s.share": tools.grants("box"),
    "s.plain": tools.reads(open, { args: { x: local } }),
  },
  stores: { box: { audience: "me", label: open } },
  rules: [
    ...musts,
    blocks("keep", { tool: "s.send", data: "private" }),
    blocks("shared", { tool: "s.send", store: { name: "box", audience: "anyone" } }),
    blocks("named", { tool: "s.plain", arg: { x: { equals: "v" } } }),
    blocks("outside", { tool: "s.note", workspace: false }),
  ],
  host: { send: "open", read: "open", execute: "open" },
  never: { flow: { from: { categories: ["medical"], readers: ["me"] }, to: { effect: "write.external" } } },
});
const every = [...subject.policy.ir.rules.map(({ id }) => id), "default"];

function systemOf(ends: Ends) {
  const found = explore(model(subject, every, ends));
  if (!found.ok) throw new Error(found.error);
  return transitionSystem(found.value);
}

it("says what every variable stands for", () => {
  const { states, choices } = systemOf(["lo", "hi"]);
  expect(new Set(states.map(({ name }) => name)).size).toBe(states.length);
  expect(states.map(({ words }) => words)).toMatchInlineSnapshot(`
    [
      "the run holds at most private, surely public",
      "the run holds private",
      "the run holds at most public, medical, surely public",
      "the run holds public, medical",
      "the run holds at most public, only for me, surely public",
      "the run holds public, only for me",
      "the run holds at most public, untrusted, surely public",
      "the run holds public, untrusted",
      "the run holds at most private, medical, untrusted, surely private, medical",
      "the run holds at most private, medical, untrusted, only for me, surely public",
      "store box is at least private for sure",
      "store box is in category medical for sure",
      "store box is not for anyone for sure",
      "store box is untrusted for sure",
      "store box is at least private",
      "store box is in category medical",
      "store box is not for anyone",
      "store box is untrusted",
      "anyone sees store box",
      "anyone reads store box unasked",
      "armed: armed (as far as is sure)",
      "count: 1 or more of the calls are counted (as far as is sure)",
      "debt: something is owed (as far as is sure)",
      "gate: open (as far as is sure)",
      "just: the call that is needed has just succeeded (as far as is sure)",
      "armed: armed",
      "count: 1 or more of the calls are counted",
      "debt: something is owed",
      "gate: open",
      "just: the call that is needed has just succeeded",
      "count: 2 or more of the calls are counted (as far as is sure)",
      "debt: 1 or more calls were made since it is owed (as far as is sure)",
      "count: 2 or more of the calls are counted",
      "debt: 1 or more calls were made since it is owed",
      "debt: 2 or more calls were made since it is owed (as far as is sure)",
      "debt: 2 or more calls were made since it is owed",
      "debt: at least one unlocking call under way (as far as is sure)",
      "debt: at least two unlocking calls under way (as far as is sure)",
      "debt: at least one unlocking call under way",
      "debt: at least two unlocking calls under way",
    ]
  `);
  expect([...choices.values()].map(({ words }) => words.replace(/\d+/g, "N"))).toMatchInlineSnapshot(`
    [
      "argument N of the call takes something private",
      "argument N of the call takes something private",
      "argument N of the call takes something public, medical",
      "argument N of the call takes something public, medical",
      "argument N of the call takes something public, only for me",
      "argument N of the call takes something public, only for me",
      "argument N of the call takes something private, medical, untrusted",
      "argument N of the call takes something private, medical, untrusted, only for me",
      "argument N of the call follows untrusted data",
      "a person lowered the label of argument N of the call",
      "a person lowered the label of argument N of the call",
      "a person lowered the label of argument N of the call",
      "a person lowered the label of argument N of the call",
      "of a call: succeeds",
      "of a call: returns",
      "argument N of the call takes something private",
      "argument N of the call takes something public, medical",
      "argument N of the call takes something public, only for me",
      "argument N of the call takes something private, medical, untrusted",
      "of a call: uncounted",
      "in another run: K:N",
      "in another run: K:N",
      "in another run: K:N",
      "in another run: K:N",
      "in another run: K:N",
      "in another run: K:N",
      "in another run: K:N",
      "in another run: K:N",
      "in another run: K:N",
      "in another run: K:N",
      "in another run: M:debt:N:lo",
      "in another run: M:debt:N:lo",
      "of a call: more on their way",
    ]
  `);
  expect(systemOf(["hi"]).about[2]).toContain("would need confirmation does not happen");
});

it("says what every move does and which rules look at it", () => {
  const { model: of } = systemOf(["hi"]).explored;
  const titles = of.moves.map((move) => `${moveWords(of.space, move)} [${rulesOf(of.space.question, move).join(" ")}]`);
  expect([...new Set(titles)]).toMatchInlineSnapshot(`
    [
      "this run calls s.look [debt default]",
      "this run calls s.send [keep shared armed count debt gate just default]",
      "this run calls s.note where (inside the workspace) [debt default]",
      "this run calls s.share where (inside the workspace) [debt default]",
      "this run calls s.plain where not (x: {"kind":"some","test":{"kind":"equals","values":["v"]}}) [debt default]",
      "this run calls s.read [debt default]",
      "anyone reads the opened store box []",
      "the client sends by itself []",
      "the client acts by itself []",
      "a call on its way succeeds late and unlocks debt []",
      "time passes for gate []",
      "the client reads by itself []",
      "a server says something outside any call []",
      "another run calls s.note where (inside the workspace) [debt default]",
      "another run calls s.share where (inside the workspace) [debt default]",
    ]
  `);
});

it("moves that are the same step are told once", () => {
  const { moves } = systemOf(["hi"]);
  const [first] = moves;
  if (first === undefined) throw new Error("there are moves");
  expect(moveTitle({ ...first, words: ["a", "b", "c"], rules: [] })).toBe("a; or b (or 1 more)");
  expect(moveTitle({ ...first, words: ["a"], rules: ["r", "q"] })).toBe("a. Rules: r, q");
});

it("in strict mode an argument is there or not, and a key is the followed one or another", () => {
  const strict = small({
    labels: { "s.read": tools.reads(secret), "s.send": tools.sends() },
    rules: [blocks("keep", { tool: "s.send", data: "private" })],
    never: { unless: { call: "s.send", need: "s.read", key: "to" } },
    flow: { mode: "strict" },
  });
  const observed = {
    ...strict,
    policy: { ...strict.policy, policy: { ...strict.policy.policy, mode: "observe" as const } },
  };
  const { choices, explored } = transitionSystem(value(explore(model(observed, ["keep"]))));
  expect([...choices.values()].map(({ words }) => words)).toContain("of a call: succeeds");
  const { moves, space } = explored.model;
  expect(moves.map((move) => moveWords(space, move))).toContain("this run calls s.send with another key");
  // What is only observed is stopped by no rule.
  expect(moves.flatMap((move) => rulesOf(space.question, move))).toEqual([]);
});

function value<T>(found: { readonly ok: true; readonly value: T } | { readonly ok: false }): T {
  if (!found.ok) throw new Error("small models are small");
  return found.value;
}

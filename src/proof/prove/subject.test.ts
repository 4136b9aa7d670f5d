// What a question consists of: which rules can take part, which restrictions matter.
import { describe, expect, it } from "vitest";
import type { RuleText } from "../../policy/document/shapes-rules.ts";
import { blocks, hazardId, question, secret, small, tools } from "../../../test/kit/proof/small.ts";
import { candidates, firingOf, isObserved, modelTemporal, unlockText } from "./subject.ts";

const labels = { "s.read": tools.reads(secret), "s.send": tools.sends(), "s.ask": tools.reads(secret) };
const must = (id: string, part: Omit<RuleText, "id" | "tier" | "why">): RuleText => ({
  id,
  tier: "must",
  why: `because of ${id}`,
  ...part,
});
const every: readonly RuleText[] = [
  blocks("plain", "s.send"),
  { id: "lifts", tier: "allow", when: { tool: "s.send", data: "public" }, why: "said so" },
  { ...blocks("watched", "s.send"), mode: "observe" },
  must("gate", { gate: { before: "s.send", need: "s.ask", unless: { tool: "s.read" } } }),
  must("just", { immediately: { before: "s.send", need: "s.ask" } }),
  must("debt", { owed: { after: "s.read", owe: "s.ask", within: 3, before: "s.send" } }),
  must("injected", { inject: { before: "s.send", call: { tool: "s.ask" } } }),
  must("held", { byEnd: { after: "s.send", by: "s.ask", action: "hold" } }),
  must("reported", { byEnd: { after: "s.send", by: "s.ask", action: "report" } }),
  {
    id: "order",
    tier: "block",
    absence: { after: { tool: "s.read", held: "private" }, never: "s.send", until: "s.ask" },
    why: "o",
  },
  { id: "number", tier: "block", atMost: { of: "s.send", count: 2 }, why: "n" },
  { id: "sum", tier: "block", budget: { of: "s.send", argument: "n", limit: 10 }, why: "b" },
  { id: "keyed", tier: "block", atMost: { of: "s.send", count: 1, key: "to" }, why: "k" },
];

const subject = small({ labels, rules: every, never: { flow: { from: "private", to: "s.send" } } });
const own = every.map(({ id }) => id);

describe("candidates of a core", () => {
  const found = candidates(subject.policy.ir, question(subject).hazard);
  it("are the enforced rules that can refuse or ask in a model, the default, and what it looks at", () => {
    expect(found.filter((id) => own.includes(id))).toEqual([
      "debt",
      "gate",
      "held",
      "injected",
      "just",
      "number",
      "order",
      "plain",
    ]);
    expect(found.slice(-2)).toEqual(["default", "bounds"]);
  });

  it("a keyed rule takes part where the hazard follows the same key", () => {
    const keyed = small({ labels, rules: every, never: { atMost: { of: "s.send", count: 1, key: "to" } } });
    expect(candidates(keyed.policy.ir, question(keyed).hazard)).toContain("keyed");
    const held = must("mine", { byEnd: { after: "s.send", by: "s.ask", action: "hold", key: "to" } });
    const never = { unless: { call: "s.send", need: "s.ask", key: "to" } };
    const waits = small({ labels, rules: [...every, held], never });
    expect(candidates(waits.policy.ir, question(waits).hazard)).toContain("mine");
    const other = small({ labels, rules: every, never: { atMost: { of: "s.send", count: 1, key: "cc" } } });
    expect(candidates(other.policy.ir, question(other).hazard)).not.toContain("keyed");
  });
});

describe("a question", () => {
  const asked = question(subject, [...own, "default"]);
  const automaton = (id: string) => asked.automata.find((one) => one.id === id)?.temporal;

  it("has the plain rules of its core; what only allows stands beside the default", () => {
    expect(asked.plain.map(({ id }) => id)).toEqual(["plain"]);
    expect(asked.allows.map(({ id }) => id)).toContain("lifts");
    expect(question(subject, own).allows).toEqual([]);
  });

  it("what is injected or held until the end is a gate", () => {
    expect(automaton("injected")).toMatchObject({ kind: "gate", need: { tools: [{ server: "s", tool: "ask" }] } });
    expect(automaton("injected")).toHaveProperty("relock");
    expect(automaton("held")).toMatchObject({ kind: "gate" });
    expect(automaton("reported")).toBeUndefined();
    const budget = subject.policy.ir.rules.find(({ id }) => id === "sum");
    expect(budget?.kind === "temporal" ? modelTemporal(budget.temporal) : "plain").toBeUndefined();
  });

  it("knows what every kind fires on and what unlocks it", () => {
    const fires = asked.automata.map(({ id, temporal }) => [id, firingOf(temporal)?.tools?.[0]?.tool]);
    expect(fires).toEqual(["debt", "gate", "held", "injected", "just", "number", "order"].map((id) => [id, "send"]));
    const unlocks = asked.automata.map(({ id, ...rest }) => [id, unlockText({ id, ...rest })]);
    expect(unlocks.filter(([, text]) => text === undefined)).toEqual([["number", undefined]]);
    const texts = unlocks.flatMap(([, text]) => text ?? []);
    expect(new Set(texts).size).toBe(1);
  });

  it("a temporal hazard has an automaton of its own, the last one", () => {
    const temporal = small({ labels, rules: every, never: { sequence: { after: "s.read", never: "s.send" } } });
    expect(question(temporal, ["gate"]).automata.map(({ id, owner }) => [id, owner])).toEqual([
      ["gate", "rule"],
      [hazardId, "hazard"],
    ]);
    expect(question(small({ labels, never: { call: "s.send" } })).automata).toEqual([]);
  });

  it("restrictions that some pattern asks about matter; with the default, trust; with the bounds, what sinks forbid", () => {
    const { lattice } = subject.policy.ir;
    const plain = question(subject).mattering;
    expect(plain).toBe(1);
    const forbidden = subject.contracts[1]?.arguments.get("text")?.forbidden ?? 0;
    const withDefault = question(subject, ["default"]).mattering;
    expect(withDefault & lattice.untrustedBit).not.toBe(0);
    expect(forbidden & ~withDefault).toBe(0);
    const narrow = small({ labels, never: { call: "s.send" } });
    expect(question(narrow, ["default"]).mattering).toBe(lattice.untrustedBit);
    expect(question(narrow, ["default", "bounds"]).mattering).toBe(lattice.untrustedBit | forbidden);
    const stored = small({
      labels,
      stores: { box: { label: secret } },
      rules: [blocks("box", { tool: "s.send", store: { name: "box", label: "private" } })],
      never: { call: "s.send" },
    });
    expect(question(stored).mattering).toBe(0);
    expect(question(stored, ["box"]).mattering).toBe(1);
  });

  it("observed servers and policies enforce nothing", () => {
    const [contract] = subject.contracts;
    if (contract === undefined) throw new Error("there are tools");
    expect(isObserved(subject, contract)).toBe(false);
    const server = small({ labels, servers: { s: { mode: "observe" } }, never: { call: "s.send" } });
    expect(isObserved(server, contract)).toBe(true);
    expect(isObserved(small({ labels, mode: "observe", never: { call: "s.send" } }), contract)).toBe(true);
  });
});

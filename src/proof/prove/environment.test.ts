// Every move that nobody decides: when it is there, what it does, and when it is the end.
import { describe, expect, it } from "vitest";
import type { RuleText } from "../../policy/document/shapes-rules.ts";
import {
  type Small,
  blocks,
  foreign,
  model,
  movesOf,
  open,
  prove,
  secret,
  small,
  tools,
  told,
} from "../../../test/kit/proof/small.ts";

const leak: Small["never"] = {
  flow: { from: { confidentiality: "private", audience: ["anyone"] }, to: { effect: "write.external" } },
};
const repo = { repo: { audience: "me", label: open } };
const labels = {
  "s.read_secret": tools.reads(secret),
  "s.write_repo": tools.writes("repo"),
  "s.grant": tools.grants("repo"),
};
const must = (id: string, part: Omit<RuleText, "id" | "tier" | "why">): RuleText => ({
  id,
  tier: "must",
  why: `because of ${id}`,
  ...part,
});

describe("fire: readers of what was opened", () => {
  it("there is one for each store and group that some tool opens", () => {
    const made = model(small({ labels, stores: { ...repo, other: { audience: "anyone" } }, never: leak }));
    expect(movesOf(made, "fire").map(({ store, group }) => [store, group])).toEqual([[1, 0]]);
    expect(
      movesOf(model(small({ labels: { "s.w": tools.writes("repo") }, stores: repo, never: leak })), "fire"),
    ).toEqual([]);
  });

  it("nobody decides it: once a store is open, whatever gets in is read", () => {
    const subject = small({ labels, stores: repo, never: leak });
    const proof = prove(subject);
    expect(proof).toMatchObject({ verdict: "refuted", enforcedBy: "regulation" });
    expect(proof.counterexample?.steps.at(-1)).toMatchObject({ kind: "fire", store: "repo", group: "anyone" });
    expect(told(subject, proof).at(-1)).toMatch(/anyone reads repo/);
  });

  it("is judged by temporal hazards, too", () => {
    const late = small({
      labels,
      stores: repo,
      never: { sequence: { after: "s.read_secret", never: { effect: "write.external" } } },
    });
    expect(prove(late).counterexample?.steps.map(({ kind }) => kind)).toEqual(["call", "call", "fire"]);
  });
});

describe("the host: what the client does itself", () => {
  const plain = { labels: { "s.read": tools.reads(secret) } };
  it("gated powers are no moves", () => {
    const { moves } = model(small({ ...plain, never: leak }));
    expect(moves.filter(({ kind }) => kind.startsWith("host"))).toEqual([]);
  });

  it("send carries all that is held to its groups", () => {
    const subject = small({ ...plain, host: { send: "open" }, never: leak });
    expect(prove(subject)).toMatchObject({ verdict: "refuted", enforcedBy: "regulation" });
    expect(prove(subject).counterexample?.steps.map(({ kind }) => kind)).toEqual(["call", "host-send"]);
    expect(prove(small({ ...plain, host: { send: { open: "me" } }, never: leak })).verdict).toBe("vacuous");
  });

  it("read brings what stores hold, or the worst; with send that is nobody's decision at all", () => {
    const stores = { box: { label: secret } };
    const both = small({ ...plain, stores, host: { send: "open", read: { open: ["box"] } }, never: leak });
    const proof = prove(both);
    expect(proof).toMatchObject({ verdict: "refuted", unenforceable: "host", accepted: false });
    expect(movesOf(model(both), "host-read")).toHaveLength(1);
    const any = small({ host: { send: "open", read: "open" }, never: leak, accepts: ["h"] });
    expect(prove(any)).toMatchObject({ unenforceable: "host", accepted: true });
    expect(prove(any).counterexample?.steps.map(({ kind }) => kind)).toEqual(["host-read", "host-send"]);
    expect(told(any, prove(any))[0]).toMatch(/the client itself reads/);
  });

  it("execute does anything with all that is held", () => {
    const subject = small({ ...plain, host: { execute: "open" }, never: { call: { effect: "write.local.pay" } } });
    expect(prove(subject).counterexample?.steps).toMatchObject([{ kind: "host-execute", label: 0 }]);
    expect(prove(subject).unenforceable).toBe("host");
    const counted = small({
      ...plain,
      host: { execute: "open" },
      never: { atMost: { of: { effect: "execute" }, count: 0 } },
    });
    expect(prove(counted).verdict).toBe("refuted");
  });
});

describe("what comes without a call", () => {
  it("a server may say anything at any time", () => {
    const subject = small({ labels: { "s.send": tools.sends() }, never: leak });
    const proof = prove(subject);
    expect(movesOf(model(subject), "speak")).toHaveLength(1);
    expect(proof.without.counterexample?.steps.map(({ kind }) => kind)).toEqual(["speak", "call"]);
    expect(proof).toMatchObject({ verdict: "proved", core: ["default"], enforcedBy: "consent" });
  });

  it("where no label matters there is nothing to say", () => {
    expect(movesOf(model(small({ labels: { "s.send": tools.sends() }, never: { call: "s.send" } })), "speak")).toEqual(
      [],
    );
  });

  it("of a hazard about trust the message is the untrusted part", () => {
    const steered: Small["never"] = { call: { tool: "s.pay", held: { trust: "untrusted" } } };
    const subject = small({
      labels: { "s.pay": { effects: "write.local.pay", rest: "content", output: open }, "s.web": tools.reads(foreign) },
      never: steered,
    });
    expect(prove(subject).without.counterexample?.steps).toMatchObject([
      { kind: "call", tool: "web" },
      { kind: "call", tool: "pay" },
    ]);
  });
});

describe("late successes", () => {
  const ask = { "s.ask": tools.reads(open), "s.act": tools.reads(open), "s.spoil": tools.reads(open) };
  it("a call that was on its way unlocks after the lock was closed again", () => {
    // `act` takes the permission back and forbids to ask again: only an answer that comes late gives it once more.
    const subject = small({
      labels: ask,
      rules: [
        must("gate", { gate: { before: "s.act", need: "s.ask", unless: "s.act" } }),
        { id: "once", tier: "block", absence: { after: "s.act", never: "s.ask" }, why: "w" },
      ],
      never: { atMost: { of: "s.act", count: 1 } },
    });
    const kinds = prove(subject).counterexample?.steps.map(({ kind }) => kind);
    expect(kinds).toEqual(["call", "call", "call", "late", "call"]);
  });

  it("all that one success unlocks is unlocked together, and two may be on their way", () => {
    const subject = small({
      labels: ask,
      rules: [
        must("first", { gate: { before: "s.act", need: "s.ask", unless: "s.act" } }),
        must("second", { gate: { before: "s.spoil", need: "s.ask" } }),
        must("other", { gate: { before: "s.spoil", need: "s.act" } }),
        must("just", { immediately: { before: "s.act", need: "s.spoil" } }),
      ],
      never: { atMost: { of: "s.act", count: 2 } },
    });
    const core = ["first", "second", "other", "just"];
    const late = movesOf(model(subject, core), "late");
    expect(late.map(({ automaton }) => automaton.id)).toEqual(["first", "just", "other"]);
    expect(late[0]?.step.next.size).toBe(4);
    expect(model(subject, core).space.variables.filter(({ name }) => name.startsWith("P:first"))).toHaveLength(2);
    // At both ends the same success is followed.
    expect(movesOf(model(subject, core, ["lo", "hi"]), "late")[0]?.step.next.size).toBe(8);
  });

  it("an old `ask` cannot be counted on for a new purpose", () => {
    const subject = small({
      labels: ask,
      rules: [must("gate", { gate: { before: "s.act", need: "s.ask", unless: "s.act" } })],
      never: { atMost: { of: "s.act", count: 1 } },
    });
    const steps = prove(subject).counterexample?.steps ?? [];
    expect(steps.length).toBeGreaterThanOrEqual(3);
    expect(told(subject, prove(subject)).join("\n")).toMatch(/s\.ask/);
  });
});

describe("time", () => {
  const acts = { "s.read": tools.reads(open), "s.send": tools.sends(), "s.ask": tools.reads(open) };
  const timed = (own: Partial<RuleText>, never: Small["never"]) =>
    small({ labels: acts, rules: [{ id: "r", tier: "block", why: "w", ...own }], never });

  it("a lock opens, a permission ends, a count goes down: each is a move", () => {
    const lock = timed({ absence: { after: "s.read", never: "s.send", within: "10m" } }, { call: "s.send" });
    const gate = timed({ tier: "must", gate: { before: "s.send", need: "s.ask", within: "1h" } }, { call: "s.send" });
    const count = timed({ atMost: { of: "s.send", count: 2, within: "1s" } }, { call: "s.send" });
    for (const subject of [lock, gate, count]) expect(movesOf(model(subject, ["r"]), "tick")).toHaveLength(1);
    const untimed = timed({ absence: { after: "s.read", never: "s.send" } }, { call: "s.send" });
    expect(movesOf(model(untimed, ["r"]), "tick")).toEqual([]);
    const owed = timed({ tier: "must", owed: { after: "s.read", owe: "s.ask", within: 2 } }, { call: "s.send" });
    expect(movesOf(model(owed, ["r"]), "tick")).toEqual([]);
  });

  it("a limit that forgets does not bound one that does not", () => {
    const never: Small["never"] = { atMost: { of: "s.send", count: 2 } };
    const subject = timed({ atMost: { of: "s.send", count: 2, within: "1d" } }, never);
    expect(prove(subject)).toMatchObject({ verdict: "refuted" });
    expect(told(subject, prove(subject)).some((line) => line.includes("1 day"))).toBe(true);
    expect(prove(timed({ atMost: { of: "s.send", count: 2 } }, never)).verdict).toBe("proved");
    expect(prove(timed({ atMost: { of: "s.send", count: 3 } }, never)).verdict).toBe("refuted");
  });

  it("a longer window bounds a shorter one of the same calls, a shorter one does not bound a longer", () => {
    const bounded = (rule: string, hazard: string) =>
      prove(
        timed(
          { atMost: { of: "s.send", count: 2, within: rule } },
          { atMost: { of: "s.send", count: 2, within: hazard } },
        ),
      ).verdict;
    expect(bounded("10m", "5m")).toBe("proved");
    expect(bounded("10m", "10m")).toBe("proved");
    expect(bounded("5m", "10m")).toBe("refuted");
    const locked = (rule: string, hazard: string) =>
      prove(
        timed(
          { absence: { after: "s.read", never: "s.send", within: rule } },
          { sequence: { after: "s.read", never: "s.send", within: hazard } },
        ),
      ).verdict;
    expect(locked("10m", "5m")).toBe("proved");
    expect(locked("5m", "10m")).toBe("refuted");
  });

  it("a permission that ends is asked for again", () => {
    const gate = (within: { within?: string }) => ({ before: "s.send", need: "s.ask", ...within });
    const unless = (within: { within?: string }) => ({ unless: { call: "s.send", need: "s.ask", ...within } });
    const both = (rule: { within?: string }, hazard: { within?: string }) =>
      prove(timed({ tier: "must", gate: gate(rule) }, unless(hazard))).verdict;
    expect(both({ within: "5m" }, { within: "10m" })).toBe("proved");
    expect(both({ within: "10m" }, { within: "5m" })).toBe("refuted");
    expect(both({ within: "5m" }, {})).toBe("proved");
  });

  it("with other calls counted nothing follows", () => {
    const rule = { atMost: { of: "s.*", count: 2, within: "10m" } };
    expect(prove(timed(rule, { atMost: { of: "s.send", count: 2, within: "10m" } })).verdict).toBe("refuted");
  });
});

it("other runs write what they hold and open what they may; their own state is not known", () => {
  const subject = small({
    labels,
    stores: repo,
    rules: [blocks("w", { tool: "s.write_repo", data: "private" })],
    never: leak,
  });
  expect(movesOf(model(subject), "other").map((move) => move.class.variant.contract.tool)).toEqual([
    "write_repo",
    "grant",
  ]);
  // Private data gets into the store neither by this run nor by another.
  expect(prove(subject)).toMatchObject({ verdict: "proved", core: ["w"] });
});

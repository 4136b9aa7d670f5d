// Verdicts: what is proved by what, what consent changes, what nobody can prevent, what says nothing.
import { describe, expect, it } from "vitest";
import type { RuleText } from "../../policy/document/shapes-rules.ts";
import type { HazardProof } from "./prove.ts";
import {
  type Small,
  blocks,
  foreign,
  open,
  prove,
  secret,
  sink,
  small,
  tools,
  told,
} from "../../../test/kit/proof/small.ts";

const flow: Small["never"] = { flow: { from: "private", to: "s.send" } };
const labels = { "s.read": tools.reads(secret), "s.send": tools.sends(), "s.look": tools.reads(open) };
const confirms = (id: string, when: NonNullable<RuleText["when"]>): RuleText => ({
  id,
  tier: "confirm",
  when,
  why: id,
});
/** Nothing leaves the default to do: no bound, nothing that acts. */
const quiet = {
  ...labels,
  "s.send": { ...tools.sends(), effects: "read.local", args: { text: { ...sink, bound: "private" } } },
} as const;

describe("proved", () => {
  it("by the rules that are needed and no others", () => {
    const rules = [
      blocks("needless", { tool: "s.look" }),
      blocks("private", { tool: "s.send", data: "private" }),
      blocks("also", { tool: "s.send", data: { confidentiality: "private", args: ["text"] } }),
    ];
    const proof = prove(small({ labels, rules, never: flow }));
    expect(proof).toMatchObject({ verdict: "proved", enforcedBy: "rules", core: ["private"], accepted: false });
    expect(proof.without).toMatchObject({
      verdict: "refuted",
      counterexample: { steps: [{ tool: "read" }, { tool: "send" }] },
    });
  });

  it("a rule that was learnt and is not needed is left out", () => {
    // The way is first stopped at its end, then another way needs a rule that stops both.
    const rules = [
      blocks("a", { tool: "s.send", data: { confidentiality: "private", args: ["text"] } }),
      blocks("b", { tool: "s.send", data: { confidentiality: "private", args: ["cc"] } }),
      blocks("z-all", { tool: "s.send", data: "private" }),
    ];
    const two = {
      ...quiet,
      "s.send": { ...quiet["s.send"], args: { text: quiet["s.send"].args.text, cc: quiet["s.send"].args.text } },
    };
    const proof = prove(small({ labels: two, rules, never: flow }));
    expect(proof.verdict).toBe("proved");
    for (const id of proof.core ?? []) {
      const without = prove(
        small({
          labels: two,
          rules: rules.filter((rule) => (proof.core ?? []).includes(rule.id) && rule.id !== id),
          never: flow,
        }),
      );
      expect(without.verdict).toBe("refuted");
    }
  });

  it("without any rule where nothing leads there", () => {
    // Somebody could be told what the box holds, if only anything private could get in.
    const stores = { box: { audience: "me", label: open } };
    const own = { "s.write": tools.writes("box"), "s.send": tools.sends() };
    const never: Small["never"] = { call: { tool: "s.send", store: { name: "box", label: "private" } } };
    const quietly = small({ labels: own, stores, flow: { mode: "none" }, never });
    const proof = prove(quietly);
    expect(proof).toMatchObject({ verdict: "proved", core: [], enforcedBy: "rules", givenConsent: true });
    expect(proof.reason).toMatch(/holds without any rule/);
  });

  it("vacuous where nothing that can be called matches", () => {
    const proof = prove(small({ labels, never: { call: "s.nothing" } }));
    expect(proof).toMatchObject({
      verdict: "vacuous",
      without: { verdict: "proved" },
      reason: "nothing that can be called matches it",
    });
    expect(proof.explored).toBeUndefined();
    expect(prove(small({ never: { call: "s.send" } })).verdict).toBe("vacuous");
  });
});

describe("consent", () => {
  const unsure = { ...labels, "s.read": tools.reads({ confidentiality: "unsure", trust: "trusted" }) };

  it("a question that is answered with yes lets a hazard happen that must never", () => {
    const rules = [confirms("ask", { tool: "s.send", data: "private" })];
    const never = prove(small({ labels, rules, never: flow }));
    expect(never).toMatchObject({ verdict: "proved", enforcedBy: "consent", givenConsent: false, core: ["ask"] });
    const may = prove(small({ labels, rules, never: flow, hazard: { consent: "may" } }));
    expect(may).toMatchObject({ verdict: "proved", enforcedBy: "consent", givenConsent: true });
  });

  it("what needs no question is judged at the upper end, whatever else is consented to", () => {
    const rules = [confirms("ask", { tool: "s.send", data: { confidentiality: "private", categories: ["x"] } })];
    const proof = prove(
      small({
        lattice: { confidentiality: ["public", "private"], categories: ["x"] },
        labels: quiet,
        rules,
        never: flow,
        hazard: { consent: "may" },
      }),
    );
    expect(proof.verdict).toBe("refuted");
  });

  it("a block on a value that is only perhaps private asks; who agrees vouches for the lower end", () => {
    const rules = [blocks("no", { tool: "s.send", data: "private" })];
    const proof = prove(small({ labels: unsure, rules, never: flow }));
    expect(proof).toMatchObject({ verdict: "proved", enforcedBy: "rules", givenConsent: true, core: ["no"] });
  });

  it("the default asks, so that it is a person who prevents what only the default stops", () => {
    const proof = prove(small({ labels, never: flow }));
    expect(proof).toMatchObject({ verdict: "proved", enforcedBy: "consent", core: ["default"], givenConsent: false });
    expect(prove(small({ labels, never: flow, hazard: { consent: "may" } }))).toMatchObject({ givenConsent: true });
  });

  it("other rules than those of the core may keep it from happening where everything is consented to", () => {
    const rules = [
      confirms("ask", { tool: "s.send" }),
      blocks("no", { tool: "s.send", data: "private", arg: { to: { equals: "x" } } }),
    ];
    const proof = prove(small({ labels, rules, never: { call: "s.send" } }));
    expect(proof).toMatchObject({ verdict: "proved", core: ["ask"], givenConsent: false });
  });

  it("a value that was made lower by a person joins another that was not", () => {
    // One value is perhaps secret and surely internal, the other perhaps untrusted: lowered and not lowered together are
    // internal and untrusted, which no rule asks about.
    const levels = { confidentiality: ["public", "internal", "private"] };
    const proof = prove(
      small({
        lattice: levels,
        labels: {
          "s.read": tools.reads({ confidentiality: ["internal", "private"], trust: "trusted" }),
          "s.web": tools.reads({ confidentiality: "public", trust: ["trusted", "untrusted"] }),
          "s.send": { ...quiet["s.send"] },
        },
        rules: [confirms("ask", { tool: "s.send", data: { confidentiality: "private", trust: "untrusted" } })],
        never: { flow: { from: { confidentiality: "internal", trust: "untrusted" }, to: "s.send" } },
        hazard: { consent: "may" },
      }),
    );
    expect(proof).toMatchObject({ verdict: "proved", core: ["ask"], givenConsent: false });
  });
});

describe("refuted", () => {
  it("a hazard that refuses its own calls is prevented, until readers are let in for good", () => {
    expect(prove(small({ labels: quiet, never: flow }))).toMatchObject({
      verdict: "refuted",
      enforcedBy: "regulation",
    });
    expect(prove(small({ labels: quiet, never: flow, hazard: { mode: "observe" } }))).toMatchObject({
      enforcedBy: "none",
    });
  });

  it("what is accepted is said to be", () => {
    expect(prove(small({ labels: quiet, never: flow, accepts: ["h"] }))).toMatchObject({
      verdict: "refuted",
      accepted: true,
    });
  });

  /** The server `s`, and one that is only observed. */
  const beside = { s: { trust: "trusted" }, o: { trust: "trusted", mode: "observe" } } as const;
  const shares: Small["never"] = { flow: { from: "private", to: { effect: "write.external.share" } } };
  const shared = { "s.write": tools.writes("box"), "s.grant": tools.grants("box"), "s.read": tools.reads(secret) };
  const stores = { box: { audience: "me", label: open } };
  const sends: Small["never"] = { flow: { from: "private", to: { effect: "write.external.send" } } };
  const host = { send: { open: "anyone" } } as const;

  it.each<[string, Small, HazardProof["enforcedBy"]]>([
    ["a bad call", { labels: quiet, never: flow }, "regulation"],
    ["a bad call under an observing policy", { labels: quiet, never: flow, mode: "observe" }, "none"],
    ["a bad call that is accepted", { labels: quiet, never: flow, accepts: ["h"] }, "regulation"],
    [
      "a bad call of an observed server",
      {
        servers: beside,
        labels: { "s.read": quiet["s.read"], "o.send": quiet["s.send"] },
        never: { flow: { from: "private", to: "o.send" } },
      },
      "none",
    ],
    [
      "a bad call with what an observed server returned",
      { servers: beside, labels: { "o.read": quiet["s.read"], "s.send": quiet["s.send"] }, never: flow },
      "regulation",
    ],
    ["a door for readers", { labels: shared, stores, never: shares }, "regulation"],
    ["a door for readers that is accepted", { labels: shared, stores, never: shares, accepts: ["h"] }, "none"],
    [
      "a door for readers that an observed server opens",
      {
        servers: beside,
        labels: { "s.write": shared["s.write"], "s.read": shared["s.read"], "o.grant": shared["s.grant"] },
        stores,
        never: shares,
      },
      "none",
    ],
    [
      "a result that the client could send",
      { labels: { "s.read": quiet["s.read"] }, host, never: sends },
      "regulation",
    ],
    [
      "a result of an observed server that the client could send",
      { servers: beside, labels: { "o.read": quiet["s.read"] }, host, never: sends },
      "none",
    ],
  ])("%s is refused by the gateway where it refuses anything", (_, policy, enforcedBy) => {
    expect(prove(small(policy))).toMatchObject({ verdict: "refuted", enforcedBy });
  });

  it("rules in the wrong mode, of another tool, or after the fact do not count", () => {
    const rules = [
      { ...blocks("watch", { tool: "s.send", data: "private" }), mode: "observe" as const },
      blocks("other", "s.look"),
      { id: "few", tier: "block" as const, atMost: { of: "s.send", count: 3 }, why: "w" },
    ];
    expect(prove(small({ labels: quiet, rules, never: flow })).verdict).toBe("refuted");
  });
});

describe("flow modes", () => {
  it("strict: an argument has all that is held, or nothing; none: nothing is followed", () => {
    const strict = small({ labels: quiet, flow: { mode: "strict" }, never: flow });
    expect(prove(strict).verdict).toBe("refuted");
    expect(prove(small({ labels: quiet, flow: { mode: "none" }, never: flow })).verdict).toBe("vacuous");
    const held = small({ labels: quiet, flow: { mode: "none" }, never: { call: { tool: "s.send", held: "private" } } });
    expect(prove(held).verdict).toBe("refuted");
  });

  it("provenance: control arguments may be untrusted once anything untrusted is held", () => {
    const steered: Small["never"] = { call: { tool: "s.send", data: { trust: "untrusted", roles: ["recipient"] } } };
    const to = { ...sink, role: "recipient" as const, bound: "private" };
    const own = {
      "s.web": tools.reads(foreign),
      "s.send": { effects: "read.local", args: { to }, output: open },
    } as const;
    const subject = small({ labels: own, never: steered });
    expect(told(subject, prove(subject))).toEqual([
      expect.stringMatching(/web/),
      expect.stringMatching(/to: public, untrusted/),
    ]);
  });
});

it("regression: twenty categories that can be held and taken one by one are no large diagram", () => {
  const categories = Array.from({ length: 20 }, (_, n) => `c${n}`);
  const readers = Object.fromEntries(
    categories.map((one) => [`s.${one}`, tools.reads({ ...open, categories: [one] })]),
  );
  const subject = small({
    lattice: { confidentiality: ["public", "private"], categories },
    labels: { ...readers, "s.send": tools.sends() },
    rules: [blocks("most", { tool: "s.send", data: { categories: categories.slice(1) } })],
    never: { flow: { from: { categories }, to: "s.send" } },
  });
  expect(prove(subject)).toMatchObject({ verdict: "proved", core: ["most"] });
});

it("keys: one mail to each, whoever else gets one", () => {
  const mails = { "s.send": { ...tools.sends(), args: { to: "recipient", text: "content" } } } as const;
  const one = { of: "s.send", count: 1, key: "to" };
  const never: Small["never"] = { atMost: one };
  const rule = (more: object): RuleText => ({ id: "r", tier: "block", atMost: { ...one, ...more }, why: "w" });
  expect(prove(small({ labels: mails, rules: [rule({})], never })).verdict).toBe("proved");
  expect(prove(small({ labels: mails, rules: [rule({ count: 2 })], never })).verdict).toBe("refuted");
  // A limit for all recipients together is not that of one: two to different people are no harm, and it forbids them.
  const all = small({
    labels: mails,
    rules: [{ id: "r", tier: "block", atMost: { of: "s.send", count: 1 }, why: "w" }],
    never,
  });
  expect(prove(all).verdict).toBe("proved");
  const refuted = small({ labels: mails, never });
  expect(prove(refuted).counterexample?.steps).toMatchObject([{ key: "same" }, { key: "same" }]);
  // Without a key that can be read no gate was opened for the call.
  const asked = { ...mails, "s.ask": { ...tools.reads(open), args: { to: "recipient" } } } as const;
  const unless: Small["never"] = { unless: { call: "s.send", need: "s.ask", key: "to" } };
  const gate: RuleText = { id: "g", tier: "must", gate: { before: "s.send", need: "s.ask", key: "to" }, why: "w" };
  expect(prove(small({ labels: asked, rules: [gate], never: unless }))).toMatchObject({
    verdict: "proved",
    core: ["g"],
  });
});

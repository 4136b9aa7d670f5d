// What keeps calls back beside rules, and does so less than before.
import { describe, expect, it } from "vitest";
import { type Small, secret, small, tools } from "../../../test/kit/proof/small.ts";
import { relaxed } from "./relaxed.ts";

type Part = Partial<Small>;
const never: Small["never"] = { flow: { from: "private", to: "s.send" } };
const policy = (part: Part) =>
  small({ labels: { "s.read": tools.reads(secret), "s.send": tools.sends() }, never, ...part }).policy;
const between = (old: Part, present: Part): readonly string[] => relaxed(policy(old), policy(present));

const servers = (mode: "enforce" | "observe"): Part => ({ servers: { s: { trust: "trusted", mode } } });
const regulation = (section: NonNullable<Small["regulation"]>): Part => ({ regulation: section });
const models = { embedded: true } as const;
const judge = { url: "http://127.0.0.1:1", model: "m" };
const judged = (name: "a" | "b"): Part => ({ judges: { a: judge, b: judge }, regulation: { models: { judge: name } } });
const store: Part = { stores: { a: {}, b: {} } };
const reads = (...open: readonly string[]): Part => ({ ...store, host: { read: { open } } });

describe("what is relaxed", () => {
  it.each<[string, Part, Part, string]>([
    ["the policy observes", {}, { mode: "observe" }, "mode: everything is only observed"],
    ["a server is observed", servers("enforce"), servers("observe"), "server s: it is only observed"],
    ["a hazard is observed", {}, { hazard: { mode: "observe" } }, "hazard h: it is only observed"],
    ["a hazard asks", {}, { hazard: { consent: "may" } }, "hazard h: it asks where it refused"],
    ["a hazard is another", {}, { never: { call: "s.send" } }, "hazard h: it says something else"],
    ["a hazard is accepted", {}, { accepts: ["h"] }, "hazard h: it is accepted"],
    [
      "the client is said to send nothing",
      { host: { send: "open" } },
      {},
      "host: the client is believed to send less by itself",
    ],
    [
      "the client is said to read less",
      reads("a", "b"),
      reads("b"),
      "host: the client is believed to read less by itself",
    ],
    [
      "the client is said to read some only",
      { ...store, host: { read: "open" } },
      reads("a", "b"),
      "host: the client is believed to read less by itself",
    ],
    [
      "the client is said to run nothing",
      { host: { execute: "open" } },
      { host: { execute: "gated" } },
      "host: the client is believed to execute less by itself",
    ],
    [
      "a lease is longer",
      regulation({ leases: [{ tool: ["s.read", "s.send"], calls: 2, for: "1m" }] }),
      regulation({ leases: [{ tool: ["s.read", "s.send"], calls: 3, for: "1m" }] }),
      "regulation: a lease is gone or changed, s.read s.send, 2 calls, 60000 ms",
    ],
    [
      "a filter forgets",
      regulation({ filter: { mode: "accumulate" } }),
      regulation({ filter: { mode: "lease", ttl: "30d" } }),
      "regulation: tools that were hidden come back sooner",
    ],
    [
      "a filter forgets sooner",
      regulation({ filter: { mode: "lease", ttl: "2m" } }),
      regulation({ filter: { mode: "lease", ttl: "1m" } }),
      "regulation: tools that were hidden come back sooner",
    ],
    ["a budget is gone", regulation({ power: { budget: 5 } }), {}, "regulation: more power passes without a question"],
    [
      "a budget is larger",
      regulation({ power: { budget: 5 } }),
      regulation({ power: { budget: 6 } }),
      "regulation: more power passes without a question",
    ],
    [
      "an effect weighs something else",
      regulation({ power: { budget: 5, weights: { write: 4 } } }),
      regulation({ power: { budget: 5 } }),
      "regulation: more power passes without a question",
    ],
    [
      "a firm keep is firm no more",
      { keep: [{ trace: ["s.read", "s.send"], firm: true }] },
      { keep: [{ trace: ["s.read", "s.send"] }] },
      "regulation: a firm keep is gone or changed, s.read s.send",
    ],
    [
      "isolation demands less",
      { isolation: { require: "A" } },
      { isolation: { require: "B" } },
      "isolation: it is gone, or says something else",
    ],
    [
      "admission is not spoken of",
      { admission: { labels: "declared" } },
      {},
      "admission: it is gone, or says something else",
    ],
    [
      "a lease of calls is gone",
      regulation({ leases: [{ tool: "s.send", calls: 2 }] }),
      {},
      "regulation: a lease is gone or changed, s.send, 2 calls",
    ],
    [
      "a lease in time is gone",
      regulation({ leases: [{ tool: "s.send", for: "1s" }] }),
      {},
      "regulation: a lease is gone or changed, s.send, 1000 ms",
    ],
    [
      "a model judges what acts alone",
      regulation({ models, judge: "all" }),
      regulation({ models }),
      "regulation: what models say does less",
    ],
    ["another judge is asked", judged("a"), judged("b"), "regulation: a model is not asked any more"],
    ["a model is gone", regulation({ models }), {}, "regulation: a model is not asked any more"],
    ...[{ epsilon: 0.6 }, { surpriseMax: 0.6 }, { onUnsafe: "confirm" as const }, { onSilence: "allow" as const }].map(
      (milder): [string, Part, Part, string] => [
        `what a model says does less: ${JSON.stringify(milder)}`,
        regulation({ models }),
        regulation({ models, ...milder }),
        "regulation: what models say does less",
      ],
    ),
  ])("%s", (_what, old, present, line) => {
    expect(between(old, present)).toEqual([line]);
    // What is as it was is not relaxed, nor what of this was not there before.
    expect(between(old, old)).toEqual([]);
    expect(between({ ...old, mode: "observe" }, present)).toEqual([]);
  });

  it.each<[string, Part, Part]>([
    ["a hazard refuses where it asked", { hazard: { consent: "may" } }, {}],
    ["a hazard was only observed", { hazard: { mode: "observe" } }, { never: { call: "s.send" } }],
    ["a hazard was accepted before", { accepts: ["h"] }, { accepts: ["h"] }],
    ["the client is said to read more", reads("a"), reads("a", "b")],
    ["a server was observed before", servers("observe"), servers("observe")],
    ["a judge is asked as before", judged("a"), judged("a")],
    ["effects were weighed without a budget", regulation({ power: { weights: { write: 4 } } }), {}],
    ["an ordinary keep is gone", { keep: [{ trace: ["s.read"] }] }, {}],
    ["isolation is new", {}, { isolation: { require: "A" } }],
    ["a lease is new", {}, regulation({ leases: [{ tool: "s.send", calls: 1 }] })],
    ["a filter remembers", {}, regulation({ filter: { mode: "accumulate" } })],
    ["a budget is smaller", regulation({ power: { budget: 6 } }), regulation({ power: { budget: 5 } })],
    ["a model is new", {}, regulation({ models })],
    ["a model judges more", regulation({ models }), regulation({ models, judge: "all" })],
    ["a silent model refuses", regulation({ models }), regulation({ models, onSilence: "deny" })],
    ["no model was asked", regulation({ epsilon: 0.1 }), regulation({ epsilon: 0.9 })],
  ])("nothing where %s", (_what, old, present) => {
    expect(between(old, present)).toEqual([]);
  });

  it("a hazard that is gone", () => {
    const old = policy({});
    const present = { ...old, policy: { ...old.policy, hazards: {} } };
    expect(relaxed(old, present)).toEqual(["hazard h: it is gone"]);
  });
});

// The explicit explorer on models whose answer is known by hand: the oracle of the engine has to be checked first.
import { describe, expect, it } from "vitest";
import type { PolicyDocument } from "../../../src/policy/canonical/policy-document.ts";
import type { Subject } from "../../../src/proof/prove/subject.ts";
import { exploreExplicitly } from "../../kit/proof/explicit.ts";
import { makeWorld } from "../../kit/proof/explicit-model.ts";
import { choicesOf } from "../../kit/proof/explicit-moves.ts";
import { hazardId, subjectOf } from "../../kit/proof/random-policy.ts";

const lattice = { confidentiality: ["public", "private"] };
const servers = { s: { trust: "trusted" as const } };
const open = { confidentiality: "public", trust: "trusted" };
const secret = { confidentiality: "private", trust: "trusted" };
const local = { role: "content" as const, sink: false };
const sink = { role: "content" as const, sink: true, audience: "anyone", bound: "public" };

function made(document: Omit<PolicyDocument, "version" | "servers">): Subject {
  const tools = Object.keys(document.labels ?? {});
  const subject = subjectOf({ version: 1, lattice, servers, ...document }, tools);
  if (subject === undefined) throw new Error("the policy of the example does not load");
  return subject;
}

const answer = (subject: Subject, ...core: readonly string[]) => exploreExplicitly(subject, hazardId, core);

describe("a grant, then a reader whom nobody mediates (example 1)", () => {
  const subject = made({
    labels: {
      "s.read_secret": { effects: "read.local", rest: local, output: secret },
      "s.write_repo": { effects: "write.local", args: { text: local }, rest: local, output: open, writes: "repo" },
      "s.grant": {
        effects: "write.local.grant",
        rest: local,
        output: open,
        opens: { store: "repo", audience: "anyone" },
      },
    },
    stores: { repo: { audience: "me", label: open } },
    hazards: {
      [hazardId]: {
        never: {
          flow: { from: { confidentiality: "private", audience: ["anyone"] }, to: { effect: "write.external" } },
        },
      },
    },
    rules: [
      {
        id: "write",
        tier: "block",
        when: { tool: "s.write_repo", data: "private", store: { name: "repo", audience: "anyone" } },
        why: "others read the repository",
      },
      {
        id: "grant",
        tier: "block",
        when: { tool: "s.grant", store: { name: "repo", label: "private" } },
        why: "the repository holds something private",
      },
    ],
    flow: { mode: "strict" },
  });

  it("is refuted without both rules: another run writes, somebody grants, anyone reads", () => {
    expect(answer(subject)).toEqual({ safe: false, steps: 3 });
    expect(answer(subject, "write")).toEqual({ safe: false, steps: 3 });
    expect(answer(subject, "grant")).toEqual({ safe: false, steps: 3 });
  });

  it("is proved with both", () => {
    expect(answer(subject, "write", "grant")).toEqual({ safe: true });
  });
});

it("a sink with a bound, read after private data (example 3): the default refuses, nothing else does", () => {
  const subject = made({
    labels: {
      "s.read_medical": { effects: "read.local", rest: local, output: secret },
      "s.pay": { effects: "write.local.pay", rest: local, output: open },
      "s.notify": { effects: "write.external.send", args: { text: sink }, rest: sink, output: open },
    },
    hazards: { [hazardId]: { never: { flow: { from: "private", to: { tool: "s.notify" } } } } },
    rules: [
      { id: "debt", tier: "must", owed: { after: "s.pay", owe: "s.notify", within: 2 }, why: "the payee is told" },
    ],
  });
  expect(answer(subject, "debt")).toEqual({ safe: false, steps: 2 });
  expect(answer(subject, "debt", "default")).toEqual({ safe: true });
});

it("a restriction that ends while the hazard does not (example 9)", () => {
  const wait = (within: { within?: string }): Subject =>
    made({
      labels: {
        "s.read_priv": { effects: "read.local", rest: local, output: secret },
        "s.send": { effects: "write.external.send", args: { text: sink }, rest: sink, output: open },
      },
      hazards: { [hazardId]: { never: { sequence: { after: "s.read_priv", never: "s.send" } } } },
      rules: [
        { id: "wait", tier: "block", absence: { after: "s.read_priv", never: "s.send", ...within }, why: "no mail" },
      ],
    });
  expect(answer(wait({ within: "10m" }))).toEqual({ safe: false, steps: 2 });
  expect(answer(wait({ within: "10m" }), "wait")).toEqual({ safe: false, steps: 3 });
  expect(answer(wait({}), "wait")).toEqual({ safe: true });
});

describe("three values and their joins (example 10)", () => {
  const subject = (mode: "strict" | "provenance", blocked: readonly string[], bad: readonly string[]): Subject =>
    made({
      lattice: { ...lattice, categories: ["finance", "medical"] },
      labels: {
        "s.read_medical": { effects: "read.local", rest: local, output: { ...open, categories: ["medical"] } },
        "s.read_finance": { effects: "read.local", rest: local, output: { ...open, categories: ["finance"] } },
        "s.clerk": { effects: "write.external.send", args: { text: sink }, rest: sink, output: open },
      },
      hazards: { [hazardId]: { never: { flow: { from: { categories: bad }, to: "s.clerk" } } } },
      rules: [{ id: "both", tier: "block", when: { tool: "s.clerk", data: { categories: blocked } }, why: "not both" }],
      flow: { mode },
    });

  it("tries every join of what is held", () => {
    const both = subject("provenance", ["finance", "medical"], ["finance", "medical"]);
    const world = makeWorld(both, hazardId, []);
    const held = both.contracts.slice(0, 2).map(({ output }) => output.label.hi);
    const [medical = 0, finance = 0] = held;
    expect(new Set(choicesOf(world, held))).toEqual(new Set([0, medical, finance, medical | finance]));
  });

  it("refuses the two together, and no single one", () => {
    expect(answer(subject("provenance", ["finance", "medical"], ["finance", "medical"]), "both")).toEqual({
      safe: true,
    });
    expect(answer(subject("provenance", ["finance", "medical"], ["medical"]), "both")).toEqual({
      safe: false,
      steps: 2,
    });
  });

  it("a rule against one of them keeps the two apart", () => {
    expect(answer(subject("strict", ["finance"], ["finance", "medical"]), "both")).toEqual({ safe: true });
    expect(answer(subject("strict", ["finance"], ["finance", "medical"]))).toEqual({ safe: false, steps: 2 });
  });
});

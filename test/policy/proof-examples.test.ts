// The worked examples of formal.md as far as they concern proof, under their numbers, and the two cases of the paper.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { ToolContract } from "../../src/core/contract.ts";
import type { KeyText } from "../../src/policy/document/shapes-labels.ts";
import type { RuleText } from "../../src/policy/document/shapes-rules.ts";
import { certificateOf } from "../../src/proof/prove/certificate.ts";
import { checkCertificate } from "../../src/proof/check/check.ts";
import { textOf } from "../../src/proof/check/json.ts";
import { type HazardProof, makeProver } from "../../src/proof/prove/prove.ts";
import type { Subject } from "../../src/proof/prove/subject.ts";
import {
  type Small,
  blocks,
  hazardId,
  local,
  movesOf,
  model,
  open,
  prove,
  proveWith,
  secret,
  sha256,
  sink,
  small,
  tools,
  told,
} from "../kit/proof/small.ts";

const leak: Small["never"] = {
  flow: { from: { confidentiality: "private", audience: ["anyone"] }, to: { effect: "write.external" } },
};

const noWrite = blocks("no-write", {
  tool: "s.write_repo",
  data: "private",
  store: { name: "repo", audience: "anyone" },
});
const noGrant = blocks("no-grant", { tool: "s.grant", store: { name: "repo", label: "private" } });

/** Example 1 with these rules. */
const shared = (rules: readonly RuleText[], more: Partial<Small> = {}): Subject =>
  small({
    labels: {
      "s.read_secret": tools.reads(secret),
      "s.write_repo": tools.writes("repo"),
      "s.grant": tools.grants("repo"),
    },
    stores: { repo: { audience: "me", label: open } },
    rules,
    never: leak,
    ...more,
  });

function certificate(subject: Subject, proof: HazardProof): object | undefined {
  const { explored, core = [] } = proof;
  if (explored === undefined) return undefined;
  const expected = [{ verdict: "allow", holds: true }];
  return certificateOf({ subject, hazard: hazardId, core, explored, manifests: {}, expect: expected });
}

describe("example 1: a grant, then a reader whom nobody mediates", () => {
  it("is refuted without rules, the reader at the end of the way; regulation refuses in time", () => {
    const subject = shared([]);
    const proof = prove(subject);
    expect(proof).toMatchObject({ verdict: "refuted", enforcedBy: "regulation" });
    expect(proof.counterexample?.steps.map((step) => (step.kind === "call" ? step.tool : step.kind))).toEqual([
      "grant",
      "write_repo",
      "fire",
    ]);
    // Another run may be the one that writes; the fourth step of the example is then made elsewhere.
    expect(told(subject, proof).at(-1)).toMatch(/^3\. nobody decides this: anyone reads repo, which holds private/);
  });

  it("is proved with both rules, and both are needed", () => {
    // Of a value that is only perhaps private both rules ask: who says yes twice lets everybody read it.
    expect(prove(shared([noWrite, noGrant]))).toMatchObject({
      verdict: "proved",
      givenConsent: false,
      core: expect.arrayContaining(["no-write", "no-grant"]),
      without: { verdict: "refuted" },
    });
    expect(prove(shared([noWrite])).verdict).toBe("refuted");
    expect(prove(shared([noGrant])).verdict).toBe("refuted");
  });
});

describe("example 2: a client that can reach the web", () => {
  const subject = (more: Partial<Small>): Subject =>
    small({
      labels: { "s.read_priv": tools.reads(secret) },
      stores: { notes: { label: secret } },
      never: leak,
      ...more,
    });

  it("gated, it is an assumption; open, it is a move", () => {
    expect(prove(subject({})).verdict).toBe("vacuous");
    const sends = prove(subject({ host: { send: { open: "anyone" } } }));
    expect(sends).toMatchObject({ verdict: "refuted", enforcedBy: "regulation" });
    expect(sends.counterexample?.steps.map(({ kind }) => kind)).toEqual(["call", "host-send"]);
  });

  it("one that also reads private stores by itself is unenforceable until that is accepted", () => {
    const both = { host: { send: { open: "anyone" }, read: { open: ["notes"] } } };
    expect(prove(subject(both))).toMatchObject({ verdict: "refuted", unenforceable: "host", accepted: false });
    expect(prove(subject({ ...both, accepts: [hazardId] }))).toMatchObject({ unenforceable: "host", accepted: true });
  });
});

describe("example 3: a tempting call that makes a debt", () => {
  const subject = (rules: readonly RuleText[], more: Partial<Small> = {}): Subject =>
    small({
      labels: {
        "s.read_medical": tools.reads(secret),
        "s.pay": { effects: "write.local.pay", rest: local, output: open },
        "s.notify": { effects: "write.external.send", args: { text: sink }, rest: sink, output: open },
      },
      rules,
      never: { flow: { from: "private", to: "s.notify" } },
      ...more,
    });
  const debt: RuleText = { id: "debt", tier: "must", owed: { after: "s.pay", owe: "s.notify", within: 2 }, why: "w" };

  it("the hazard does not depend on the debt: the default alone keeps it away, by asking", () => {
    expect(prove(subject([debt]))).toMatchObject({ verdict: "proved", enforcedBy: "consent", core: ["default"] });
  });

  it("a rule about what was read before keeps it away without asking, in and out of debt", () => {
    const after: RuleText = {
      id: "after",
      tier: "block",
      when: { tool: "s.notify", data: "private" },
      why: "medical data is told to nobody",
    };
    expect(prove(subject([debt, after]))).toMatchObject({ verdict: "proved", enforcedBy: "rules", core: ["after"] });
  });

  it("3u: what the client reads by itself may be told with any call", () => {
    const reading = { host: { read: "open" as const } };
    expect(prove(subject([], reading)).without.verdict).toBe("refuted");
    const order: RuleText = {
      id: "order",
      tier: "block",
      absence: { after: "s.read_medical", never: "s.notify" },
      why: "no mail after reading",
    };
    // The rule knows of the call, and not of what came without one.
    const proof = prove(subject([order, { id: "quiet", tier: "allow", when: "s.notify", why: "w" }], reading));
    expect(proof.verdict).toBe("refuted");
    expect(proof.counterexample?.steps.map(({ kind }) => kind)).toEqual(["host-read", "call"]);
  });
});

describe("example 4: what has to stay possible", () => {
  it("says nothing to a proof: a kept trace is no goal of it", () => {
    const labels = { "s.read_secret": tools.reads(secret), "s.send_mail": tools.sends() };
    const never: Small["never"] = { flow: { from: "private", to: "s.send_mail" } };
    const rules = [blocks("none", "s.send_mail")];
    const kept = { keep: [{ trace: ["s.send_mail"] }] };
    expect(prove(small({ labels, rules, never, ...kept })).verdict).toBe(
      prove(small({ labels, rules, never })).verdict,
    );
  });
});

describe("example 5: a hazard on a move whose target is harmless", () => {
  it("it is the move that is bad, although no state changes", () => {
    const subject = small({
      labels: { "s.send_mail": tools.sends({ output: { confidentiality: "inferred", trust: "inferred" } }) },
      never: { flow: { from: "private", to: "s.send_mail" } },
    });
    const [send] = movesOf(model(subject), "dispatch").filter(
      (move) => move.class.variant.contract.tool === "send_mail",
    );
    expect(send?.step.bad).not.toBe(0);
    expect(send?.step.next.size).toBe(0);
  });
});

describe("example 6: an interval at a sink", () => {
  const subject = (confidentiality: "public" | "unsure" | "private"): Subject =>
    small({
      labels: { "s.read": tools.reads({ confidentiality, trust: "trusted" }), "s.send": tools.sends() },
      rules: [blocks("private", { tool: "s.send", data: "private" })],
      never: { flow: { from: "private", to: "s.send" } },
    });

  it("the upper end counts; a person who agrees vouches for the lower one", () => {
    for (const label of ["public", "unsure", "private"] as const) {
      expect(prove(subject(label))).toMatchObject({ verdict: "proved", core: ["private"], givenConsent: true });
    }
  });
});

describe("example 9: a restriction that ends while the hazard does not", () => {
  const subject = (within: { within?: string }): Subject =>
    small({
      labels: { "s.read_priv": tools.reads(secret), "s.send": tools.sends() },
      rules: [{ id: "pause", tier: "block", absence: { after: "s.read_priv", never: "s.send", ...within }, why: "w" }],
      never: { sequence: { after: "s.read_priv", never: "s.send" } },
    });

  it("is refuted by waiting", () => {
    const timed = subject({ within: "10m" });
    expect(told(timed, prove(timed))).toEqual([
      expect.stringMatching(/^1\. s\.read_priv/),
      "2. wait 10 minutes: rule pause has forgotten",
      "3. s.send <- h",
    ]);
  });

  it("is proved without the limit", () => {
    expect(prove(subject({}))).toMatchObject({ verdict: "proved", core: ["pause"], enforcedBy: "rules" });
  });
});

describe("example 10: three values and their joins", () => {
  const both = ["finance", "medical"];
  const subject = (bad: readonly string[], flow: "provenance" | "strict" = "provenance"): Subject =>
    small({
      lattice: { confidentiality: ["public", "private"], categories: both },
      labels: {
        "s.read_medical": tools.reads({ ...open, categories: ["medical"] }),
        "s.read_finance": tools.reads({ ...open, categories: ["finance"] }),
        "s.clerk": tools.sends(),
      },
      rules: [blocks("both", { tool: "s.clerk", data: { categories: both } })],
      flow: { mode: flow },
      never: { flow: { from: { categories: bad }, to: "s.clerk" } },
    });

  /** Every label that the argument of `clerk` can have in the state in which both were read. */
  function labelsTried(of: Subject): ReadonlySet<number> {
    const { space, moves } = model(of, ["both"]);
    const { diagram, held } = space;
    const clerk = moves.find((move) => move.kind === "dispatch" && move.class.variant.contract.tool === "clerk");
    if (clerk === undefined) throw new Error("the clerk can be written to");
    const tried = new Set<number>();
    const takes = [...held.labels.keys()];
    for (let subset = 0; subset < 2 ** takes.length; subset += 1) {
      const chosen = takes.filter((index) => (subset & (1 << index)) !== 0);
      const names = new Set(chosen.map((index) => `takes 0 ${index}`));
      const allowed = diagram.evaluate(
        clerk.step.permitted,
        (level) => level < space.variables.length || names.has(space.choiceName(level) ?? ""),
      );
      if (allowed) tried.add(chosen.reduce((label, index) => label | (held.labels[index]?.hi ?? 0), 0));
    }
    return tried;
  }

  it("explores nothing, each of the two alone, and refuses only both", () => {
    const single = subject(both);
    const [medical = 0, finance = 0] = single.contracts.map(({ output }) => output.label.hi);
    expect(labelsTried(single)).toEqual(new Set([0, medical, finance]));
    expect(prove(single)).toMatchObject({ verdict: "proved", core: ["both"] });
  });

  it("medical alone reaches the clerk", () => {
    const lifted = subject(["medical"]);
    expect(model(lifted, ["both"]).moves.length).toBeGreaterThan(0);
    const found = makeProver(lifted);
    const proof = proveWith(found);
    // The default is all that stands between; the rule about both does not.
    expect(proof).toMatchObject({ verdict: "proved", core: ["default"] });
  });
});

describe("example 14: a certificate", () => {
  const useful = { expect: [{ trace: ["s.read_secret"], verdict: "allow" as const }] };
  const subject = shared([noWrite, noGrant], useful);
  const made = certificate(subject, prove(subject));
  const check = (value: unknown) => checkCertificate(value, { hash: sha256 });

  it("of the first example is accepted", () => {
    expect(check(made)).toMatchObject({ ok: true, hazard: hazardId });
  });

  it("a compiler that forgets what a write does proves it, and the checker refuses that", () => {
    // Labels as a faulty compiler would have them: the write writes nothing.
    const faulty: Subject = {
      ...subject,
      contracts: subject.contracts.map((one): ToolContract =>
        one.tool === "write_repo" ? { ...one, writes: [] } : one,
      ),
    };
    const proof = prove(faulty);
    expect(proof.verdict).toBe("proved");
    const wrong = certificate(faulty, proof);
    const { tools: right } = JSON.parse(JSON.stringify(made));
    expect(checkCertificate(wrong, { hash: sha256, tools: right })).toMatchObject({ ok: false });
    expect(check({ ...wrong, tools: right })).toMatchObject({ ok: false });
  });

  it("another label table, another digest, or no expected trace is refused", () => {
    const present = { hash: sha256, policyDigest: createHash("sha256").update("other").digest("hex") };
    expect(checkCertificate(made, present)).toMatchObject({ ok: false });
    const none = shared([noWrite, noGrant]);
    const vacuous = certificate(none, prove(none));
    expect(check({ ...vacuous, expect: [] })).toMatchObject({ ok: false });
    expect(textOf(JSON.parse(JSON.stringify(made)).policy)).toContain("no-grant");
  });
});

describe("example 15: a limit for each key", () => {
  it("at most one mail to each recipient holds with the rule of the same key, and not with one that reads keys otherwise", () => {
    const labels = { "s.send": { ...tools.sends(), args: { to: "recipient", text: "content" } } } as const;
    const email = { argument: "to", form: "email" } as const;
    const once = { of: "s.send", count: 1 };
    const verdict = (rule: KeyText, hazard: KeyText): string => {
      const rules: readonly RuleText[] = [{ id: "once", tier: "block", atMost: { ...once, key: rule }, why: "w" }];
      return prove(small({ labels, rules, never: { atMost: { ...once, key: hazard } } })).verdict;
    };
    expect(verdict(email, email)).toBe("proved");
    // One that tells `Bob@x.com` and `bob@x.com` apart lets the same person be written to twice.
    expect(verdict({ ...email, exact: true }, email)).toBe("refuted");
    expect(verdict(email, { argument: "cc", form: "email" })).toBe("refuted");
  });
});

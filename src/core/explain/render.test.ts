import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ToolContract } from "../contract.ts";
import type { Decision } from "../decision.ts";
import type { Reason } from "../opinion.ts";
import {
  auditLine,
  cardLines,
  decidingCodes,
  risksIn,
  sentenceCharactersMax,
  sentenceForModel,
  warningsIn,
  wayOf,
} from "./render.ts";

const runs = Number(process.env.SLUICEGATE_RUNS ?? 200);
const reason: Reason = {
  mechanism: "flow",
  code: "SG-FLOW",
  verdict: "deny",
  rule: "R1",
  facts: { to: ["a", "b"], n: 2 },
};
const decision: Decision = {
  verdict: "deny",
  enforcedVerdict: "deny",
  reasons: [reason],
  obligations: [],
  option: undefined,
};
const kinds = [
  { kind: "refused" },
  { kind: "held" },
  { kind: "approvable", approval: "abcdefabcdef" },
  { kind: "withheld", approval: "abcdefabcdef" },
] as const;

describe("the sentence for the model", () => {
  it("is never longer than its limit and always carries the decision, whatever way a policy names", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 2_000, size: "max" }), fc.constantFrom(...kinds), (way, refusal) => {
        const sentence = sentenceForModel({ ...decision, reasons: [{ ...reason, way }] }, "boot-1z", refusal);
        expect(sentence.length).toBeLessThanOrEqual(sentenceCharactersMax);
        expect(sentence).toContain("(decision boot-1z)");
      }),
      { numRuns: runs },
    );
  });

  it("names the rule, and neither the check that fired nor a fact that could be a value", () => {
    for (const refusal of kinds) expect(sentenceForModel(decision, "d", refusal)).not.toMatch(/SG-|flow|to:|\["a"/);
    expect(sentenceForModel(decision, "d", { kind: "refused" })).toContain("(rule R1)");
  });

  it("gives up where the data came from before it gives up the cause", () => {
    const contract = { server: "memory", tool: "create_entities" } as ToolContract; // a cause looks at the names only
    const facts = {
      arguments: ["entities"],
      labels: ["sensitive, untrusted"],
      origins: ["files.read_text_file /structuredContent/content"],
    };
    const option: Decision["option"] = {
      contract,
      class: { ...contract, truths: new Map(), keys: new Map(), amounts: new Map() },
      arguments: new Map(),
    };
    const asked: Reason = { mechanism: "tiers", code: "SG-ASK-BOUND", verdict: "confirm", facts };
    const confirm: Decision = { ...decision, verdict: "confirm", enforcedVerdict: "confirm", reasons: [asked], option };
    expect(sentenceForModel(confirm, "f05be6c3-6", { kind: "approvable", approval: "623a53cff9be" })).toBe(
      "Not executed, approval required: `entities` would carry sensitive, untrusted data to `memory.create_entities`. Approve with `sluicegate approve 623a53cff9be`, then repeat the same call. (decision f05be6c3-6)",
    );
  });

  it("says how to approve, completely", () => {
    for (const refusal of kinds.slice(2)) {
      const sentence = sentenceForModel(decision, "boot-1z", refusal);
      expect(sentence).toContain("`sluicegate approve abcdefabcdef`");
      expect(sentence).toContain("repeat the same call");
      expect(sentence).not.toContain("...");
    }
    expect(sentenceForModel(decision, "d", { kind: "withheld", approval: "x" })).toMatch(/^The call was executed/);
  });

  it("takes the way of a deciding reason only", () => {
    const weaker: Reason = { ...reason, verdict: "confirm", way: "ask" };
    expect(wayOf({ ...decision, reasons: [weaker] })).toBeUndefined();
    expect(wayOf({ ...decision, reasons: [weaker, { ...reason, way: "draft" }] })).toBe("draft");
  });
});

describe("cards and records", () => {
  it("a card says why, and where each argument came from", () => {
    const path = [
      { origin: "c1", server: "mail", tool: "read", pointer: "/from", label: 0 as never },
      { origin: "instruction", pointer: "", label: 0 as never },
    ];
    const option = { arguments: new Map([["to", { range: {} as never, digest: "d", path }]]) } as never;
    expect(cardLines({ ...decision, option, reasons: [{ ...reason, why: "mail stays" }] })).toEqual([
      "SG-FLOW (rule R1): mail stays",
      "`to` came from mail.read/from, then instruction",
    ]);
    expect(cardLines(decision)).toEqual(["SG-FLOW (rule R1): to: a, b; n: 2"]);
    expect(cardLines({ ...decision, reasons: [{ ...reason, facts: {} }] })).toEqual(["SG-FLOW (rule R1): SG-FLOW"]);
    const asked: Reason = { mechanism: "tiers", code: "SG-ASK-EXECUTE", verdict: "deny", facts: {} };
    expect(cardLines({ ...decision, reasons: [asked] })).toEqual(["SG-ASK-EXECUTE: the call may run code"]);
    const unlabelled: Reason = { ...asked, code: "SG-ASK-UNLABELLED", facts: { server: "files" } };
    expect(cardLines({ ...decision, reasons: [unlabelled] })).toEqual([
      "SG-ASK-UNLABELLED: nothing in the policy says what the call does (server: files)",
    ]);
  });

  it("a card does not say behind a sentence what stands in it", () => {
    const facts = { because: ["it cannot be read as a command"], destinations: ["evil.example"] };
    const asked: Reason = { mechanism: "regulate", code: "SG-ARGUMENTS", verdict: "confirm", facts };
    const [line = ""] = cardLines({ ...decision, reasons: [asked] });
    expect(line.split("it cannot be read as a command")).toHaveLength(2);
    expect(line).toContain("(destinations: evil.example)");
  });

  it("a card asks for nothing that is only observed, and warns of nothing that stops", () => {
    const observed: Reason = { ...reason, code: "SG-OBSERVED", observed: true };
    const fine: Reason = { ...reason, code: "SG-FINE", verdict: "allow" };
    expect(cardLines({ ...decision, reasons: [observed, fine, reason] })).toEqual([
      "SG-FLOW (rule R1): to: a, b; n: 2",
    ]);
    const milder: Reason = { ...reason, code: "SG-MILDER", verdict: "confirm" };
    expect(decidingCodes({ ...decision, reasons: [milder, reason] })).toEqual(["SG-FLOW"]);
  });

  it("the record says what would have been stopped", () => {
    const observed: Decision = { ...decision, verdict: "allow", reasons: [{ ...reason, observed: true }] };
    expect(auditLine(observed)).toMatch(/^allow, would have been stopped \(deny\) \| observed SG-FLOW/);
    expect(auditLine(decision)).toMatch(/^deny \| SG-FLOW/);
    expect(decidingCodes(decision)).toEqual(["SG-FLOW"]);
  });
});

describe("regulation on cards and in records", () => {
  const looming: Reason = {
    mechanism: "regulate",
    code: "SG-LOOMING",
    verdict: "confirm",
    rule: "leak",
    why: "w".repeat(79),
    facts: { moves: ["host.send"], risks: ["leak host.send", "leak host.send"] },
  };
  const costly: Reason = {
    mechanism: "regulate",
    code: "SG-KEEP-LOST",
    verdict: "allow",
    observed: true,
    facts: { tools: ["mail.send"] },
    way: "call mail.send first",
  };
  const asked: Decision = { ...decision, verdict: "confirm", enforcedVerdict: "confirm", reasons: [looming, costly] };

  it("a card says first what a consent accepts, and last what the call costs", () => {
    const lines = cardLines(asked);
    expect(lines[0]).toMatch(/^Approving means: from then on `host.send` .* may cause hazard `leak` in this run\.$/);
    expect(lines.at(-1)).toBe(
      "Note: after the call, `mail.send` cannot be used in this run any more; call mail.send first.",
    );
    const { way: _way, ...bare } = costly;
    expect(warningsIn({ ...asked, reasons: [bare, { ...bare, code: "SG-OTHER" }] })).toEqual([
      "after the call, `mail.send` cannot be used in this run any more",
      "SG-OTHER",
    ]);
  });

  it("only what a consent could lift names risks", () => {
    expect(risksIn(asked)).toEqual(["leak host.send"]);
    expect(
      risksIn({
        ...asked,
        reasons: [
          { ...looming, verdict: "deny" },
          { ...looming, observed: true },
        ],
      }),
    ).toEqual([]);
  });

  it("a warning is no verdict in the record", () => {
    const line = auditLine({ ...asked, verdict: "allow", enforcedVerdict: "allow", reasons: [costly] });
    expect(line).toBe("allow | warned SG-KEEP-LOST: tools: mail.send");
  });

  it("a cause too long for its explanation keeps the clause", () => {
    const sentence = (way: string): string =>
      sentenceForModel({ ...decision, reasons: [{ ...looming, verdict: "deny", way }] }, "boot-1z", {
        kind: "refused",
      });
    expect(sentence("take another step, and one more after it, and then look again")).toContain(
      "sends what it holds (hazard leak). Take another",
    );
    const bare = sentence(`take another step ${"and another ".repeat(9)}`);
    expect(bare).toContain("nothing can stop that the client sends what it holds. Take");
    expect(bare).not.toContain("www");
    expect(bare.length).toBeLessThanOrEqual(sentenceCharactersMax);
  });
});

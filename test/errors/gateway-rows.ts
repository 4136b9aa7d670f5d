/**
 * Every reason of a decision, through the one renderer: what the model reads for each kind of refusal, and what people
 * read. That the mechanisms give these codes is shown where they are tested; here it is the sentences that count.
 */
import { auditLine, cardLines, sentenceForModel } from "../../src/core/explain/render.ts";
import type { Decision } from "../../src/core/decision.ts";
import type { Reason } from "../../src/core/opinion.ts";
import { codesInDocument } from "./error-codes.ts";

export type DecisionRow = {
  readonly code: string;
  readonly forModel: readonly string[];
  readonly forPeople: readonly string[];
};

const decided = /^SG-(?!CONFIG|POLICY|DAEMON|LOG-|RUNS-|USAGE|MANIFEST|TOOL|IMPORT|TRACE|BENCH|AUDIT)/;

/** As long as ids get. */
const decisionId = "0123456789abcdef01234567";
const approvalId = "0123456789abcdef";

function decisionOf(code: string, way: string | undefined): Decision {
  const reason: Reason = {
    mechanism: "test",
    code,
    verdict: "deny",
    rule: "a-rule",
    facts: { detail: "what was found", values: ["one", "two"] },
    ...(way === undefined ? {} : { way }),
  };
  return { verdict: "deny", enforcedVerdict: "deny", reasons: [reason], obligations: [], option: undefined };
}

export const gatewayRows: readonly DecisionRow[] = [...codesInDocument()]
  .filter((code) => decided.test(code))
  .map((code) => {
    const decisions = [
      decisionOf(code, undefined),
      decisionOf(code, "ask the person first"),
      decisionOf(code, "use ".repeat(200)),
    ];
    const forModel = decisions.flatMap((decision) => [
      sentenceForModel(decision, decisionId, { kind: "refused" }),
      sentenceForModel(decision, decisionId, { kind: "held" }),
      sentenceForModel(decision, decisionId, { kind: "approvable", approval: approvalId }),
      sentenceForModel(decision, decisionId, { kind: "withheld", approval: approvalId }),
    ]);
    const forPeople = decisions.flatMap((decision) => [...cardLines(decision), auditLine(decision)]);
    return { code, forModel, forPeople };
  });

/** One decision of a recorded run in short, as it was and as it would be now; and what the gateway itself added to it. */
import { causeOf } from "../../core/explain/cause.ts";
import type { Decision } from "../../core/decision.ts";
import type { CallOption } from "../../core/moment.ts";
import type { Reason } from "../../core/opinion.ts";
import { type Verdict, stricter } from "../../core/verdict.ts";
import type { RecordedDecision } from "../../gateway/log/decision-codec.ts";
import { withRunEnd } from "../../gateway/decision/obligations.ts";

export type Judgement = {
  readonly verdict: Verdict;
  /** The call waits in the outbox. */
  readonly held: boolean;
  readonly rules: readonly string[];
  readonly codes: readonly string[];
  /** Why, in one sentence; empty where there is no objection. */
  readonly because: string;
};

type Judged = Pick<Decision, "verdict" | "enforcedVerdict" | "reasons"> & { readonly held: boolean };

/** `option` names the tool in the sentence. */
export function judgementOf(
  { verdict, enforcedVerdict, reasons, held }: Judged,
  option: CallOption | undefined,
): Judgement {
  const deciding = reasons.filter((reason) => reason.verdict === verdict && reason.observed !== true);
  const shown = deciding.length > 0 ? deciding : reasons;
  const cause = causeOf({ verdict, enforcedVerdict, reasons: shown, obligations: [], option });
  const codes = [...new Set(shown.map(({ code }) => code))];
  const silent = verdict === "allow" && enforcedVerdict === "allow" && !held;
  return {
    verdict,
    held,
    rules: [...new Set(shown.flatMap(({ rule }) => rule ?? []))],
    codes,
    because: silent ? "" : sentenceOf(cause ?? shown[0]?.why ?? codes.join(", ")),
  };
}

function sentenceOf(clause: string): string {
  if (clause === "") return "";
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}${/[.!?]$/.test(clause) ? "" : "."}`;
}

export function recordedJudgement(decision: RecordedDecision, option: CallOption | undefined): Judgement {
  const held = decision.verdict !== "deny" && decision.obligations.includes("hold");
  return judgementOf({ ...decision, held }, option);
}

export function newJudgement(decision: Decision): Judgement {
  const held = decision.verdict !== "deny" && decision.obligations.some(({ kind }) => kind === "hold");
  return judgementOf({ ...decision, held }, decision.option);
}

/** Obligations that need nothing of the world outside, so that no gateway fails to meet them. */
const easy: readonly string[] = ["label", "redact", "notify"];

/**
 * A reason of the gateway itself is a fact of that day, such as another run or a call with an unknown outcome, and is
 * taken over. A consequence of the decision (the run ends, a duty cannot be met) follows from the new one.
 */
export function withGateway(decision: Decision, recorded: RecordedDecision | undefined, observed: boolean): Decision {
  const facts = (recorded?.reasons ?? []).filter((reason) => isTakenOver(reason, decision));
  let verdict = decision.verdict;
  for (const reason of facts) if (reason.observed !== true) verdict = stricter(verdict, reason.verdict);
  const added: Decision =
    facts.length === 0
      ? decision
      : {
          ...decision,
          verdict,
          enforcedVerdict: stricter(decision.enforcedVerdict, verdict),
          reasons: [...facts, ...decision.reasons],
        };
  return withRunEnd(added, observed);
}

function isTakenOver({ mechanism, code }: Reason, decision: Decision): boolean {
  switch (code) {
    case "SG-RUN-ENDED":
      return false;
    case "SG-OBLIGATION":
      return decision.obligations.some(({ kind }) => !easy.includes(kind));
    case "SG-OTHER-RUN":
      return true;
    default:
      return mechanism === "gateway";
  }
}

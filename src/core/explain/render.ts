/**
 * Decisions in words. The sentence for the agent names the outcome, the cause and the remedy: names of tools, rules and
 * labels and the operator's own words, never a value. Approval cards and audit records get all facts.
 */
import { causeOf, ruleWord } from "./cause.ts";
import { riskInWords } from "./regulation-cause.ts";
import type { Decision } from "../decision.ts";
import type { Reason } from "../opinion.ts";

/** Characters of a sentence for the model; longer ones crowd out its context. */
export const sentenceCharactersMax = 240;

/** Replaces a rejected result. Constant, so it carries nothing of the result. */
export const rejectedResultText =
  "The call was executed and must not be repeated. Its result was stopped by policy and cannot be shown.";

/** State of a refused call, which decides the remedy. */
export type Refusal =
  | { readonly kind: "refused" }
  /** An approver can approve it; id of the approval. */
  | { readonly kind: "approvable"; readonly approval: string }
  /** The result exists and waits for consent. */
  | { readonly kind: "withheld"; readonly approval: string }
  /** The call waits in the outbox. */
  | { readonly kind: "held"; readonly way?: string };

/** The sentence for the model, at most `sentenceCharactersMax` characters: whether the call was executed, cause, remedy. */
export function sentenceForModel(decision: Decision, id: string, refusal: Refusal): string {
  switch (refusal.kind) {
    case "withheld":
      return fit(
        "The call was executed; its result waits for approval. Do not call again before an approver ran ",
        `\`sluicegate approve ${refusal.approval}\`; then repeat the same call to get the stored result.`,
        id,
      );
    case "approvable":
      return fit(
        because("Not executed, approval required", decision, "Not executed: this call needs an approval. "),
        `Approve with \`sluicegate approve ${refusal.approval}\`, then repeat the same call.`,
        id,
      );
    case "held":
      return fit(
        "Not sent yet: the call waits in the outbox. ",
        refusal.way === undefined ? "Go on; do not repeat it." : `Do not repeat it; ${refusal.way}.`,
        id,
      );
    case "refused":
      return fit(
        because("Not executed", decision, "Not executed: the policy does not permit this call now. "),
        wayOf(decision) ?? genericWay,
        id,
      );
  }
}

const genericWay = "Go on without it, or ask the user how to proceed.";

/** The first remedy among the deciding reasons: names from the policy, never a value. */
export function wayOf(decision: Decision): string | undefined {
  return decision.reasons.find((reason) => reason.verdict === decision.verdict && reason.way !== undefined)?.way;
}

/** Beginnings of a sentence, longest first: `what: cause. ` with less and less of the rule, then `plain`. */
function because(what: string, decision: Decision, plain: string): readonly string[] {
  const causes = (["whole", "named", "bare", "least"] as const).map((length) => causeOf(decision, length));
  return [...causes.flatMap((cause) => (cause === undefined ? [] : [`${what}: ${cause}. `])), plain];
}

/** Joins the parts within the limit. Remedy and decision id must stay whole, so the longest beginning that fits is taken. */
function fit(what: string | readonly string[], way: string, id: string): string {
  const tail = ` (decision ${id})`;
  const heads = typeof what === "string" ? [what] : what;
  const shownWay = `${capital(way)}${/[.!?]$/.test(way) ? "" : "."}`;
  const fits = (text: string): boolean => text.length + shownWay.length + tail.length <= sentenceCharactersMax;
  const head = heads.find(fits) ?? heads.at(-1) ?? "";
  const room = sentenceCharactersMax - tail.length - head.length;
  const cutWay = shownWay.length <= room ? shownWay : `${shownWay.slice(0, Math.max(0, room - 3))}...`;
  return `${head}${cutWay}${tail}`;
}

/** Lines of an approval card: risks, reasons, the source of each argument, warnings. */
export function cardLines(decision: Decision): readonly string[] {
  const shown = decision.reasons.filter((reason) => reason.verdict !== "allow" && reason.observed !== true);
  const reasons = shown.map((reason) => reasonLine(reason, () => causeOf({ ...decision, reasons: [reason] })));
  const warned = warningsIn(decision).map((text) => `Note: ${text}.`);
  const risks = risksIn(decision).map((risk) => `${riskInWords(risk)}.`);
  const origins: string[] = [];
  for (const [name, argument] of decision.option?.arguments ?? []) {
    const from = argument.path.map((step) =>
      step.tool === undefined ? step.origin : `${step.server ?? "?"}.${step.tool}${step.pointer}`,
    );
    if (from.length > 0) origins.push(`\`${name}\` came from ${from.join(", then ")}`);
  }
  return [...risks.map(capital), ...reasons, ...origins, ...warned];
}

/** Risks, each `HAZARD MOVE`, that a consent to this decision accepts for the rest of the run. */
export function risksIn(decision: Decision): readonly string[] {
  const named = decision.reasons.flatMap(({ verdict, observed, facts: { risks } }) =>
    verdict === "confirm" && observed !== true && Array.isArray(risks) ? risks : [],
  );
  return [...new Set(named)];
}

/** Warnings of a decision, one clause each, with the alternative. */
export function warningsIn(decision: Decision): readonly string[] {
  const warnings = decision.reasons.filter(({ verdict, observed }) => verdict === "allow" && observed === true);
  return warnings.map((reason) => {
    const clause = causeOf({ ...decision, reasons: [reason] }) ?? reason.code;
    return reason.way === undefined ? clause : `${clause}; ${reason.way}`;
  });
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** True where the clause holds every text of a fact already. */
function tells(clause: string, fact: Reason["facts"][string]): boolean {
  const texts = Array.isArray(fact) ? fact : [fact];
  return texts.every((text) => typeof text === "string" && clause.includes(text));
}

/** One reason as a line. `cause` gives the words where the rule has none. */
function reasonLine(reason: Reason, cause?: () => string | undefined): string {
  const rule = reason.rule === undefined ? "" : ` (${ruleWord(reason)} ${reason.rule})`;
  const clause = reason.rule === undefined ? cause?.() : undefined;
  const facts = Object.entries(reason.facts)
    .filter(([, fact]) => clause === undefined || !tells(clause, fact))
    .map(([name, fact]) => `${name}: ${typeof fact === "object" ? fact.join(", ") : String(fact)}`);
  const known = facts.join("; ");
  const told = clause === undefined || known === "" ? (clause ?? known) : `${clause} (${known})`;
  const text = reason.why ?? (told === "" ? reason.code : told);
  return `${reason.code}${rule}: ${text}`;
}

/** Codes of the deciding reasons, for the event `refused`; in observe mode those that would have decided. */
export function decidingCodes(decision: Decision): readonly string[] {
  const strictest = decision.reasons.filter((reason) => reason.verdict === decision.enforcedVerdict);
  return [...new Set(strictest.map((reason) => reason.code))];
}

/** A decision as one line of the audit record. */
export function auditLine(decision: Decision): string {
  const reasons = decision.reasons.map((reason) => {
    const only = reason.observed !== true ? "" : reason.verdict === "allow" ? "warned " : "observed ";
    return `${only}${reasonLine(reason)}`;
  });
  const stopped = decision.verdict === "allow" && decision.enforcedVerdict !== "allow";
  return [stopped ? `allow, would have been stopped (${decision.enforcedVerdict})` : decision.verdict, ...reasons].join(
    " | ",
  );
}

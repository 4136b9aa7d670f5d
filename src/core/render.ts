/**
 * Decisions in words. The agent's sentence says what happened, why, and what can be done: names of tools, rules and
 * labels and the operator's own words, never a value. People and the audit record get everything.
 */
import { causeOf } from "./cause.ts";
import { riskInWords } from "./regulation-cause.ts";
import type { Decision } from "./decision.ts";
import type { Reason } from "./opinion.ts";

/** Characters of a sentence that the model sees; longer ones crowd out its context. */
export const sentenceCharactersMax = 240;

/** What a refused result is replaced by: constant, so that it carries nothing of the result. */
export const rejectedResultText =
  "The call was executed and must not be repeated. Its result was stopped by policy and cannot be shown.";

export type Refusal =
  | { readonly kind: "refused" }
  /** A person can approve it: by which id. */
  | { readonly kind: "approvable"; readonly approval: string }
  /** The result exists and waits for consent. */
  | { readonly kind: "withheld"; readonly approval: string }
  /** The call waits in the outbox. */
  | { readonly kind: "held"; readonly way?: string };

/** The sentence for the model, at most `sentenceCharactersMax` characters. Says that nothing happened, or what did. */
export function sentenceForModel(decision: Decision, id: string, refusal: Refusal): string {
  switch (refusal.kind) {
    case "withheld":
      return fit(
        "The call was executed; its result waits for approval. Do not call again before a person ran ",
        `\`sluicegate approve ${refusal.approval}\`; then repeat the same call to get the stored result.`,
        id,
      );
    case "approvable":
      return fit(
        because("Not executed, a person must approve", decision, "Not executed: this call needs a person's approval. "),
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

/** The feasible way on that a mechanism named; only names from the policy reach the model, never a value. */
export function wayOf(decision: Decision): string | undefined {
  return decision.reasons.find((reason) => reason.verdict === decision.verdict && reason.way !== undefined)?.way;
}

/** `what: cause. `, the same with less of the rule, and the plain sentence; only that where there is no cause to name. */
function because(what: string, decision: Decision, plain: string): readonly string[] {
  const causes = (["whole", "named", "bare", "least"] as const).map((length) => causeOf(decision, length));
  return [...causes.flatMap((cause) => (cause === undefined ? [] : [`${what}: ${cause}. `])), plain];
}

/** Joins the parts within the limit. The way on and the decision must stay whole, so a long cause gives way first. */
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

/** Lines of an approval card: why it is asked, and where each control argument came from. */
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

/** What the decision costs although it allows: one clause each, with the alternative. */
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

/** Whether a clause holds every text of a fact, so that naming it again behind the clause would say nothing. */
function tells(clause: string, fact: Reason["facts"][string]): boolean {
  const texts = Array.isArray(fact) ? fact : [fact];
  return texts.every((text) => typeof text === "string" && clause.includes(text));
}

/** `cause` says it where the policy does not: a person cannot judge a code and the bare names of facts. */
function reasonLine(reason: Reason, cause?: () => string | undefined): string {
  const rule = reason.rule === undefined ? "" : ` (rule ${reason.rule})`;
  const clause = reason.rule === undefined ? cause?.() : undefined;
  const facts = Object.entries(reason.facts)
    .filter(([, fact]) => clause === undefined || !tells(clause, fact))
    .map(([name, fact]) => `${name}: ${typeof fact === "object" ? fact.join(", ") : String(fact)}`);
  const known = facts.join("; ");
  const told = clause === undefined || known === "" ? (clause ?? known) : `${clause} (${known})`;
  const text = reason.why ?? (told === "" ? reason.code : told);
  return `${reason.code}${rule}: ${text}`;
}

/** Codes of the reasons that decided, for the `refused` event; in observe mode those that would have. */
export function decidingCodes(decision: Decision): readonly string[] {
  const strictest = decision.reasons.filter((reason) => reason.verdict === decision.unobserved);
  return [...new Set(strictest.map((reason) => reason.code))];
}

/** A decision as one line of the audit record. */
export function auditLine(decision: Decision): string {
  const reasons = decision.reasons.map((reason) => {
    const only = reason.observed !== true ? "" : reason.verdict === "allow" ? "warned " : "observed ";
    return `${only}${reasonLine(reason)}`;
  });
  const stopped = decision.verdict === "allow" && decision.unobserved !== "allow";
  return [stopped ? `allow, would have been stopped (${decision.unobserved})` : decision.verdict, ...reasons].join(
    " | ",
  );
}

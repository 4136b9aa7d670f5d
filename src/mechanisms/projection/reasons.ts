/** Findings as reasons: one for each rule, with the first things that it is about. */
import type { Obligation, Reason } from "../../core/opinion.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { stricter } from "../../core/verdict.ts";
import type { Finding } from "./grounds.ts";

export const projectionId = "projection";

/** Most findings of a rule that its reason names. */
const namedMax = 4;

/** Codes of findings that count against a server for the rest of a run; suspicion and missing evidence do not. */
export const ownCodes: ReadonlySet<string> = new Set([
  "SG-SCOPE-FILE",
  "SG-SCOPE-NET",
  "SG-SCOPE-PROCESS",
  "SG-SCOPE-LIMIT",
  "SG-SCOPE-WORKSPACE",
  "SG-EFFECT",
]);

/** Reasons of findings; in `learn` every finding is reported, and none decides. */
export function reasonsOf(findings: readonly Finding[], tool: string, learns: boolean): readonly Reason[] {
  const byRule = new Map<string, Finding[]>();
  for (const finding of findings) {
    const known = byRule.get(finding.rule);
    if (known === undefined) byRule.set(finding.rule, [finding]);
    else known.push(finding);
  }
  return [...byRule].flatMap(([rule, [first, ...more]]): readonly Reason[] => {
    if (first === undefined) return [];
    const others = [...new Set(more.map(({ what }) => what))].filter((what) => what !== first.what);
    const also = others.slice(0, namedMax - 1);
    const reason: Reason = {
      mechanism: projectionId,
      code: first.code,
      verdict: more.reduce((verdict, finding) => stricter(verdict, finding.verdict), first.verdict),
      rule,
      facts: {
        what: `${tool} ${first.what}`,
        ...(also.length === 0 ? {} : { also }),
        ...(others.length <= also.length ? {} : { more: others.length - also.length }),
      },
      way: first.way,
    };
    return [learns ? { ...reason, observed: true } : reason];
  });
}

/** The trace says too little to judge by. */
export function evidenceReason(server: string, cause: string, learns: boolean): Reason {
  const reason: Reason = {
    mechanism: projectionId,
    code: "SG-EVIDENCE",
    verdict: "deny",
    facts: { server, cause },
    way: "do not repeat it at once; the user sees with `sluicegate doctor` what is missing",
  };
  return learns ? { ...reason, observed: true } : reason;
}

/** The revocation that a violation brings its server beside the result, where the policy orders it. */
export function revocation({ server, scope }: IsolationOrder, reasons: readonly Reason[]): readonly Obligation[] {
  const guilty = reasons.find(
    ({ code, verdict, observed }) => observed !== true && verdict === "deny" && ownCodes.has(code),
  );
  if (guilty === undefined || scope.onViolation === "reject") return [];
  return [{ kind: "revoke", server, end: scope.onViolation === "end", rule: guilty.rule ?? guilty.code }];
}

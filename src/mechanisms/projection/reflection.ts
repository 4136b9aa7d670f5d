/**
 * Judges events outside of calls: noteworthy ones are reported, and a violation of the scope counts against the server.
 */
import { tracesFrom } from "../../core/isolation/effect-record.ts";
import { traceKey } from "../../core/isolation/effect-trace.ts";
import { type Answers, type Opinion, type Reason, noObjection, settled } from "../../core/opinion.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { groundsOf, shown } from "./grounds.ts";
import { judgeTrace } from "./judgement.ts";
import { evidenceReason, projectionId, reasonsOf, revocation } from "./reasons.ts";
import type { ProjectionSettings } from "./settings.ts";

/**
 * Judges what happened between calls, if the gateway has seen any of it: a violation takes the admission back, all else
 * is reported. A missing record raises no question: without a watched process there is no record, and that is not a
 * violation. An unreadable record is one, since only an act of the server could have made it so.
 */
export function reflected(settings: ProjectionSettings, order: IsolationOrder, answers: Answers): Opinion {
  const { server } = order;
  const answer = answers.get(traceKey(server, undefined));
  if (answer === undefined || answer.kind === "unavailable") return noObjection;
  const learns = order.mode === "learn";
  const traces = tracesFrom(answer.value);
  if (traces === undefined)
    return settled([evidenceReason(server, "what it did between calls cannot be read", learns)]);
  const judged = traces.map((trace) =>
    judgeTrace(groundsOf(order, trace, undefined, settings.judge?.domains === true)),
  );
  const violations = judged.flatMap((one) => one.violations);
  const reasons = reasonsOf(violations, `${shown(server)} between calls`, learns);
  if (reasons.length > 0) return settled(reasons, revocation(order, reasons));
  const acts = judged
    .flatMap(({ heard }) => heard)
    .filter(({ phase, action }) => phase === "background" && action !== "file-read");
  if (acts.length === 0) return noObjection;
  const warning: Reason = {
    mechanism: projectionId,
    code: "SG-BACKGROUND",
    verdict: "allow",
    observed: true,
    facts: {
      what: `${shown(server)} was at work between calls`,
      actions: [...new Set(acts.map(({ action }) => action))],
    },
  };
  return settled([warning]);
}

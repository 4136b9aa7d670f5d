/** What a server did outside of calls: told when it is noteworthy, and held against the server when it is out of scope. */
import { tracesFrom } from "../../core/effect-record.ts";
import { traceKey } from "../../core/effect-trace.ts";
import type { Answers, Opinion, Reason } from "../../core/opinion.ts";
import { noObjection, settled } from "../../core/opinion.ts";
import type { IsolationOrder } from "../../core/scope.ts";
import { groundsOf, shown } from "./grounds.ts";
import { judgeTrace } from "./judgement.ts";
import { evidenceReason, projectionId, reasonsOf, revocation } from "./reasons.ts";
import type { ProjectionSettings } from "./settings.ts";

/**
 * Judges what happened between calls, if the gateway has seen any of it: a violation takes the admission back, all else
 * is told. Nobody is asked: where no process is watched there is nothing to know, and its absence is no guilt. A record
 * that cannot be read is, since only what the server did could have made it so.
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

/**
 * The gateway's own files: a call that touches them needs the consent of an approver, whatever the policy says, and no
 * isolated server may write one (docs/decisions/0018).
 */
import type { Decision } from "../../core/decision.ts";
import type { EffectTrace } from "../../core/isolation/effect-trace.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Reason } from "../../core/opinion.ts";
import type { LiveRun } from "../runs/live-run.ts";
import type { SelfProtection, Services } from "../ports/services.ts";

type Needs = { readonly services: Pick<Services, "selfProtection"> };

/** The decision, joined with the gateway's own reason about a call that touches its files. */
export function protectSelf(
  { services }: Needs,
  { live, arguments: given }: { readonly live: LiveRun; readonly arguments: JsonObject },
  decision: Decision,
): Decision {
  const { option, verdict } = decision;
  if (services.selfProtection === undefined || option === undefined || verdict === "deny") return decision;
  const touched = services.selfProtection.touched({
    contract: option.contract,
    arguments: given,
    workspace: live.workspace,
  });
  if (touched === undefined) return decision;
  const { place, stake } = touched;
  const reason: Reason = {
    mechanism: "gateway",
    code: "SG-ASK-OWN",
    verdict: "confirm",
    facts: { place: place.split("/").at(-1) ?? place, stake },
    way: "leave it to the person",
  };
  const enforcedVerdict = decision.enforcedVerdict === "deny" ? "deny" : "confirm";
  return { ...decision, verdict: "confirm", enforcedVerdict, reasons: [reason, ...decision.reasons] };
}

/** A trace in which a change of one of these files counts like one of a file that others obey. */
export function withOwnGuarded(own: SelfProtection | undefined, trace: EffectTrace): EffectTrace {
  if (own === undefined || trace.changes.length === 0) return trace;
  const { workspace } = trace.places;
  const isOwn = (path: string): boolean => workspace.some((folder) => own.holds(`${folder}/${path}`));
  return {
    ...trace,
    changes: trace.changes.map((change) => (isOwn(change.path) ? { ...change, guarded: true } : change)),
  };
}

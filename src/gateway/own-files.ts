/**
 * The gateway's own files: a call that touches them asks a person, whatever the policy says, and no isolated server may write
 * one (docs/decisions/0018).
 */
import type { Decision } from "../core/decision.ts";
import type { EffectTrace } from "../core/effect-trace.ts";
import type { JsonObject } from "../core/json.ts";
import type { Reason } from "../core/opinion.ts";
import type { LiveRun } from "./live-run.ts";
import type { Shared } from "./scene.ts";
import type { OwnFiles } from "./services-port.ts";

/** The decision with what the gateway itself has to say of a use that touches its files. */
export function guardingOwn<Q>(
  { services }: Shared<Q>,
  { live, arguments: given }: { readonly live: LiveRun<Q>; readonly arguments: JsonObject },
  decision: Decision,
): Decision {
  const { option, verdict } = decision;
  if (services.ownFiles === undefined || option === undefined || verdict === "deny") return decision;
  const touched = services.ownFiles.touched({ contract: option.contract, arguments: given, workspace: live.workspace });
  if (touched === undefined) return decision;
  const { place, stake } = touched;
  const reason: Reason = {
    mechanism: "gateway",
    code: "SG-ASK-OWN",
    verdict: "confirm",
    facts: { place: place.split("/").at(-1) ?? place, stake },
    way: "leave it to the person",
  };
  const unobserved = decision.unobserved === "deny" ? "deny" : "confirm";
  return { ...decision, verdict: "confirm", unobserved, reasons: [reason, ...decision.reasons] };
}

/** A trace in which a change of one of these files counts like one of a file that others obey. */
export function withOwnGuarded(own: OwnFiles | undefined, trace: EffectTrace): EffectTrace {
  if (own === undefined || trace.changes.length === 0) return trace;
  const { workspace } = trace.places;
  const isOwn = (path: string): boolean => workspace.some((folder) => own.holds(`${folder}/${path}`));
  return {
    ...trace,
    changes: trace.changes.map((change) => (isOwn(change.path) ? { ...change, guarded: true } : change)),
  };
}

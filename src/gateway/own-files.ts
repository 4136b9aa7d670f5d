/** The gateway's own files: a call that touches them asks a person, whatever the policy says (docs/decisions/0018). */
import type { Decision } from "../core/decision.ts";
import type { JsonObject } from "../core/json.ts";
import type { Reason } from "../core/opinion.ts";
import type { LiveRun } from "./live-run.ts";
import type { Shared } from "./scene.ts";

/** The decision with what the gateway itself has to say of a use that touches its files. */
export function guardingOwn<Q>(
  { services }: Shared<Q>,
  { live, arguments: given }: { readonly live: LiveRun<Q>; readonly arguments: JsonObject },
  decision: Decision,
): Decision {
  const { option, verdict } = decision;
  if (services.ownFiles === undefined || option === undefined || verdict === "deny") return decision;
  const touched = services.ownFiles({ contract: option.contract, arguments: given, workspace: live.workspace });
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

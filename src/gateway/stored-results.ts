/** A call that was executed before and whose result waits for consent: repeated, it opens the result or asks again. */
import type { Call } from "./call.ts";
import type { ConsentDesk } from "./consent.ts";
import { denial } from "./judge.ts";
import { appendBatch, Batch } from "./journal.ts";
import { logFailureAfterText, refusalMessage, refusalOf } from "./refusals.ts";
import { errorValue, passed, requestOf } from "./released-answer.ts";
import type { Scene } from "./scene.ts";

type Desk<Q> = { readonly scene: Scene<Q>; readonly consent: ConsentDesk<Q> };

/** Answers a repeated call from what is stored; false when nothing is. The server is not called again either way. */
export async function openStored<Q>({ scene, consent }: Desk<Q>, call: Call<Q>): Promise<boolean> {
  const stored = scene.withheld.find(call.live.key, call.digest);
  if (stored === undefined) return false;
  const asked = requestOf(scene, call);
  const granted = await consent.take(call, "release");
  if (granted === undefined) {
    const approval = await consent.open(call, denial("SG-WITHHELD"), "release");
    const answer = refusalOf(asked, denial("SG-WITHHELD"), stored.call, { kind: "withheld", approval });
    scene.deliveries.now(() => call.exchange.respond(answer));
    return true;
  }
  scene.withheld.take(call.live.key, call.digest);
  const value = stored.message.kind === "response" ? stored.message.result : errorValue(stored.message.error);
  const batch = new Batch<Q>();
  const at = scene.services.clock.monotonicMs();
  const { server, tool } = stored.contract;
  const { range: label, fields } = stored.label;
  const event = { kind: "released", at, call: stored.call, server, tool, how: "pass", label, fields, value } as const;
  const folded = scene.runs.fold(call.live, event, batch);
  const notes = { decision: stored.call, approval: granted.approval, by: granted.by };
  void scene.deliveries.after(appendBatch(scene.services.log, batch, { notes }), (durable) =>
    call.exchange.respond(
      durable && folded.ok
        ? passed(stored.message, value, call.request.id)
        : refusalMessage(asked, stored.call, logFailureAfterText),
    ),
  );
  return true;
}

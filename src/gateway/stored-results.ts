/**
 * A call that was executed before and whose result waits for consent: repeated, it opens the result or asks again. The
 * release is decided again then (formal.md annex 7): a consent is for what was shown, and the run has gone on since.
 */
import type { Decision } from "../core/decision.ts";
import type { ReleaseMoment } from "../core/moment.ts";
import type { Call } from "./call.ts";
import { isObserved } from "./call.ts";
import { acceptedRisk, covers, endsRun } from "./commitment.ts";
import type { Consent, ConsentDesk } from "./consent.ts";
import { risksIn } from "../core/render.ts";
import { denial, judge } from "./judge.ts";
import { appendBatch, Batch } from "./journal.ts";
import { logFailureAfterText, refusalMessage, refusalOf, rejectionOf } from "./refusals.ts";
import { errorValue, passed, requestOf } from "./released-answer.ts";
import type { Scene } from "./scene.ts";
import type { Withheld } from "./withheld-results.ts";

type Desk<Q> = { readonly scene: Scene<Q>; readonly consent: ConsentDesk<Q> };

/** What became of a stored result, in the turn in which it was decided again. */
type Opened =
  | { readonly kind: "passed"; readonly durable: Promise<boolean> }
  | { readonly kind: "rejected" }
  | { readonly kind: "asked"; readonly decision: Decision };

/**
 * Answers a repeated call from what is stored, and resolves once it has; undefined when nothing is stored. The server is
 * not called again either way.
 */
export function openStored<Q>(desk: Desk<Q>, call: Call<Q>): Promise<void> | undefined {
  const stored = desk.scene.withheld.find(call.live.key, call.digest);
  return stored === undefined ? undefined : answerFrom(desk, call, stored);
}

async function answerFrom<Q>(desk: Desk<Q>, call: Call<Q>, stored: Withheld): Promise<void> {
  const { scene, consent } = desk;
  const granted = await consent.take(call, "release");
  if (granted === undefined) return askAgain(desk, call, stored);
  const opened = await judge(
    call.live,
    { oracle: scene.services.oracle, known: stored.known },
    momentOf(scene, stored),
    (decision) => open(scene, call, { stored, granted, decision }),
  );
  const asked = requestOf(scene, call);
  switch (opened.kind) {
    case "asked":
      return askAgain(desk, call, { ...stored, decision: opened.decision });
    case "rejected":
      scene.deliveries.now(() => call.exchange.respond(rejectionOf(asked, stored.call)));
      return;
    case "passed":
      void scene.deliveries.after(opened.durable, (durable) =>
        call.exchange.respond(
          durable
            ? passed(stored.message, valueOf(stored), call.request.id)
            : refusalMessage(asked, stored.call, logFailureAfterText),
        ),
      );
  }
}

async function askAgain<Q>({ scene, consent }: Desk<Q>, call: Call<Q>, stored: Withheld): Promise<void> {
  const bench = { oracle: scene.services.oracle, known: stored.known };
  const decision = stored.decision ?? (await judge(call.live, bench, momentOf(scene, stored), (judged) => judged));
  const approval = await consent.open(call, decision, "release");
  const answer = refusalOf(requestOf(scene, call), denial("SG-WITHHELD"), stored.call, { kind: "withheld", approval });
  scene.deliveries.now(() => call.exchange.respond(answer));
}

function momentOf<Q>({ services }: Scene<Q>, stored: Withheld): ReleaseMoment {
  const { call, contract, option, message } = stored;
  const failed = message.kind === "error";
  const at = services.clock.monotonicMs();
  const outcome = failed ? "failed" : "succeeded";
  return { kind: "release", at, call, contract, option, outcome, value: valueOf(stored) };
}

type Opening = { readonly stored: Withheld; readonly granted: Consent; readonly decision: Decision };

function open<Q>(scene: Scene<Q>, call: Call<Q>, { stored, granted, decision }: Opening): Opened {
  const { live, digest } = call;
  const observed = isObserved(live, stored.contract.server);
  if (!observed && !covers(granted, decision)) return { kind: "asked", decision };
  scene.withheld.take(live.key, digest);
  const refused = !observed && (decision.verdict === "deny" || endsRun(decision));
  const at = scene.services.clock.monotonicMs();
  const batch = new Batch<Q>();
  if (!refused) {
    for (const risk of risksIn(decision)) {
      scene.runs.fold(live, { kind: "granted", at, grant: acceptedRisk(risk, granted) }, batch);
    }
  }
  const { server, tool } = stored.contract;
  const { range: label, fields } = stored.label;
  const common = { kind: "released", at, call: stored.call, server, tool, label, fields } as const;
  const event = refused
    ? ({ ...common, how: "reject" } as const)
    : ({ ...common, how: "pass", value: valueOf(stored) } as const);
  const folded = scene.runs.fold(live, event, batch);
  const notes = { decision: stored.call, approval: granted.approval, by: granted.by };
  const durable = appendBatch(scene.services.log, batch, { notes });
  if (refused && endsRun(decision)) scene.runs.stop(live);
  return refused || !folded.ok ? { kind: "rejected" } : { kind: "passed", durable };
}

function valueOf({ message }: Withheld) {
  return message.kind === "response" ? message.result : errorValue(message.error);
}

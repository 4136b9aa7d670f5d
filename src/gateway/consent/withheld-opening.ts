/**
 * A call that was executed before and whose result waits for consent: repeated, it opens the result or asks again. The
 * release is decided again then (formal.md annex 7): a consent is for what was shown, and the run has gone on since.
 */
import type { Decision } from "../../core/decision.ts";
import type { ReleaseMoment } from "../../core/moment.ts";
import { type Call, isObserved } from "../decision/call.ts";
import { acceptedRisk, covers } from "../decision/guards.ts";
import type { Consent, ConsentDesk } from "./consent-desk.ts";
import { risksIn } from "../../core/explain/render.ts";
import { denial, decide } from "../decision/ask-loop.ts";
import { EventBatch } from "../runs/event-batch.ts";
import {
  errorValue,
  logFailureAfterText,
  passed,
  refusalMessage,
  refusalOf,
  rejectionOf,
  requestOf,
} from "../decision/client-answer.ts";
import type { Withheld, WithheldResults } from "../decision/withheld-results.ts";
import type { Services } from "../ports/services.ts";
import { scopeOf } from "../decision/release-label.ts";
import type { RunRegistry } from "../runs/run-registry.ts";
import type { ClientState } from "../ports/conversation.ts";
import type { Deliveries } from "../decision/ordered-output.ts";
import { endedRun, withRunEnd } from "../decision/obligations.ts";

type Needs = {
  readonly services: Services;
  readonly runs: RunRegistry;
  readonly client: ClientState;
  readonly deliveries: Deliveries;
  readonly withheld: WithheldResults;
};

type Desk = { readonly needs: Needs; readonly consent: ConsentDesk };

/** Outcome for a stored result, in the turn in which it was decided again. */
type Opened =
  | { readonly kind: "passed"; readonly durable: Promise<boolean> }
  | { readonly kind: "rejected" }
  | { readonly kind: "asked"; readonly decision: Decision };

/**
 * Answers a repeated call from what is stored, and resolves once it has; undefined when nothing is stored. The server
 * is not called again either way.
 */
export function openStored(desk: Desk, call: Call): Promise<void> | undefined {
  const stored = desk.needs.withheld.find(call.live.key, call.digest);
  return stored === undefined ? undefined : answerFrom(desk, call, stored);
}

async function answerFrom(desk: Desk, call: Call, stored: Withheld): Promise<void> {
  const { needs, consent } = desk;
  const granted = await consent.take(call, "release");
  if (granted === undefined) return askAgain(desk, call, stored);
  const opened = await decide(
    call.live,
    { oracle: needs.services.oracle, known: stored.known },
    momentOf(needs, stored),
    (decision) => open(needs, call, { stored, granted, decision }),
  );
  const asked = requestOf(needs, call);
  switch (opened.kind) {
    case "asked":
      return askAgain(desk, call, { ...stored, decision: opened.decision });
    case "rejected":
      needs.deliveries.now(() => call.exchange.respond(rejectionOf(asked, stored.call)));
      return;
    case "passed":
      void needs.deliveries.after(opened.durable, (durable) =>
        call.exchange.respond(
          durable
            ? passed(stored.message, valueOf(stored), call.request.id)
            : refusalMessage(asked, stored.call, logFailureAfterText),
        ),
      );
  }
}

async function askAgain({ needs, consent }: Desk, call: Call, stored: Withheld): Promise<void> {
  const bench = { oracle: needs.services.oracle, known: stored.known };
  const decision = stored.decision ?? (await decide(call.live, bench, momentOf(needs, stored), (judged) => judged));
  const approval = await consent.open(call, decision, "release");
  const answer = refusalOf(requestOf(needs, call), denial("SG-WITHHELD"), stored.call, { kind: "withheld", approval });
  needs.deliveries.now(() => call.exchange.respond(answer));
}

function momentOf({ services }: Needs, stored: Withheld): ReleaseMoment {
  const { call, contract, option, message } = stored;
  const failed = message.kind === "error";
  const at = services.clock.monotonicMs();
  const outcome = failed ? "failed" : "succeeded";
  return { kind: "release", at, call, contract, option, outcome, value: valueOf(stored) };
}

type Opening = { readonly stored: Withheld; readonly granted: Consent; readonly decision: Decision };

function open(needs: Needs, call: Call, { stored, granted, decision }: Opening): Opened {
  const { live, digest } = call;
  const observed = isObserved(live, stored.contract.server);
  if (!observed && !covers(granted, decision)) return { kind: "asked", decision };
  needs.withheld.take(live.key, digest);
  const refused = !observed && withRunEnd(decision, observed).verdict === "deny";
  const at = needs.services.clock.monotonicMs();
  const batch = new EventBatch();
  if (!refused) {
    for (const risk of risksIn(decision)) {
      needs.runs.fold(live, { kind: "granted", at, grant: acceptedRisk(risk, granted) }, batch);
    }
  }
  const { server, tool } = stored.contract;
  const { range: label, fields } = stored.label;
  const common = {
    kind: "released",
    at,
    call: stored.call,
    server,
    tool,
    label,
    fields,
    ...scopeOf(stored.label),
  } as const;
  const event = refused
    ? ({ ...common, how: "reject" } as const)
    : ({ ...common, how: "pass", value: valueOf(stored) } as const);
  const folded = needs.runs.fold(live, event, batch);
  const notes = { decision: stored.call, approval: granted.approval, by: granted.by };
  const durable = needs.runs.record(batch, { notes }, endedRun(live, decision, observed));
  return refused || !folded.ok ? { kind: "rejected" } : { kind: "passed", durable };
}

function valueOf({ message }: Withheld) {
  return message.kind === "response" ? message.result : errorValue(message.error);
}

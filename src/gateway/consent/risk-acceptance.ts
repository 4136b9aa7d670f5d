/** An approver accepts a risk for an open run: by hand, not as part of a consent to a call (gateway.md 5). */
import { type Result, err, ok } from "../../core/result.ts";
import { acceptedRisk } from "../decision/guards.ts";
import { appendBatch, EventBatch } from "../runs/event-batch.ts";
import type { Services } from "../ports/services.ts";
import type { RunRegistry } from "../runs/run-registry.ts";

type Needs = {
  readonly services: Services;
  readonly runs: RunRegistry;
};

/** Characters of the name of a hazard or move. */
const nameCharactersMax = 160;

/** Risks that a refusal names. */
const namedMax = 4;

export type RiskAcceptance = {
  readonly run: string;
  readonly hazard: string;
  readonly move: string;
  readonly by: string;
};

/** Puts the acceptance on record; the error is a sentence for the approver. */
export async function acceptRisk(
  { runs, services }: Needs,
  { run, hazard, move, by }: RiskAcceptance,
): Promise<Result<void, string>> {
  const live = runs.find(run);
  if (live === undefined || live.ended) return err("No such run is open: `sluicegate runs` lists them.");
  if (live.ready !== undefined) await live.ready;
  const named = /^[^\s\p{Cc}\p{Cf}]+$/u.test(hazard) && /^[^\p{Cc}\p{Cf}]+$/u.test(move);
  if (!named || hazard.length > nameCharactersMax || move.length > nameCharactersMax) {
    return err("Name the hazard and the move as the refusal or the card names them.");
  }
  const { risks } = live.policy;
  // A misspelt risk would be on record as accepted, and change nothing.
  if (!risks.includes(`${hazard} ${move}`)) {
    const some = risks.slice(0, namedMax).join(", ");
    return err(`The policy of this run knows no such risk: ${risks.length === 0 ? "it has none" : `choose ${some}`}.`);
  }
  const grant = { ...acceptedRisk(`${hazard} ${move}`, { approval: "", by }), purpose: "accepted by hand" };
  const at = services.clock.monotonicMs();
  const batch = new EventBatch();
  const folded = runs.fold(live, { kind: "granted", at, grant }, batch);
  if (!folded.ok) return err("The run has ended meanwhile: `sluicegate runs` lists those that are open.");
  const notes = { by, role: "operator", wall: new Date(services.clock.wallMs()).toISOString() };
  if (await appendBatch(services.log, batch, { notes })) return ok(undefined);
  return err("The event log cannot be written, so nothing was accepted. Run `sluicegate doctor`.");
}

/** A person accepts a risk for a run that is open: by hand, not as part of a consent to a call (gateway.md 5). */
import type { Result } from "../core/result.ts";
import { err, ok } from "../core/result.ts";
import { acceptedRisk } from "./commitment.ts";
import { appendBatch, Batch } from "./journal.ts";
import type { Shared } from "./scene.ts";

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

/** Puts the acceptance on record; the error is a sentence for the person. */
export async function acceptRisk<Q>(
  { runs, services }: Shared<Q>,
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
  const batch = new Batch<Q>();
  const folded = runs.fold(live, { kind: "granted", at, grant }, batch);
  if (!folded.ok) return err("The run has ended meanwhile: `sluicegate runs` lists those that are open.");
  const notes = { by, role: "operator", wall: new Date(services.clock.wallMs()).toISOString() };
  if (await appendBatch(services.log, batch, { notes })) return ok(undefined);
  return err("The event log cannot be written, so nothing was accepted. Run `sluicegate doctor`.");
}

/** Which acts of approvers need a proof, and the requests by which a command proves one (docs/decisions/0042). */
import { userInfo } from "node:os";
import { type ConsentFactor, consentFactor, consentFactors } from "../../core/consent-factor.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { checkRuling, storedCard } from "../../gateway/consent/approvals.ts";
import type { OpenedTicket } from "../factors/factor-desk.ts";
import type { Composition } from "./composition.ts";
import { type AnyRequest, type Reply, type Request, actText, readRequest } from "./control-contract.ts";

/** Acts in one request for tickets: as many as one list of approvals. */
const actsMax = 200;

type WithTickets = { readonly tickets?: readonly string[] };

/** The factor that an act needs; undefined where nothing demands one, or where the act is refused for itself. */
async function demandOf(composition: Composition, act: AnyRequest): Promise<ConsentFactor | undefined> {
  if (act.kind === "approve") return act.choice === "refuse" ? undefined : factorOfCard(composition, act);
  if (act.kind === "factor-add" || act.kind === "factor-remove") return factorOfChange(composition, act);
  return undefined;
}

async function factorOfCard({ log }: Composition, { id }: Request<"approve">): Promise<ConsentFactor | undefined> {
  const found = await log.store.approval(id);
  return found.ok && found.value !== undefined ? storedCard(log, found.value)?.factor : undefined;
}

/**
 * An enrolment is changed by the one who has it. The first is made by the user: not by what a guarded client started,
 * where client processes are known.
 */
function factorOfChange({ factors }: Composition, { factor: name }: { readonly factor: string }) {
  const factor = consentFactor(name);
  if (factor !== undefined && factor !== "terminal" && factors.enrolled(factor)) return factor;
  return factors.guards() ? "terminal" : undefined;
}

/** Opens a ticket for each factor that some of the acts need, good for all of these. */
export async function ticketsFor(
  composition: Composition,
  { acts }: Request<"factor">,
): Promise<Result<Reply<"factor">, string>> {
  if (acts.length > actsMax) return err(`At most ${actsMax} acts are proved at once: name fewer.`);
  const wanted = new Map<ConsentFactor, string[]>();
  for (const one of acts) {
    const read = readRequest(one);
    const refused = read.ok ? await refusalOf(composition, read.value) : "";
    if (!read.ok || refused !== undefined) continue;
    const factor = await demandOf(composition, read.value);
    if (factor !== undefined) wanted.set(factor, [...(wanted.get(factor) ?? []), actText(read.value)]);
  }
  const tickets: OpenedTicket[] = [];
  for (const [factor, texts] of wanted) {
    const opened = composition.factors.open(factor, texts);
    if (!opened.ok) return opened;
    tickets.push(opened.value);
  }
  return ok({ tickets });
}

/** Why an act would be refused whatever is proved: no code is asked for in vain, and the act itself says so. */
async function refusalOf({ gateway, log }: Composition, act: AnyRequest): Promise<string | undefined> {
  if (act.kind !== "approve") return undefined;
  const { id, choice } = act;
  const may = await checkRuling(log, gateway.state.services.clock, { id, choice, by: `os:${userInfo().uid}` });
  return may.ok ? undefined : may.error;
}

/** Uses up the proof of an act; gives the factor that was proved, undefined where none is needed. */
export async function proven(
  composition: Composition,
  act: AnyRequest & WithTickets,
): Promise<Result<ConsentFactor | undefined, string>> {
  const factor = await demandOf(composition, act);
  if (factor === undefined) return ok(undefined);
  const taken = composition.factors.take(act.tickets ?? [], actText(act), factor);
  return taken.ok ? ok(factor) : taken;
}

export function prove(
  { factors }: Composition,
  { ticket, ...brought }: Request<"factor-prove">,
): Result<Reply<"factor-prove">, string> {
  const done = factors.prove(ticket, brought);
  if (done === undefined) return err("No gateway knows this ticket any more: repeat the command.");
  return done.ok ? ok({ proven: true }) : done;
}

export function factorsOf({ factors }: Composition): Reply<"factors"> {
  return { factors: consentFactors.map((factor) => ({ factor, enrolled: factors.enrolled(factor) })) };
}

export async function addFactor(
  composition: Composition,
  request: Request<"factor-add">,
): Promise<Result<Reply<"factor-add">, string>> {
  if (consentFactor(request.factor) !== "device") return err(unknownFactor);
  const proof = await proven(composition, request);
  return proof.ok ? ok(composition.factors.device.begin()) : proof;
}

export function confirmFactor(
  { factors }: Composition,
  { factor, code }: Request<"factor-confirm">,
): Result<Reply<"factor-confirm">, string> {
  if (consentFactor(factor) !== "device") return err(unknownFactor);
  const done = factors.device.confirm(code);
  return done.ok ? ok({ enrolled: true }) : done;
}

export async function removeFactor(
  composition: Composition,
  request: Request<"factor-remove">,
): Promise<Result<Reply<"factor-remove">, string>> {
  if (consentFactor(request.factor) !== "device") return err(unknownFactor);
  const proof = await proven(composition, request);
  return proof.ok ? ok({ removed: composition.factors.device.remove() }) : proof;
}

const unknownFactor = "Only these can be enrolled: device.";

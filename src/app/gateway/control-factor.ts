/** Which acts of approvers need a proof, and the requests by which a command proves one (docs/decisions/0042). */
import { userInfo } from "node:os";
import { type ConsentFactor, consentFactor, consentFactors, strongest } from "../../core/consent-factor.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { checkRuling, storedCard } from "../../gateway/consent/approvals.ts";
import type { LogEntry } from "../../gateway/ports/store.ts";
import { type OpenedTicket, enrolMsMax } from "../factors/factor-desk.ts";
import type { ProvableAct } from "../factors/presence-desk.ts";
import { many, shown } from "../state/sentences.ts";
import { givesMore } from "../cards/card-acts.ts";
import { cardLines } from "../cards/card-text.ts";
import type { Composition } from "./composition.ts";
import { type AnyRequest, type Reply, type Request, actText, readRequest } from "./control-contract.ts";

/** Acts in one request for tickets: as many as one list of approvals. */
const actsMax = 200;

/** Lines of a card that the page of a proof shows. */
const provedLinesMax = 60;
const provedEndLines = 10;

type WithTickets = { readonly tickets?: readonly string[] };

/** What an act needs, and the act for the ticket. */
type Demand = { readonly factor: ConsentFactor; readonly act: ProvableAct };

/** What an act needs; undefined where nothing demands a proof, or where the act is refused for itself. */
async function demandOf(composition: Composition, act: AnyRequest): Promise<Demand | undefined> {
  const { gateway } = composition;
  switch (act.kind) {
    case "approve":
      return act.choice === "refuse" ? undefined : demandOfCard(composition, act);
    case "factor-add":
    case "factor-remove":
      return demandOfChange(composition, act);
    case "runs-new":
      return demanded(act, inForce(composition), "End every run: the next call starts a clean one.");
    case "runs-close": {
      const live = gateway.runs.find(act.run);
      const factor = live === undefined ? inForce(composition) : live.policy.settings.approvals.factor;
      return demanded(act, factor, `End run ${shown(act.run)}: what it holds restricts no later run.`);
    }
    case "runs-accept": {
      const factor = gateway.runs.find(act.run)?.policy.settings.approvals.factor;
      return demanded(
        act,
        factor,
        `Accept in run ${shown(act.run)}: ${shown(act.move)} may cause ${shown(act.hazard)}.`,
      );
    }
    case "stores-reset": {
      // Several gateways may serve one user, each with stores of its own; the others have nothing to say.
      const factor = act.process === process.pid ? inForce(composition) : undefined;
      return demanded(act, factor, `Forget what ${shown(act.store ?? "every store")} of ${shown(act.owner)} holds.`);
    }
    case "changes-apply": {
      const factor = strongest([consentFactor(act.factor), inForce(composition)]);
      return demanded(act, factor, `Write the held change ${shown(act.id)} into its workspace.`);
    }
    case "card-answer": {
      // What gives a server less needs no proof; taking a refusal back gives it more.
      if (!givesMore(act.choice)) return undefined;
      const line = `Answer the card of the server ${shown(act.server)} with ${shown(act.choice)}, for ${act.days} days.`;
      const reviewed =
        act.reviewed.length === 0
          ? []
          : [
              `${many(act.reviewed.length, "tool")} in doubt accepted at their word: ${shown(act.reviewed.join(", "), 400)}`,
            ];
      const hosts = act.hosts ?? [];
      // Each on a line of its own: behind a cut any other one could be opened.
      const beside = act.workspace === true ? ", beside the workspace" : "";
      const opened =
        hosts.length === 0 ? [] : [`Hosts opened to it${beside}:`, ...hosts.map((host) => `  ${shown(host, 260)}`)];
      const demand = demanded(act, inForce(composition), line);
      const card = composition.cards.card(act.server);
      const lines = [line, ...reviewed, ...opened, ...(card === undefined ? [] : provedLines(cardLines(card)))];
      return demand === undefined ? undefined : { ...demand, act: { ...demand.act, bound: act.digest, lines } };
    }
    case "status":
    case "cards":
    case "card":
    case "card-probe":
    case "runs":
    case "stores":
    case "approvals":
    case "factor":
    case "factor-prove":
    case "factors":
    case "factor-confirm":
    case "approve-watch":
    case "hook":
      return undefined;
  }
}

/** The card on a page, cut in its middle: the end says what an answer covers. */
function provedLines(lines: readonly string[]): readonly string[] {
  const left = lines.length - provedLinesMax;
  if (left <= 0) return lines;
  const [head, tail] = [lines.slice(0, provedLinesMax - provedEndLines), lines.slice(-provedEndLines)];
  return [...head, `... ${left} lines of the card are left out here: \`sluicegate cards\` shows them ...`, ...tail];
}

function demanded(act: AnyRequest, factor: ConsentFactor | undefined, line: string): Demand | undefined {
  return factor === undefined ? undefined : { factor, act: { text: actText(act), bound: "", lines: [line] } };
}

/** The strongest factor that a loaded policy demands: an act that concerns more than one run has no one policy. */
function inForce({ policies }: Composition): ConsentFactor | undefined {
  return strongest(policies.loaded().map(({ settings }) => settings.approvals.factor));
}

async function demandOfCard({ log }: Composition, act: Request<"approve">): Promise<Demand | undefined> {
  const found = await log.store.approval(act.id);
  const row = found.ok ? found.value : undefined;
  const card = row === undefined ? undefined : storedCard(log, row);
  if (row === undefined || card?.factor === undefined) return undefined;
  const choice = act.choice === "value" ? ["", "The value in question is trusted for the rest of the run."] : [];
  const lines = [card.title, ...card.lines, card.arguments, ...choice];
  const bound = `${row.run} ${row.principal} ${row.argumentDigest} ${row.policyDigest}`;
  return { factor: card.factor, act: { text: actText(act), bound, lines } };
}

/**
 * An enrolment is changed by the one who has it. The first is made by the user: not by what a guarded client started,
 * where client processes are known.
 */
function demandOfChange(
  { factors }: Composition,
  act: Request<"factor-add"> | Request<"factor-remove">,
): Demand | undefined {
  const named = consentFactor(act.factor);
  const known = named !== undefined && named !== "terminal" && factors.enrolled(named) ? named : undefined;
  const factor = known ?? (factors.guards() ? "terminal" : undefined);
  const what = act.kind === "factor-add" ? "Enrol another" : "Remove the enrolment of";
  return demanded(act, factor, `${what} \`${named ?? "none"}\` as proof of who approves.`);
}

/** Opens a ticket for each factor that some of the acts need, good for all of these. */
export async function ticketsFor(
  composition: Composition,
  { acts }: Request<"factor">,
): Promise<Result<Reply<"factor">, string>> {
  if (acts.length > actsMax) return err(`At most ${actsMax} acts are proved at once: name fewer.`);
  const wanted = new Map<ConsentFactor, ProvableAct[]>();
  for (const one of acts) {
    const read = readRequest(one);
    if (!read.ok || (await isRefused(composition, read.value))) continue;
    const demand = await demandOf(composition, read.value);
    if (demand !== undefined) wanted.set(demand.factor, [...(wanted.get(demand.factor) ?? []), demand.act]);
  }
  const tickets: OpenedTicket[] = [];
  for (const [factor, proved] of wanted) {
    const opened = await composition.factors.open(factor, proved);
    if (!opened.ok) return opened;
    tickets.push(opened.value);
  }
  return ok({ tickets });
}

/** Whether an act would be refused whatever is proved: no code is asked for in vain, and the act itself says why. */
async function isRefused({ gateway, log, cards }: Composition, act: AnyRequest): Promise<boolean> {
  // A page of one card is no proof for the answer to another one, which its server would go back to listing.
  if (act.kind === "card-answer") return !cards.answerable(act.server, act.digest, act.choice).ok;
  if (act.kind !== "approve") return false;
  const { id, choice } = act;
  return !(await checkRuling(log, gateway.state.services.clock, { id, choice, by: `os:${userInfo().uid}` })).ok;
}

/** Uses up the proof of an act; gives the factor that was proved, undefined where none is needed. */
export async function proven(
  composition: Composition,
  act: AnyRequest & WithTickets,
): Promise<Result<ConsentFactor | undefined, string>> {
  const demand = await demandOf(composition, act);
  if (demand === undefined) return ok(undefined);
  const taken = composition.factors.take(act.tickets ?? [], demand.act.text, demand.factor);
  return taken.ok ? ok(demand.factor) : taken;
}

/** Does an act that needs a proof, once that is on record: its factor is named there, whatever the act itself records. */
export async function afterProof<T>(
  composition: Composition,
  act: AnyRequest & WithTickets,
  run: () => Promise<Result<T, string>>,
): Promise<Result<T, string>> {
  const proof = await proven(composition, act);
  if (!proof.ok) return proof;
  if (proof.value !== undefined && !(await recorded(composition, act.kind, proof.value)))
    return err("The event log cannot be written, so nothing was done. Run `sluicegate doctor`.");
  return run();
}

/** A record of no run: which act was proved, by whom, and how. */
async function recorded({ gateway, log }: Composition, act: string, factor: ConsentFactor): Promise<boolean> {
  const { clock, policies } = gateway.state.services;
  const by = `os:${userInfo().uid}`;
  const { digest, canonical, lattice, settings } = policies.select({
    principal: by,
    client: undefined,
    tag: undefined,
  });
  const context = { policyDigest: digest, policyText: canonical, lattice, payload: settings.payload, principal: by };
  const notes = { act, by, role: `operator:${factor}`, wall: new Date(clock.wallMs()).toISOString() };
  const entry: LogEntry = { run: "", at: clock.monotonicMs(), kind: "proved", events: [], context, notes };
  try {
    return (await log.append([entry])).ok;
  } catch {
    return false;
  }
}

export async function prove(
  { factors }: Composition,
  { ticket, ...brought }: Request<"factor-prove">,
): Promise<Result<Reply<"factor-prove">, string>> {
  const done = await factors.prove(ticket, brought);
  if (done === undefined) return err("No gateway knows this ticket any more: repeat the command.");
  return done.ok ? ok({ proven: true }) : done;
}

export function factorsOf({ factors }: Composition): Reply<"factors"> {
  return { factors: consentFactors.map((factor) => ({ factor, enrolled: factors.enrolled(factor) })) };
}

/** Begins an enrolment: gives what a device has to be told, or the page on which a key is registered. */
export async function addFactor(
  composition: Composition,
  request: Request<"factor-add">,
): Promise<Result<Reply<"factor-add">, string>> {
  const factor = consentFactor(request.factor);
  if (factor === undefined || factor === "terminal") return err(unknownFactor);
  return afterProof(composition, request, () => begin(composition, factor, request.password));
}

async function begin(
  { factors }: Composition,
  factor: ConsentFactor,
  given = "",
): Promise<Result<Reply<"factor-add">, string>> {
  const { device, password, presence } = factors;
  if (factor === "password") {
    const set = await password.set(given);
    return set.ok ? ok({}) : set;
  }
  if (factor === "device") return ok(device.begin());
  const page = await presence.register(enrolMsMax);
  return page.ok ? ok({ url: page.value.url }) : page;
}

/** Ends an enrolment: a code of the new device counts, or the page that was opened last is answered. */
export async function confirmFactor(
  { factors }: Composition,
  { factor: name, code }: Request<"factor-confirm">,
): Promise<Result<Reply<"factor-confirm">, string>> {
  const factor = consentFactor(name);
  if (factor === "device") {
    const done = factors.device.confirm(code ?? "");
    return done.ok ? ok({ enrolled: true }) : done;
  }
  return factor === "presence" ? ok({ enrolled: await factors.presence.registered() }) : err(unknownFactor);
}

export async function removeFactor(
  composition: Composition,
  request: Request<"factor-remove">,
): Promise<Result<Reply<"factor-remove">, string>> {
  const factor = consentFactor(request.factor);
  if (factor === undefined || factor === "terminal") return err(unknownFactor);
  return afterProof(composition, request, async () => ok({ removed: composition.factors.remove(factor) }));
}

const unknownFactor = "Only these can be enrolled: password, device, presence.";

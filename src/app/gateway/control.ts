/** Answers the daemon's control requests: the requests of `runs`, `stores`, `approve`, `hook` and `status`. */
import { userInfo } from "node:os";
import type { ControlContext } from "../../adapters/daemon/services.ts";
import type { Json } from "../../core/json.ts";
import { describe } from "../../core/label.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { checkRuling, ruleApproval, storedCard } from "../../gateway/consent/approvals.ts";
import { type LiveRun, idleMsOf } from "../../gateway/runs/live-run.ts";
import { acceptRisk } from "../../gateway/consent/risk-acceptance.ts";
import type { ApprovalRow } from "../../gateway/ports/store.ts";
import type { Gateway } from "../../gateway/session/gateway.ts";
import type { Composition } from "./composition.ts";
import { type ApprovalView, type Reply, type Request, type RunView, readRequest } from "./control-contract.ts";
import {
  addFactor,
  afterProof,
  confirmFactor,
  factorsOf,
  proven,
  prove,
  removeFactor,
  ticketsFor,
} from "./control-factor.ts";
import { answerCard, cardReport, cardsReport, probeCard } from "./control-cards.ts";
import { hookEvent } from "./hook-events.ts";
import { nodeClock } from "../state/node-services.ts";
import { resetReport, storesReport } from "./store-report.ts";
import type { RegulationView } from "../../core/explain/regulation-view.ts";

const approvalsMax = 200;

export async function control(
  composition: Composition,
  given: Json,
  context: ControlContext,
): Promise<Result<Json, string>> {
  const read = readRequest(given);
  if (!read.ok) return read;
  const request = read.value;
  switch (request.kind) {
    case "status":
      return ok(status(composition));
    case "runs":
      return ok(await runs(composition));
    case "runs-new":
      return afterProof(composition, request, async () => ok(await startClean(composition)));
    case "runs-close":
      return afterProof(composition, request, () => closeRun(composition, request.run));
    case "runs-accept":
      return afterProof(composition, request, () => accept(composition, request));
    case "stores":
      return storesReport(composition);
    case "stores-reset":
      return afterProof(composition, request, () => resetReport(composition, request));
    case "changes-apply":
      return afterProof(composition, request, async () => ok({ agreed: true }));
    case "approvals":
      return ok({ approvals: (await approvals(composition)).map((row) => card(composition, row)) });
    case "approve":
      return approve(composition, request);
    case "cards":
      return ok(cardsReport(composition));
    case "card":
      return cardReport(composition, request);
    case "card-probe":
      return probeCard(composition, request);
    case "card-answer":
      return answerCard(composition, request);
    case "factor":
      return ticketsFor(composition, request);
    case "factor-prove":
      return prove(composition, request);
    case "factors":
      return ok(factorsOf(composition));
    case "factor-add":
      return addFactor(composition, request);
    case "factor-confirm":
      return confirmFactor(composition, request);
    case "factor-remove":
      return removeFactor(composition, request);
    case "approve-watch":
      await composition.waiters.watch(context.part, context.signal);
      return ok({ ended: true });
    case "hook":
      return hookEvent(composition, request);
  }
}

function status({ gateway, log, trust }: Composition): Reply<"status"> {
  const health = log.health();
  const broken = trust.broken();
  const why = health.kind === "failed" ? health.failure.sentence : broken;
  const sentence = why === undefined ? {} : { sentence: why };
  const open = [...gateway.runs.all()];
  const idleMs = open.map((live) => idleMsOf(live));
  // Policies may differ: the sentence speaks of the run that keeps its labels longest.
  const lasts = open.length === 0 ? {} : { lasts: labelsLast(Math.max(...idleMs)) };
  return {
    runs: open.length,
    ...lasts,
    owed: [...gateway.state.runObligations.left()],
    sources: open.flatMap((live) => sourcesOf(live).map((source) => ({ run: live.key, ...source }))),
    regulation: regulationOfAll(gateway),
    isolation: isolationOf(gateway),
    unstarted: [...gateway.state.startFailures.all()],
    log: { state: broken === undefined || health.kind === "failed" ? health.kind : "broken", ...sentence },
  };
}

async function runs(composition: Composition): Promise<Reply<"runs">> {
  const { gateway } = composition;
  return {
    runs: [...gateway.runs.all()].map((live) => runView(gateway, live)),
    isolation: isolationOf(gateway),
    dormant: await dormantOf(gateway),
    approvals: (await approvals(composition)).map((row) => summary(row)),
  };
}

function runView(gateway: Gateway, live: LiveRun): RunView {
  const { policy, state } = live;
  const regulation = regulationOf(gateway, live);
  return {
    run: live.key,
    principal: live.principal,
    policy: policy.source,
    context: describe(policy.lattice, policy.contextLabel(state.q)),
    owed: policy.describeOwed(state.q),
    ...(live.ended ? { ended: true } : {}),
    ...(regulation === undefined ? {} : { regulation }),
    stores: policy.describeStores(state.q),
    servers: gateway.serversOf(live),
    sources: sourcesOf(live),
    inFlight: [...live.inFlight],
    idleMs: Math.round(nodeClock.monotonicMs() - live.lastAt),
    idleMsMax: idleMsOf(live),
    lasts: labelsLast(idleMsOf(live)),
  };
}

/** The runs that passed restrictions on to a run, and what it holds because of each. */
function sourcesOf({ sources }: LiveRun): readonly { readonly from: string; readonly holds: readonly string[] }[] {
  return [...sources].map(([from, holds]) => ({ from, holds: [...holds] }));
}

/** How long the labels of a run last, in words (gateway.md 4): an agent cannot shed them, a user can. */
function labelsLast(idleMs: number): string {
  const minutes = Math.round(idleMs / 60_000);
  const idle = minutes >= 120 && minutes % 60 === 0 ? `${minutes / 60} hours` : `${minutes} minutes`;
  return `What a run holds lasts until it ends: after ${idle} without a message or with its client (a conversation that hooks name keeps it), or when you run \`sluicegate runs new\` or \`runs close ID\`. Labels of stores stay (\`sluicegate stores\`).`;
}

/** A trusted act of the user at the machine: every run that is not tied to a token ends, so the next call is clean. */
async function startClean({ gateway, lost }: Composition): Promise<Reply<"runs-new">> {
  // The user states that the coming runs are new, so a lost history no longer counts for them.
  lost.clear();
  const open: LiveRun[] = [...gateway.runs.all()];
  const owed: string[] = [];
  for (const live of open) owed.push(...(await gateway.runs.end(live, "operator")));
  // Dormant runs would otherwise bring back the labels that they held.
  const dormant = gateway.runs.dormant.all().map(({ key }) => key);
  for (const key of dormant) await gateway.runs.endDormant(key, "operator");
  const streams = gateway.runs.waitingStreams().map(({ key }) => key);
  for (const key of streams) await gateway.runs.endStream(key);
  return { ended: [...open.map((live) => live.key), ...dormant, ...streams], owed };
}

/** Ends one run, also a dormant one. */
export async function closeRun({ gateway }: Composition, key: string): Promise<Result<Reply<"runs-close">, string>> {
  const live = gateway.runs.find(key);
  if (live === undefined && ((await gateway.runs.endDormant(key, "operator")) || (await gateway.runs.endStream(key))))
    return ok({ ended: [key], owed: [] });
  if (live === undefined) return err("No such run is open: `sluicegate runs` lists them.");
  return ok({ ended: [key], owed: await gateway.runs.end(live, "operator") });
}

/** An approver accepts a risk for the rest of a run. Only the control socket offers it, which no tool can reach. */
async function accept(
  { gateway }: Composition,
  { run, hazard, move }: Request<"runs-accept">,
): Promise<Result<Reply<"runs-accept">, string>> {
  const accepted = await acceptRisk(gateway.state, { run, hazard, move, by: `os:${userInfo().uid}` });
  return accepted.ok ? ok({ run, accepted: `${hazard} ${move}` }) : accepted;
}

async function approvals({ log }: Composition): Promise<readonly ApprovalRow[]> {
  const found = await log.store.approvals(nodeClock.wallMs(), approvalsMax);
  return found.ok ? found.value.filter((row) => row.status === "pending" || row.status === "approved") : [];
}

function summary({ id, run, server, tool, status, expiresWallMs }: ApprovalRow): Reply<"runs">["approvals"][number] {
  return { id, run, server, tool, status, expires: new Date(expiresWallMs).toISOString() };
}

/** An approver must see the whole call, arguments included: the same tool with other arguments is another call. */
function card({ log, gateway }: Composition, row: ApprovalRow): ApprovalView {
  const about = summary(row);
  const stored = storedCard(log, row);
  if (stored === undefined) {
    const ways = [
      `It can only be refused: \`sluicegate approve ${row.id} --refuse\`.`,
      `After ${about.expires}, repeat the call to get a new card.`,
    ];
    return { ...about, title: "This card cannot be read.", lines: ways, choices: ["refuse"] };
  }
  const { by: _by, ...words } = stored;
  const policy = gateway.runs.find(row.run)?.policy.source;
  return { ...about, ...words, ...(policy === undefined ? {} : { policy }) };
}

async function approve(
  composition: Composition,
  request: Request<"approve">,
): Promise<Result<Reply<"approve">, string>> {
  const { gateway, log, waiters } = composition;
  const { id, choice } = request;
  const by = `os:${userInfo().uid}`;
  const { clock } = gateway.state.services;
  const may = await checkRuling(log, clock, { id, choice, by });
  if (!may.ok) return may;
  const proof = await proven(composition, request);
  if (!proof.ok) return proof;
  const role = proof.value === undefined ? "operator" : `operator:${proof.value}`;
  // A call that is held right now gets its answer at once; the desk then records the ruling itself.
  if (waiters.rule(id, { choice, by, role })) return ok({ id, choice });
  const ruled = await ruleApproval(log, clock, { id, choice, by, role });
  if (!ruled.ok) return ruled;
  gateway.ruled(ruled.value);
  return ok({ id, choice });
}

/** Hidden tools that one run names; there may be a thousand. */
const hiddenMax = 50;

/** Regulation of one run; undefined under a policy whose lists do not depend on the run. */
export function regulationOf(gateway: Gateway, live: LiveRun): RunView["regulation"] {
  if (!live.policy.regulated) return undefined;
  const view: RegulationView = viewOf(gateway, live);
  const { state, power, budget, hidden, risks } = view;
  return {
    state,
    power,
    budget: budget ?? null,
    hidden: hidden.slice(0, hiddenMax),
    hiddenMore: Math.max(0, hidden.length - hiddenMax),
    risks,
    tokensSaved: tokensSaved(live),
  };
}

/** All runs in one: how many are in which state, and what shortlists save. */
export function regulationOfAll(gateway: Gateway): Reply<"status">["regulation"] {
  const states = { safe: 0, critical: 0, unsafe: 0 };
  let saved = 0;
  for (const live of gateway.runs.all()) {
    saved += tokensSaved(live);
    if (!live.policy.regulated) continue;
    states[viewOf(gateway, live).state] += 1;
  }
  return { states, tokensSaved: saved };
}

/**
 * Dormant runs of the log, and what ended sessions left behind: they count in decisions about other runs, so users must
 * be able to end them.
 */
export async function dormantOf({ runs, state }: Gateway): Promise<Reply<"runs">["dormant"]> {
  const now = state.services.clock.wallMs();
  const rows = [...runs.dormant.all(), ...runs.waitingStreams().map((stream) => stream.row())].map(async (run) => {
    const idleMs = Math.max(0, now - (await runs.dormant.activeWallMs(run)));
    return { run: run.key, principal: run.principal, idleMs };
  });
  return Promise.all(rows);
}

function viewOf(gateway: Gateway, live: LiveRun): RegulationView {
  const at = gateway.state.services.clock.monotonicMs();
  return live.policy.describeRegulation(live.state, gateway.listed(live), at);
}

function tokensSaved(live: LiveRun): number {
  return [...live.tokensSaved.values()].reduce((sum, tokens) => sum + tokens, 0);
}

/** Servers that run now under an order of isolation: in which tier, and what is missing for a better one. */
export function isolationOf({ state }: Gateway): Reply<"status">["isolation"] {
  return [...state.projections.all()].map(([server, { tier, notes }]) => ({ server, tier, missing: notes }));
}

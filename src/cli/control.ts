/** Answers the daemon's control requests: what `runs`, `stores`, `approve`, `audit`, `hook` and `status` ask for. */
import { userInfo } from "node:os";
import type { ControlContext } from "../adapters/daemon/services.ts";
import type { Json } from "../core/json.ts";
import { member, stringMember } from "../core/json.ts";
import { describe } from "../core/label.ts";
import type { Result } from "../core/result.ts";
import { err, ok } from "../core/result.ts";
import { checkRuling, ruleApproval } from "../gateway/approvals.ts";
import type { LiveRun } from "../gateway/live-run.ts";
import { idleMsOf } from "../gateway/live-run.ts";
import { acceptRisk } from "../gateway/risk-acceptance.ts";
import type { ApprovalRow, LogView } from "../gateway/store-port.ts";
import type { Q } from "../policy/state.ts";
import type { Composition } from "./composition.ts";
import { hookEvent } from "./hook/answer.ts";
import { nodeClock } from "./node-services.ts";
import { dormantOf, isolationOf, regulationOf, regulationOfAll } from "./run-report.ts";
import { resetReport, storesReport } from "./store-report.ts";

const approvalsMax = 200;
const tailMax = 10_000;

export async function control(
  composition: Composition,
  request: Json,
  context: ControlContext,
): Promise<Result<Json, string>> {
  switch (stringMember(request, "kind")) {
    case "status":
      return ok(status(composition));
    case "runs":
      return ok({
        runs: runs(composition),
        isolation: isolationOf(composition.gateway),
        dormant: await dormantOf(composition.gateway),
        approvals: (await approvals(composition)).map((row) => summary(row)),
      });
    case "runs-new":
      return startClean(composition);
    case "runs-close":
      return closeRun(composition, stringMember(request, "run") ?? "");
    case "runs-accept":
      return accept(composition, request);
    case "stores":
      return storesReport(composition);
    case "stores-reset":
      return resetReport(composition, request);
    case "approvals":
      return ok({ approvals: (await approvals(composition)).map((row) => card(composition, row)) });
    case "approve":
      return approve(composition, request);
    case "approve-watch":
      await composition.waiters.watch(context.part, context.signal);
      return ok({ ended: true });
    case "audit-tail":
      return tail(composition, request);
    case "hook":
      return hookEvent(composition, request);
    case undefined:
    default:
      return err("The daemon does not know this request: the command and the daemon are of different versions.");
  }
}

function status({ gateway, log }: Composition): Json {
  const health = log.health();
  const sentence = health.kind === "failed" ? { sentence: health.failure.sentence } : {};
  const open = [...gateway.runs.all()];
  const idleMs = open.map((live) => idleMsOf(live));
  // Policies may differ: the sentence speaks of the run that keeps its labels longest.
  const lasts = open.length === 0 ? {} : { lasts: labelsLast(Math.max(...idleMs)) };
  return {
    runs: open.length,
    ...lasts,
    regulation: regulationOfAll(gateway),
    isolation: isolationOf(gateway),
    log: { state: health.kind, ...sentence },
  };
}

function runs({ gateway }: Composition): Json[] {
  return [...gateway.runs.all()].map((live) => {
    const { policy, state } = live;
    const regulation = regulationOf(gateway, live);
    const stores = policy.describeStores(state.q).map((store) => ({ ...store, audience: [...store.audience] }));
    return {
      run: live.key,
      principal: live.principal,
      policy: policy.source,
      context: describe(policy.lattice, policy.contextLabel(state.q)),
      owed: [...policy.describeOwed(state.q)],
      ...(live.ended ? { ended: true } : {}),
      ...(regulation === undefined ? {} : { regulation }),
      stores,
      inFlight: [...live.inFlight],
      idleMs: Math.round(nodeClock.monotonicMs() - live.lastAt),
      idleMsMax: idleMsOf(live),
      lasts: labelsLast(idleMsOf(live)),
    };
  });
}

/** How long the labels of a run last, in words (gateway.md 4): an agent cannot shed them, a person can. */
function labelsLast(idleMs: number): string {
  const minutes = Math.round(idleMs / 60_000);
  const idle = minutes >= 120 && minutes % 60 === 0 ? `${minutes / 60} hours` : `${minutes} minutes`;
  return `What a run holds lasts until it ends: after ${idle} without a message (a conversation that hooks name keeps it), or when you run \`sluicegate runs new\` or \`runs close ID\`. Labels of stores stay (\`sluicegate stores\`).`;
}

/** A trusted act of the person at the machine: every run that is not tied to a token ends, so the next call is clean. */
async function startClean({ gateway, lost }: Composition): Promise<Result<Json, string>> {
  // A person says that what comes now is new, so a lost history no longer speaks for it.
  lost.clear();
  const open: LiveRun<Q>[] = [...gateway.runs.all()];
  const owed: string[] = [];
  for (const live of open) owed.push(...(await gateway.runs.end(live, "operator")));
  // Runs that nobody has taken up yet would otherwise bring back what they held.
  const dormant = gateway.runs.dormant.all().map(({ key }) => key);
  for (const key of dormant) await gateway.runs.endDormant(key, "operator");
  return ok({ ended: [...open.map((live) => live.key), ...dormant], owed });
}

/** Ends one run, also one that nobody has taken up. */
export async function closeRun({ gateway }: Composition, key: string): Promise<Result<Json, string>> {
  const live = gateway.runs.find(key);
  if (live === undefined && (await gateway.runs.endDormant(key, "operator"))) return ok({ ended: [key], owed: [] });
  if (live === undefined) return err("No such run is open: `sluicegate runs` lists them.");
  return ok({ ended: [key], owed: [...(await gateway.runs.end(live, "operator"))] });
}

/** A person accepts a risk for the rest of a run. Only the control socket asks for it, which no tool can reach. */
async function accept({ gateway }: Composition, request: Json): Promise<Result<Json, string>> {
  const [run = "", hazard = "", move = ""] = ["run", "hazard", "move"].map((name) => stringMember(request, name));
  const accepted = await acceptRisk(gateway.shared, { run, hazard, move, by: `os:${userInfo().uid}` });
  return accepted.ok ? ok({ run, accepted: `${hazard} ${move}` }) : accepted;
}

async function approvals({ log }: Composition): Promise<readonly ApprovalRow[]> {
  const found = await log.store.approvals(nodeClock.wallMs(), approvalsMax);
  return found.ok ? found.value.filter((row) => row.status === "pending" || row.status === "approved") : [];
}

function summary(row: ApprovalRow): Json {
  const { id, run, server, tool, status: state, expiresWallMs } = row;
  return { id, run, server, tool, status: state, expires: new Date(expiresWallMs).toISOString() };
}

function card({ log }: Composition, row: ApprovalRow): Json {
  const sealed = row.card === undefined ? undefined : log.open(row.run, row.card);
  const shown =
    sealed === undefined
      ? {}
      : {
          title: sealed["title"] ?? "",
          lines: sealed["lines"] ?? [],
          // Whoever consents must see to what: the same tool with other arguments is another call.
          arguments: sealed["arguments"] ?? "",
          risks: sealed["risks"] ?? [],
          choices: sealed["choices"] ?? [],
        };
  const plain = summary(row);
  return { ...(plain as { readonly [key: string]: Json }), ...shown }; // summary makes an object
}

async function approve({ gateway, log, waiters }: Composition, request: Json): Promise<Result<Json, string>> {
  const id = stringMember(request, "id") ?? "";
  const choice = stringMember(request, "choice");
  if (choice !== "once" && choice !== "value" && choice !== "refuse") return err("Choose once, value or refuse.");
  const by = `os:${userInfo().uid}`;
  const { clock } = gateway.shared.services;
  const may = await checkRuling(log, clock, { id, choice, by });
  if (!may.ok) return may;
  // A call that is held right now gets its answer at once; the desk then records the ruling itself.
  if (waiters.rule(id, choice, by)) return ok({ id, choice });
  const ruled = await ruleApproval(log, clock, { id, choice, by, role: "operator" });
  if (!ruled.ok) return ruled;
  gateway.ruled(ruled.value);
  return ok({ id, choice });
}

async function tail({ log }: Composition, request: Json): Promise<Result<Json, string>> {
  const asked = member(request, "count");
  const count = typeof asked === "number" && Number.isInteger(asked) && asked > 0 ? Math.min(asked, tailMax) : 50;
  const views = await log.tail(count, stringMember(request, "run"));
  return views.ok ? ok({ records: views.value.map(plainView) }) : err(views.error.sentence);
}

function plainView(view: LogView): Json {
  const { payload: _sealed, ...clear } = view;
  return clear;
}

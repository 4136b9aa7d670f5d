/** What `runs` and `status` say of regulation: the state of a run, its power, what it is not shown and why. */
import type { Json, JsonObject } from "../core/json.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { LiveRun } from "../gateway/live-run.ts";
import type { RegulationView } from "../core/regulation-view.ts";

/** Hidden tools that one run names; there may be a thousand. */
const hiddenMax = 50;

/** Regulation of one run; undefined under a policy whose lists do not depend on the run. */
export function regulationOf<Q>(gateway: Gateway<Q>, live: LiveRun<Q>): JsonObject | undefined {
  if (!live.policy.regulated) return undefined;
  const view: RegulationView = viewOf(gateway, live);
  const { state, power, budget, hidden, risks } = view;
  return {
    state,
    power,
    budget: budget ?? null,
    hidden: hidden.slice(0, hiddenMax).map(({ tool, why }) => ({ tool, why })),
    hiddenMore: Math.max(0, hidden.length - hiddenMax),
    risks: [...risks],
    tokensSaved: tokensSaved(live),
  };
}

/** All runs in one: how many are in which state, and what shortlists save. */
export function regulationOfAll<Q>(gateway: Gateway<Q>): JsonObject {
  const count: Record<string, number> = { safe: 0, critical: 0, unsafe: 0 };
  let saved = 0;
  for (const live of gateway.runs.all()) {
    saved += tokensSaved(live);
    if (!live.policy.regulated) continue;
    const { state } = viewOf(gateway, live);
    count[state] = (count[state] ?? 0) + 1;
  }
  return { states: count, tokensSaved: saved };
}

/** Runs of the log that nobody has taken up: they count for what others may do, so people must be able to end them. */
export async function dormantOf<Q>({ runs, shared }: Gateway<Q>): Promise<Json[]> {
  const now = shared.services.clock.wallMs();
  const rows = runs.dormant.all().map(async (run) => {
    const idleMs = Math.max(0, now - (await runs.dormant.activeWallMs(run)));
    return { run: run.key, principal: run.principal, idleMs };
  });
  return Promise.all(rows);
}

function viewOf<Q>(gateway: Gateway<Q>, live: LiveRun<Q>): RegulationView {
  const at = gateway.shared.services.clock.monotonicMs();
  return live.policy.describeRegulation(live.state, gateway.listed(live), at);
}

function tokensSaved<Q>(live: LiveRun<Q>): number {
  return [...live.tokensSaved.values()].reduce((sum, tokens) => sum + tokens, 0);
}

/** Servers that run now under an order of isolation: in which tier, and what is missing for a better one. */
export function isolationOf<Q>({ shared }: Gateway<Q>): readonly JsonObject[] {
  return [...shared.projections.all()].map(([server, { tier, notes }]) => ({ server, tier, missing: [...notes] }));
}

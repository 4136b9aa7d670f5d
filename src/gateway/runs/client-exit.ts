/**
 * Runs end with what they belong to: those of a client process with the process, and the run from before a hook named
 * the conversation once that conversation holds everything (gateway.md 4).
 */
import type { DormantRuns } from "./dormant-runs.ts";
import type { LiveRun } from "./live-run.ts";
import { earlyKeyOf, processOf } from "./run-key.ts";
import type { ClientProcesses } from "../ports/services.ts";

/** Open runs, live and dormant, whose client process is gone. A run that is being taken up has a client. */
export function exitedRuns(
  clients: ClientProcesses | undefined,
  live: ReadonlyMap<string, LiveRun>,
  dormant: DormantRuns,
): { readonly live: readonly LiveRun[]; readonly dormant: readonly string[] } {
  const isGone = ({ key, principal }: { readonly key: string; readonly principal: string }): boolean => {
    const process = processOf(key, principal);
    return process !== undefined && clients?.isGone(process) === true;
  };
  const idle = [...live.values()].filter(({ ready, inFlight }) => ready === undefined && inFlight.size === 0);
  const asleep = dormant.all().filter(isGone);
  return { live: idle.filter(isGone), dormant: asleep.map(({ key }) => key) };
}

/**
 * Whether the conversation that the hook named, still open, holds all that the client's process did before its hook
 * spoke; no answer is on its way, and no child passes events to the run.
 */
export function isHandedOn(
  { key, ancestors, principal, inFlight }: LiveRun,
  live: ReadonlyMap<string, LiveRun>,
): boolean {
  const to = ancestors.find((above) => earlyKeyOf(above, principal) === key);
  if (to === undefined || !live.has(to) || inFlight.size > 0) return false;
  return [...live.values()].every((other) => !other.ancestors.includes(key));
}

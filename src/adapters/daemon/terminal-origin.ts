/**
 * Whether a process sits at a terminal that no guarded client stands behind (docs/decisions/0031). Nothing here reads a
 * title, a name or an argument of a process: lineage, age, control group, controlling terminal and open files are what
 * the kernel keeps. It is a hurdle for commands that an agent runs, and no wall against programs of the same user.
 */
import type { ProcessIdentity } from "./protocol.ts";

/** A client whose calls are guarded, and the control group that it was in; empty where there is none. */
export type GuardedClient = { readonly process: ProcessIdentity; readonly group: string };

/** Facts of a living process. */
export type ProcessFacts = {
  readonly parent: number;
  readonly session: number;
  /** Device number of its controlling terminal; 0 without one. */
  readonly terminal: number;
  /** Clock ticks since boot. */
  readonly startedAt: number;
};

export interface ProcessTable {
  facts(pid: number): ProcessFacts | undefined;
  /** Control group; empty where the system has none. */
  group(pid: number): string;
  /** Processes that hold the other end of a pseudo-terminal, as far as they can be seen. */
  holders(terminal: number): readonly number[];
  /** Whether a process listens on a socket of this machine: a process that may connect can have it type. */
  listens(pid: number): boolean;
}

/** Steps up from a process; deeper trees are not believed. */
const ancestorsMax = 256;

/** Why a process cannot give consent at its terminal, as a sentence; undefined where it can. */
export function terminalFault(pid: number, clients: readonly GuardedClient[], table: ProcessTable): string | undefined {
  const own = table.facts(pid);
  if (own === undefined) return "The process that asks has ended: repeat the command.";
  if (own.terminal === 0) return `It has no controlling terminal: ${terminalWay}`;
  const holders = table.holders(own.terminal);
  if (holders.some((holder) => table.listens(holder)))
    return `Its terminal takes orders over a socket, as tmux and screen do, so any program may type there: ${terminalWay}`;
  for (const one of [pid, own.session, ...holders]) {
    if (clients.some((client) => descends(one, client, table)))
      return `Its terminal was started from a guarded client, or that cannot be excluded: ${terminalWay}`;
  }
  return undefined;
}

const terminalWay = "run it in a terminal window of your own, outside of tmux, screen and the client.";

/**
 * Whether a process descends from a client, or may. An orphan is adopted by `init` or the user's service manager, which
 * are ancestors of the client as well; such a child of theirs that is younger than the client may come from it, unless it
 * is in another control group, into which only a service manager moves it.
 */
function descends(pid: number, client: GuardedClient, table: ProcessTable): boolean {
  const above = ancestors(client.process.pid, table);
  const bornAt = Number(client.process.startedAt);
  let one = pid;
  for (let step = 0; step < ancestorsMax; step += 1) {
    const facts = table.facts(one);
    // A process that began before the client cannot come from it, and neither can its ancestors.
    if (facts === undefined || facts.startedAt < bornAt) return false;
    if (one === client.process.pid && facts.startedAt === bornAt) return true;
    // Entered from outside of this namespace: an orphan would have a parent.
    if (facts.parent === 0) return false;
    const adopts = facts.parent === 1 || (above.has(facts.parent) && table.facts(facts.parent)?.parent === 1);
    if (adopts) return table.group(one) === client.group;
    one = facts.parent;
  }
  return true;
}

function ancestors(pid: number, table: ProcessTable): ReadonlySet<number> {
  const found = new Set<number>();
  for (let one = table.facts(pid)?.parent ?? 0; one > 0 && !found.has(one) && found.size < ancestorsMax;) {
    found.add(one);
    one = table.facts(one)?.parent ?? 0;
  }
  return found;
}

/** Makes the state that all sessions share, and keeps it true to what becomes of runs and of connections to servers. */
import type { RunEvent } from "../../core/event.ts";
import type { RequestMessage } from "../../wire/message.ts";
import { ToldWords } from "../calls/client-words.ts";
import { RunObligations } from "../calls/run-obligations.ts";
import { recordDropped, recordUnplaced } from "../calls/server-questions.ts";
import { TaskTable } from "../calls/task-desk.ts";
import { resumeResults } from "../consent/withheld-recovery.ts";
import { Admissions } from "../decision/admissions.ts";
import { flushWrites } from "../decision/effect-window.ts";
import { WithheldResults } from "../decision/withheld-results.ts";
import { AcceptedLists } from "../lists/accepted-lists.ts";
import { Exposures } from "../lists/exposures.ts";
import { ListWatch } from "../lists/list-signatures.ts";
import { OpenChanges } from "../lists/withheld-entries.ts";
import { IdSource } from "../ports/ids.ts";
import type { Services } from "../ports/services.ts";
import type { Waiting } from "../ports/store.ts";
import { InDoubt } from "../runs/in-doubt.ts";
import type { LiveRun } from "../runs/live-run.ts";
import { type RunWatcher, RunRegistry } from "../runs/run-registry.ts";
import { RunSnapshots } from "../runs/snapshots/run-snapshots.ts";
import { Projections } from "../upstream/projection-registry.ts";
import { StartFailures } from "../upstream/start-failures.ts";
import type { DroppedCounts } from "../upstream/unsolicited-budget.ts";
import type { Link, LinkWatch } from "../upstream/upstream-link.ts";
import type { ConnectedSessions } from "./connected-sessions.ts";
import type { GatewayState } from "./session-context.ts";
import { notice } from "../decision/notice.ts";

export function gatewayState(services: Services, sessions: ConnectedSessions): GatewayState {
  const runs = new RunRegistry(services);
  const projections = new Projections();
  const admissions = new Admissions();
  const ids = new IdSource(services.secrets);
  const inDoubt = new InDoubt();
  // Calls in flight when the last writer stopped may have happened: the same call asks first (gateway.md 9).
  for (const { run, digest, wallMs } of services.log.store.opening.inFlight) inDoubt.note(run, digest, wallMs);
  return {
    services,
    projections,
    startFailures: new StartFailures(),
    runs,
    snapshots: new RunSnapshots({
      services,
      shared: runs.shared,
      isOpen: (live) => runs.find(live.key) === live || runs.streams.isSubject(live),
    }),
    admissions,
    exposures: new Exposures(services, runs),
    accepted: new AcceptedLists({
      store: services.log.store,
      hash: services.secrets.hash,
      wallMs: () => services.clock.wallMs(),
    }),
    changes: new OpenChanges(),
    told: new ToldWords(),
    lists: new ListWatch(services.clock),
    runObligations: new RunObligations({ services, runs, projections, admissions, ids }, sessions),
    withheld: new WithheldResults(),
    tasks: new TaskTable(),
    inDoubt,
    ids,
    servers: sessions,
  };
}

/** Follows runs and links on behalf of the shared state. */
export class StateWatch implements RunWatcher, LinkWatch {
  readonly #state: GatewayState;
  readonly #sessions: ConnectedSessions;

  constructor(state: GatewayState, sessions: ConnectedSessions) {
    this.#state = state;
    this.#sessions = sessions;
  }

  resumed(live: LiveRun, history: readonly RunEvent[], waiting: readonly Waiting[]): void {
    this.#state.runObligations.resumed(live, waiting);
    resumeResults(this.#state, live, history, waiting);
    this.#state.inDoubt.resumed(live.key, history);
    this.#state.snapshots.resumed(live, history.length);
  }

  grew(subject: LiveRun, events: number): void {
    this.#state.snapshots.moved(subject, events);
  }

  moved(live: LiveRun): void {
    this.#state.snapshots.moved(live);
    if (live.ended) this.#state.lists.ended(live);
    else this.#state.lists.moved(live);
  }

  stirred(members: Iterable<LiveRun>): void {
    this.#state.lists.stirred(members);
  }

  async ending(live: LiveRun): Promise<readonly string[]> {
    const { runObligations, withheld, tasks, inDoubt } = this.#state;
    const owed = await runObligations.ending(live);
    for (const projection of this.#sessions.projectionsOf(live)) await flushWrites(this.#state, live, projection);
    withheld.forget(live.key);
    tasks.forget(live.key);
    inDoubt.forget(live.key);
    return owed;
  }

  /** Something happened at a server outside of calls: it is looked at for every run that uses it, now. */
  background(link: Link): void {
    const occasion = { cause: "periodic", server: link.server } as const;
    for (const live of this.#sessions.runsOver(link)) void this.#state.runObligations.look(live, occasion);
  }

  started(link: Link): void {
    this.#state.startFailures.started(link.server);
  }

  unstarted({ server }: Link, reason: string): void {
    if (!this.#state.startFailures.note(server, reason)) return;
    this.#state.services.human.notify(notice(`Server \`${server}\` did not start: ${reason}`));
  }

  unplaced(link: Link, question: RequestMessage, runs: readonly string[]): void {
    recordUnplaced(this.#state, link, { question, runs });
  }

  dropped({ server }: Link, dropped: DroppedCounts): void {
    recordDropped(this.#state, server, dropped);
  }
}

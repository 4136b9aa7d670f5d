/** State of the gateway, and of one conversation between a client and a server. Only this room knows all of it. */
import type { JsonObject } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import type { ToldWords } from "../calls/client-words.ts";
import type { RunObligations } from "../calls/run-obligations.ts";
import type { TaskTable } from "../calls/task-desk.ts";
import type { RunServers } from "../calls/unattended-calls.ts";
import type { Admissions } from "../decision/admissions.ts";
import type { Deliveries } from "../decision/ordered-output.ts";
import type { WithheldResults } from "../decision/withheld-results.ts";
import type { AcceptedLists } from "../lists/accepted-lists.ts";
import type { Exposures } from "../lists/exposures.ts";
import type { ListWatch } from "../lists/list-signatures.ts";
import type { OpenChanges } from "../lists/withheld-entries.ts";
import type { ClientQuestions, ClientState } from "../ports/conversation.ts";
import type { IdSource } from "../ports/ids.ts";
import type { Services } from "../ports/services.ts";
import type { ClientConnection } from "../ports/transport.ts";
import type { InDoubt } from "../runs/in-doubt.ts";
import type { CurrentRun, LiveRun } from "../runs/live-run.ts";
import type { RunRegistry } from "../runs/run-registry.ts";
import type { StartFailures } from "../upstream/start-failures.ts";
import type { RunSnapshots } from "../runs/snapshots/run-snapshots.ts";
import type { Projections } from "../upstream/projection-registry.ts";
import type { LinkSeat } from "../upstream/link-seat.ts";

/** State shared by all sessions of a gateway. */
export type GatewayState = {
  readonly services: Services;
  readonly runs: RunRegistry;
  readonly snapshots: RunSnapshots;
  readonly admissions: Admissions;
  readonly exposures: Exposures;
  readonly accepted: AcceptedLists;
  readonly changes: OpenChanges;
  readonly told: ToldWords;
  readonly lists: ListWatch;
  readonly runObligations: RunObligations;
  readonly projections: Projections;
  readonly startFailures: StartFailures;
  readonly withheld: WithheldResults;
  readonly tasks: TaskTable;
  readonly inDoubt: InDoubt;
  readonly ids: IdSource;
  readonly servers: RunServers;
};

/** One client connection: its run, and its user. */
export interface Conversation extends CurrentRun, ClientQuestions {
  /** The run of a message; `params` may carry a signed run token. */
  liveOf(params: JsonObject | undefined): Result<LiveRun, string>;
}

/** State shared by all handlers of one client and one server. */
export type SessionContext = GatewayState & {
  readonly server: string;
  readonly connection: ClientConnection;
  readonly client: ClientState;
  readonly deliveries: Deliveries;
  readonly session: Conversation;
  readonly link: LinkSeat;
};

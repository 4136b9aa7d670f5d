/** What everything that mediates between one client connection and one server has in common. */
import type { JsonObject } from "../core/json.ts";
import type { Result } from "../core/result.ts";
import type {
  Era,
  ErrorMessage,
  Message,
  NotificationMessage,
  RequestId,
  RequestMessage,
  ResponseMessage,
} from "../wire/message.ts";
import type { Admissions } from "./admissions.ts";
import type { Chatter } from "./chatter.ts";
import type { Deliveries } from "./deliveries.ts";
import type { Exposures } from "./exposures.ts";
import type { OwnWait } from "./link.ts";
import type { ListWatch } from "./list-watch.ts";
import type { LiveRun } from "./live-run.ts";
import type { ClientConnection } from "./ports.ts";
import type { Projection } from "./projection-port.ts";
import type { Projections } from "./projections.ts";
import type { RunDuties } from "./run-duties.ts";
import type { RunRegistry } from "./runs.ts";
import type { Services } from "./services-port.ts";
import type { TaskTable } from "./task-table.ts";
import type { WithheldResults } from "./withheld-results.ts";

/** What the client has said of itself; nothing here is a reason to trust it. */
export type ClientState = {
  era: Era;
  capabilities: JsonObject;
  name: string | undefined;
  /** Version and capabilities that every modern request carries, for requests of the gateway itself. */
  requestMeta: JsonObject | undefined;
};

/** State that all mediators of the gateway share. */
export type Shared<Q> = {
  readonly services: Services<Q>;
  readonly runs: RunRegistry<Q>;
  readonly admissions: Admissions;
  readonly exposures: Exposures<Q>;
  readonly lists: ListWatch<Q>;
  readonly duties: RunDuties<Q>;
  readonly projections: Projections;
  readonly withheld: WithheldResults;
  readonly tasks: TaskTable;
  /** Digests of calls whose outcome is unknown, with the time of day, by run key. */
  readonly uncertain: Map<string, Map<string, number>>;
  nextId(): string;
  /** Calls a tool for a must-rule on the run's connection to another server. */
  perform(live: LiveRun<Q>, order: PerformOrder): Promise<Performed>;
};

export type PerformOrder = { readonly server: string; readonly tool: string; readonly arguments: JsonObject };

/** What came of it. `quarantined`: not made, since admission keeps the tool back; a person may release it. */
export type Performed =
  | { readonly kind: "succeeded" | "failed" }
  | { readonly kind: "quarantined"; readonly decision: string; readonly approval: string | undefined };

export type Scene<Q> = Shared<Q> & {
  readonly server: string;
  readonly connection: ClientConnection;
  readonly client: ClientState;
  readonly deliveries: Deliveries;
  /** The run of a message; `params` may carry a signed run token. */
  liveOf(params: JsonObject | undefined): Result<LiveRun<Q>, string>;
  /** The run that this connection used last, for what belongs to no request. */
  current(): LiveRun<Q> | undefined;
  /** Ids of the calls that the server works on over this link, whoever made them, each with whether it still does. */
  readonly working: Map<string, () => boolean>;
  /** The account of what the server says beside its answers, over this link and to whomever. */
  readonly chatter: Chatter<Q>;
  /** The projection that the server runs in; undefined where the policy orders none for it. */
  projection(): Projection | undefined;
  toServer(message: Message): void;
  abandon(id: RequestId): void;
  /** A request of the gateway itself; undefined when no answer came in time. */
  askServer(method: string, params: JsonObject | undefined, wait: OwnWait): Promise<Answered | undefined>;
  /** A question that is over without an answer, for time or because it is withdrawn, is cancelled at the client. */
  askClient(request: Omit<RequestMessage, "id">, wait: AskWait, via?: AskVia): Promise<Answered | undefined>;
};

export type Answered = ResponseMessage | ErrorMessage;

/** What came of a request that was passed on: an answer, or none, with what the client is told then. */
export type Relayed = Answered | { readonly kind: "lost"; readonly answer: ErrorMessage };

/** How long an answer is waited for. */
export type AskWait = { readonly ms: number; readonly withdrawn: AbortSignal };

/** The exchange whose stream carries a question to the client. */
export type AskVia = { send(message: RequestMessage | NotificationMessage): void };

/** True for a client of the modern era, whose results name their type. */
export function isModern<Q>(scene: Scene<Q>): boolean {
  return scene.client.era === "modern";
}

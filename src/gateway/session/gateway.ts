/**
 * The enforcement point as a whole: accepts client connections, owns runs and links, and keeps them apart. This is
 * what the composition root builds; it names no transport, store, policy format or mechanism.
 */
import type { ToolContract } from "../../core/contract.ts";
import type { JsonObject } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { abilitiesOf } from "../../wire/client-abilities.ts";
import { withoutSampling } from "../upstream/client-facts.ts";
import { ClientSession, type SessionHost } from "./client-session.ts";
import { type HostEvent, type HostReply, hostEvent, HostUses } from "../calls/client-hooks.ts";
import type { Link } from "../upstream/upstream-link.ts";
import { Links } from "../upstream/upstream-pool.ts";
import { type LiveRun, namedIn } from "../runs/live-run.ts";
import { MergedDirectory } from "./merged-directory.ts";
import { MergedSession } from "./merged-session.ts";
import type {
  Accept,
  ClientConnection,
  ClientHandler,
  ClientProcess,
  ConnectionFacts,
  ServerTarget,
} from "../ports/transport.ts";
import { admittedList } from "../lists/list-question.ts";
import { InputRequestTable } from "../calls/input-required.ts";
import { type LoadedPolicy, startProblem } from "../ports/policy.ts";
import { type MintedRun, type NewRun, beginRun } from "../runs/run-control.ts";
import { processPrefix, runKeyOf, sessionRunKey } from "../runs/run-key.ts";
import { RunRegistry } from "../runs/run-registry.ts";
import type { GatewayState } from "./session-context.ts";
import type { Services } from "../ports/services.ts";
import type { ApprovalRow } from "../ports/store.ts";
import type { ClientState } from "../ports/conversation.ts";
import { ConnectedSessions } from "./connected-sessions.ts";
import { gatewayState, StateWatch } from "./gateway-state.ts";

export type ServerSetup = {
  readonly name: string;
  /** Where the server is for a given client; a stdio shim brings its own working directory and environment. */
  readonly target: (facts: ConnectionFacts) => ServerTarget;
};

/** The origin of a hook event: the client's name, its process or at least its user, and its conversation. */
export type HostFacts = {
  readonly client: string;
  readonly principal: string;
  readonly process?: ClientProcess;
  readonly above?: readonly ClientProcess[];
  readonly session?: string;
  readonly workingDirectory?: string;
};

export type GatewaySetup = {
  readonly services: Services;
  readonly servers: readonly ServerSetup[];
  /** Version of this program, as the merged endpoint announces it. */
  readonly version: string;
  /** Tag of the connection for the selection of a policy. */
  readonly tagOf?: (facts: ConnectionFacts) => string | undefined;
};

export class Gateway implements SessionHost {
  readonly runs: RunRegistry;
  readonly state: GatewayState;
  readonly #setup: GatewaySetup;
  readonly #servers = new Map<string, ServerSetup>();
  readonly inputRequests = new InputRequestTable();
  readonly #sessions = new ConnectedSessions();
  readonly #directories = new Map<string, MergedDirectory>();
  readonly #uses = new HostUses();
  readonly #links: Links;
  /** Conversation that a client's hook reported last, by client process or principal. */
  readonly #hookSessions = new Map<string, string>();

  constructor(setup: GatewaySetup) {
    this.#setup = setup;
    const { services } = setup;
    for (const server of setup.servers) this.#servers.set(server.name, server);
    this.state = gatewayState(services, this.#sessions);
    this.runs = this.state.runs;
    const watch = new StateWatch(this.state, this.#sessions);
    this.runs.watch(watch);
    this.#links = new Links(services, this.state.projections, watch);
    services.policies.onChange(() => void this.#policyChanged());
  }

  /** Entry point for transports. */
  readonly accept: Accept = (connection) => {
    const { server } = connection.facts;
    const [only, ...others] = this.#servers.keys();
    // An endpoint for everything is the server itself where there is only one.
    if (server === undefined && only !== undefined && others.length === 0) {
      return this.#session({ ...delegated(connection), facts: { ...connection.facts, server: only } });
    }
    return server === undefined ? this.#merged(connection) : this.#session(connection);
  };

  #merged(connection: ClientConnection): ClientHandler {
    const { clock, secrets } = this.#setup.services;
    const { principal } = connection.facts;
    let directory = this.#directories.get(principal);
    if (directory === undefined) {
      directory = new MergedDirectory();
      this.#directories.set(principal, directory);
    }
    const opened = new Map<string, ClientSession>();
    return new MergedSession({
      connection,
      servers: [...this.#servers.keys()],
      open: (own) => {
        const session = this.#session(own);
        opened.set(own.facts.server ?? "", session);
        return session;
      },
      names: (server, method) => opened.get(server)?.serving(server)?.catalogue.names(method),
      directory,
      hash: secrets.hash,
      clock,
      version: this.#setup.version,
    });
  }

  #session(connection: ClientConnection): ClientSession {
    const session = new ClientSession(this, connection);
    this.#sessions.add(session);
    return session;
  }

  /** Makes a server known while running: a shim brings its own. A known name keeps its first setup. */
  serve(server: ServerSetup): void {
    if (!this.#servers.has(server.name)) this.#servers.set(server.name, server);
  }

  /**
   * One event of a client's hook. `session` is the client's conversation id; it names the run of the client's process,
   * so that a new conversation in the same process is a new run.
   */
  async hostEvent(facts: HostFacts, event: HostEvent): Promise<HostReply> {
    const process = processKey(facts);
    const { client, session, ...rest } = facts;
    const isNew = session !== undefined && this.#hookSessions.get(process) !== session;
    if (isNew) this.#hookSessions.set(process, session);
    const connection: ConnectionFacts = { transport: "stdio", server: undefined, ...rest };
    const state: ClientState = { era: "legacy", capabilities: {}, name: client, requestMeta: undefined };
    const live = this.#liveOf(connection, undefined, state);
    if (!live.ok) return { verdict: "deny", sentence: live.error, decision: undefined };
    if (isNew) {
      const sinceWallMs = this.#setup.services.clock.wallMs();
      await this.runs.name(live.value, { process, conversation: session, sinceWallMs });
    }
    const reply = await hostEvent({ state: this.state, uses: this.#uses, client, live: live.value }, event);
    if (event.kind === "session-end") this.#hookSessions.delete(process);
    if (live.value.ended) this.#uses.forget(live.value);
    return reply;
  }

  /**
   * Remembers which conversation each client process was in when the last writer stopped. Without it the first call
   * after a restart would begin a clean run beside the one that holds the labels.
   */
  async restore(): Promise<void> {
    const rows = await this.runs.restore();
    const namings = rows.flatMap((row) => namedIn(row.resume) ?? []);
    namings.sort((left, right) => left.sinceWallMs - right.sinceWallMs);
    for (const { process, conversation } of namings) this.#hookSessions.set(process, conversation);
  }

  /** `POST /runs` and `runs new`: the caller has authenticated the principal. */
  beginRun(wanted: NewRun): Promise<Result<MintedRun, string>> {
    const { policies, secrets } = this.#setup.services;
    const policyFor = ({ principal, client, tag }: NewRun): LoadedPolicy => policies.select({ principal, client, tag });
    return beginRun({ runs: this.runs, secrets, policyFor }, wanted);
  }

  /**
   * A tool as its server listed it to clients of this principal, under the name that this endpoint shows; undefined
   * before any client asked for the list. Transports check with it what they repeat of a call (`Mcp-Param-*`).
   */
  listedTool({ principal, server }: ConnectionFacts, shown: string): JsonObject | undefined {
    const [only, ...others] = this.#servers.keys();
    const merged = server === undefined && others.length > 0;
    const origin = merged
      ? this.#directories.get(principal)?.resolve("tools/list", shown)
      : { server: server ?? only ?? "", name: shown };
    if (origin === undefined) return undefined;
    const links = this.#links.sharedBy(principal, origin.server);
    return links.map(({ catalogue }) => catalogue.tool(origin.name)).find((tool) => tool !== undefined);
  }

  /** Contracts of the tools that the servers of a run list, shown to it or not. */
  listed(live: LiveRun): readonly ToolContract[] {
    const shared = this.#links.sharedBy(live.principal);
    const own = this.#sessions.cataloguesOf(live);
    const catalogues = new Set([...own, ...shared.map(({ catalogue }) => catalogue)]);
    return [...catalogues].flatMap((catalogue) => catalogue.listed(live.policy));
  }

  /** Names of the servers that the clients of a run talk to. */
  serversOf(live: LiveRun): readonly string[] {
    return this.#sessions.serversOf(live);
  }

  /** An approver has ruled: clients of a server whose list left quarantine are notified to ask for it again. */
  ruled(row: ApprovalRow): void {
    const method = row.status === "approved" ? admittedList(row) : undefined;
    if (method === undefined) return;
    this.#sessions.tell(row.server, { kind: "notification", method, params: undefined });
  }

  /** What is admitted of a server changed: its clients are notified to ask for its lists again. */
  relist(server: string): void {
    for (const list of ["tools", "prompts", "resources"]) {
      const method = `notifications/${list}/list_changed`;
      this.#sessions.tell(server, { kind: "notification", method, params: undefined });
    }
  }

  /** The run that a connection's messages belong to before any of them says more. */
  runKeyFor(facts: ConnectionFacts): string {
    const { mac } = this.#setup.services.secrets;
    const sessionsTrusted = this.#sessionsTrusted(facts, undefined);
    const hookSession = this.#hookSessionOf(facts);
    return runKeyOf({ facts, params: undefined, sessionsTrusted, hookSession, mac }).key;
  }

  /** Ends runs that were idle too long; the composition root calls it every minute or so. */
  expire(): Promise<void> {
    const now = this.#setup.services.clock.monotonicMs();
    this.#links.expire(now);
    this.state.runObligations.periodic();
    return this.runs.expire();
  }

  /** Closes all connections to servers; runs stay open and are resumed from the log. */
  async close(): Promise<void> {
    this.#sessions.close("the gateway stops");
    await this.#links.close();
    await this.runs.flushDeferred();
    await this.state.snapshots.stop([...this.runs.streams.subjects(), ...this.runs.all()]);
  }

  #liveOf(facts: ConnectionFacts, params: JsonObject | undefined, client: ClientState): Result<LiveRun, string> {
    const { secrets } = this.#setup.services;
    const key = runKeyOf({
      facts,
      params,
      sessionsTrusted: this.#sessionsTrusted(facts, client.name),
      hookSession: this.#hookSessionOf(facts),
      mac: secrets.mac,
    });
    const known = this.runs.find(key.key);
    if (known !== undefined && known.principal !== facts.principal)
      return err("This run belongs to another principal.");
    const tag = this.#setup.tagOf?.(facts);
    const policy = known?.policy ?? this.#policyOf(facts, client.name);
    const problem = known === undefined ? startProblem(policy) : undefined;
    if (problem !== undefined) return err(problem);
    const { workingDirectory } = facts;
    const operator = workingDirectory === undefined ? [] : [{ source: "operator" as const, value: [workingDirectory] }];
    return this.runs.obtain({
      key,
      principal: facts.principal,
      policy,
      client: { name: client.name, tag },
      workspace: workingDirectory === undefined ? [] : [workingDirectory],
      registered: operator,
      above: this.#guardedAbove(facts),
    });
  }

  /** The conversation that a hook named for the client process, else for the nearest process above it. */
  #hookSessionOf({ principal, process, above = [] }: ConnectionFacts): string | undefined {
    const owners =
      process === undefined ? [{ principal }] : [process, ...above].map((one) => ({ principal, process: one }));
    return owners.map((owner) => this.#hookSessions.get(processKey(owner))).find((session) => session !== undefined);
  }

  /** Starts of the keys of runs that may have started this client; a server of ours may speak for any of them. */
  #guardedAbove({ principal, process, above = [] }: ConnectionFacts): readonly string[] {
    if (process === undefined) return [];
    const { clients } = this.#setup.services;
    const isOurs = [process, ...above].some((one) => clients?.isOwn(one) === true);
    return isOurs ? [`${principal}/`] : above.map((one) => processPrefix(principal, one));
  }

  runOf({ connection, client }: ClientSession, params: JsonObject | undefined): Result<LiveRun, string> {
    return this.#liveOf(connection.facts, params, client);
  }

  /** A session that is over ends the run that it alone can name. */
  gone(session: ClientSession, over: boolean): void {
    this.#sessions.delete(session);
    const { principal, sessionId } = session.connection.facts;
    const live = session.current();
    if (!over || sessionId === undefined || live?.key !== sessionRunKey(principal, sessionId)) return;
    void this.runs.finish(live);
  }

  linkFor(session: ClientSession, server: string): Result<Link, string> {
    const setup = this.#servers.get(server);
    if (setup === undefined)
      return err(`No server \`${server.slice(0, 64)}\` is configured. Check its name in the address.`);
    const { facts } = session.connection;
    const shared = facts.transport === "http" && session.client.era === "modern";
    const policy = session.current()?.policy ?? this.#policyOf(facts, session.client.name);
    const { principal } = facts;
    const target = setup.target(facts);
    this.#setup.services.cards?.reached(server, target);
    const { capabilities } = session.client;
    const told = policy.settings.sampling === "allow" ? capabilities : withoutSampling(capabilities);
    const order = policy.isolation(server);
    const run = session.current();
    return ok(this.#links.open({ principal, server, target, shared, order, run, abilities: abilitiesOf(told) }));
  }

  #sessionsTrusted(facts: ConnectionFacts, client: string | undefined): boolean {
    // Most connections have no session, and most policies need not be asked for one.
    return facts.sessionId !== undefined && this.#policyOf(facts, client).settings.sessions === "trusted";
  }

  #policyOf(facts: ConnectionFacts, client: string | undefined): LoadedPolicy {
    const { principal } = facts;
    return this.#setup.services.policies.select({ principal, client, tag: this.#setup.tagOf?.(facts) });
  }

  async #policyChanged(): Promise<void> {
    await this.runs.refold((live) => {
      const client = live.client;
      return this.#setup.services.policies.select({ principal: live.principal, client: client.name, tag: client.tag });
    });
  }
}

/** The owner of a conversation: the client's process where it is known, else its user. */
function processKey(facts: Pick<ConnectionFacts, "principal" | "process">): string {
  const { principal, process } = facts;
  return process === undefined ? principal : `${principal} ${process.pid}@${process.startedAt}`;
}

/** The same connection as a plain object, so that its facts can be others. */
function delegated(connection: ClientConnection): ClientConnection {
  return {
    facts: connection.facts,
    send: (message) => connection.send(message),
    drained: () => connection.drained(),
    close: (reason) => connection.close(reason),
  };
}

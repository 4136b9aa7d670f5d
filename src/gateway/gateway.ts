/**
 * The enforcement point as a whole: accepts client connections, owns runs and links, and keeps them apart. This is
 * what the composition root builds; it names no transport, store, policy format or mechanism.
 */
import type { ToolContract } from "../core/contract.ts";
import type { JsonObject } from "../core/json.ts";
import type { Result } from "../core/result.ts";
import { err, ok } from "../core/result.ts";
import { abilitiesOf } from "../wire/client-abilities.ts";
import { Admissions } from "./admissions.ts";
import { idSource } from "./call.ts";
import { withoutSampling } from "./client-facts.ts";
import { Exposures } from "./exposures.ts";
import { ClientSession } from "./client-session.ts";
import { doubtsIn } from "./doubts.ts";
import type { HostEvent, HostReply } from "./host-events.ts";
import { hostEvent } from "./host-events.ts";
import { HostUses } from "./host-uses.ts";
import { ListWatch } from "./list-watch.ts";
import { resumeResults } from "./kept-results.ts";
import type { Link } from "./link.ts";
import { Links } from "./links.ts";
import type { LiveRun } from "./live-run.ts";
import { namedIn } from "./live-run.ts";
import type { MergedDirectory } from "./merged-session.ts";
import { MergedSession } from "./merged-session.ts";
import type { Mediator } from "./mediator.ts";
import type { Accept, ClientConnection, ClientHandler, ConnectionFacts, ServerTarget } from "./ports.ts";
import { admittedList } from "./quarantine.ts";
import { recordDropped, recordUnplaced } from "./questions.ts";
import { RoundTable } from "./rounds.ts";
import type { LoadedPolicy } from "./policy-port.ts";
import { startProblem } from "./policy-port.ts";
import type { MintedRun, NewRun } from "./run-control.ts";
import { beginRun } from "./run-control.ts";
import { runKeyOf } from "./run-keys.ts";
import { Projections } from "./projections.ts";
import { RunDuties } from "./run-duties.ts";
import { RunRegistry } from "./runs.ts";
import type { ClientState, Performed, PerformOrder, Shared } from "./scene.ts";
import type { Services } from "./services-port.ts";
import type { ApprovalRow } from "./store-port.ts";
import { flushWrites } from "./windows.ts";
import { TaskTable } from "./task-table.ts";
import { WithheldResults } from "./withheld-results.ts";

export type ServerSetup = {
  readonly name: string;
  /** Where the server is for a given client; a stdio shim brings its own working directory and environment. */
  readonly target: (facts: ConnectionFacts) => ServerTarget;
};

/** Whose hook it is: the client's name, its process or at least its user, and the conversation it speaks of. */
export type HostFacts = {
  readonly client: string;
  readonly principal: string;
  readonly process?: { readonly pid: number; readonly startedAt: string };
  readonly session?: string;
  readonly workingDirectory?: string;
};

export type GatewaySetup<Q> = {
  readonly services: Services<Q>;
  readonly servers: readonly ServerSetup[];
  /** Version of this program, as the merged endpoint announces it. */
  readonly version: string;
  /** Tag of the connection for the selection of a policy. */
  readonly tagOf?: (facts: ConnectionFacts) => string | undefined;
};

export class Gateway<Q> {
  readonly runs: RunRegistry<Q>;
  readonly shared: Shared<Q>;
  readonly #setup: GatewaySetup<Q>;
  readonly #servers = new Map<string, ServerSetup>();
  readonly #sessions = new Set<ClientSession<Q>>();
  readonly #directories = new Map<string, MergedDirectory>();
  readonly #uses = new HostUses<Q>();
  readonly #rounds = new RoundTable<Q>();
  readonly #links: Links<Q>;
  /** Conversation that a client's hook reported last, by client process or principal. */
  readonly #hookSessions = new Map<string, string>();

  constructor(setup: GatewaySetup<Q>) {
    this.#setup = setup;
    const { services } = setup;
    for (const server of setup.servers) this.#servers.set(server.name, server);
    this.runs = new RunRegistry(services);
    const projections = new Projections();
    this.#links = new Links<Q>(services, projections, {
      background: (link) => this.#background(link),
      unplaced: (link, question, runs) => recordUnplaced(this.shared, link, { question, runs }),
      dropped: ({ server }, dropped) => recordDropped(this.shared, server, dropped),
    });
    this.shared = {
      services,
      projections,
      runs: this.runs,
      admissions: new Admissions(),
      exposures: new Exposures(services),
      lists: new ListWatch(services.clock),
      duties: new RunDuties<Q>(
        () => this.shared,
        async (held) => (await this.#mediatorFor(held.live, held.server)?.flush(held)) ?? "unreachable",
      ),
      withheld: new WithheldResults(),
      tasks: new TaskTable(),
      uncertain: new Map(),
      nextId: idSource(services),
      perform: (live, order) => this.#perform(live, order),
    };
    // What was in flight when the last writer stopped may have happened: the same call asks first (gateway.md 9).
    for (const { run, digest, wallMs } of services.log.store.opening.inFlight) {
      const ofRun = this.shared.uncertain.get(run) ?? new Map<string, number>();
      this.shared.uncertain.set(run, ofRun.set(digest, wallMs));
    }
    this.runs.onResumed((live, history, waiting) => {
      this.shared.duties.resumed(live, waiting);
      resumeResults(this.shared, live, history, waiting);
    });
    this.runs.onResumed(({ key }, history) => {
      const ofRun = this.shared.uncertain.get(key) ?? new Map<string, number>();
      for (const [digest, at] of doubtsIn(history)) if (!ofRun.has(digest)) ofRun.set(digest, at);
      if (ofRun.size > 0) this.shared.uncertain.set(key, ofRun);
    });
    this.runs.onEnding((live) => this.#ending(live));
    this.runs.onMoved((live) => (live.ended ? this.shared.lists.ended(live) : this.shared.lists.moved(live)));
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
      directory = { tools: undefined, prompts: undefined, listed: new Map() };
      this.#directories.set(principal, directory);
    }
    const opened = new Map<string, ClientSession<Q>>();
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

  #session(connection: ClientConnection): ClientSession<Q> {
    const session = new ClientSession<Q>({
      shared: this.shared,
      connection,
      rounds: this.#rounds,
      link: (server, asking) => this.#link(server, connection, asking),
      liveOf: (params, client) => this.#liveOf(connection.facts, params, client),
      gone: (old) => this.#sessions.delete(old),
    });
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
    const reply = await hostEvent({ shared: this.shared, uses: this.#uses, client, live: live.value }, event);
    if (event.kind === "session-end") this.#hookSessions.delete(process);
    if (live.value.ended) this.#uses.forget(live.value);
    return reply;
  }

  /**
   * Remembers which conversation each client process was in when the last writer stopped. Without it the first call
   * after a restart would begin a clean run beside the one that holds the labels.
   */
  async restore(): Promise<void> {
    await this.runs.dormant.load();
    const rows = await this.#setup.services.log.store.openRuns();
    const namings = (rows.ok ? rows.value : []).flatMap((row) => namedIn(row.resume) ?? []);
    namings.sort((left, right) => left.sinceWallMs - right.sinceWallMs);
    for (const { process, conversation } of namings) this.#hookSessions.set(process, conversation);
  }

  /** `POST /runs` and `runs new`: the caller has authenticated the principal. */
  beginRun(wanted: NewRun): Promise<Result<MintedRun, string>> {
    const { policies, secrets } = this.#setup.services;
    const policyFor = ({ principal, client, tag }: NewRun): LoadedPolicy<Q> =>
      policies.select({ principal, client, tag });
    return beginRun({ runs: this.runs, secrets, policyFor }, wanted);
  }

  /**
   * A tool as its server listed it to clients of this principal, under the name that this endpoint shows; undefined
   * before anybody asked for the list. Transports check with it what they repeat of a call (`Mcp-Param-*`).
   */
  listedTool({ principal, server }: ConnectionFacts, shown: string): JsonObject | undefined {
    const [only, ...others] = this.#servers.keys();
    const merged = server === undefined && others.length > 0;
    const origin = merged
      ? this.#directories.get(principal)?.tools?.resolve(shown)
      : { server: server ?? only ?? "", name: shown };
    if (origin === undefined) return undefined;
    const links = this.#links.sharedBy(principal, origin.server);
    return links.map(({ catalogue }) => catalogue.tool(origin.name)).find((tool) => tool !== undefined);
  }

  /** Contracts of the tools that the servers of a run list, shown to it or not. */
  listed(live: LiveRun<Q>): readonly ToolContract[] {
    const sessions = [...this.#sessions].filter((session) => session.current() === live);
    const shared = this.#links.sharedBy(live.principal);
    const own = sessions.flatMap((session) => session.catalogues());
    const catalogues = new Set([...own, ...shared.map(({ catalogue }) => catalogue)]);
    return [...catalogues].flatMap((catalogue) => catalogue.listed(live.policy));
  }

  /** A person has ruled: clients of a server whose list left quarantine are told to ask for it again. */
  ruled(row: ApprovalRow): void {
    const method = row.status === "approved" ? admittedList(row) : undefined;
    if (method === undefined) return;
    for (const session of this.#sessions) session.tell(row.server, { kind: "notification", method, params: undefined });
  }

  /** The run that a connection's messages belong to before any of them says more. */
  runKeyFor(facts: ConnectionFacts): string {
    const { mac } = this.#setup.services.secrets;
    const sessionsTrusted = this.#sessionsTrusted(facts, undefined);
    const hookSession = this.#hookSessions.get(processKey(facts));
    return runKeyOf({ facts, params: undefined, sessionsTrusted, hookSession, mac }).key;
  }

  /** Ends runs that were idle too long; the composition root calls it every minute or so. */
  expire(): Promise<void> {
    const now = this.#setup.services.clock.monotonicMs();
    this.#links.expire(now);
    this.shared.duties.periodic();
    return this.runs.expire();
  }

  /** Closes all connections to servers; runs stay open and are resumed from the log. */
  async close(): Promise<void> {
    for (const session of this.#sessions) session.closed("the gateway stops");
    await this.#links.close();
    await this.runs.recordLate();
  }

  #liveOf(facts: ConnectionFacts, params: JsonObject | undefined, client: ClientState): Result<LiveRun<Q>, string> {
    const { secrets } = this.#setup.services;
    const key = runKeyOf({
      facts,
      params,
      sessionsTrusted: this.#sessionsTrusted(facts, client.name),
      hookSession: this.#hookSessions.get(processKey(facts)),
      mac: secrets.mac,
    });
    const known = this.runs.find(key.key);
    if (known !== undefined && known.principal !== facts.principal) return err("This run belongs to somebody else.");
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
    });
  }

  #link(server: string, connection: ClientConnection, session: ClientSession<Q>): Result<Link<Q>, string> {
    const setup = this.#servers.get(server);
    if (setup === undefined)
      return err(`No server \`${server.slice(0, 64)}\` is configured. Check its name in the address.`);
    const { facts } = connection;
    const shared = facts.transport === "http" && session.client.era === "modern";
    const policy = session.current()?.policy ?? this.#policyOf(facts, session.client.name);
    const { principal } = facts;
    const target = setup.target(facts);
    const { capabilities } = session.client;
    const told = policy.settings.sampling === "allow" ? capabilities : withoutSampling(capabilities);
    const order = policy.isolation(server);
    return ok(this.#links.open({ principal, server, target, shared, order, abilities: abilitiesOf(told) }));
  }

  #sessionsTrusted(facts: ConnectionFacts, client: string | undefined): boolean {
    // Most connections have no session, and most policies need not be asked for one.
    return facts.sessionId !== undefined && this.#policyOf(facts, client).settings.sessions === "trusted";
  }

  #policyOf(facts: ConnectionFacts, client: string | undefined): LoadedPolicy<Q> {
    const { principal } = facts;
    return this.#setup.services.policies.select({ principal, client, tag: this.#setup.tagOf?.(facts) });
  }

  /** Something happened at a server outside of calls: it is looked at for every run that uses it, now. */
  #background(link: Link<Q>): void {
    const occasion = { cause: "periodic", server: link.server } as const;
    const using = [...this.#sessions].filter((session) => session.uses(link));
    for (const live of new Set(using.flatMap((session) => session.current() ?? []))) {
      void this.shared.duties.look(live, occasion);
    }
  }

  /** The injected call goes over a connection that already serves the run, if there is one. */
  async #perform(live: LiveRun<Q>, order: PerformOrder): Promise<Performed> {
    const mediator = this.#mediatorFor(live, order.server);
    return mediator === undefined ? { kind: "failed" } : mediator.perform(live, order);
  }

  #mediatorFor(live: LiveRun<Q>, server: string): Mediator<Q> | undefined {
    const own = [...this.#sessions].filter((session) => session.current() === live);
    for (const session of own) {
      const found = session.serving(server);
      if (found !== undefined) return found;
    }
    // A shim brings one server: through its session another one cannot be started.
    for (const session of own) {
      const found = session.reachesAll ? session.mediator(server) : undefined;
      if (found?.ok === true) return found.value;
    }
    return undefined;
  }

  async #ending(live: LiveRun<Q>): Promise<readonly string[]> {
    const owed = await this.shared.duties.ending(live);
    const using = [...this.#sessions].filter((session) => session.current() === live);
    for (const projection of new Set(using.flatMap((session) => session.projections()))) {
      await flushWrites(this.shared, live, projection);
    }
    this.shared.withheld.forget(live.key);
    this.shared.tasks.forget(live.key);
    this.shared.uncertain.delete(live.key);
    return owed;
  }

  async #policyChanged(): Promise<void> {
    await this.runs.refold((live) => {
      const client = live.client;
      return this.#setup.services.policies.select({ principal: live.principal, client: client.name, tag: client.tag });
    });
  }
}

/** What a conversation belongs to: the client's process where it is known, else its user. */
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

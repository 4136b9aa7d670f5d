/** Recorded behaviour of servers: from the event log, or by driving one now. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BoundedMap } from "../../core/bounded-map.ts";
import { tracesFrom } from "../../core/isolation/effect-record.ts";
import { type EffectTrace, traceQuestionKind } from "../../core/isolation/effect-trace.ts";
import { PlacesRead } from "../../core/isolation/trace-dictionary.ts";
import { isWithin } from "../../core/isolation/scope-patterns.ts";
import { isArray, isObject, member, stringMember, type JsonObject } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { viewsOf, recordPages } from "../../gateway/log/record.ts";
import { type Grounds, groundsOf } from "../../mechanisms/projection/grounds.ts";
import { noiseOf } from "../../mechanisms/projection/noise.ts";
import { type Proposal, type Watched, proposeScope } from "../../policy/isolation/propose.ts";
import { readLogs, storeFault, type LogFault, type LogName, type NamedLog } from "../state/log-files.ts";
import { canonicalJson } from "../../wire/canonical.ts";
import type { ServerTarget, UpstreamConnection } from "../../gateway/ports/transport.ts";
import { stateHome } from "../../adapters/daemon/paths.ts";
import { systemConnector } from "../../adapters/connector.ts";
import { type Answer, McpClient, textOf } from "./mcp-client.ts";

/** Traces of one log that a proposal is made from, the newest of them; older behaviour is another server's by now. */
const tracesMax = 20_000;

/** A server that has not answered by then counts as silent. */
const answerMsMax = 60_000;
const listPagesMax = 64;

export type ScriptedCall = { readonly tool: string; readonly arguments: JsonObject };

/** Everything that was recorded of a server, log by log and oldest first. */
export async function watchedInLogs(
  server: string,
  chosen: LogName | undefined,
): Promise<Result<readonly Watched[], LogFault>> {
  const opened = readLogs(process.env, chosen);
  if (!opened.ok) return opened;
  const watched: Watched[] = [];
  try {
    for (const log of opened.value) {
      const read = await watchedIn(log, server);
      if (!read.ok) return read;
      watched.push(...read.value);
    }
    return ok(watched);
  } finally {
    await Promise.all(opened.value.map(({ store }) => store.close(false)));
  }
}

async function watchedIn({ store, keys }: NamedLog, server: string): Promise<Result<readonly Watched[], LogFault>> {
  const watched: Watched[] = [];
  const tools = new Map<string, string>();
  const places = new BoundedMap<string, PlacesRead>(runsMax);
  for await (const page of recordPages(store, {})) {
    if (!page.ok) return err(storeFault(page.error));
    for (const view of page.value.flatMap((record) => viewsOf(keys, record))) {
      if (view.call !== undefined && view.tool !== undefined) tools.set(view.call, view.tool);
      const soFar = { tools, places: placesOf(places, view.run) };
      for (const part of [view.clear, view.payload]) watched.push(...tracesIn(part, server, soFar));
    }
    watched.splice(0, watched.length - tracesMax);
  }
  return ok(watched);
}

/** Runs whose places are kept in mind while a log is read; records of one run lie close to each other. */
const runsMax = 256;

function placesOf(places: Map<string, PlacesRead>, run: string): PlacesRead {
  const known = places.get(run) ?? new PlacesRead();
  places.set(run, known);
  return known;
}

type SoFar = { readonly tools: ReadonlyMap<string, string>; readonly places: PlacesRead };

function tracesIn(part: JsonObject | undefined, server: string, { tools, places }: SoFar): readonly Watched[] {
  const answers = member(part, "answers");
  if (!isObject(answers)) return [];
  const head = `${traceQuestionKind} ${server} `;
  return Object.entries(answers).flatMap(([key, answer]) => {
    const value = key.startsWith(head) ? member(answer, "value") : undefined;
    const traces = value === undefined ? undefined : tracesFrom(places.whole(value));
    const call = key.slice(head.length);
    return (traces ?? []).map((trace) => ({ tool: call === "" ? undefined : tools.get(call), trace }));
  });
}

export type Driven = {
  readonly tier: string;
  readonly notes: readonly string[];
  readonly watched: readonly Watched[];
  /** Calls that brought no result, one sentence each. */
  readonly failed: readonly string[];
};

export type ServerCommand = Extract<ServerTarget, { kind: "stdio" }>;
type DrivenCall = Answer & { readonly trace: EffectTrace | undefined };

/** One local server without a gateway, isolated as an order says. */
class DrivenServer {
  readonly #connection: UpstreamConnection;
  readonly #client: McpClient;
  readonly #home: string;
  readonly #order: IsolationOrder;
  #count = 0;

  private constructor(connection: UpstreamConnection, client: McpClient, home: string, order: IsolationOrder) {
    this.#connection = connection;
    this.#client = client;
    this.#home = home;
    this.#order = order;
  }

  /** Starts the server and shakes hands; the error is a sentence. `told` hears each line of the server's stderr. */
  static async start(
    target: ServerCommand,
    order: IsolationOrder,
    told?: (line: string) => void,
  ): Promise<Result<DrivenServer, string>> {
    const home = mkdtempSync(join(tmpdir(), "sluicegate-drive-"));
    const clientInfo = { name: "client", version: "1.0.0" };
    const client = new McpClient({ clientInfo, waitMsMax: answerMsMax }, (message) => connection.send(message));
    const connection = systemConnector({
      home,
      packages: stateHome(process.env),
      diagnostic: (_target, line) => told?.(line),
    }).connect(
      target,
      {
        message: (message) => {
          if (message.kind === "response" || message.kind === "error") client.received(message);
        },
        closed: (reason) => client.ended(reason),
      },
      order,
    );
    const driver = new DrivenServer(connection, client, home, order);
    const hello = await client.hello();
    if (hello.ok && !hello.value.failed) return ok(driver);
    await driver.close();
    return err(hello.ok ? "The server refused the handshake: look at its own messages." : hello.error);
  }

  get tier(): string {
    return this.#connection.projection?.tier ?? "none";
  }

  get notes(): readonly string[] {
    return this.#connection.projection?.notes ?? [];
  }

  /** Lists all tools, as a server may prepare something for that; the error says why there is no list. */
  async list(): Promise<Result<void, string>> {
    let cursor: string | undefined;
    for (let page = 0; page < listPagesMax; page += 1) {
      const answer = await this.#client.ask("tools/list", cursor === undefined ? {} : { cursor });
      if (!answer.ok) return answer;
      if (!isArray(member(answer.value.value, "tools"))) return err("The server gave no list of tools.");
      cursor = stringMember(answer.value.value, "nextCursor");
      if (cursor === undefined) break;
    }
    return ok(undefined);
  }

  /** One call in its window; what it wrote is taken over. */
  async call(tool: string, given: JsonObject): Promise<Result<DrivenCall, string>> {
    const { projection } = this.#connection;
    this.#count += 1;
    const id = `call-${this.#count}`;
    if (projection !== undefined) {
      const { digest, scope } = this.#order;
      const text = canonicalJson({ order: digest, allow: [], serial: scope?.serial ?? false });
      const begun = await projection.begin(id, tool, text);
      if (!begun.ok) return begun;
    }
    const answer = await this.#client.call(tool, given, () => projection?.end(id));
    if (projection === undefined) return answer.ok ? ok({ ...answer.value, trace: undefined }) : answer;
    const trace = await projection.trace(id);
    const concluded = await projection.conclude(id, "commit");
    if (!answer.ok) return answer;
    return concluded.ok ? ok({ ...answer.value, trace }) : concluded;
  }

  /** The trace outside of calls. */
  async background(): Promise<EffectTrace | undefined> {
    return this.#connection.projection?.trace(undefined);
  }

  async close(): Promise<void> {
    await this.#connection.close();
    rmSync(this.#home, { recursive: true, force: true });
  }
}

/** Starts a server in `learn` mode, makes the calls of a script, and says what it saw. */
export async function watchedNow(
  target: ServerCommand,
  order: IsolationOrder,
  calls: readonly ScriptedCall[],
  told?: (line: string) => void,
): Promise<Result<Driven, string>> {
  const started = await DrivenServer.start(target, order, told);
  if (!started.ok) return started;
  const driver = started.value;
  try {
    const listed = await driver.list();
    if (!listed.ok) return listed;
    const watched: Watched[] = [];
    const failed: string[] = [];
    for (const { tool, arguments: given } of calls) {
      const called = await driver.call(tool, given);
      if (!called.ok) return called;
      if (called.value.failed)
        failed.push(`${tool}: ${(textOf(called.value) || JSON.stringify(called.value.value)).slice(0, 160)}`);
      if (called.value.trace !== undefined) watched.push({ tool, trace: called.value.trace });
    }
    const rest = await driver.background();
    if (rest !== undefined) watched.push({ tool: undefined, trace: rest });
    return ok({ tier: driver.tier, notes: driver.notes, watched, failed });
  } finally {
    await driver.close();
  }
}

/** The proposal, without what runtimes do by themselves. */
export function proposalOf(order: IsolationOrder, watched: readonly Watched[]): Proposal {
  const grounds = new Map(watched.map(({ trace }) => [trace.places, groundsFor(order, trace)]));
  return proposeScope(order.server, watched, {
    noise: (event, places) => {
      const known = grounds.get(places);
      // A connection that ends at the broker is an attempt to leave, even to an address of the server's own.
      if (known === undefined || (event.grade === "broker" && event.action === "net-connect")) return false;
      const atHome = event.path !== undefined && isWithin(event.path, places.home);
      return noiseOf(event, atHome ? known.atHome : known.anywhere) !== undefined;
    },
    exists: existsSync,
  });
}

/** A home folder that is not private stays so inside a private folder (`/tmp`). */
function groundsFor(
  order: IsolationOrder,
  trace: EffectTrace,
): { readonly anywhere: Grounds; readonly atHome: Grounds } {
  const { places } = trace;
  const scratch = places.scratch.filter((folder) => folder === places.home || !isWithin(places.home, folder));
  return {
    anywhere: groundsOf(order, trace, undefined),
    atHome: groundsOf(order, { ...trace, places: { ...places, scratch } }, undefined),
  };
}

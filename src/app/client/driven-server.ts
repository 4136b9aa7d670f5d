/** Drives one local server by itself: to see what it needs, or to try it out before it is trusted. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EffectTrace } from "../../core/isolation/effect-trace.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { isArray, isObject, member, stringMember, type JsonObject } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { stateHome } from "../../adapters/daemon/paths.ts";
import { systemConnector } from "../../adapters/connector.ts";
import type { Trial } from "../../adapters/projection/parts.ts";
import type { ServerTarget, UpstreamConnection } from "../../gateway/ports/transport.ts";
import { canonicalJson } from "../../wire/canonical.ts";
import { methodNotFound } from "../../wire/errors.ts";
import { type Answer, McpClient } from "./mcp-client.ts";

/** A server that has not answered by then counts as silent. */
const answerMsMax = 60_000;
const listPagesMax = 64;

export type ServerCommand = Extract<ServerTarget, { kind: "stdio" }>;
export type DriveOptions = {
  /** Hears each line of the server's stderr. */
  readonly told?: (line: string) => void;
  /** It is tried out: nothing leaves the machine, and these are its home and temporary folder. */
  readonly trial?: Trial;
  readonly clientInfo?: { readonly name: string; readonly version: string };
  /** Milliseconds for one answer; the handshake has a minute. */
  readonly waitMsMax?: number;
};

/** Names the agent as a client would: a server must not see that it is looked at. */
const ordinaryClient = { name: "client", version: "1.0.0" };

export type DrivenCall = Answer & { readonly trace: EffectTrace | undefined };

/** One local server without a gateway, isolated as an order says. */
export class DrivenServer {
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

  /** Starts the server and shakes hands; the error is a sentence. */
  static async start(
    target: ServerCommand,
    order: IsolationOrder,
    { told, trial, clientInfo = ordinaryClient, waitMsMax = answerMsMax }: DriveOptions = {},
  ): Promise<Result<DrivenServer, string>> {
    const home = mkdtempSync(join(tmpdir(), "sluicegate-drive-"));
    const client = new McpClient({ clientInfo, waitMsMax, helloMsMax: answerMsMax }, (message) =>
      connection.send(message),
    );
    const tried = trial === undefined ? {} : { trial };
    const connection = systemConnector({
      home,
      // Packages of commands that fetch their code are those of the user.
      packages: stateHome(process.env),
      diagnostic: (_target, line) => told?.(line),
      ...tried,
    }).connect(
      target,
      {
        message: (message) => {
          if (message.kind === "response" || message.kind === "error") client.received(message);
          // A question would wait for ever: nothing that answers one is behind this client.
          else if (message.kind === "request") connection.send(methodNotFound(message.id, message.method));
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
  async list(): Promise<Result<readonly JsonObject[], string>> {
    const tools: JsonObject[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < listPagesMax; page += 1) {
      const answer = await this.#client.ask("tools/list", cursor === undefined ? {} : { cursor });
      if (!answer.ok) return answer;
      const listed = member(answer.value.value, "tools");
      if (!isArray(listed)) return err("The server gave no list of tools.");
      tools.push(...listed.filter(isObject));
      cursor = stringMember(answer.value.value, "nextCursor");
      if (cursor === undefined) break;
    }
    return ok(tools);
  }

  /** One call in its window; what it wrote is taken over. */
  async call(tool: string, given: JsonObject, meta?: JsonObject): Promise<Result<DrivenCall, string>> {
    const { projection } = this.#connection;
    const params = { name: tool, arguments: given, ...(meta === undefined ? {} : { _meta: meta }) };
    this.#count += 1;
    const id = `call-${this.#count}`;
    if (projection !== undefined) {
      const { digest, scope } = this.#order;
      const text = canonicalJson({ order: digest, allow: [], serial: scope?.serial ?? false });
      const begun = await projection.begin(id, tool, text);
      if (!begun.ok) return begun;
    }
    const answer = await this.#client.ask("tools/call", params, () => projection?.end(id));
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

/** Drives one local server directly, without a gateway: for `learn` and for measuring what isolation costs. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemConnector } from "../../adapters/connector.ts";
import type { EffectTrace } from "../../core/effect-trace.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isArray, isObject, member, stringMember } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import { err, ok } from "../../core/result.ts";
import type { IsolationOrder } from "../../core/scope.ts";
import type { ServerTarget, UpstreamConnection } from "../../gateway/ports.ts";
import type { Message, RequestMessage } from "../../wire/message.ts";
import { canonicalJson } from "../../wire/canonical.ts";

/** A server that has not answered by then counts as silent. */
const answerMsMax = 60_000;
const listPagesMax = 64;

export type ServerCommand = Extract<ServerTarget, { kind: "stdio" }>;

export type DrivenAnswer = { readonly value: Json; readonly failed: boolean };

export class Driver {
  readonly #connection: UpstreamConnection;
  readonly #waiting: Map<number, (answer: Result<DrivenAnswer, string>) => void>;
  readonly #home: string;
  readonly #order: IsolationOrder | undefined;
  #count = 0;

  private constructor(
    connection: UpstreamConnection,
    waiting: Map<number, (answer: Result<DrivenAnswer, string>) => void>,
    setup: { readonly home: string; readonly order: IsolationOrder | undefined },
  ) {
    this.#connection = connection;
    this.#waiting = waiting;
    this.#home = setup.home;
    this.#order = setup.order;
  }

  /** Starts the server and shakes hands; the error is a sentence. `told` hears each line of the server's stderr. */
  static async start(
    target: ServerCommand,
    order?: IsolationOrder,
    told?: (line: string) => void,
  ): Promise<Result<Driver, string>> {
    const home = mkdtempSync(join(tmpdir(), "sluicegate-drive-"));
    const waiting = new Map<number, (answer: Result<DrivenAnswer, string>) => void>();
    let end: string | undefined;
    const connection = systemConnector({ home, diagnostic: (_target, line) => told?.(line) }).connect(
      target,
      {
        message: (message) => settle(waiting, message),
        closed: (reason) => {
          end = reason;
          for (const answer of waiting.values()) answer(err(reason));
          waiting.clear();
        },
      },
      order,
    );
    const driver = new Driver(connection, waiting, { home, order });
    const clientInfo = { name: "client", version: "1.0.0" };
    const hello = await driver.ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    if (!hello.ok || hello.value.failed) {
      await driver.close();
      return err(hello.ok ? "The server refused the handshake: look at its own messages." : (end ?? hello.error));
    }
    connection.send({ kind: "notification", method: "notifications/initialized", params: undefined });
    return ok(driver);
  }

  get tier(): string {
    return this.#connection.projection?.tier ?? "none";
  }

  get notes(): readonly string[] {
    return this.#connection.projection?.notes ?? [];
  }

  get processGroup(): number | undefined {
    return this.#connection.processGroup;
  }

  /** Names of all tools. */
  async tools(): Promise<Result<readonly string[], string>> {
    const names: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < listPagesMax; page += 1) {
      const answer = await this.ask("tools/list", cursor === undefined ? {} : { cursor });
      if (!answer.ok) return answer;
      const listed = member(answer.value.value, "tools");
      if (!isArray(listed)) return err("The server gave no list of tools.");
      names.push(...listed.flatMap((tool) => stringMember(tool, "name") ?? []));
      cursor = stringMember(answer.value.value, "nextCursor");
      if (cursor === undefined) break;
    }
    return ok(names);
  }

  /** One call in its window; what it wrote is taken over. */
  async call(tool: string, given: JsonObject, allow: readonly string[] = []): Promise<Result<DrivenCall, string>> {
    const { projection } = this.#connection;
    const id = `call-${this.#count}`;
    if (projection !== undefined) {
      const { digest: order, scope } = this.#order ?? { digest: "", scope: undefined };
      const text = canonicalJson({ order, allow: [...allow], serial: scope?.serial ?? false });
      const begun = await projection.begin(id, tool, text);
      if (!begun.ok) return begun;
    }
    const answer = await this.ask("tools/call", { name: tool, arguments: given }, () => projection?.end(id));
    if (projection === undefined) return answer.ok ? ok({ ...answer.value, trace: undefined }) : answer;
    const trace = await projection.trace(id);
    const concluded = await projection.conclude(id, "commit");
    if (!answer.ok) return answer;
    return concluded.ok ? ok({ ...answer.value, trace }) : concluded;
  }

  /** What happened outside of calls since that was asked last. */
  async background(): Promise<EffectTrace | undefined> {
    return this.#connection.projection?.trace(undefined);
  }

  ask(method: string, params: JsonObject, arrived?: () => void): Promise<Result<DrivenAnswer, string>> {
    this.#count += 1;
    const id = this.#count;
    const request: RequestMessage = { kind: "request", id, method, params };
    return new Promise((resolve) => {
      const timer = setTimeout(() => done(err("The server did not answer in time.")), answerMsMax);
      const done = (answer: Result<DrivenAnswer, string>): void => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        arrived?.();
        resolve(answer);
      };
      this.#waiting.set(id, done);
      this.#connection.send(request);
    });
  }

  async close(): Promise<void> {
    await this.#connection.close();
    rmSync(this.#home, { recursive: true, force: true });
  }
}

export type DrivenCall = DrivenAnswer & { readonly trace: EffectTrace | undefined };

function settle(waiting: ReadonlyMap<number, (answer: Result<DrivenAnswer, string>) => void>, message: Message): void {
  if (message.kind === "response" && typeof message.id === "number") {
    const failed = isObject(message.result) && member(message.result, "isError") === true;
    waiting.get(message.id)?.(ok({ value: message.result, failed }));
  }
  if (message.kind === "error" && typeof message.id === "number") {
    waiting.get(message.id)?.(ok({ value: message.error.message, failed: true }));
  }
}

/** A small MCP client: handshake, requests with a time limit, calls. It speaks over a gateway, a connection or a child. */
import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { type Json, type JsonObject, isArray, member, stringMember } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { readJson } from "../../gateway/log/json-text.ts";
import type { ClientHandler, ConnectionFacts } from "../../gateway/ports/transport.ts";
import type { Gateway } from "../../gateway/session/gateway.ts";
import type { ErrorMessage, NotificationMessage, RequestMessage, ResponseMessage } from "../../wire/message.ts";
import { latestLegacyRevision } from "../../wire/revision.ts";

/** A result, or the message of an error; `failed` for an error and for a result with `isError`. */
export type Answer = { readonly value: Json; readonly failed: boolean };

type Options = {
  readonly clientInfo: { readonly name: string; readonly version: string };
  readonly waitMsMax: number;
  /** The same for the handshake, for which a server starts; without it as long as for any other. */
  readonly helloMsMax?: number;
  /** The error of a request that is not answered in time, as a sentence. */
  readonly silence?: string;
};

export class McpClient {
  readonly #options: Options;
  readonly #send: (message: RequestMessage | NotificationMessage) => void;
  readonly #waiting = new Map<number, (answer: Result<Answer, string>) => void>();
  #count = 0;
  #ended: string | undefined;

  constructor(options: Options, send: (message: RequestMessage | NotificationMessage) => void) {
    this.#options = options;
    this.#send = send;
  }

  /** Gives every request that waits, and every later one, the reason as its error. */
  ended(reason: string): void {
    this.#ended ??= reason;
    for (const answer of this.#waiting.values()) answer(err(reason));
  }

  /** Takes an answer; one without a waiting request is dropped. */
  received({ id, ...answer }: Pick<ResponseMessage, "id" | "result"> | Pick<ErrorMessage, "id" | "error">): void {
    const settle = typeof id === "number" ? this.#waiting.get(id) : undefined;
    if ("error" in answer) settle?.(ok({ value: answer.error.message, failed: true }));
    else settle?.(ok({ value: answer.result, failed: member(answer.result, "isError") === true }));
  }

  /** `arrived` is called in the very turn in which the answer, or the end, is known. */
  ask(
    method: string,
    params: JsonObject,
    arrived?: () => void,
    waitMsMax = this.#options.waitMsMax,
  ): Promise<Result<Answer, string>> {
    if (this.#ended !== undefined) return Promise.resolve(err(this.#ended));
    const { silence = "The server did not answer in time." } = this.#options;
    const id = (this.#count += 1);
    return new Promise((resolve) => {
      const settle = (answer: Result<Answer, string>): void => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        arrived?.();
        resolve(answer);
      };
      const timer = setTimeout(() => settle(err(silence)), waitMsMax).unref();
      this.#waiting.set(id, settle);
      this.#send({ kind: "request", id, method, params });
    });
  }

  /** The handshake of the legacy era; gives the answer to `initialize`. */
  async hello(): Promise<Result<Answer, string>> {
    const { clientInfo, waitMsMax, helloMsMax = waitMsMax } = this.#options;
    const params = { protocolVersion: latestLegacyRevision, capabilities: {}, clientInfo };
    const answer = await this.ask("initialize", params, undefined, helloMsMax);
    if (!answer.ok || answer.value.failed) return answer;
    this.#send({ kind: "notification", method: "notifications/initialized", params: undefined });
    return answer;
  }

  call(name: string, given: JsonObject, arrived?: () => void): Promise<Result<Answer, string>> {
    return this.ask("tools/call", { name, arguments: given }, arrived);
  }
}

/** The text of an answer: of all content, else of the error. */
export function textOf({ value }: Answer): string {
  const content = member(value, "content");
  if (isArray(content)) return content.map((block) => stringMember(block, "text") ?? "").join(" ");
  return typeof value === "string" ? value : "";
}

/** A client of a gateway in this process. */
export function gatewayClient(
  gateway: Pick<Gateway, "accept">,
  facts: ConnectionFacts,
  options: Options,
): { readonly client: McpClient; readonly handler: ClientHandler } {
  const ignored = (): void => undefined;
  const handler = gateway.accept({ facts, send: ignored, drained: () => undefined, close: ignored });
  const client = new McpClient(options, (message) => {
    if (message.kind === "notification") return handler.message(message);
    const respond = (answer: ResponseMessage | ErrorMessage): void => client.received(answer);
    handler.request({ request: message, send: ignored, respond, onAbandoned: ignored });
  });
  return { client, handler };
}

/** This client has none of the abilities that servers ask for. */
function refuse(stdin: ChildProcess["stdin"], id: Json): void {
  const error = { code: -32_601, message: "this client answers no requests" };
  stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id, error })}\n`);
}

/** A client of a child process that speaks MCP on its standard streams. */
export function childClient({ stdin, stdout }: Pick<ChildProcess, "stdin" | "stdout">, options: Options): McpClient {
  const client = new McpClient(options, ({ kind: _kind, ...message }) => {
    stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  });
  if (stdout === null) return client;
  createInterface({ input: stdout }).on("line", (line) => {
    const message = readJson(line);
    const [id, result, error, method] = ["id", "result", "error", "method"].map((name) => member(message, name));
    // A request of the server, whose ids are its own: without an answer some servers wait for it.
    if (typeof method === "string") return id === undefined ? undefined : refuse(stdin, id);
    if (typeof id !== "number") return;
    if (result !== undefined) client.received({ id, result });
    else client.received({ id, error: { code: 0, message: stringMember(error, "message") ?? "" } });
  });
  return client;
}

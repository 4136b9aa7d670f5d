/** The sending half of a client over Streamable HTTP: each message is a POST, answers come as JSON or as an event stream. */
import { type Json, member, stringMember } from "../../../core/json.ts";
import { readJson } from "../../../gateway/log/json-text.ts";
import type { ErrorMessage, NotificationMessage, RequestMessage, ResponseMessage } from "../../../wire/message.ts";

type Received = Pick<ResponseMessage, "id" | "result"> | Pick<ErrorMessage, "id" | "error">;
type Sent = { readonly jsonrpc: "2.0"; readonly id?: Json; readonly [key: string]: unknown };

export class HttpClient {
  receive: (answer: Received) => void = () => undefined;
  failed: (why: string) => void = () => undefined;
  readonly #url: string;
  readonly #waitMsMax: number;
  readonly #listening = new AbortController();
  /** What the server chose in its first answer; all later requests name both. */
  #session: string | undefined;
  #revision: string | undefined;

  constructor(url: string, waitMsMax: number) {
    this.#url = url;
    this.#waitMsMax = waitMsMax;
  }

  send({ kind: _kind, ...message }: RequestMessage | NotificationMessage): void {
    this.#deliver({ jsonrpc: "2.0", ...message });
  }

  /** Opens the stream on which a server sends requests of its own; a gateway that has none is not asked again. */
  listen(): void {
    const headers = this.#headers();
    void fetch(this.#url, { headers, signal: this.#listening.signal })
      .then((answer) => this.#events(answer))
      .catch(() => undefined);
  }

  async end(): Promise<void> {
    this.#listening.abort();
    if (this.#session === undefined) return;
    await fetch(this.#url, { method: "DELETE", headers: this.#headers() }).catch(() => undefined);
  }

  #deliver(message: Sent): void {
    void this.#post(message).catch((cause: unknown) =>
      this.failed(cause instanceof Error ? cause.message : "the connection failed"),
    );
  }

  async #post(message: Sent): Promise<void> {
    const answer = await fetch(this.#url, {
      method: "POST",
      headers: { ...this.#headers(), "content-type": "application/json" },
      body: JSON.stringify(message),
      signal: AbortSignal.timeout(this.#waitMsMax),
    });
    this.#session = answer.headers.get("mcp-session-id") ?? this.#session;
    const stream = answer.headers.get("content-type")?.startsWith("text/event-stream") === true;
    const text = stream ? await this.#events(answer) : await answer.text();
    this.#took(readJson(text));
    // An answer without the id of its request, such as a refusal of the whole connection, would leave it waiting.
    if (typeof message.id !== "number" || answer.status < 400) return;
    this.receive({
      id: message.id,
      error: { code: 0, message: `the gateway answered ${answer.status}: ${text.slice(0, 120)}` },
    });
  }

  /** Takes each event as it comes, since the server may wait for an answer before it goes on; gives what is left. */
  async #events(answer: Response): Promise<string> {
    let rest = "";
    if (answer.body === null) return rest;
    for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
      const events = `${rest}${part}`.split(/\r?\n\r?\n/);
      rest = events.pop() ?? "";
      for (const event of events) this.#took(readJson(dataOf(event)));
    }
    return dataOf(rest);
  }

  #took(message: Json | undefined): void {
    const [id, result, error, method] = ["id", "result", "error", "method"].map((name) => member(message, name));
    if (typeof method === "string") {
      if (id === undefined) return;
      const refusal = { code: -32_601, message: "this client answers no requests" };
      return this.#deliver({ jsonrpc: "2.0", id, error: refusal });
    }
    if (typeof id !== "number") return;
    this.#revision ??= stringMember(result, "protocolVersion");
    if (result !== undefined) this.receive({ id, result });
    else if (error !== undefined)
      this.receive({ id, error: { code: 0, message: stringMember(error, "message") ?? "" } });
  }

  #headers(): Record<string, string> {
    const session = this.#session === undefined ? {} : { "mcp-session-id": this.#session };
    const revision = this.#revision === undefined ? {} : { "mcp-protocol-version": this.#revision };
    return { accept: "application/json, text/event-stream", ...revision, ...session };
  }
}

function dataOf(event: string): string {
  return event
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5).trimStart())
    .join("\n");
}

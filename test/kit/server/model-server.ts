// A model server that does what a script says, and keeps every byte that it was sent.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Json, isArray, isObject, member, stringMember } from "../../../src/core/json.ts";

/** What one request is answered with; `hang` never answers. */
export type Scripted =
  | { readonly status?: number; readonly body: string; readonly delayMs?: number; readonly location?: string }
  | "hang"
  | "cut";

export type ModelServer = {
  readonly url: string;
  /** Path, headers and body of everything that arrived, as text. */
  readonly received: string[];
  /** The same bodies, parsed. */
  readonly bodies: Json[];
  script: (body: Json, index: number) => Scripted;
  readonly close: () => Promise<void>;
};

export async function startModelServer(script: ModelServer["script"]): Promise<ModelServer> {
  const received: string[] = [];
  const bodies: Json[] = [];
  const http = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("error", () => undefined);
    request.on("end", () => {
      const text = Buffer.concat(parts).toString("utf8");
      received.push(`${request.method} ${request.url} ${request.rawHeaders.join("\n")}\n${text}`);
      const body = JSON.parse(text) as Json; // the clients send JSON
      bodies.push(body);
      const answer = server.script(body, bodies.length - 1);
      if (answer === "hang") return;
      if (answer === "cut") return void request.socket.destroy();
      const headers = { "content-type": "application/json", ...(answer.location ? { location: answer.location } : {}) };
      setTimeout(() => response.writeHead(answer.status ?? 200, headers).end(answer.body), answer.delayMs ?? 0);
    });
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo; // listening on TCP, so the address is an object
  const server: ModelServer = {
    url: `http://127.0.0.1:${port}`,
    received,
    bodies,
    script,
    close: () =>
      new Promise((resolve) => {
        http.closeAllConnections();
        http.close(() => resolve());
      }),
  };
  return server;
}

/** A chat completion in the OpenAI form. */
export function completion(content: string, more: object = {}): Scripted {
  const choice = { index: 0, message: { role: "assistant", content }, finish_reason: "stop", ...more };
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  return { body: JSON.stringify({ id: "1", created: 0, model: "m", choices: [choice], usage }) };
}

/** Probabilities of the first token. */
export function chances(of: Readonly<Record<string, number>>): object {
  const top = Object.entries(of).map(([token, chance]) => ({ token, logprob: Math.log(chance), bytes: null }));
  return { logprobs: { content: [{ token: top[0]?.token ?? "", logprob: 0, bytes: null, top_logprobs: top }] } };
}

/** A verdict in the JSON form. */
export function verdict(safety: string, filtered: readonly string[] = [], reasoning = "because"): Scripted {
  return completion(JSON.stringify({ next_state: "things go on", reasoning, safety, filtered_tools: filtered }));
}

/** The two messages of a request. */
export function messagesOf(body: Json): { readonly instructions: string; readonly evidence: string } {
  const messages = member(body, "messages");
  const texts = isArray(messages) ? messages.map((message) => stringMember(message, "content") ?? "") : [];
  return { instructions: texts[0] ?? "", evidence: texts[1] ?? "" };
}

/** Whether a request asks for one word with its probability. */
export function asksForWord(body: Json): boolean {
  return isObject(body) && member(body, "logprobs") === true;
}

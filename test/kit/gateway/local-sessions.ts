/** Sessions of a whole gateway in this process, over a server that answers at once: for tests that need many of them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CompositionSetup, type Composition, compose } from "../../../src/app/gateway/composition.ts";
import { type Json, type JsonObject, member } from "../../../src/core/json.ts";
import type { ClientHandler, Connector } from "../../../src/gateway/ports/transport.ts";
import { unwrap } from "./log-records.ts";

const principal = "os:1000";

/** Lets both tools of the server pass, under the default policy; `output` is the label of what `read_text` gives. */
export const sessionsPolicy = (output: string): string => `extends: [default]
labels:
  fixture.read_text: { effects: [read.local], output: ${output} }
  fixture.put_text: { effects: [write.local], output: { confidentiality: public, trust: trusted } }
rules:
  - { id: puts, tier: allow, why: A test., when: { tool: "fixture.put_text" } }
`;

/** A server in this process that answers at once. */
const connector: Connector = {
  connect: (_target, handler) => ({
    send: (message) => {
      if (message.kind !== "request") return;
      const result = answerTo(message.method);
      setImmediate(() => handler.message({ kind: "response", id: message.id, result }));
    },
    abandon: () => undefined,
    negotiated: () => undefined,
    drained: () => undefined,
    pause: () => undefined,
    resume: () => undefined,
    close: async () => undefined,
  }),
};

let answers = 0;

function answerTo(method: string): JsonObject {
  const serverInfo = { name: "fixture", version: "1" };
  if (method === "initialize") return { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo };
  const inputSchema = { type: "object", properties: { bytes: { type: "integer" } } };
  const tools = ["read_text", "put_text"].map((name) => ({ name, description: "A text.", inputSchema }));
  if (method === "tools/list") return { tools };
  answers += 1;
  return { content: [{ type: "text", text: `entry ${answers}` }] };
}

/** A session of a client over HTTP. */
export class Session {
  readonly key: string;
  readonly #handler: ClientHandler;
  #count = 0;

  constructor({ gateway }: Composition, sessionId: string) {
    this.key = `${principal}/session:${sessionId}`;
    const facts = { transport: "http", server: "fixture", principal, sessionId, workingDirectory: "/" } as const;
    const connection = { facts, send: () => undefined, drained: () => undefined, close: () => undefined };
    this.#handler = gateway.accept(connection);
  }

  async open(): Promise<this> {
    const clientInfo = { name: "test", version: "1" };
    await this.#ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    this.#handler.message({ kind: "notification", method: "notifications/initialized", params: undefined });
    await this.#ask("tools/list", {});
    return this;
  }

  async call(tool: string): Promise<void> {
    const result = await this.#ask("tools/call", { name: tool, arguments: { bytes: 1 } });
    if (member(result, "isError") === true) throw new Error(JSON.stringify(result));
  }

  over(): void {
    this.#handler.closed("The client ended the session.", true);
  }

  #ask(method: string, params: JsonObject): Promise<Json> {
    const id = (this.#count += 1);
    return new Promise((resolve, reject) => {
      this.#handler.request({
        request: { kind: "request", id, method, params },
        send: () => undefined,
        respond: (answer) =>
          answer.kind === "response" ? resolve(answer.result) : reject(new Error(answer.error.message)),
        onAbandoned: () => undefined,
      });
    });
  }
}

/** The gateway over one state folder, under a policy without its `version`. */
export async function composed(
  home: string,
  policy: string,
  more: Partial<Pick<CompositionSetup, "clock" | "tell">> = {},
): Promise<Composition> {
  const file = join(home, "policy.yaml");
  writeFileSync(file, `version: 1\n${policy}`);
  const target = { kind: "stdio", command: "none", args: [], env: {}, workingDirectory: "/" } as const;
  const servers = [{ name: "fixture", target: () => target }];
  return unwrap(
    await compose({
      home,
      policies: [file],
      connector,
      servers,
      tagOf: () => undefined,
      tell: () => undefined,
      ...more,
    }),
  );
}

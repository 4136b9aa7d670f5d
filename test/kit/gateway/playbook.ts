/**
 * Protocol conversations as scripts. A script is a list of lines: `client >>` what the client sends, `server <<` what
 * the server must have got, `server >>` what it sends, `client <<` what the client must have got. Each side is exact
 * JSON, so a message too much or a changed byte fails the test.
 */
import { expect, onTestFinished } from "vitest";
import { replaysAlike } from "./replays-alike.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { defaultWireLimits } from "../../../src/wire/limits.ts";
import { serialise } from "../../../src/wire/encode.ts";
import type { Message } from "../../../src/wire/message.ts";
import { parseMessage } from "../../../src/wire/parse/parse.ts";
import { Gateway, type GatewaySetup } from "../../../src/gateway/session/gateway.ts";
import type { LoadedPolicy } from "../../../src/gateway/ports/policy.ts";
import type {
  Accept,
  ClientConnection,
  ClientHandler,
  ConnectionFacts,
  ServerTarget,
  UpstreamHandler,
} from "../../../src/gateway/ports/transport.ts";
import type { Projection } from "../../../src/gateway/ports/projection.ts";
import type { ApprovalCard, Clock, Services } from "../../../src/gateway/ports/services.ts";
import type { Answer, Question } from "../../../src/core/opinion.ts";
import { Transcript } from "../../golden/transcripts.ts";
import { FakeLog } from "./fake-log.ts";

export class FakeClock implements Clock {
  now = 1_000;
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>();

  monotonicMs(): number {
    return this.now;
  }

  wallMs(): number {
    return 1_700_000_000_000 + this.now;
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { at: this.now + delayMs, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  pass(ms: number): void {
    this.now += ms;
    for (const timer of this.#timers) {
      if (timer.at > this.now) continue;
      this.#timers.delete(timer);
      timer.run();
    }
  }
}

export type StageOptions = {
  readonly policy: LoadedPolicy;
  readonly facts?: Partial<ConnectionFacts>;
  readonly oracle?: (questions: readonly Question[]) => Promise<readonly Answer[]>;
  readonly human?: Services["human"]["ask"];
  readonly servers?: readonly string[];
  readonly log?: FakeLog;
  /** The projection of every server that is started under an order. */
  readonly projection?: Projection;
  readonly setup?: Partial<GatewaySetup>;
};

/** One scripted server process: what it got, and a way to speak. */
export class FakeServer {
  readonly got: Message[] = [];
  readonly abandoned: (string | number)[] = [];
  closed = false;
  readonly handler: UpstreamHandler;
  readonly target: ServerTarget;
  readonly #transcript: Transcript;
  readonly #end: string;

  constructor(handler: UpstreamHandler, target: ServerTarget, transcript: Transcript) {
    this.handler = handler;
    this.target = target;
    this.#transcript = transcript;
    this.#end = transcript.end("server");
  }

  say(json: JsonObject | string, relatedTo?: string | number): void {
    const message = parsed(json);
    this.#transcript.heard(plain(message));
    this.handler.message(message, relatedTo);
  }

  get(message: Message): void {
    this.#transcript.sent(this.#end, plain(message));
    this.got.push(message);
  }
}

/** One scripted client. */
export class FakeClient {
  readonly got: Message[] = [];
  readonly abandoners: (() => void)[] = [];
  readonly connection: ClientConnection;
  readonly handler: ClientHandler;
  readonly #transcript: Transcript;
  readonly #end: string;

  constructor(gateway: { readonly accept: Accept }, facts: ConnectionFacts, transcript: Transcript) {
    this.#transcript = transcript;
    this.#end = transcript.end("client");
    this.connection = {
      facts,
      send: (message) => this.#get(message),
      drained: () => undefined,
      close: () => undefined,
    };
    this.handler = gateway.accept(this.connection);
  }

  say(json: JsonObject | string): void {
    const message = parsed(json);
    this.#transcript.heard(plain(message));
    if (message.kind !== "request") return this.handler.message(message);
    let answered = false;
    this.handler.request({
      request: message,
      send: (sent) => this.#get(sent),
      respond: (answer) => {
        if (answered) return;
        answered = true;
        this.#get(answer);
      },
      onAbandoned: (listener) => this.abandoners.push(listener),
    });
  }

  #get(message: Message): void {
    this.#transcript.sent(this.#end, plain(message));
    this.got.push(message);
  }
}

/** A gateway between a scripted client and scripted servers; the policy may be made by hand or a real one. */
export class Stage {
  readonly clock = new FakeClock();
  readonly log: FakeLog;
  readonly servers: FakeServer[] = [];
  readonly notices: string[] = [];
  readonly cards: ApprovalCard[] = [];
  readonly gateway: Gateway;
  readonly client: FakeClient;
  policy: LoadedPolicy;
  readonly #changed: (() => void)[] = [];
  readonly #facts: ConnectionFacts;
  readonly #transcript = new Transcript();

  constructor(options: StageOptions) {
    this.policy = options.policy;
    this.log = options.log ?? new FakeLog();
    this.#facts = {
      transport: "stdio",
      server: "files",
      principal: "os:1000",
      process: { pid: 7, startedAt: "1" },
      ...options.facts,
    };
    const target = (name: string): ServerTarget => ({
      kind: "stdio",
      command: name,
      args: [],
      env: {},
      workingDirectory: "/",
    });
    this.gateway = new Gateway({
      services: this.#services(options),
      servers: (options.servers ?? ["files"]).map((name) => ({ name, target: () => target(name) })),
      version: "0.0.0",
      ...options.setup,
    });
    this.client = this.connect();
    const { policy } = this;
    onTestFinished(() => replaysAlike(this.log, policy));
    // A log that several gateways of a test share has the decisions of all of them.
    const before = this.log.entries.length;
    onTestFinished(() => this.#transcript.finish(this.log.entries.slice(before).flatMap((one) => one.decision ?? [])));
  }

  connect(facts: Partial<ConnectionFacts> = {}): FakeClient {
    return new FakeClient(this.gateway, { ...this.#facts, ...facts }, this.#transcript);
  }

  get server(): FakeServer {
    const server = this.servers.at(-1);
    if (server === undefined) throw new Error("no server was started");
    return server;
  }

  load(policy: LoadedPolicy): void {
    this.policy = policy;
    for (const listener of this.#changed) listener();
  }

  /** Lets everything that waits for nothing but turns of the event loop happen. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 60; turn += 1) await Promise.resolve();
  }

  #services(options: StageOptions): Services {
    return {
      clock: this.clock,
      secrets: {
        hash: (text) => hex(text),
        mac: (text) => hex(`key ${text}`),
        seal: (plain) => `sealed:${hex(plain)}:${plain}`,
        unseal: (sealed) => {
          const [head, tag, ...rest] = sealed.split(":");
          const plain = rest.join(":");
          return head === "sealed" && tag === hex(plain) ? plain : undefined;
        },
        token: () => `token${(this.log.tokens += 1)}`.padEnd(24, "x"),
      },
      oracle: { answer: (questions) => options.oracle?.(questions) ?? Promise.resolve([]) },
      human: {
        ask: async (card, ...wait) => {
          this.cards.push(card);
          this.#transcript.card(card);
          return options.human?.(card, ...wait) ?? "absent";
        },
        notify: (text) => this.notices.push(text),
      },
      policies: { select: () => this.policy, onChange: (listener) => this.#changed.push(listener) },
      connector: {
        connect: (target, handler, order) => {
          const server = new FakeServer(handler, target, this.#transcript);
          this.servers.push(server);
          return {
            projection: order === undefined ? undefined : options.projection,
            send: (message) => server.get(message),
            abandon: (id) => server.abandoned.push(id),
            negotiated: () => undefined,
            drained: () => undefined,
            pause: () => undefined,
            resume: () => undefined,
            close: async () => {
              server.closed = true;
            },
          };
        },
      },
      log: this.log.port,
    };
  }
}

export function parsed(json: JsonObject | string): Message {
  const text = typeof json === "string" ? json : JSON.stringify({ jsonrpc: "2.0", ...json });
  const frame = parseMessage(new TextEncoder().encode(text), defaultWireLimits);
  if (!frame.ok || frame.value.kind !== "single") throw new Error(`bad message in a script: ${text}`);
  return frame.value.message;
}

/** Plain JSON of a message, for comparison. */
export function plain(message: Message): JsonObject {
  const { jsonrpc: _version, ...rest } = JSON.parse(serialise(message)) as Record<string, Json>;
  return rest;
}

export type Line =
  | { readonly client: ">>"; readonly message: JsonObject }
  | { readonly client: "<<"; readonly message: unknown }
  | { readonly server: ">>"; readonly message: JsonObject; readonly relatedTo?: string | number }
  | { readonly server: "<<"; readonly message: unknown };

/** Plays a script; at every `<<` the side must have got exactly this next. At the end nobody got anything more. */
export async function play(stage: Stage, lines: readonly Line[], client: FakeClient = stage.client): Promise<void> {
  for (const [index, line] of lines.entries()) {
    await stage.settle();
    if ("client" in line) {
      if (line.client === ">>") client.say(line.message);
      else expect(taken(client.got), `line ${index}: client <<`).toEqual(line.message);
    } else if (line.server === ">>") stage.server.say(line.message, line.relatedTo);
    else expect(taken(stage.server.got), `line ${index}: server <<`).toEqual(line.message);
  }
  await stage.settle();
  expect(client.got.map(plain), "left over at the client").toEqual([]);
  expect(stage.servers.flatMap((server) => server.got).map(plain), "left over at the server").toEqual([]);
}

function taken(got: Message[]): JsonObject | undefined {
  const message = got.shift();
  return message === undefined ? undefined : plain(message);
}

/** A digest for tests; not a secure one. */
function hex(text: string): string {
  let left = 0x811c9dc5;
  let right = 0x1000193;
  for (let index = 0; index < text.length; index += 1) {
    left = Math.imul(left ^ text.charCodeAt(index), 0x01000193);
    right = (Math.imul(right, 31) + text.charCodeAt(index)) | 0;
  }
  return [left, right, left ^ right, Math.imul(left, right)]
    .map((part) => (part >>> 0).toString(16).padStart(8, "0"))
    .join("");
}

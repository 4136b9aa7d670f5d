/**
 * Protocol conversations as scripts. A script is a list of lines: `client >>` what the client sends, `server <<` what
 * the server must have got, `server >>` what it sends, `client <<` what the client must have got. Each side is exact
 * JSON, so a message too much or a changed byte fails the test.
 */
import { expect, onTestFinished } from "vitest";
import { replaysAlike } from "./replays-alike.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { defaultWireLimits } from "../../src/wire/limits.ts";
import { serialise } from "../../src/wire/encode.ts";
import type { Message } from "../../src/wire/message.ts";
import { parseMessage } from "../../src/wire/parse.ts";
import { Gateway } from "../../src/gateway/gateway.ts";
import type { GatewaySetup } from "../../src/gateway/gateway.ts";
import type { LoadedPolicy } from "../../src/gateway/policy-port.ts";
import type {
  Accept,
  ClientConnection,
  ClientHandler,
  ConnectionFacts,
  ServerTarget,
  UpstreamHandler,
} from "../../src/gateway/ports.ts";
import type { Projection } from "../../src/gateway/projection-port.ts";
import type { ApprovalCard, Clock, Services } from "../../src/gateway/services-port.ts";
import type { Answer, Question } from "../../src/core/opinion.ts";
import { FakeLog } from "./fake-log.ts";
import type { FakeState } from "./fake-policy.ts";

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

export type StageOptions<Q = FakeState> = {
  readonly policy: LoadedPolicy<Q>;
  readonly facts?: Partial<ConnectionFacts>;
  readonly oracle?: (questions: readonly Question[]) => Promise<readonly Answer[]>;
  readonly human?: Services<Q>["human"]["ask"];
  readonly servers?: readonly string[];
  readonly log?: FakeLog;
  /** The projection of every server that is started under an order. */
  readonly projection?: Projection;
  readonly setup?: Partial<GatewaySetup<Q>>;
};

/** One scripted server process: what it got, and a way to speak. */
export class FakeServer {
  readonly got: Message[] = [];
  readonly abandoned: (string | number)[] = [];
  closed = false;
  readonly handler: UpstreamHandler;
  readonly target: ServerTarget;

  constructor(handler: UpstreamHandler, target: ServerTarget) {
    this.handler = handler;
    this.target = target;
  }

  say(json: JsonObject | string, relatedTo?: string | number): void {
    this.handler.message(parsed(json), relatedTo);
  }
}

/** One scripted client. */
export class FakeClient {
  readonly got: Message[] = [];
  readonly abandoners: (() => void)[] = [];
  readonly connection: ClientConnection;
  readonly handler: ClientHandler;

  constructor(gateway: { readonly accept: Accept }, facts: ConnectionFacts) {
    this.connection = {
      facts,
      send: (message) => this.got.push(message),
      drained: () => undefined,
      close: () => undefined,
    };
    this.handler = gateway.accept(this.connection);
  }

  say(json: JsonObject | string): void {
    const message = parsed(json);
    if (message.kind !== "request") return this.handler.message(message);
    let answered = false;
    this.handler.request({
      request: message,
      send: (sent) => this.got.push(sent),
      respond: (answer) => {
        if (answered) return;
        answered = true;
        this.got.push(answer);
      },
      onAbandoned: (listener) => this.abandoners.push(listener),
    });
  }
}

/** A gateway between a scripted client and scripted servers; the policy may be made by hand or a real one. */
export class Stage<Q = FakeState> {
  readonly clock = new FakeClock();
  readonly log: FakeLog;
  readonly servers: FakeServer[] = [];
  readonly notices: string[] = [];
  readonly cards: ApprovalCard[] = [];
  readonly gateway: Gateway<Q>;
  readonly client: FakeClient;
  policy: LoadedPolicy<Q>;
  readonly #changed: (() => void)[] = [];
  readonly #facts: ConnectionFacts;

  constructor(options: StageOptions<Q>) {
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
  }

  connect(facts: Partial<ConnectionFacts> = {}): FakeClient {
    return new FakeClient(this.gateway, { ...this.#facts, ...facts });
  }

  get server(): FakeServer {
    const server = this.servers.at(-1);
    if (server === undefined) throw new Error("no server was started");
    return server;
  }

  load(policy: LoadedPolicy<Q>): void {
    this.policy = policy;
    for (const listener of this.#changed) listener();
  }

  /** Lets everything that waits for nothing but turns of the event loop happen. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 60; turn += 1) await Promise.resolve();
  }

  #services(options: StageOptions<Q>): Services<Q> {
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
          return options.human?.(card, ...wait) ?? "absent";
        },
        notify: (text) => this.notices.push(text),
      },
      policies: { select: () => this.policy, onChange: (listener) => this.#changed.push(listener) },
      connector: {
        connect: (target, handler, order) => {
          const server = new FakeServer(handler, target);
          this.servers.push(server);
          return {
            projection: order === undefined ? undefined : options.projection,
            send: (message) => server.got.push(message),
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
export async function play<Q>(
  stage: Stage<Q>,
  lines: readonly Line[],
  client: FakeClient = stage.client,
): Promise<void> {
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

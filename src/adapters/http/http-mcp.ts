/**
 * The MCP endpoint: finds the era and the session of each request. Order of the checks: form of the answer, session,
 * body, message, era, headers against body. Nothing reaches the gateway before all of them.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { stringMember } from "../../core/json.ts";
import type { ConnectionFacts } from "../../gateway/ports/transport.ts";
import { type Classified, classify, invalidSentence } from "../../wire/classify.ts";
import { errorCodes, errorMessage, unsupportedVersion, wireErrorAnswer } from "../../wire/errors.ts";
import { checkHeaders } from "../../wire/headers.ts";
import { defaultWireLimits } from "../../wire/limits.ts";
import type { Message, RequestId } from "../../wire/message.ts";
import { type ParsedFrame, parseMessage } from "../../wire/parse/parse.ts";
import { eraOf, isRevision, modernRevisions } from "../../wire/revision.ts";
import type { WireError } from "../../wire/wire-error.ts";
import { systemClock } from "../clock.ts";
import type { TransportLimits } from "../net/net-limits.ts";
import { answerBytes, answerError, refuse, refuseAndClose } from "./http-answer.ts";
import { BodyReader } from "./http-body.ts";
import type { HttpServerOptions, Identity, RequestFacts } from "./http-contract.ts";
import { accepted } from "./http-guard.ts";
import { ModernConversation } from "./http-modern.ts";
import { HttpSession, sessionHeader } from "./http-session.ts";
import type { HttpLimits } from "./http-limits.ts";
import type { Reply } from "../net/client-exchange.ts";

const versionHeader = "mcp-protocol-version";

/** Sessions that are ended at once for the memory of their servers. */
const endedAtOnceMax = 4;

const fullTexts = {
  sessions: "Too many sessions are open. End one or try again later.",
  memory: "The memory for local servers is used up. End a session, try again later, or raise `memoryMb`.",
} as const;

type Evicting = {
  /** Who opens another session; undefined where none is opened. */
  readonly principal: string | undefined;
  readonly idleMsMin?: number;
  /** Endpoints whose sessions are of use to evict. */
  readonly concerns?: (server: string | undefined) => boolean;
};

/** One request that has passed host, origin and authentication. */
export type McpRequest = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly facts: RequestFacts;
  readonly identity: Identity;
};

export class McpEndpoint {
  readonly #options: HttpServerOptions;
  readonly #limits: HttpLimits & TransportLimits;
  readonly #bodies: BodyReader;
  readonly #sessions = new Map<string, { readonly session: HttpSession; readonly owner: string }>();
  readonly #conversations = new Set<ModernConversation>();

  constructor(options: HttpServerOptions, limits: HttpLimits & TransportLimits, bodies: BodyReader) {
    this.#options = options;
    this.#limits = limits;
    this.#bodies = bodies;
  }

  async handle(asked: McpRequest): Promise<void> {
    const version = asked.facts.headers[versionHeader];
    switch (asked.facts.method) {
      case "POST":
        return this.#post(asked);
      case "GET":
      case "DELETE":
        if (isRevision(version) && eraOf(version) === "modern") break;
        return asked.facts.method === "GET" ? this.#get(asked) : this.#delete(asked);
    }
    refuse(asked.response, 405, "This method is not used here. Send messages with POST.", {
      allow: "GET, POST, DELETE",
    });
  }

  /** Ends sessions that were idle for `sessionIdleMsMax`. */
  sweep(): void {
    for (const { session } of this.#sessions.values()) {
      if (session.idleMs > this.#limits.sessionIdleMsMax) session.close("The session was idle for too long.");
    }
    this.#freeMemory(undefined);
  }

  close(): void {
    for (const { session } of this.#sessions.values()) session.close("The gateway is shutting down.", false);
    for (const conversation of this.#conversations) conversation.close("The gateway is shutting down.");
  }

  async #post(asked: McpRequest): Promise<void> {
    const { request, response, facts } = asked;
    const forms = accepted(facts.headers["accept"]);
    if (!forms.json && !forms.stream) {
      return refuseAndClose(response, 406, "Accept application/json and text/event-stream.");
    }
    if (!/^application\/json\s*(?:;|$)/i.test(facts.headers["content-type"] ?? "")) {
      return refuseAndClose(response, 415, "Send the message as application/json.");
    }
    const version = facts.headers[versionHeader];
    if (version !== undefined && version.length > 64)
      return refuseAndClose(response, 400, "The version header is too long.");
    const body = await this.#bodies.read(request, asked.identity.principal);
    if (!body.ok) return refuseAndClose(response, body.error.status, body.error.text);
    // The session is looked up after the wait for the body: it may have ended meanwhile.
    const named = facts.headers[sessionHeader];
    const session = named === undefined ? undefined : this.#find(asked, named);
    const wire = { ...(this.#options.wire ?? defaultWireLimits), messageBytesMax: this.#limits.bodyBytesMax };
    const revision =
      session?.revision ?? (version === undefined ? "2025-03-26" : isRevision(version) ? version : undefined);
    const frame = parseMessage(body.value, wire, revision);
    if (!frame.ok) return this.#malformed(asked, frame.error, session);
    this.#frame(asked, frame.value, session);
  }

  #frame(asked: McpRequest, frame: ParsedFrame, session: HttpSession | undefined): void {
    const { response, facts } = asked;
    const first =
      frame.kind === "single" ? frame.message : frame.entries.flatMap((one) => (one.ok ? [one.value] : []))[0];
    if (first === undefined) return refuse(response, 400, "The batch holds no valid message. Correct its entries.");
    const header = facts.headers[versionHeader];
    const era = classify(first, { transport: "http", header, negotiated: session?.revision });
    const id = first.kind === "request" ? first.id : null;
    switch (era.kind) {
      case "invalid":
        return answerError(response, 400, errorMessage(id, era.code, invalidSentence(era.reason)));
      case "modern-unsupported":
        if (first.kind !== "request") return refuse(response, 400, "Only requests name a version.");
        return answerError(response, 400, unsupportedVersion(first.id, era.requested, modernRevisions));
      case "modern":
        if (frame.kind === "batch")
          return refuse(response, 400, "This revision has no batches. Send one message a POST.");
        return this.#modern(asked, first, era.revision);
      case "initialize":
      case "legacy":
        return this.#legacy(asked, frame, era, session);
    }
  }

  #modern(asked: McpRequest, message: Message, revision: string): void {
    const { response, facts, identity } = asked;
    if (message.kind === "response" || message.kind === "error") {
      return refuse(response, 400, "Clients send no responses in this revision. Repeat the request with its answers.");
    }
    const known = this.#connectionFacts(facts, identity, { announcedRevision: revision });
    const tool = message.method === "tools/call" ? stringMember(message.params, "name") : undefined;
    const parameters = tool === undefined ? undefined : this.#options.parametersOf?.(known, tool);
    const mismatch = checkHeaders(facts.headers, message, parameters);
    if (mismatch !== undefined) {
      const text = `Header mismatch: ${mismatch.header} ${mismatchWords[mismatch.reason]}`;
      const id: RequestId | null = message.kind === "request" ? message.id : null;
      return answerError(response, 400, errorMessage(id, errorCodes.headerMismatch, text));
    }
    const forms = accepted(facts.headers["accept"]);
    const conversation: ModernConversation = new ModernConversation({
      facts: known,
      accept: this.#options.accept,
      limits: this.#limits,
      refusalOf: this.#options.refusalOf,
      response,
      forms,
      ended: () => this.#conversations.delete(conversation),
    });
    this.#conversations.add(conversation);
    if (message.kind === "request") conversation.request(message);
    else conversation.notification(message);
  }

  #legacy(asked: McpRequest, frame: ParsedFrame, era: Classified, session: HttpSession | undefined): void {
    const { response, facts } = asked;
    const forms = accepted(facts.headers["accept"]);
    const named = facts.headers[sessionHeader] !== undefined;
    if (era.kind === "initialize") {
      if (named || frame.kind === "batch") return refuse(response, 400, "Initialize alone, without a session id.");
      const opened = this.#open(asked);
      if (typeof opened === "string") return refuse(response, 503, fullTexts[opened], { "retry-after": "30" });
      return opened.post([frame.message], [], { response, forms, batch: false });
    }
    if (!named) return refuse(response, 400, "The session id is missing. Initialize first and send Mcp-Session-Id.");
    if (session === undefined) return this.#unknownSession(response);
    const messages: Message[] = [];
    const refused: Reply[] = [];
    const entries = frame.kind === "single" ? [{ ok: true, value: frame.message } as const] : frame.entries;
    for (const entry of entries) {
      if (!entry.ok) {
        refused.push(wireErrorAnswer(entry.error));
        continue;
      }
      const message = entry.value;
      if (message.kind !== "request") messages.push(message);
      else if (session.isOpen(message.id) || messages.some((other) => isRequestOf(other, message.id))) {
        refused.push(errorMessage(null, -32600, "A request with this id is still unanswered. Use a new id for each."));
      } else if (message.method === "initialize") {
        refused.push(errorMessage(message.id, -32600, "This session is initialized already. Open a new one."));
      } else messages.push(message);
    }
    const only = refused[0];
    if (frame.kind === "single" && only?.kind === "error") return answerError(response, 400, only);
    if (session.inFlight + messages.length > this.#limits.sessionRequestsMax) {
      return refuse(response, 429, "Too many requests of this session are unanswered. Wait for some of them.");
    }
    session.post(messages, refused, { response, forms, batch: frame.kind === "batch" });
  }

  #malformed(asked: McpRequest, error: WireError, session: HttpSession | undefined): void {
    // The request whose answer was refused must fail instead of waiting on.
    if (error.about === "response" && error.id !== undefined) session?.refuseAnswer(wireErrorAnswer(error));
    const known = error.about === "request" && error.id !== undefined && !session?.isOpen(error.id);
    const answer = wireErrorAnswer(error);
    answerError(asked.response, error.kind === "too-large" ? 413 : 400, known ? answer : { ...answer, id: null });
  }

  #get(asked: McpRequest): void {
    const { response, facts } = asked;
    if (!accepted(facts.headers["accept"]).stream) return refuse(response, 406, "Accept text/event-stream.");
    const session = this.#named(asked);
    const refusal = session?.get(response, facts.headers["last-event-id"]);
    if (refusal !== undefined) refuse(response, refusal.status, refusal.text);
  }

  #delete(asked: McpRequest): void {
    const session = this.#named(asked);
    if (session === undefined) return;
    session.close("The client ended the session.");
    answerBytes(asked.response, 204, "");
  }

  /** The session that a GET or DELETE names, or a refusal and undefined. */
  #named(asked: McpRequest): HttpSession | undefined {
    const named = asked.facts.headers[sessionHeader];
    if (named === undefined) {
      refuse(asked.response, 400, "The session id is missing. Send Mcp-Session-Id.");
      return undefined;
    }
    const session = this.#find(asked, named);
    if (session === undefined) this.#unknownSession(asked.response);
    return session;
  }

  #unknownSession(response: ServerResponse): void {
    answerError(response, 404, errorMessage(null, -32001, "Session not found. Initialize a new one."));
  }

  /** A session is found only for the endpoint and the user that made it, so a leaked id gives no access. */
  #find(asked: McpRequest, id: string): HttpSession | undefined {
    const found = this.#sessions.get(id);
    return found?.owner === ownerOf(asked) ? found.session : undefined;
  }

  /** A new session; else what there is too much of already. */
  #open(asked: McpRequest): HttpSession | "sessions" | "memory" {
    const { principal } = asked.identity;
    if (this.#options.memory?.concerns(asked.facts.server) === true && !this.#freeMemory(principal)) return "memory";
    if (this.#sessions.size >= this.#limits.sessionsMax) {
      const oldest = this.#idlest({ principal });
      if (oldest === undefined) return "sessions";
      oldest.close("The session made room for a new one.");
    }
    const id = randomUUID();
    const session = new HttpSession({
      id,
      facts: this.#connectionFacts(asked.facts, asked.identity, { sessionId: id }),
      accept: this.#options.accept,
      limits: this.#limits,
      refusalOf: this.#options.refusalOf,
      ended: () => this.#sessions.delete(id),
      nowMs: (this.#options.clock ?? systemClock).monotonicMs,
    });
    this.#sessions.set(id, { session, owner: ownerOf(asked) });
    return session;
  }

  /** Ends sessions without traffic until there is room for the servers of another; false where there is none. */
  #freeMemory(principal: string | undefined): boolean {
    const { memory } = this.#options;
    // Servers end by themselves once their session has, so only a few sessions are ended at a time.
    for (let ended = 0; memory?.hasRoom() === false; ended += 1) {
      const wanted = { principal, idleMsMin: this.#limits.evictIdleMsMin, concerns: memory.concerns };
      const oldest = ended < endedAtOnceMax ? this.#idlest(wanted) : undefined;
      if (oldest === undefined) return false;
      oldest.close("The session was idle, and the memory of its servers is needed.");
    }
    return true;
  }

  /**
   * The session to evict: the one that was idle longest. Sessions in use are never evicted, nor those of a user who has
   * fewer than the user who opens another: a user who opens sessions without end evicts their own.
   */
  #idlest({ principal, idleMsMin = 0, concerns }: Evicting): HttpSession | undefined {
    const counts = new Map<string, number>();
    for (const { session } of this.#sessions.values()) {
      counts.set(session.facts.principal, (counts.get(session.facts.principal) ?? 0) + 1);
    }
    const own = principal === undefined ? 0 : (counts.get(principal) ?? 0);
    let oldest: HttpSession | undefined;
    for (const { session } of this.#sessions.values()) {
      if ((counts.get(session.facts.principal) ?? 0) < own || concerns?.(session.facts.server) === false) continue;
      if (session.idleMs > (oldest?.idleMs ?? idleMsMin)) oldest = session;
    }
    return oldest;
  }

  #connectionFacts(facts: RequestFacts, identity: Identity, more: Partial<ConnectionFacts>): ConnectionFacts {
    const token = identity.runToken ?? facts.runToken;
    return {
      transport: "http",
      server: facts.server,
      principal: identity.principal,
      ...(token === undefined ? {} : { runToken: token }),
      ...(identity.credentials === undefined ? {} : { credentials: identity.credentials }),
      ...more,
    };
  }
}

const mismatchWords = {
  missing: "is missing. Send it with the value of the body.",
  unexpected: "has no counterpart in the body. Leave it out.",
  differs: "differs from the body. Send the value of the body.",
  malformed: "has a malformed value. Encode it as the specification says.",
} as const;

function isRequestOf(message: Message, id: RequestId): boolean {
  return message.kind === "request" && message.id === id;
}

function ownerOf(asked: McpRequest): string {
  const { facts, identity } = asked;
  const { principal, runToken = facts.runToken, credentials } = identity;
  // A run may outlive the credentials it began with, but a session speaks to the server with those it was opened with.
  return JSON.stringify([principal, facts.server ?? null, runToken ?? null, credentials?.digest ?? null]);
}

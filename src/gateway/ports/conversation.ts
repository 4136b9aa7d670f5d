/** Words that all rooms of the gateway use for a conversation between one client and one server. */
import type { JsonObject } from "../../core/json.ts";
import type { Era, ErrorMessage, NotificationMessage, RequestMessage, ResponseMessage } from "../../wire/message.ts";

/** Declarations of the client about itself; none of them is a reason to trust it. */
export type ClientState = {
  era: Era;
  capabilities: JsonObject;
  name: string | undefined;
  /** Version and capabilities that every modern request carries, for requests of the gateway itself. */
  requestMeta: JsonObject | undefined;
};

export type Answered = ResponseMessage | ErrorMessage;

/** The outcome of a request that was passed on: an answer, or none, with the error that the client gets then. */
export type Relayed = Answered | { readonly kind: "lost"; readonly answer: ErrorMessage };

/** How long an answer of the client is waited for. */
export type AskWait = { readonly ms: number; readonly withdrawn: AbortSignal };

/** How long an answer of a server is waited for, and the run (its key) that the request is made for, if for one. */
export type OwnWait = { readonly ms: number; readonly run?: string | undefined };

/** The exchange whose stream carries a question to the client. */
export interface AskVia {
  send(message: RequestMessage | NotificationMessage): void;
}

/** Puts questions of the gateway itself to the client. */
export interface ClientQuestions {
  /**
   * The answer; undefined where none came in time. A question that is over without an answer, for time or because it is
   * withdrawn, is cancelled at the client.
   */
  ask(request: Omit<RequestMessage, "id">, wait: AskWait, via?: AskVia): Promise<Answered | undefined>;
}

/** A call that a must-rule wants to be made first. */
export type PerformOrder = { readonly server: string; readonly tool: string; readonly arguments: JsonObject };

/**
 * Outcome of the order. `failed`: not made, or without success; `cause` is a clause. `quarantined`: not made: admission
 * keeps the tool back, and the operator may release it.
 */
export type Performed =
  | { readonly kind: "succeeded" }
  | { readonly kind: "failed"; readonly cause: string }
  /** Its server does not list the tool now, or did not answer with a list; nothing was sent. */
  | { readonly kind: "unlisted" }
  /** The server is in quarantine, or its tool changed since it was accepted. */
  | { readonly kind: "quarantined" | "changed"; readonly decision: string; readonly approval?: string };

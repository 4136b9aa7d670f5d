/**
 * Forwards a connection, or a handler, member by member, so that a wrapper names only what it changes. A member that is
 * added to one of these interfaces does not compile until it is forwarded here.
 */
import type { Message, RequestId, Revision } from "../../wire/message.ts";
import type { Projection } from "./projection.ts";
import type { ClientHandler, UpstreamConnection, UpstreamHandler } from "./transport.ts";

/** Passes every call on to `inner`; a subclass overrides what it treats differently. */
export abstract class ForwardingUpstream implements Record<keyof UpstreamConnection, unknown>, UpstreamConnection {
  protected abstract readonly inner: UpstreamConnection;

  get processGroup(): number | undefined {
    return this.inner.processGroup;
  }
  get projection(): Projection | undefined {
    return this.inner.projection;
  }
  send(message: Message): void {
    this.inner.send(message);
  }
  abandon(id: RequestId): void {
    this.inner.abandon(id);
  }
  negotiated(revision: Revision): void {
    this.inner.negotiated(revision);
  }
  drained(): Promise<void> | undefined {
    return this.inner.drained();
  }
  pause(): void {
    this.inner.pause();
  }
  resume(): void {
    this.inner.resume();
  }
  close(): Promise<void> {
    return this.inner.close();
  }
}

/**
 * `inner` with some members replaced. An optional callback that `inner` lacks stays absent, since absence has a
 * meaning.
 */
export function forwardingHandler(inner: UpstreamHandler, changed: Partial<UpstreamHandler>): UpstreamHandler {
  const forwarded = {
    message: (message, relatedTo) => inner.message(message, relatedTo),
    lost: inner.lost && ((id, reason) => inner.lost?.(id, reason)),
    runOf: inner.runOf && ((id) => inner.runOf?.(id)),
    unplaced: inner.unplaced && ((question, runs) => inner.unplaced?.(question, runs)),
    closed: (reason) => inner.closed(reason),
  } satisfies { readonly [K in keyof Required<UpstreamHandler>]: UpstreamHandler[K] | undefined };
  return { ...forwarded, ...changed };
}

/** `inner` with some members replaced. */
export function forwardingClient(inner: ClientHandler, changed: Partial<ClientHandler>): ClientHandler {
  const forwarded = {
    request: (exchange) => inner.request(exchange),
    message: (message) => inner.message(message),
    closed: (reason) => inner.closed(reason),
  } satisfies { readonly [K in keyof Required<ClientHandler>]: ClientHandler[K] | undefined };
  return { ...forwarded, ...changed };
}

/**
 * Stands for a connection that is still being made: its code is loaded, or its server is launched. Calls keep their
 * order.
 */
import type { Result } from "../../core/result.ts";
import type { UpstreamConnection, UpstreamHandler } from "../../gateway/ports/transport.ts";
import type { Projection } from "../../gateway/ports/projection.ts";
import type { Message, RequestId, Revision } from "../../wire/message.ts";

/** Messages that may wait for the connection before those who feed it are asked to pause. */
const waitingMessagesMax = 256;

export type LoadingOptions = {
  /** Sentence for a connection that could not be made because of an unexpected exception. */
  readonly failure: string;
  /** Stands for the projection of the connection, and outlives it. */
  readonly projection?: Projection | undefined;
};

export class LoadingUpstream implements UpstreamConnection {
  readonly projection: Projection | undefined;
  #connection: UpstreamConnection | undefined;
  readonly #loaded: Promise<UpstreamConnection | undefined>;
  #waiting = 0;

  /** A failure to make the connection arrives as `handler.closed`. */
  constructor(
    loading: Promise<Result<UpstreamConnection, string>>,
    handler: Pick<UpstreamHandler, "closed">,
    { failure, projection }: LoadingOptions,
  ) {
    this.projection = projection;
    const failed = (sentence: string): undefined => {
      handler.closed(sentence);
      return undefined;
    };
    this.#loaded = loading.then(
      (made) => (made.ok ? (this.#connection = made.value) : failed(made.error)),
      () => failed(failure),
    );
  }

  get processGroup(): number | undefined {
    return this.#connection?.processGroup;
  }

  send(message: Message): void {
    this.#waiting += 1;
    this.#then((connection) => connection.send(message));
  }
  abandon(id: RequestId): void {
    this.#then((connection) => connection.abandon(id));
  }
  negotiated(revision: Revision): void {
    this.#then((connection) => connection.negotiated(revision));
  }
  pause(): void {
    this.#then((connection) => connection.pause());
  }
  resume(): void {
    this.#then((connection) => connection.resume());
  }
  drained(): Promise<void> | undefined {
    if (this.#connection !== undefined) return this.#connection.drained();
    return this.#waiting < waitingMessagesMax ? undefined : this.#loaded.then(() => undefined);
  }
  async close(): Promise<void> {
    await (await this.#loaded)?.close();
  }

  #then(act: (connection: UpstreamConnection) => void): void {
    if (this.#connection !== undefined) act(this.#connection);
    else void this.#loaded.then((connection) => (connection === undefined ? undefined : act(connection)));
  }
}

/**
 * The way to any server, local or remote. The HTTP client is loaded with the first remote target: it costs more start-up
 * time than the rest of a gateway that only runs local servers.
 */
import type { Connector, ServerTarget, UpstreamConnection, UpstreamHandler } from "../gateway/ports.ts";
import type { WireLimits } from "../wire/limits.ts";
import type { Message, RequestId, Revision } from "../wire/message.ts";
import type { UpstreamLimits } from "./http/limits.ts";
import type { TransportLimits } from "./limits.ts";
import { connectProcess } from "./stdio/stdio-upstream.ts";

export type ConnectorOptions = {
  readonly wire?: WireLimits;
  readonly limits?: TransportLimits;
  readonly httpLimits?: Partial<UpstreamLimits>;
  /** One line for the operator: a server's stderr, or what was skipped of its output. */
  readonly diagnostic?: (target: ServerTarget, line: string) => void;
};

export function systemConnector(options: ConnectorOptions = {}): Connector {
  return {
    connect(target, handler) {
      const diagnostic = (line: string): void => options.diagnostic?.(target, line);
      const wire = options.wire === undefined ? {} : { wire: options.wire };
      if (target.kind === "stdio") {
        const limits = options.limits === undefined ? {} : { limits: options.limits };
        return connectProcess(target, handler, { ...wire, ...limits, diagnostic });
      }
      const limits = options.httpLimits === undefined ? {} : { limits: options.httpLimits };
      const loaded = import("./http/http-upstream.ts");
      return new LoadingUpstream(
        loaded.then(({ connectHttp }) => connectHttp(target, handler, { ...wire, ...limits, diagnostic })),
        handler,
      );
    },
  };
}

/** Stands for a connection until its code is there; calls keep their order. */
class LoadingUpstream implements UpstreamConnection {
  #connection: UpstreamConnection | undefined;
  readonly #loaded: Promise<UpstreamConnection | undefined>;

  constructor(loading: Promise<UpstreamConnection>, handler: UpstreamHandler) {
    this.#loaded = loading.then(
      (connection) => (this.#connection = connection),
      () => {
        handler.closed("The HTTP client could not be loaded. Install the package again.");
        return undefined;
      },
    );
  }

  send(message: Message): void {
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
    return this.#connection?.drained();
  }
  async close(): Promise<void> {
    await (await this.#loaded)?.close();
  }

  #then(act: (connection: UpstreamConnection) => void): void {
    if (this.#connection !== undefined) act(this.#connection);
    else void this.#loaded.then((connection) => (connection === undefined ? undefined : act(connection)));
  }
}

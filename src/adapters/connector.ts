/**
 * The way to any server, local or remote. The HTTP client is loaded with the first remote target: it costs more
 * start-up time than the rest of a gateway that only runs local servers.
 */
import { ok } from "../core/result.ts";
import type { Connector, ServerTarget, UpstreamConnection } from "../gateway/ports/transport.ts";
import type { WireLimits } from "../wire/limits.ts";
import type { UpstreamLimits } from "./http/http-limits.ts";
import type { UpstreamRefusals } from "./http/upstream-refusals.ts";
import type { TransportLimits } from "./net/net-limits.ts";
import type { ServerMemory } from "./process/server-memory.ts";
import { LoadingUpstream } from "./net/loading-upstream.ts";
import type { IsolationSetup, Trial } from "./projection/parts.ts";
import { isolationOf } from "./projection/isolation-of.ts";
import { remoteProjection } from "./projection/session/stand-ins.ts";
import { connectProcess } from "./stdio/stdio-upstream.ts";

export type ConnectorOptions = {
  readonly wire?: WireLimits;
  readonly limits?: TransportLimits;
  readonly httpLimits?: Partial<UpstreamLimits>;
  /** One line for the operator: a server's stderr, or a skipped line of its output. */
  readonly diagnostic?: (target: ServerTarget, line: string) => void;
  /** One line in the gateway's own name about a server that starts. */
  readonly notice?: (text: string) => void;
  /** Says what an attempt of an isolated server at a file asks for. */
  readonly missedFile?: IsolationSetup["missedFile"];
  /** Store for refusals of credentials that clients sent along. */
  readonly refusals?: UpstreamRefusals;
  /** Bounds what local servers use together. */
  readonly memory?: ServerMemory;
  /** State folder of the gateway. No server sees it; without it no server can be isolated. */
  readonly home?: string;
  /** State folder with the packages of servers, where it is not `home`. */
  readonly packages?: string;
  /** Local servers are tried out, each with this home folder. */
  readonly trial?: Trial;
};

export function systemConnector(options: ConnectorOptions = {}): Connector {
  return {
    connect(target, handler, order) {
      const diagnostic = (line: string): void => options.diagnostic?.(target, line);
      const wire = options.wire === undefined ? {} : { wire: options.wire };
      if (target.kind === "stdio") {
        const limits = options.limits === undefined ? {} : { limits: options.limits };
        const notice = options.notice === undefined ? {} : { notice: options.notice };
        const missedFile = options.missedFile === undefined ? {} : { missedFile: options.missedFile };
        const trial = options.trial === undefined ? {} : { trial: options.trial };
        const how = isolationOf(target, order, {
          home: options.home,
          packages: options.packages ?? options.home,
          diagnostic,
          ...limits,
          ...notice,
          ...missedFile,
          ...trial,
        });
        const memory = options.memory === undefined ? {} : { memory: options.memory };
        return connectProcess(target, handler, { ...wire, ...limits, ...how, ...memory, diagnostic });
      }
      const limits = options.httpLimits === undefined ? {} : { limits: options.httpLimits };
      const refusals = options.refusals === undefined ? {} : { refusals: options.refusals };
      const loading = import("./http/http-upstream.ts").then(({ connectHttp }) =>
        ok(connectHttp(target, handler, { ...wire, ...limits, ...refusals, diagnostic })),
      );
      const failure = "The HTTP client could not be loaded. Install the package again.";
      if (order === undefined) return new LoadingUpstream(loading, handler, { failure });
      const projection = remoteProjection(() => void connection.close());
      const connection: UpstreamConnection = new LoadingUpstream(loading, handler, { failure, projection });
      return connection;
    },
  };
}

/**
 * How an order of a policy becomes options of a connection. The code that isolates is loaded with the first server that
 * needs it: a gateway without isolation pays neither start-up time nor memory for it.
 */
import type { IsolationOrder } from "../../core/scope.ts";
import type { TransportLimits } from "../limits.ts";
import type { ProcessTarget, StdioUpstreamOptions } from "../stdio/stdio-upstream.ts";

export type IsolationSetup = {
  /** State folder of the gateway: hidden from servers, and where writes that wait for a person lie. */
  readonly home: string | undefined;
  readonly limits?: TransportLimits;
  readonly diagnostic: (line: string) => void;
};

type Isolation = Pick<StdioUpstreamOptions, "launch" | "bare">;

/** Without an order the server runs as it always did; ordered `off` it runs bare, and says so. */
export function isolationOf(
  target: ProcessTarget,
  order: IsolationOrder | undefined,
  setup: IsolationSetup,
): Isolation {
  if (order === undefined) return {};
  if (order.mode === "off") {
    return {
      bare: {
        tier: "none",
        notes: [`The policy runs server \`${order.server}\` without isolation.`],
        order: order.digest,
      },
    };
  }
  return {
    launch: async () => {
      const { isolate } = await import("./isolate.ts");
      return isolate(target, order, setup);
    },
  };
}

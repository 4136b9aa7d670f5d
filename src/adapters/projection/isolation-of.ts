/**
 * Turns the isolation order of a policy into options of a connection. The code that isolates is loaded with the first
 * server that needs it: a gateway without isolation pays neither start-up time nor memory for it.
 */
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import type { IsolationSetup } from "./parts.ts";
import type { ProcessTarget } from "../process/launch.ts";
import type { StdioUpstreamOptions } from "../stdio/stdio-upstream.ts";

type Isolation = Pick<StdioUpstreamOptions, "launch" | "bare">;

/** Without an order the server runs without isolation; with the order `off` too, but its projection reports this. */
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

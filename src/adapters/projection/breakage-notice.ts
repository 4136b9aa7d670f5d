/**
 * What a server that is isolated by default misses, told to the operator while it misses it: one sentence a host, with
 * the line of policy that opens it. A server may fail over that before its first call, where no verdict would say it.
 */
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { printable } from "../net/printable.ts";
import type { Broker, Launched, Sighting } from "./parts.ts";

/** Hosts of one server that are told of; one that asks for more needs to be looked at, not told of. */
const hostsMax = 6;

/** The same parts, whose broker tells what it refuses; unchanged where the policy's own words close the network. */
export function withBreakage(
  launched: Launched,
  order: Pick<IsolationOrder, "mode" | "server">,
  notice: ((text: string) => void) | undefined,
): Launched {
  const { broker } = launched;
  if (order.mode !== "where-possible" || broker === undefined || notice === undefined) return launched;
  const told = new Set<string>();
  const tell = (sighting: Sighting): void => {
    const host = refusedHost(sighting);
    if (host === undefined || told.has(host) || told.size >= hostsMax) return;
    told.add(host);
    notice(hostNotice(order.server, host));
  };
  return { ...launched, broker: overheard(broker, tell) };
}

function refusedHost({ action, outcome, domain, address }: Sighting): string | undefined {
  if (outcome !== "denied" || (action !== "dns-query" && action !== "net-connect")) return undefined;
  const host = domain ?? address;
  return host === undefined ? undefined : printable(host, 100);
}

/** The line stands by itself: it is the whole section, and keeps what holds for every other server. */
function hostNotice(server: string, host: string): string {
  const name = printable(server, 40);
  return `Server \`${name}\` wanted \`${host}\`, which is closed to it. If it needs that, add to your policy: isolation: {backend: where-possible, servers: {${name}: {net: {allow: ["${host}"]}}}}`;
}

/** The broker with a listener; its own methods are kept as they are, for they know their state. */
function overheard(broker: Broker, tell: (sighting: Sighting) => void): Broker {
  return {
    grant: (call, destinations) => broker.grant(call, destinations),
    revoke: (call) => broker.revoke(call),
    nameUnheard: (address, port) => broker.nameUnheard?.(address, port),
    drain: () => {
      const drained = broker.drain();
      for (const sighting of drained) tell(sighting);
      return drained;
    },
    get failure() {
      return broker.failure;
    },
    close: () => broker.close(),
  };
}

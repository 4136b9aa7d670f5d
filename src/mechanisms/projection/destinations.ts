/** Where a connection, a message or a question for a name goes, seen from a scope. */
import type { EffectEvent } from "../../core/isolation/effect-trace.ts";
import { parseAddress, sharesPrefix, type InternetAddress } from "../../core/isolation/internet-address.ts";
import {
  canonicalHost,
  matchesDestination,
  matchesPath,
  parseDestination,
} from "../../core/isolation/scope-patterns.ts";
import type { Grounds } from "./grounds.ts";

type Block = { readonly address: InternetAddress; readonly prefix: number };

function block(text: string, prefix: number): Block {
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`${text} is not an address`);
  return { address, prefix };
}

/** The loopback of IPv6 alone, not that of IPv4 in its spelling. */
const tried: readonly Block[] = [block("::1", 128)];
const loopback: readonly Block[] = [block("127.0.0.0", 8), block("::1", 128)];

/** Addresses that only the broker gives out and only the broker answers (RFC 2544): its own decision comes with them. */
const brokered = block("198.18.0.0", 15);
const resolver = block("198.18.0.1", 32);

const unspecified: readonly Block[] = [block("0.0.0.0", 32), block("::", 128)];

/** Addresses and names at which clouds hand keys to any caller from inside. */
const metadataAddresses: readonly Block[] = [
  ...["169.254.169.254", "100.100.100.200", "168.63.129.16"].map((text) => block(text, 32)),
  block("fd00:ec2::254", 128),
];
const metadataNames = new Set(["metadata.google.internal", "metadata.goog", "instance-data.ec2.internal"]);

/** Addresses read lately: a trace asks about the same few many times. */
const parsedLately = new Map<string, InternetAddress | undefined>();
const parsedLatelyMax = 256;

function addressIn(text: string): InternetAddress | undefined {
  if (parsedLately.has(text)) return parsedLately.get(text);
  if (parsedLately.size >= parsedLatelyMax) parsedLately.clear();
  const parsed = parseAddress(text);
  parsedLately.set(text, parsed);
  return parsed;
}

function lies(address: string | undefined, blocks: readonly Block[]): boolean {
  const parsed = address === undefined ? undefined : addressIn(address);
  return parsed !== undefined && blocks.some((one) => sharesPrefix(one.address, parsed, one.prefix));
}

export function isLoopback({ address, domain }: EffectEvent): boolean {
  if (address !== undefined) return lies(address, loopback);
  const name = domain === undefined ? undefined : canonicalHost(domain);
  return name === "localhost" || name?.endsWith(".localhost") === true || lies(domain, loopback);
}

/**
 * An attempt at a service of this machine that the server's own network does not have: nothing was reached, and yet it
 * was looked for. `::1` is not meant: libraries try it first and take the other address then.
 */
export function looksForLoopback(event: EffectEvent, grounds: Grounds): boolean {
  const { action, transport, outcome, address, grade } = event;
  const connects = (action === "net-connect" || action === "net-send") && transport !== "unix" && grade !== "broker";
  if (!connects || outcome === "success" || !isLoopback(event) || lies(address, tried)) return false;
  return hasOwnNetwork(grounds) && !isExplicit(event, grounds);
}

export function isEverywhere({ address }: EffectEvent): boolean {
  return address === undefined || lies(address, unspecified);
}

/** The server has a network of its own, whose loopback no other program shares. */
export function hasOwnNetwork({ trace, order }: Grounds): boolean {
  return (trace.tier === "A" || trace.tier === "A-") && order.scope.net.mode !== "open";
}

/** A connection as the server sees it, of which the broker tells where it went. */
export function isBrokered(event: EffectEvent, grounds: Grounds): boolean {
  if (!trustsBroker(grounds) || !lies(event.address, [brokered]) || event.domain !== undefined) return false;
  // Where nothing may be reached, asking the broker is an attempt as any other, but for the name that it was asked.
  return grounds.order.scope.net.mode === "list" || isToldQuestion(event, grounds);
}

/** A question for a name on its way; the broker's event of it says which, and counts by itself. */
function isToldQuestion({ address, port }: EffectEvent, { trace }: Grounds): boolean {
  if (port !== 53 || !lies(address, [resolver])) return false;
  return trace.events.some(({ action, grade }) => action === "dns-query" && grade === "broker");
}

/** Only in the best tier does every packet end at a broker. */
function trustsBroker(grounds: Grounds): boolean {
  return grounds.trace.tier === "A" && hasOwnNetwork(grounds);
}

/** The broker itself let it pass, so some call under way had it granted. */
export function wasLetPass({ grade, outcome }: EffectEvent, grounds: Grounds): boolean {
  return grade === "broker" && outcome === "success" && trustsBroker(grounds);
}

/**
 * What the server sent, and only the broker can have passed on: datagrams leave a socket without an error, wherever they are
 * dropped. What the broker lets pass it tells itself.
 */
export function endedAtBroker({ action, grade, transport }: EffectEvent, grounds: Grounds): boolean {
  const sends = action === "net-connect" || action === "net-send" || action === "dns-query";
  return sends && transport !== "unix" && grade !== "broker" && trustsBroker(grounds);
}

/** True iff the scope names where the event goes. */
export function namesDestination(event: EffectEvent, grounds: Grounds): boolean {
  const { order, trace, judgedDestinations } = grounds;
  if (event.transport === "unix")
    return order.scope.sockets.some((one) => matchesPath(one, event.path ?? "", trace.places));
  if (isExplicit(event, grounds)) return true;
  if (isMetadata(event)) return false;
  if (order.scope.net.mode === "open") return true;
  // Only the broker knows the grants of a judge and lets them pass; a hint of the same destination proves none.
  return judgedDestinations && event.grade === "broker" && event.outcome !== "denied" && trustsBroker(grounds);
}

/** Answers by destination, for as long as the trace is judged: reading a name costs more than all else together. */
const explicitKnown = new WeakMap<Grounds, Map<string, boolean>>();

function isExplicit(event: EffectEvent, grounds: Grounds): boolean {
  let known = explicitKnown.get(grounds);
  if (known === undefined) explicitKnown.set(grounds, (known = new Map()));
  const { domain, address, port, action } = event;
  const key = `${action === "dns-query"} ${port} ${domain === undefined} ${domain ?? address}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const found = grounds.allow.some((pattern) => matches(pattern, event));
  known.set(key, found);
  return found;
}

function matches(pattern: string, event: EffectEvent): boolean {
  const { domain, address, port, action } = event;
  // A question for a name has no port: it may be asked for any destination with that name.
  const at = action === "dns-query" || port === undefined ? parseDestination(pattern)?.port : port;
  if (at === undefined) return false;
  // A name that was granted leads where it leads; the broker has looked at the address.
  if (domain !== undefined) return matchesDestination(pattern, domain, at);
  if (address === undefined) return false;
  return (
    matchesDestination(pattern, address, at) ||
    (lies(address, loopback) && matchesDestination(pattern, "localhost", at))
  );
}

function isMetadata({ address, domain }: EffectEvent): boolean {
  const name = domain === undefined ? undefined : canonicalHost(domain);
  return (
    lies(address, metadataAddresses) ||
    lies(domain, metadataAddresses) ||
    (name !== undefined && metadataNames.has(name))
  );
}

/** Destination in words. */
export function destinationOf({ domain, address, port, path }: EffectEvent): string {
  const host = domain ?? address ?? path ?? "somewhere";
  return port === undefined ? host : `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Destinations permitted now: by the scope of the server, and by the calls in flight. */
import { parseAddress } from "../../core/isolation/internet-address.ts";
import { canonicalHost, matchesDestination, parseDestination } from "../../core/isolation/scope-patterns.ts";
import { guarded } from "./address-guard.ts";

type Pattern = { readonly text: string; readonly port: number };

export type Destination = {
  /** A name in its canonical form, or an address. */
  readonly host: string;
  readonly port: number;
};

/** Reason why a destination may not be reached now: the id of a rule, used in evidence. */
export type Refusal =
  /** A call could be granted the destination, but none of the calls in flight is. */
  | "egress-not-granted-now"
  /** An address that no pattern names. */
  | "egress-address-not-listed"
  | "egress-not-in-scope";

export class Permissions {
  readonly #scope: readonly Pattern[];
  readonly #tools: readonly Pattern[];
  readonly #everywhere: ReadonlySet<number>;
  readonly #calls = new Map<string, readonly Pattern[]>();

  /**
   * `tools`: all destinations that a call could be granted, to tell "not now" from "never". `everywhere`: ports at
   * which every public name and address may be reached, for a server that is only watched.
   */
  constructor(scope: readonly string[], tools: readonly string[], everywhere: readonly number[] = []) {
    this.#scope = scope.flatMap(pattern);
    this.#tools = tools.flatMap(pattern);
    this.#everywhere = new Set(everywhere);
  }

  grant(call: string, destinations: readonly string[]): void {
    this.#calls.set(call, [...(this.#calls.get(call) ?? []), ...destinations.flatMap(pattern)]);
  }

  revoke(call: string): void {
    this.#calls.delete(call);
  }

  allows(destination: Destination): boolean {
    const { host, port } = destination;
    return this.names(destination) || (this.#everywhere.has(port) && isPublic(host));
  }

  /** True iff a pattern names the destination: only that opens a guarded address. */
  names({ host, port }: Destination): boolean {
    return this.#current().some((one) => one.port === port && matchesDestination(one.text, host, port));
  }

  /** True iff the name may be reached on some port, so that it may be resolved. */
  allowsName(name: string): boolean {
    if (this.#everywhere.size > 0 && isPublic(name)) return true;
    return this.#current().some((one) => matchesDestination(one.text, name, one.port));
  }

  refusal({ host, port }: Destination): Refusal {
    const some = (one: Pattern): boolean => one.port === port && matchesDestination(one.text, host, port);
    return this.#why(host, this.#tools.some(some));
  }

  refusalOfName(name: string): Refusal {
    return this.#why(
      name,
      this.#tools.some((one) => matchesDestination(one.text, name, one.port)),
    );
  }

  #why(host: string, possible: boolean): Refusal {
    if (possible) return "egress-not-granted-now";
    return parseAddress(host) === undefined ? "egress-not-in-scope" : "egress-address-not-listed";
  }

  #current(): readonly Pattern[] {
    return [...this.#scope, ...[...this.#calls.values()].flat()];
  }
}

/** The canonical spelling of a host, used for comparison and storage; undefined if `host` is not a valid host. */
export function canonicalDestination(host: string): string | undefined {
  return parseAddress(host) === undefined ? canonicalHost(host) : host;
}

/** Decided by the text alone; the addresses of a name are checked when a connection is made. */
function isPublic(host: string): boolean {
  if (parseAddress(host) !== undefined) return guarded(host, []) === undefined;
  return host !== "localhost" && !host.endsWith(".localhost");
}

function pattern(text: string): readonly Pattern[] {
  const read = parseDestination(text);
  return read === undefined ? [] : [{ text, port: read.port }];
}

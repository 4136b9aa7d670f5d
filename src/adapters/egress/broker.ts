/**
 * The only way out of a server's network namespace. Every address leads here; a destination that is not allowed at this
 * moment gets no name, no connection and no byte, and every attempt is recorded.
 *
 * Order of a connection: known by name or address → allowed now → resolved and guarded → connected → first bytes agree
 * with the name → bytes within the quotas. The first step that objects ends it.
 */
import { parseAddress } from "../../core/isolation/internet-address.ts";
import type { Broker } from "../projection/parts.ts";
import { type Arrival, receiveArrivals } from "./arrivals.ts";
import { ByteQuota } from "./byte-quota.ts";
import { DnsStub, type NameAnswer } from "./dns-stub.ts";
import { floodGate, type FloodLimits, floodLimits } from "./flood.ts";
import { EgressRecord, type Seen } from "./egress-record.ts";
import {
  claimsHttp,
  firstBytesMax,
  inspectFirstBytes,
  type Inspection,
  mustSpeakFirst,
  objectionTo,
} from "./first-bytes.ts";
import { readFirst } from "./first-flight.ts";
import { parseAuthority } from "./http-head.ts";
import { closeDatagrams, type Listeners } from "./listeners.ts";
import { Passage } from "./passage.ts";
import { canonicalDestination, type Destination, Permissions } from "./permissions.ts";
import { isGranted, reach, type Reached, type Surroundings, systemSurroundings } from "./reach.ts";
import { FirstLine, RequestStream } from "./request-stream.ts";
import { VirtualNames } from "./virtual-names.ts";

export type BrokerOptions = Partial<Surroundings> & {
  readonly listeners: Listeners;
  /** Destinations (`host:port`) of the server's scope, reachable at any time. */
  readonly allow: readonly string[];
  /** All destinations that a call could be granted, to tell "not now" from "never" in evidence. */
  readonly tools?: readonly string[];
  /** Ports at which every public name may be reached: the server is only watched (`learnedPorts`). */
  readonly everywhere?: readonly number[];
  readonly callBytesMax: number;
  readonly serverBytesMax: number;
  /** For tests: what counts as a flood. */
  readonly perSecondMax?: FloodLimits;
  /** Monotonic ms. */
  readonly now: () => number;
};

/**
 * Opens the broker, which answers at once. `grant` also marks the begin of a call, so it is called for every call, even
 * without destinations: the byte quota of a call counts from there.
 */
export function openBroker(options: BrokerOptions): Broker {
  return new EgressBroker(options);
}

class EgressBroker implements Broker {
  failure: string | undefined;
  readonly #permissions: Permissions;
  readonly #quota: ByteQuota;
  readonly #surroundings: Surroundings;
  readonly #record: EgressRecord;
  readonly #names = new VirtualNames();
  readonly #ports: ReadonlySet<number>;
  readonly #passages = new Set<Passage>();
  readonly #stop: () => void;

  constructor(options: BrokerOptions) {
    this.#permissions = new Permissions(options.allow, options.tools ?? [], options.everywhere);
    this.#quota = new ByteQuota(options.callBytesMax, options.serverBytesMax);
    this.#surroundings = {
      resolver: options.resolver ?? systemSurroundings.resolver,
      connect: options.connect ?? systemSurroundings.connect,
      ownAddresses: options.ownAddresses ?? systemSurroundings.ownAddresses,
    };
    this.#record = new EgressRecord(options.now);
    this.#ports = new Set(options.listeners.tcp.keys());
    const { perSecondMax = floodLimits } = options;
    const gate = (max: number, what: string): (() => boolean) => floodGate(max, options.now, () => this.#flooded(what));
    const questions = gate(perSecondMax.questions, "questions for names");
    const stub = new DnsStub((name) => this.#answer(name), this.#record, questions);
    stub.serveDatagrams(options.listeners.dns);
    options.listeners.dns.on("error", () => this.#fail("answering for names failed"));
    const stopArrivals = receiveArrivals(options.listeners, {
      admits: gate(perSecondMax.connections, "connections"),
      arrived: (arrival) => void this.#serve(arrival).catch(() => this.#fail("a connection could not be served")),
      dnsStream: (client) => stub.serveStream(client),
      turnedAway: (port, detail) =>
        this.#record.add({ action: "net-connect", outcome: "denied", transport: "tcp", port, detail }),
      failed: (reason) => this.#fail(reason),
    });
    let stopped = false;
    this.#stop = () => {
      if (stopped) return;
      stopped = true;
      closeDatagrams(options.listeners.dns);
      stopArrivals();
      for (const passage of this.#passages) passage.cut("reset");
    };
  }

  grant(call: string, destinations: readonly string[]): void {
    this.#quota.begin(call);
    this.#permissions.grant(call, destinations);
  }

  revoke(call: string): void {
    this.#quota.end(call);
    this.#permissions.revoke(call);
    for (const passage of this.#passages) {
      const { destination, address, special } = passage;
      // A name may stay allowed while the guarded address behind it was granted to the call alone.
      const open = !special || isGranted(address, destination.port, this.#permissions);
      if (!open || !this.#permissions.allows(destination)) passage.cut();
    }
  }

  nameUnheard(address: string, port: number): string | undefined {
    return this.#ports.has(port) ? undefined : this.#names.nameOf(address);
  }

  drain(): ReturnType<Broker["drain"]> {
    for (const passage of this.#passages) this.#recordSent(passage);
    return this.#record.drain();
  }

  close(): void {
    this.#stop();
  }

  #flooded(what: string): void {
    this.#record.add({ action: "limit-hit", outcome: "denied", detail: `egress-flood ${what}` });
    this.#fail(`it was flooded with ${what}`);
  }

  /** After its listeners failed the broker must not serve a part of the network. */
  #fail(reason: string): void {
    this.failure ??= `The server's network broke: ${reason}. Restart the server.`;
    this.#stop();
  }

  #answer(name: string): NameAnswer {
    if (!this.#permissions.allowsName(name)) {
      return { kind: "refused", rule: this.#permissions.refusalOfName(name) };
    }
    if (name === "localhost") return { kind: "address", address: "127.0.0.1" };
    const address = this.#names.addressOf(name);
    return address === undefined ? { kind: "full" } : { kind: "address", address };
  }

  async #serve(arrival: Arrival): Promise<void> {
    const destination = this.#destinationOf(arrival);
    const seen = { action: "net-connect", transport: "tcp", ...described(destination) } as const;
    const rule = this.#objection(destination);
    if (rule !== undefined) {
      this.#record.add({ ...seen, outcome: "denied", detail: rule });
      return arrival.refuse("denied");
    }
    const reached = await reach(destination, this.#permissions, this.#surroundings);
    if (!reached.ok) {
      const { outcome, rule: detail, address } = reached.error;
      this.#record.add({ ...seen, ...(address === undefined ? {} : { address }), outcome, detail });
      return arrival.refuse(outcome === "denied" ? "denied" : "unreachable");
    }
    // Meanwhile the call may have ended, or the client may have gone.
    const gone = arrival.client.destroyed;
    const late = gone ? "egress-client-gone" : this.#objection(destination);
    if (late !== undefined) {
      reached.value.socket.destroy();
      const outcome = gone ? "failed" : "denied";
      this.#record.add({ ...seen, address: reached.value.address, outcome, detail: late });
      return arrival.refuse("denied");
    }
    await this.#pass(arrival, destination, reached.value);
  }

  async #pass(arrival: Arrival, destination: Destination, reached: Reached): Promise<void> {
    const { socket, address, special } = reached;
    const seen = { action: "net-connect", transport: "tcp", ...described(destination), address } as const;
    const { client } = arrival;
    let requests: RequestStream | FirstLine | undefined;
    const judge = (bytes: Buffer): Buffer | undefined => {
      const verdict = requests?.take(bytes) ?? { pass: bytes };
      if ("pass" in verdict) return verdict.pass;
      this.#record.add({ ...meant(seen, verdict.asked), outcome: "denied", detail: verdict.rule });
      return undefined;
    };
    const passage: Passage = new Passage(
      { client, upstream: socket, destination, address, special },
      { take: (bytes) => this.#take(bytes, passage), judge, closed: () => this.#forget(passage) },
    );
    this.#passages.add(passage);
    arrival.accept();
    const strict = mustSpeakFirst(destination);
    if (!strict) this.#record.add({ ...seen, outcome: "success" });
    const first = await readFirst(client, (bytes) => decided(inspectFirstBytes(destination, bytes)), {
      bytesMax: firstBytesMax,
      already: arrival.early,
      hurry: strict,
    });
    switch (first.kind) {
      case "given-up":
        if (strict || first.bytes.length > 0)
          this.#record.add({ ...seen, outcome: "failed", detail: "egress-no-first-bytes" });
        return passage.cut("reset");
      case "ended":
        if (!strict) return passage.open(first.bytes, true);
        this.#record.add({ ...seen, outcome: "failed", detail: "egress-no-first-bytes" });
        return passage.cut();
      case "settled":
        if (first.value.kind === "refused") {
          this.#record.add({ ...meant(seen, first.value.asked), outcome: "denied", detail: first.value.rule });
          return passage.cut("reset");
        }
        if (strict) this.#record.add({ ...seen, outcome: "success", ...noted(first.value) });
        requests = followed(first.value, destination);
        return passage.open(first.bytes, false);
    }
  }

  /** The destination that the server means: the name behind a virtual address, or the host that it asked for. */
  #destinationOf({ host, port }: Arrival): Destination {
    const name = this.#names.nameOf(host);
    if (name !== undefined) return { host: name, port };
    const loopback = host.startsWith("127.") && this.#permissions.allows({ host: "localhost", port });
    return { host: loopback ? "localhost" : (canonicalDestination(host) ?? host), port };
  }

  #objection(destination: Destination): string | undefined {
    if (this.#quota.exhausted !== undefined) return this.#quota.exhausted;
    return this.#permissions.allows(destination) ? undefined : this.#permissions.refusal(destination);
  }

  /** Beyond a quota nothing passes, and everything that is open is cut: which connection to blame cannot be known. */
  #take(bytes: number, passage: Passage): boolean {
    const before = this.#quota.exhausted;
    const rule = this.#quota.take(bytes);
    if (rule === undefined) return true;
    if (before === undefined) {
      const seen: Seen = { action: "limit-hit", outcome: "denied", detail: rule, ...described(passage.destination) };
      this.#record.add({ ...seen, address: passage.address });
    }
    for (const one of this.#passages) one.cut("reset");
    return false;
  }

  #recordSent(passage: Passage): void {
    const bytes = passage.takeSent();
    if (bytes === 0) return;
    const seen = { ...described(passage.destination), address: passage.address, bytes } as const;
    this.#record.add({ action: "net-send", outcome: "success", transport: "tcp", ...seen });
  }

  #forget(passage: Passage): void {
    this.#recordSent(passage);
    this.#passages.delete(passage);
  }
}

type Connect = { readonly action: "net-connect"; readonly transport: "tcp"; readonly port: number };

/** The connection as the host that was asked for on it, where that is another than the granted one. */
function meant<T extends Connect>(seen: T, asked: string | undefined): T | Connect {
  if (asked === undefined) return seen;
  const { host, port } = parseAuthority(asked) ?? { host: asked, port: undefined };
  const { action, transport } = seen;
  return { action, transport, ...described({ host: canonicalDestination(host) ?? host, port: port ?? seen.port }) };
}

function decided(inspection: Inspection): Exclude<Inspection, { kind: "more" }> | undefined {
  return inspection.kind === "more" ? undefined : inspection;
}

/** What reads the bytes that follow the first ones. */
function followed(
  { follow }: Extract<Inspection, { kind: "pass" }>,
  destination: Destination,
): RequestStream | FirstLine | undefined {
  if (follow === undefined) return undefined;
  return follow === "requests"
    ? new RequestStream((head) => objectionTo(destination, head))
    : new FirstLine(claimsHttp);
}

function noted({ note }: Extract<Inspection, { kind: "pass" }>): { readonly detail?: string } {
  return note === undefined ? {} : { detail: note };
}

function described({ host, port }: Destination): { readonly domain?: string; readonly address?: string; port: number } {
  return parseAddress(host) !== undefined ? { address: host, port } : { domain: host, port };
}

/**
 * A network without any way out, for a trial of an untrusted server: every name has an address, every request gets an
 * empty answer, and everything that the server tried to send is on record. No byte leaves this machine.
 */
import { parseAddress } from "../../core/isolation/internet-address.ts";
import { printable } from "../net/printable.ts";
import type { Broker } from "../projection/parts.ts";
import { type Arrival, receiveArrivals } from "./arrivals.ts";
import { parseClientHello } from "./client-hello.ts";
import { DnsStub, type NameDecision } from "./dns-stub.ts";
import { floodGate, floodLimits } from "./flood.ts";
import { EgressRecord } from "./egress-record.ts";
import { readFirst } from "./first-flight.ts";
import { parseRequestHead, type RequestHead } from "./http-head.ts";
import { closeDatagrams, type Listeners } from "./listeners.ts";
import { canonicalDestination } from "./permissions.ts";
import { VirtualNames } from "./virtual-names.ts";

/** Bytes of one request that are read. */
const payloadBytesMax = 65_536;
/** Characters of a payload that are kept as evidence. */
const excerptCharactersMax = 480;

const emptyAnswer =
  "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
/** How long a client may take to read its answer. */
const drainWaitMsMax = 1_000;
/** Alert `internal_error` (RFC 8446 section 6): no certificate of the sink would be accepted. */
const tlsAlert = Uint8Array.from([21, 3, 3, 0, 2, 2, 80]);

export type SinkOptions = {
  readonly listeners: Listeners;
  /** Monotonic ms. */
  readonly now: () => number;
};

type Payload =
  | { readonly kind: "tls"; readonly serverName: string | undefined }
  | { readonly kind: "request"; readonly head: RequestHead }
  | { readonly kind: "other" };

/** Opens the sink, which answers at once. Grants have no effect on it. */
export function openSink({ listeners, now }: SinkOptions): Broker {
  const record = new EgressRecord(now);
  const names = new VirtualNames();
  let failure: string | undefined;
  const gate = (max: number, what: string): (() => boolean) =>
    floodGate(max, now, () => fail(`it was flooded with ${what}`));
  const answer: NameDecision = (name) => {
    if (name === "localhost") return { kind: "address", address: "127.0.0.1" };
    const address = names.addressOf(name);
    return address === undefined ? { kind: "full" } : { kind: "address", address };
  };
  const stub = new DnsStub(answer, record, gate(floodLimits.questions, "questions for names"));
  stub.serveDatagrams(listeners.dns);
  const stopArrivals = receiveArrivals(listeners, {
    admits: gate(floodLimits.connections, "connections"),
    arrived: (arrival) => {
      const host = names.nameOf(arrival.host) ?? arrival.host;
      swallow(arrival, host, record).catch(() => fail("a connection could not be served"));
    },
    dnsStream: (client) => stub.serveStream(client),
    turnedAway: (port, detail) =>
      record.add({ action: "net-connect", outcome: "denied", transport: "tcp", port, detail }),
    failed: (reason) => fail(reason),
  });
  listeners.dns.on("error", () => fail("answering for names failed"));
  const close = (): void => {
    if (closed) return;
    closed = true;
    closeDatagrams(listeners.dns);
    stopArrivals();
  };
  let closed = false;
  const fail = (reason: string): void => {
    failure ??= `The server's network broke: ${reason}. Restart the server.`;
    close();
  };
  return {
    grant: () => {},
    revoke: () => {},
    drain: () => record.drain(),
    get failure() {
      return failure;
    },
    close,
  };
}

async function swallow(arrival: Arrival, host: string, record: EgressRecord): Promise<void> {
  const { client, port } = arrival;
  const where = parseAddress(host) === undefined ? { domain: canonicalDestination(host) ?? host } : { address: host };
  const seen = { transport: "tcp", port, ...where } as const;
  record.add({ ...seen, action: "net-connect", outcome: "success" });
  arrival.accept();
  const read = await readFirst(client, recognise, { bytesMax: payloadBytesMax, already: arrival.early });
  const payload = read.kind === "settled" ? read.value : ({ kind: "other" } as const);
  if (read.bytes.length > 0) {
    const detail = excerpt(payload, read.bytes);
    record.add({ ...seen, action: "net-send", outcome: "success", bytes: read.bytes.length, detail });
  }
  if (read.kind === "given-up") return void client.destroy();
  client.end(payload.kind === "request" ? emptyAnswer : payload.kind === "tls" ? tlsAlert : "");
  // Further bytes are of no interest, and leaving them unread would lose the answer.
  client.on("data", () => {}).on("end", () => client.destroySoon());
  client.setTimeout(drainWaitMsMax, () => client.destroy());
  client.resume();
}

function recognise(bytes: Buffer): Payload | undefined {
  const hello = parseClientHello(bytes);
  if (hello.kind === "more") return undefined;
  if (hello.kind === "hello") return { kind: "tls", serverName: hello.serverName };
  const parsed = parseRequestHead(bytes);
  if (parsed.kind === "more") return undefined;
  if (parsed.kind !== "head") return { kind: "other" };
  return isWhole(bytes, parsed.head) ? { kind: "request", head: parsed.head } : undefined;
}

/** True iff the announced body has arrived as well, up to the limit of bytes that are read. */
function isWhole(bytes: Buffer, head: RequestHead): boolean {
  if (bytes.length >= payloadBytesMax) return true;
  const fields = bytes.toString("latin1", 0, head.bytes);
  if (/^transfer-encoding:/im.test(fields)) return bytes.subarray(-5).equals(Buffer.from("0\r\n\r\n"));
  const length = Number(/^content-length:[ \t]*(\d{1,15})[ \t]*\r$/im.exec(fields)?.[1] ?? 0);
  return bytes.length >= Math.min(head.bytes + length, payloadBytesMax);
}

/** Excerpt of a payload for the operator: the request with its body, the TLS server name, or the first bytes. */
function excerpt(payload: Payload, bytes: Buffer): string {
  switch (payload.kind) {
    case "request": {
      const { method, target, host = "", bytes: start } = payload.head;
      return printable(`${method} ${host}${target} ${text(bytes.subarray(start))}`, excerptCharactersMax);
    }
    case "tls":
      return `client-hello ${payload.serverName ?? ""}`.trim();
    case "other":
      return printable(text(bytes), excerptCharactersMax);
  }
}

function text(bytes: Buffer): string {
  return bytes.toString("utf8", 0, excerptCharactersMax * 4);
}

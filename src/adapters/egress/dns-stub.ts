/**
 * Answers questions for names, over datagrams and over streams (RFC 7766), from the destinations that are permitted
 * now.
 */
import type { RemoteInfo, Socket as DatagramSocket } from "node:dgram";
import type { Socket } from "node:net";
import { printable } from "../net/printable.ts";
import {
  answerMalformed,
  answerQuery,
  type DnsQuery,
  noError,
  noSuchName,
  parseQuery,
  queryBytesMax,
  serverFailure,
  typeA,
  typeAny,
} from "./dns.ts";
import type { EgressRecord } from "./egress-record.ts";

/** The address that stands for a name, or the rule by which it has none. */
export type NameAnswer =
  | { readonly kind: "address"; readonly address: string }
  | { readonly kind: "refused"; readonly rule: string }
  | { readonly kind: "full" };

export type NameDecision = (name: string) => NameAnswer;

/** Silence after which a stream for questions ends, and questions over one stream. */
const streamIdleMsMax = 10_000;
const streamQueriesMax = 256;
const shownCharactersMax = 253;

export class DnsStub {
  readonly #decide: NameDecision;
  readonly #record: EgressRecord;
  readonly #admits: () => boolean;

  /** `admits` is asked for each question, whatever way it came; false leaves it without an answer. */
  constructor(decide: NameDecision, record: EgressRecord, admits: () => boolean) {
    this.#decide = decide;
    this.#record = record;
    this.#admits = admits;
  }

  serveDatagrams(socket: DatagramSocket): void {
    socket.on("message", (bytes: Buffer, from: RemoteInfo) => {
      if (!this.#admits()) return;
      const answer = this.#answer(bytes, "udp");
      // A full buffer loses the answer, as datagrams may; the client asks again.
      if (answer !== undefined) socket.send(answer, from.port, from.address, () => {});
    });
  }

  /** Each question and each answer goes behind its length in two bytes. */
  serveStream(client: Socket): void {
    let waiting = Buffer.alloc(0);
    let queries = 0;
    client.setTimeout(streamIdleMsMax, () => client.destroy());
    client.on("error", () => client.destroy());
    client.on("end", () => client.end());
    client.on("data", (bytes: Buffer) => {
      waiting = Buffer.concat([waiting, bytes]);
      while (waiting.length >= 2) {
        const length = waiting.readUInt16BE(0);
        if (length > queryBytesMax || queries >= streamQueriesMax) return void client.destroy();
        if (waiting.length < 2 + length) return;
        if (!this.#admits()) return void client.destroy();
        queries += 1;
        const answer = this.#answer(waiting.subarray(2, 2 + length), "tcp");
        if (answer === undefined) return void client.destroy();
        waiting = waiting.subarray(2 + length);
        // For a client that asks without reading answers the gateway would have to buffer them.
        const head = Buffer.alloc(2);
        head.writeUInt16BE(answer.byteLength);
        if (!client.write(Buffer.concat([head, answer]))) return void client.destroy();
      }
    });
    client.resume();
  }

  #answer(bytes: Uint8Array, transport: "udp" | "tcp"): Uint8Array | undefined {
    const parsed = parseQuery(bytes);
    if (parsed.kind === "malformed") {
      // Bytes on this port that are not a valid question may be an attempt to leak data: their printable part is
      // recorded.
      const domain = printable(Buffer.from(bytes).toString("latin1"), shownCharactersMax);
      this.#record.add({ action: "dns-query", outcome: "denied", transport, domain, detail: "egress-malformed-query" });
      return parsed.id === undefined ? undefined : answerMalformed(parsed.id);
    }
    return this.#answerQuery(parsed.query, transport);
  }

  #answerQuery(query: DnsQuery, transport: "udp" | "tcp"): Uint8Array {
    const decided = this.#decide(query.name);
    const seen = { action: "dns-query", transport, domain: query.name } as const;
    switch (decided.kind) {
      case "refused":
        this.#record.add({ ...seen, outcome: "denied", detail: decided.rule });
        return answerQuery(query, noSuchName, []);
      case "full":
        this.#record.add({ ...seen, outcome: "denied", detail: "egress-names-max" });
        return answerQuery(query, serverFailure, []);
      case "address": {
        this.#record.add({ ...seen, outcome: "success" });
        // No name has records of other types, IPv6 addresses included, since there is no route for IPv6.
        const wanted = query.type === typeA || query.type === typeAny;
        return answerQuery(query, noError, wanted ? [decided.address.split(".").map(Number)] : []);
      }
    }
  }
}

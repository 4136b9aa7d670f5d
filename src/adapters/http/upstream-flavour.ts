import type { Message, RequestId, Revision } from "../../wire/message.ts";
import type { HeaderTable } from "./header-table.ts";
import type { HttpLink, LinkAnswer } from "./http-link.ts";
import type { UpstreamLimits } from "./http-limits.ts";
import { SseParser } from "./sse-parser.ts";
import type { UpstreamDelivery } from "./upstream-delivery.ts";

/** One way of talking MCP over HTTP to a server. */
export interface UpstreamFlavour {
  send(message: Message): void;
  abandon(id: RequestId): void;
  negotiated(revision: Revision): void;
  /** Ends the session with the server; the link is destroyed afterwards. */
  leave(): Promise<void>;
}

/** The parts that every flavour needs. */
export type FlavourParts = {
  readonly url: URL;
  readonly link: HttpLink;
  readonly delivery: UpstreamDelivery;
  readonly headers: HeaderTable;
  readonly limits: UpstreamLimits;
  /** Aborted when the connection ends. */
  readonly ended: AbortSignal;
  /** The sentence for an answer with status 401 or 403. */
  readonly refused: (status: 401 | 403, headers: Readonly<Record<string, string>>) => string;
  /** Ends the connection for a reason. */
  readonly close: (reason: string) => void;
};

/** State that a reader of an event stream collects for a resumption. */
export type StreamPlace = { lastEventId: string | undefined; retryMs: number | undefined };

/**
 * Hands on the messages of an event stream until it ends or is cut. `place` is kept up to date for a resumption;
 * `other` gets events with a name of their own.
 */
export async function readEvents(
  answer: LinkAnswer,
  how: {
    readonly delivery: UpstreamDelivery;
    readonly relatedTo: RequestId | undefined;
    readonly place: StreamPlace;
    readonly other?: (name: string, data: Uint8Array) => void;
  },
): Promise<void> {
  const { delivery, relatedTo, place, other } = how;
  const parser = new SseParser(delivery.messageBytesMax);
  const parts = answer.parts();
  for (;;) {
    // A cut and an end are treated alike: the caller knows which requests still have no answer.
    const part = await parts.next().catch(() => undefined);
    if (part === undefined || part.done === true) return;
    for (const event of parser.push(part.value)) {
      if (event.kind === "retry") {
        place.retryMs = event.delayMs;
        continue;
      }
      if (event.id !== undefined && event.id.length <= 1_024) place.lastEventId = event.id;
      if (event.kind === "oversize") delivery.oversize(event.head, event.tail, relatedTo);
      else if (event.name !== "message") other?.(event.name, event.data);
      // An event without data only marks a place to resume from.
      else if (event.data.length > 0) delivery.bytes(event.data, relatedTo);
    }
  }
}

/** One sentence for a refusal of our own credentials. It is not passed on as such: the client cannot act on it. */
export function credentialsRefused(url: URL, status: number): string {
  return `The server at ${url.host} refused the gateway's credentials (${status}). Correct the headers configured for it.`;
}

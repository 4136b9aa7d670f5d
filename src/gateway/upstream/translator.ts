/** A server of the other era as its client sees it, and what a translation between eras may do. */
import type { JsonObject } from "../../core/json.ts";
import type { Message, RequestId, RequestMessage } from "../../wire/message.ts";
import type { Answered } from "../ports/conversation.ts";

/** A server of the other era, seen as one of the client's era. */
export interface Translator {
  fromClient(message: Message): void;
  fromServer(message: Message, relatedTo: RequestId | undefined): void;
  abandoned(id: RequestId): void;
  /** The server will not answer this request; gives the id under which the client waits for it, if it does. */
  lost(id: RequestId): RequestId | undefined;
}

/** The ports through which a translator acts. */
export type TranslatorPorts = {
  readonly toServer: (message: Message) => void;
  readonly toClient: (message: Message, relatedTo?: RequestId) => void;
  readonly ask: (method: string, params: JsonObject | undefined, waitMs: number) => Promise<Answered | undefined>;
  readonly abandon: (id: RequestId) => void;
  /** A fresh id that no other request uses. */
  readonly nextId: () => string;
  /** As `UpstreamHandler` has them. */
  readonly runOf: (id: RequestId) => string | undefined;
  readonly unplaced: (question: RequestMessage, runs: readonly string[]) => void;
};

import type { JsonObject } from "../../../src/core/json.ts";
import type { Board } from "./board.ts";
import { createLegacy } from "./legacy.ts";
import { createModern, isModern } from "./modern.ts";
import { codes, failure, RpcFailure, type Outlet, type RpcMessage } from "./json-rpc.ts";

export type EraSupport = "legacy" | "modern" | "both";

export type Settings = { readonly era: EraSupport; readonly pageSize: number };

/** One client of the fixture, whatever the transport. */
export type Conversation = {
  /** Handles one message; what answers it goes to the outlet. Resolves when the answer was sent. */
  readonly receive: (message: RpcMessage, outlet: Outlet) => Promise<void>;
  readonly close: () => void;
  /** Revision agreed on in the handshake, if there was one. */
  readonly revision: () => string | undefined;
};

/**
 * Serves both eras on one stream: a request that carries its own protocol version is modern, everything else legacy.
 * `unsolicited` takes what belongs to no request.
 */
export function createConversation(settings: Settings, board: Board, unsolicited: Outlet): Conversation {
  const legacy = createLegacy(settings, board, unsolicited);
  const modern = createModern(settings, board);
  return {
    receive: async (message, outlet) => {
      const params: JsonObject = message.params ?? {};
      const wantsModern = isModern(message.method, params) || settings.era === "modern";
      // A cancellation names a request of either era and carries no version.
      if (message.method === "notifications/cancelled") {
        legacy.cancel(params);
        modern.cancel(params);
      } else if (wantsModern && settings.era !== "legacy") await modern.receive(message, outlet);
      else await legacy.receive(message, outlet);
    },
    close: () => {
      legacy.close();
      modern.close();
    },
    revision: legacy.revision,
  };
}

/** Answer to a message that cannot be understood at all. */
export function unreadable(code: number, message: string): RpcMessage {
  return failure(null, new RpcFailure(code, message));
}

export const batchRefusal = unreadable(codes.invalidRequest, "Batches exist in revision 2025-03-26 only");

import type { ErrorMessage, RequestId } from "../../wire/message.ts";
import type { WireError } from "../../wire/wire-error.ts";

/** The error that replaces an answer which the gateway refused as malformed. */
export function malformedAnswer(id: RequestId, refused: WireError): ErrorMessage {
  const message = `The server's answer was refused. ${refused.message}`;
  return { kind: "error", id, error: { code: -32603, message } };
}

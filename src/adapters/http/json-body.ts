/**
 * The body of an answer that says that it is JSON: one message. Some servers send one message a line under that type and
 * leave the connection open; such a stream is noticed at its first message, since its end may never come.
 */
import { defaultWireLimits } from "../../wire/limits.ts";
import { parseMessage } from "../../wire/parse/parse.ts";
import type { LinkAnswer } from "./http-link.ts";

export type JsonBody =
  | { readonly kind: "whole"; readonly bytes: Uint8Array }
  /** More than one message, or one that is no answer. */
  | { readonly kind: "stream" }
  | { readonly kind: "large" }
  | { readonly kind: "cut" };

/** Bytes of a first line that are looked at before the body has ended. */
const firstLineBytesMax = 64 * 1024;

const lineFeed = 10;

export async function readJsonBody(answer: LinkAnswer, bytesMax: number): Promise<JsonBody> {
  const held: Uint8Array[] = [];
  let lengthBytes = 0;
  let looking = true;
  try {
    for await (const part of answer.parts()) {
      lengthBytes += part.length;
      held.push(part);
      if (lengthBytes > bytesMax) return given(answer, { kind: "large" });
      if (!looking || !part.includes(lineFeed)) continue;
      const start = lengthBytes <= firstLineBytesMax ? Buffer.concat(held) : new Uint8Array(0);
      looking = false;
      if (beginsStream(start)) return given(answer, { kind: "stream" });
    }
  } catch {
    return { kind: "cut" };
  }
  const only = held[0];
  const bytes = held.length === 1 && only !== undefined ? only : Buffer.concat(held);
  return { kind: "whole", bytes };
}

function given(answer: LinkAnswer, body: JsonBody): JsonBody {
  answer.discard();
  return body;
}

/** The first line is a whole message, and either no answer or not alone. */
function beginsStream(start: Uint8Array): boolean {
  const end = start.indexOf(lineFeed);
  const line = start.subarray(0, end);
  const frame = parseMessage(line, defaultWireLimits);
  if (!frame.ok || frame.value.kind !== "single") return false;
  const { kind } = frame.value.message;
  if (kind === "request" || kind === "notification") return true;
  return start.subarray(end).some((byte) => byte === 0x7b);
}

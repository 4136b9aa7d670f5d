import type { IncomingMessage } from "node:http";
import { err, ok, type Result } from "../../core/result.ts";
import { joined, keepPart } from "../../wire/parse/byte-parts.ts";
import type { HttpLimits } from "./http-limits.ts";

export type BodyFault = { readonly status: 408 | 413 | 415 | 503; readonly text: string };

const tooLarge: BodyFault = { status: 413, text: "The body is larger than this gateway accepts. Send less at once." };

/** Reads bodies within a cap for each and one for all, before anything is parsed. */
export class BodyReader {
  readonly #limits: HttpLimits;
  #heldBytes = 0;
  /** Bytes held by each user: one user may hold at most half of the total. */
  readonly #heldBy = new Map<string, number>();

  constructor(limits: HttpLimits) {
    this.#limits = limits;
  }

  /**
   * Reads the whole body that a user sends; `user` is empty for requests without identity. The caller answers a fault
   * with `connection: close`, because the rest of the body is still arriving.
   */
  async read(request: IncomingMessage, user: string): Promise<Result<Uint8Array, BodyFault>> {
    const encoding = request.headers["content-encoding"];
    if (encoding !== undefined && encoding !== "identity") {
      // Compressed bodies would need a cap on what they unpack to; no client sends them.
      return err({ status: 415, text: "Compressed bodies are not accepted. Send the body as it is." });
    }
    if (Number(request.headers["content-length"] ?? 0) > this.#limits.bodyBytesMax) return err(tooLarge);
    const parts: Uint8Array[] = [];
    let lengthBytes = 0;
    try {
      for await (const part of request) {
        if (!Buffer.isBuffer(part)) continue;
        lengthBytes += part.length;
        this.#hold(user, part.length);
        if (lengthBytes > this.#limits.bodyBytesMax) return err(tooLarge);
        const { bodiesBytesMax } = this.#limits;
        if (this.#heldBytes > bodiesBytesMax || (this.#heldBy.get(user) ?? 0) > bodiesBytesMax / 2) {
          return err({ status: 503, text: "Too many large requests at once. Try again in a moment." });
        }
        keepPart(parts, part);
      }
      return ok(joined(parts));
    } catch {
      // The client went away or was too slow, so this answer is probably not read.
      return err({ status: 408, text: "The request did not arrive completely. Send it again." });
    } finally {
      this.#hold(user, -lengthBytes);
    }
  }

  #hold(user: string, bytes: number): void {
    this.#heldBytes += bytes;
    const held = (this.#heldBy.get(user) ?? 0) + bytes;
    if (held > 0) this.#heldBy.set(user, held);
    else this.#heldBy.delete(user);
  }
}
